#include "lang/cue/load/module.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

namespace fs = std::filesystem;
using ast::as;

namespace {

const ast::Node* field_value(ast::Nodes decls, std::string_view name) {
  for (ast::Node* d : decls) {
    if (d->kind != ast::Kind::kField) continue;
    auto* f = as<ast::Field>(d);
    if (f->label->kind == ast::Kind::kIdent && as<ast::Ident>(f->label)->name.text() == name) return f->value;
  }
  return nullptr;
}

std::string string_of(const ast::Node* n) {
  if (!n || n->kind != ast::Kind::kLit) return {};
  auto u = unquote(as<ast::Lit>(n)->text);
  return u.ok() ? u.text : std::string();
}

}  // namespace

std::optional<Module> find_module(const std::string& directory) {
  std::error_code ec;
  fs::path dir = fs::absolute(directory.empty() ? "." : directory, ec).lexically_normal();
  for (;; dir = dir.parent_path()) {
    fs::path file = dir / "cue.mod" / "module.cue";
    if (fs::exists(file, ec)) {
      Module m;
      m.root = dir.string();
      if (auto text = read_file(file.string(), 1 << 20)) {
        Sources sources;
        if (auto source = sources.add(file.string(), *text)) {
          Arena arena;
          ParsedFile p = parse_file(**source, arena);
          if (p.file) {
            m.path = string_of(field_value(p.file->decls, "module"));
            const ast::Node* language = field_value(p.file->decls, "language");
            if (language && language->kind == ast::Kind::kStruct)
              m.version = string_of(field_value(as<ast::Struct>(language)->elts, "version"));
          }
        }
      }
      if (auto at = m.path.find('@'); at != std::string::npos) m.path.resize(at);
      return m;
    }
    if (!dir.has_parent_path() || dir == dir.parent_path()) return std::nullopt;
  }
}

std::vector<std::string> package_directories(const Module& module, std::string_view path) {
  if (auto colon = path.rfind(':'); colon != std::string_view::npos) path = path.substr(0, colon);
  std::string plain(path);
  if (auto at = plain.find('@'); at != std::string::npos) {
    auto slash = plain.find('/', at);
    plain = plain.substr(0, at) + (slash == std::string::npos ? "" : plain.substr(slash));
  }
  std::vector<std::string> out;
  if (!module.path.empty() && (plain == module.path || plain.rfind(module.path + "/", 0) == 0))
    out.push_back(module.root + plain.substr(module.path.size()));
  for (const char* kind : {"gen", "usr", "pkg"}) out.push_back(module.root + "/cue.mod/" + kind + "/" + plain);
  return out;
}

std::vector<std::string> cue_files(const std::string& directory) {
  std::vector<std::string> out;
  std::error_code ec;
  for (auto& e : fs::directory_iterator(directory, ec)) {
    std::string name = e.path().filename().string();
    if (name[0] == '.' || name[0] == '_' || e.path().extension() != ".cue" || e.is_directory(ec)) continue;
    if (name.size() > 9 && name.compare(name.size() - 9, 9, "_test.cue") == 0) continue;
    if (name.size() > 9 && name.compare(name.size() - 9, 9, "_tool.cue") == 0) continue;
    out.push_back(e.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

int compare_versions(std::string_view a, std::string_view b) {
  auto next = [](std::string_view& s) {
    while (!s.empty() && (s[0] < '0' || s[0] > '9')) s.remove_prefix(1);
    long n = 0;
    while (!s.empty() && s[0] >= '0' && s[0] <= '9') {
      n = n * 10 + (s[0] - '0');
      s.remove_prefix(1);
    }
    return n;
  };
  for (int i = 0; i < 3; ++i) {
    long x = next(a), y = next(b);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

}  // namespace tutti::cue
