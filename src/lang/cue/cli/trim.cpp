#include "lang/cue/trim.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "lang/cue/cli/plan.h"
#include "lang/cue/format/format.h"

namespace tutti::cue {

namespace fs = std::filesystem;

void run_trim(Program& p) {
  const CommandFlags& f = p.flags();
  p.make_loader({});
  std::vector<std::string> packages;
  std::vector<DataFile> files;
  std::string error;
  if (!parse_file_args(f.arguments(), packages, files, error)) p.fail(error);
  if (packages.empty() && files.empty()) packages.push_back(".");
  std::string out = f.text("outfile"), all;
  for (LoadedPackage* b : p.loader().load(packages, files)) {
    p.check(*b);
    Vertex* root = p.build(*b);
    if (Bottom* e = p.validate(root, false, false)) p.fail(e);
    // A file that other packages share belongs to its own folder.
    auto own = [&](const ast::File* x) {
      return b->user || fs::path(p.absolute(x->source->name)).parent_path() == fs::path(b->dir);
    };
    auto rebuild = [&](const std::vector<ast::File*>& list) -> Vertex* {
      try {
        Vertex* v = p.build_files(list, b->import_path);
        p.context().finalize(v);
        return v;
      } catch (const Stop&) {
        return nullptr;
      }
    };
    std::vector<ast::File*> trimmed =
        trim_files(p.context(), p.arena(), root, b->files, p.loader().added(), own, rebuild);
    trimmed = without_added(p.arena(), trimmed, p.loader().added());
    for (std::size_t i = 0; i < trimmed.size(); ++i) {
      FormatOptions options;
      options.simplify = f.on("simplify");
      std::string text = format_node(trimmed[i], options);
      if (!out.empty()) {
        all += text;
        continue;
      }
      if (text == b->files[i]->source->text || f.on("dry-run")) continue;
      if (Result<void> r = write_file_atomically(p.absolute(b->files[i]->source->name), text); !r)
        p.fail_write(r.error());
    }
  }
  if (!out.empty() && !f.on("dry-run")) p.write_output(out, all, f.on("force"));
}

}  // namespace tutti::cue
