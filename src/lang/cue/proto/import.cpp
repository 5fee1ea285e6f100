// Which files a .proto file needs, and where the CUE made of them goes.
#include <fmt/format.h>

#include <filesystem>

#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode_file.h"
#include "lang/cue/proto/convert.h"
#include "lang/cue/proto/converter.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

constexpr int kMaxImports = 1'000;  // one within another

// go_package is "path", "path;name" or a name alone; without a path the proto package gives it.
void set_package(ProtoFile& f, std::string& path, std::string& name) {
  std::string go = f.go_package;
  std::size_t semicolon = go.find(';');
  if (semicolon != std::string::npos) {
    name = go.substr(semicolon + 1);
    go = go.substr(0, semicolon);
  }
  bool has_path = go.find_first_of("/.") != std::string::npos;
  if (has_path) {
    path = go;
  } else {
    if (name.empty()) name = go;
    path = "googleapis.com";
    if (!f.package.empty()) path += "/" + f.package;
    for (std::size_t i = 14; i < path.size(); ++i)
      if (path[i] == '.') path[i] = '/';
  }
  if (name.empty()) name = path.substr(path.rfind('/') + 1);
  for (char& c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) c = '_';
}

std::string file_of(const Source& s) {
  return fs::absolute(s.path.empty() ? s.name : s.path).lexically_normal().string();
}

bool built_in(const std::string& path) { return path.starts_with("google/protobuf/") || path == "cue/cue.proto"; }

}  // namespace

ProtoImporter::Unit* ProtoImporter::load(const Source& source) {
  std::string key = file_of(source);
  if (auto it = units_.find(key); it != units_.end()) return it->second.get();
  auto& u = units_[key];
  u = std::make_unique<Unit>();
  Unit* out = u.get();
  out->file = parse_proto(source);
  errors_.insert(errors_.end(), out->file.errors.begin(), out->file.errors.end());
  if (!out->file.errors.empty()) return out;
  set_package(out->file, out->import_path, out->name);
  if (++depth_ > kMaxImports) {
    errors_.push_back({source.pos(0), "too many imports"});
    return out;
  }
  for (const ProtoFile::Import& i : out->file.imports)
    if (Unit* other = load_import(i, *out)) out->imports.push_back(other);
  return out;
}

ProtoImporter::Unit* ProtoImporter::load_import(const ProtoFile::Import& i, const Unit& from) {
  if (built_in(i.path)) return nullptr;
  std::vector<std::string> dirs = options_.paths;
  if (!options_.root.empty()) dirs.push_back(options_.root);
  dirs.push_back(fs::path(file_of(*from.file.source)).parent_path().string());
  for (const std::string& d : dirs) {
    std::string path = (fs::path(d) / i.path).lexically_normal().string();
    std::error_code ec;
    if (!fs::is_regular_file(path, ec) || !options_.sources) continue;
    Result<const Source*> s = options_.sources->open(path);
    if (s) return load(**s);
  }
  errors_.push_back({i.pos, fmt::format("import {} not found; -I DIR names a folder to look in", quote(i.path))});
  return nullptr;
}

bool ProtoImporter::add(const Source& source) {
  Unit* u = load(source);
  if (errors_.empty()) emit(*u, true);
  return errors_.empty();
}

void ProtoImporter::emit(Unit& u, bool first) {
  if (!emitted_.insert(&u).second) return;
  std::string name = u.name;
  if (first && !options_.package.empty()) name = options_.package;
  ProtoConverter converter(*this, u, name);
  Output out;
  out.file = converter.run();
  fs::path source(file_of(*u.file.source));
  std::string file = source.stem().string() + "_proto_gen.cue";
  if (options_.root.empty()) {
    out.name = (source.parent_path() / file).string();
  } else {
    std::string path = u.import_path.substr(0, u.import_path.find(':'));
    bool inside = path == options_.module || path.starts_with(options_.module + "/");
    std::string rest = inside ? path.substr(options_.module.size()) : "/cue.mod/gen/" + path;
    out.name = options_.root + rest + "/" + file;
  }
  outputs_.push_back(out);
  for (Unit* i : u.imports) emit(*i, false);
}

Decoded decode_protobuf(const DataFile& file, const Source& source, Arena& arena, Sources* others) {
  ProtoOptions options;
  options.paths = file.include;
  options.package = file.package;
  options.sources = others;
  auto mode = file.tags.find("proto_enum");
  options.json_enums = mode != file.tags.end() && mode->second == "json";
  ProtoImporter importer(arena, options);
  Decoded d;
  importer.add(source);
  d.errors = importer.errors();
  if (d.ok()) d.documents.push_back(importer.outputs()[0].file);
  return d;
}

}  // namespace tutti::cue
