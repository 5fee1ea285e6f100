// import proto: definitions of protocol buffers, and those they import, to packages of CUE.
#include <algorithm>
#include <filesystem>
#include <set>

#include "lang/cue/cli/plan.h"
#include "lang/cue/proto/convert.h"

namespace tutti::cue {

namespace fs = std::filesystem;

bool import_protobuf(Program& p) {
  const CommandFlags& f = p.flags();
  std::vector<std::string> args = f.arguments();
  bool mode = !args.empty() && args[0] == "proto";
  if (mode) args.erase(args.begin());
  std::vector<std::string> packages;
  std::vector<DataFile> files;
  std::string error;
  if (!parse_file_args(args, packages, files, error)) {
    if (mode) p.fail(error);
    return false;
  }
  bool only = !files.empty() && packages.empty() &&
              std::all_of(files.begin(), files.end(), [](const DataFile& d) { return d.encoding == "proto"; });
  if (!mode && !only) return false;
  LoaderConfig config;
  config.data_files = true;
  p.make_loader(config);
  if (packages.empty() && files.empty()) packages.push_back(".");
  std::vector<std::string> paths;
  for (LoadedPackage* b : p.loader().load(packages, files)) {
    // Folders without CUE are what is imported into: only what cannot be read is a problem here.
    for (const DataFile& d : b->data)
      if (d.encoding == "proto") paths.push_back(p.absolute(d.path));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  if (paths.empty()) p.fail("no .proto files found");
  ProtoOptions options;
  for (const std::string& i : f.all("proto_path")) options.paths.push_back(p.absolute(i));
  options.json_enums = f.text("proto_enum") == "json";
  options.module = p.loader().module().substr(0, p.loader().module().find('@'));
  options.root = p.loader().root();
  options.package = f.text("package");
  options.sources = &p.sources();
  ProtoImporter importer(p.arena(), options);
  for (const std::string& path : paths) {
    std::vector<LoadProblem> problems;
    const Source* s = p.loader().open(path, problems);
    if (!s) p.fail(problems);
    importer.add(*s);
  }
  std::vector<LoadProblem> problems;
  for (const SyntaxError& e : importer.errors()) problems.push_back({e.message, {e.pos}});
  if (!problems.empty()) p.fail(problems);
  for (const ProtoImporter::Output& o : importer.outputs())
    write_imported(p, o.file, fs::path(o.name).lexically_relative(p.dir()).string());
  return true;
}

}  // namespace tutti::cue
