#include "lang/cue/load/packages.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "base/boundary.h"
#include "base/file.h"
#include "base/minisign.h"
#include "lang/cue/builtin/registry.h"
#include "lang/cue/eval/error_code.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/format/walk.h"
#include "lang/cue/load/module_file.h"
#include "lang/cue/module/cache.h"
#include "tree/session.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

struct ImportPath {
  std::string path;     // without version and name
  std::string version;  // v0; "" for none
  std::string name;     // after the colon, or the last element
  bool explicit_name = false;
};

ImportPath split_import(std::string s) {
  ImportPath r;
  if (std::size_t colon = s.rfind(':'); colon != std::string::npos && s.find('/', colon) == std::string::npos) {
    r.name = s.substr(colon + 1);
    r.explicit_name = true;
    s = s.substr(0, colon);
  }
  if (std::size_t at = s.rfind('@'); at != std::string::npos && s.find('/', at) == std::string::npos) {
    r.version = s.substr(at + 1);
    s = s.substr(0, at);
  }
  if (!r.explicit_name) r.name = s.substr(s.rfind('/') + 1);
  r.path = s;
  return r;
}

bool is_local(std::string_view p) { return p == "." || p == ".." || p.starts_with("./") || p.starts_with("../"); }

// No part of it is empty, `.` or `..`.
bool is_clean(std::string_view p) {
  if (p.starts_with('/')) p.remove_prefix(1);
  while (true) {
    std::size_t end = std::min(p.find('/'), p.size());
    std::string_view part = p.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == p.size()) return true;
    p.remove_prefix(end + 1);
  }
}

std::string clean(const std::string& p) {
  if (is_clean(p)) return p;
  std::string s = fs::path(p).lexically_normal().string();
  if (s.size() > 1 && s.back() == '/') s.pop_back();
  return s;
}

bool is_directory(const std::string& p) {
  struct stat st {};
  return ::stat(p.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}
bool is_link(const std::string& p) {
  struct stat st {};
  return ::lstat(p.c_str(), &st) == 0 && S_ISLNK(st.st_mode);
}
bool exists(const std::string& p) {
  struct stat st {};
  return ::stat(p.c_str(), &st) == 0;
}

struct Entry {
  std::string name;
  bool directory;  // or a link to one
};

// By name. What most are is told with the name, and need not be asked for.
std::vector<Entry> entries(const std::string& dir) {
  std::vector<Entry> out;
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(dir.c_str()), &::closedir);
  if (!open) return out;
  while (const dirent* e = ::readdir(open.get())) {
    std::string_view name = e->d_name;
    if (name == "." || name == "..") continue;
    bool told = e->d_type == DT_REG || e->d_type == DT_DIR;
    out.push_back({std::string(name), told ? e->d_type == DT_DIR : is_directory(dir + "/" + e->d_name)});
  }
  std::ranges::sort(out, {}, &Entry::name);
  return out;
}

}  // namespace

PackageLoader::PackageLoader(Sources& sources, Arena& arena, LoaderConfig config)
    : sources_(sources), arena_(arena), config_(std::move(config)) {
  find_module();
}

PackageLoader::~PackageLoader() = default;

const std::vector<std::string>& PackageLoader::listing(const std::string& dir) {
  auto [at, added] = listings_.try_emplace(dir);
  if (added)
    for (Entry& e : entries(dir)) at->second.push_back(std::move(e.name));
  return at->second;
}

std::string PackageLoader::absolute(const std::string& path) const {
  if (path.starts_with('/')) return clean(path);
  return clean(config_.dir + "/" + path);
}

std::string PackageLoader::shown(const std::string& abs) const {
  const std::string& dir = config_.dir;
  bool inside = is_clean(abs) && abs.starts_with(dir) && abs[dir.size()] == '/';
  std::string rel = inside ? abs.substr(dir.size() + 1) : fs::path(abs).lexically_relative(dir).string();
  if (rel.empty()) return abs;
  if (!rel.starts_with('.')) rel = "./" + rel;
  return rel;
}

const Source* PackageLoader::open(const std::string& path, std::vector<LoadProblem>& problems) {
  if (path == "-") {
    static thread_local std::map<const Sources*, const Source*> input;
    if (auto it = input.find(&sources_); it != input.end()) return it->second;
    Result<std::string> text = read_file("-", u64{1} << 30);
    if (!text && is_refused(text.error())) {
      problems.push_back({text.error().message, {}, {}, read_failure_code(text.error(), "")});
      return nullptr;
    }
    Result<const Source*> s = sources_.add("-", text ? std::move(*text) : std::string());
    if (s) return input[&sources_] = *s;
    problems.push_back({s.error().message, {}});
    return nullptr;
  }
  std::string abs = absolute(path);
  static thread_local std::map<std::pair<const Sources*, std::string>, const Source*> opened;
  auto key = std::make_pair(static_cast<const Sources*>(&sources_), abs);
  if (auto it = opened.find(key); it != opened.end()) return it->second;
  // Read by its real path, shown as the user would name it.
  Result<std::string> text = read_file(abs, u64{1} << 30);
  if (!text) {
    if (is_refused(text.error()))
      problems.push_back({text.error().message, {}, {}, read_failure_code(text.error(), "")});
    else if (!exists(abs))
      problems.push_back({fmt::format("open {}: no such file or directory", path), {}});
    else
      problems.push_back({text.error().message, {}});
    return nullptr;
  }
  std::string body = std::move(*text);
  if (body.starts_with("\xEF\xBB\xBF")) body.erase(0, 3);
  Result<const Source*> s = sources_.add(shown(abs), std::move(body));
  if (!s) {
    problems.push_back({s.error().message, {}});
    return nullptr;
  }
  return opened[key] = *s;
}

Diagnostic& report(Diagnostics& out, const LoadProblem& problem) {
  Pos at = problem.places.empty() ? problem.field : problem.places[0];
  std::string_view code = problem.code.empty() ? error_code(problem.message) : problem.code;
  Diagnostic& d = out.error(std::string(code), at, problem.message);
  for (std::size_t i = 1; i < problem.places.size(); ++i)
    if (problem.places[i] != at) d.relate(problem.places[i], "");
  if (problem.code == kOutsideCode || problem.code == kNeedsTrustCode) d.suggest(way_to_trust());
  if (problem.code == kSignatureCode) d.suggest(read_failure_help({problem.message, kNotSigned}));
  return d.did_you_mean(problem.near);
}

ast::File* PackageLoader::parse(const std::string& path, std::vector<LoadProblem>& problems, bool imports_only) {
  std::string key = path == "-" ? path : absolute(path);
  if (!imports_only)
    if (auto it = parsed_.find(key); it != parsed_.end()) return it->second;
  const Source* s = open(path, problems);
  if (!s) return nullptr;
  ParseOptions options;
  options.imports_only = imports_only;
  ParsedFile p = parse_file(*s, arena_, options);
  for (const SyntaxError& e : p.errors) {
    LoadProblem problem{e.message, {}};
    problem.code = kSyntaxCode;
    if (e.pos) problem.places.push_back(e.pos);
    problems.push_back(std::move(problem));
  }
  if (!p.errors.empty()) return nullptr;
  if (!imports_only) parsed_[key] = p.file;
  return p.file;
}

// The module is the nearest directory above that has cue.mod/module.cue.
void PackageLoader::find_module() {
  const std::string from = config_.module_of.empty() ? config_.dir : clean(config_.module_of);
  for (fs::path p = from; !p.empty(); p = p.parent_path()) {
    if (std::string mod = (p / "cue.mod").string(); exists(mod) && !is_directory(mod)) {
      problems_.push_back({"cue.mod files are no longer supported; use cue.mod/module.cue", {}});
      break;
    }
    if (is_directory((p / "cue.mod").string())) {
      root_ = p.string();
      std::string below = (from + "/").substr(root_.size());
      if (below.starts_with("/cue.mod/") && !below.starts_with("/cue.mod/pkg/") &&
          !below.starts_with("/cue.mod/gen/") && !below.starts_with("/cue.mod/usr/"))
        problems_.push_back({"cannot load packages inside the cue.mod directory", {}});
      std::string file = (p / "cue.mod" / "module.cue").string();
      has_module_file_ = exists(file);
      if (has_module_file_) {
        ast::File* f = parse(file, problems_);
        if (f) {
          main_ = std::make_unique<ModuleFile>(read_module_file(*f, shown(file)));
          module_ = main_->module;
          read_local_module();
          problems_.insert(problems_.end(), main_->problems.begin(), main_->problems.end());
        }
      }
      break;
    }
    if (p == p.root_path()) break;
  }
}

void PackageLoader::read_local_module() {
  std::string file = root_ + "/cue.mod/local-module.cue";
  if (!exists(file)) return;
  if (ast::File* f = parse(file, problems_)) read_local_module_file(*f, shown(file), *main_);
}

ModuleGraph& PackageLoader::graph() {
  if (graph_) return *graph_;
  cache_ = std::make_unique<ModuleCache>(config_.fetches);
  auto of_folder = [this](const std::string& folder) -> Result<ModuleFile> {
    std::vector<LoadProblem> wrong;
    ast::File* f = parse(folder + "/cue.mod/module.cue", wrong);
    if (!f) return failure(wrong.empty() ? "no module file in " + folder : wrong[0].message);
    ModuleFile m = read_module_file(*f, shown(folder + "/cue.mod/module.cue"));
    if (!m.problems.empty()) return failure(m.problems[0].message);
    return m;
  };
  graph_ = std::make_unique<ModuleGraph>(*main_, root_, *cache_, of_folder);
  return *graph_;
}

std::optional<PackagePlace> PackageLoader::find_in_modules(const std::string& import_path) {
  if (!main_ || main_->needs.empty()) return std::nullopt;
  ImportPath ip = split_import(import_path);
  Result<std::optional<PackagePlace>> place = graph().find(ip.path, ip.version);
  if (!place) {
    why_not_[import_path] = place.error().message;
    return std::nullopt;
  }
  if (*place) other_modules_[(*place)->root] = (*place)->module;
  return *place;
}

std::pair<std::string, std::string> PackageLoader::module_of(const std::string& dir) const {
  std::pair<std::string, std::string> found{root_, module_};
  for (const auto& [root, path] : other_modules_) {
    bool inside = dir == root || dir.starts_with(root + "/");
    if (inside && (!dir.starts_with(root_ + "/") || root.size() > found.first.size())) found = {root, path};
  }
  return found;
}

bool PackageLoader::tag_expression(ast::Node* x, bool& known) {
  switch (x->kind) {
    case ast::Kind::kIdent: {
      std::string name(static_cast<ast::Ident*>(x)->name.text());
      used_tags_[name] = true;
      return std::find(config_.tags.begin(), config_.tags.end(), name) != config_.tags.end();
    }
    case ast::Kind::kParen: return tag_expression(static_cast<ast::Paren*>(x)->x, known);
    case ast::Kind::kUnary:
      if (static_cast<ast::Unary*>(x)->op == Tok::kNot) return !tag_expression(static_cast<ast::Unary*>(x)->x, known);
      break;
    case ast::Kind::kBinary: {
      auto* b = static_cast<ast::Binary*>(x);
      if (b->op == Tok::kLand || b->op == Tok::kLor) {
        bool l = tag_expression(b->x, known), r = tag_expression(b->y, known);
        return b->op == Tok::kLand ? l && r : l || r;
      }
      break;
    }
    default: break;
  }
  known = false;
  return false;
}

// @if(expression) and @ignore() in front of a file.
bool PackageLoader::should_build(ast::File* f, std::vector<LoadProblem>& problems, LoadProblem* why) {
  const ast::Attribute* found = nullptr;
  for (ast::Node* d : f->decls) {
    if (d->kind == ast::Kind::kPackage || d->kind == ast::Kind::kImport || d->kind == ast::Kind::kField) break;
    if (d->kind != ast::Kind::kAttribute) continue;
    auto* a = static_cast<ast::Attribute*>(d);
    if (a->name() == "ignore") {
      if (why) *why = {"@ignore() attribute found", {a->at.pos}};
      return false;
    }
    if (a->name() != "if") continue;
    if (found) {
      problems.push_back({"previous declaration here", {found->at.pos}});
      problems.insert(problems.end() - 1, LoadProblem{"multiple @if attributes", {a->at.pos, found->at.pos}});
      problems.pop_back();
      return false;
    }
    found = a;
  }
  if (!found) return true;
  Result<const Source*> s = sources_.add("", std::string(found->body()));
  std::vector<SyntaxError> errors;
  ast::Node* x = s ? parse_expression(**s, arena_, errors) : nullptr;
  bool known = true, match = x && errors.empty() && tag_expression(x, known);
  if (!x || !errors.empty() || !known) {
    problems.push_back({errors.empty() ? "invalid operator in build attribute" : errors[0].message, {found->at.pos}});
    return false;
  }
  if (!match && why) *why = {fmt::format("@if({}) did not match", found->body()), {found->at.pos}};
  return match;
}

// The files of a package are those of the directory and of the directories above it up to the module's root.
LoadedPackage* PackageLoader::directory(const std::string& dir, std::string name, const std::string& display,
                                        bool explicit_name, bool wildcard, const std::string& import_path) {
  all_.push_back(std::make_unique<LoadedPackage>());
  LoadedPackage& p = *all_.back();
  p.dir = dir;
  p.display = display;
  const auto [root, module] = module_of(dir);
  p.root = root;
  p.module = module;
  p.import_path = import_path;

  struct Found {
    std::string path, base;
    ast::File* file;
    std::string package;
  };
  std::vector<Found> found;
  std::vector<LoadProblem> excluded;
  std::vector<std::string> cue_files;
  bool any_cue = false;
  for (const auto& [base, is_dir] : entries(dir)) {
    if (is_dir) continue;
    std::string path = dir + "/" + base;
    if (!base.ends_with(".cue")) {
      if (config_.data_files) {
        std::string ext = fs::path(base).extension().string();
        std::string encoding = ext == ".json"                        ? "json"
                               : ext == ".yaml" || ext == ".yml"     ? "yaml"
                               : ext == ".toml"                      ? "toml"
                               : ext == ".jsonl" || ext == ".ldjson" ? "jsonl"
                               : ext == ".proto"                     ? "proto"
                               : ext == ".xml"                       ? "xml"
                               : ext == ".textproto"                 ? "textproto"
                                                                     : "";
        if (encoding.empty() && config_.data_files) encoding = "text";
        if (!encoding.empty() && !base.starts_with('.') && !base.starts_with('_')) {
          DataFile d;
          d.path = path;
          d.encoding = encoding;
          d.interpretation = encoding == "json" || encoding == "yaml" ? "auto" : "";
          p.data.push_back(d);
        }
      }
      continue;
    }
    any_cue = true;
    if (base.starts_with('_') || base.starts_with('.')) {
      excluded.push_back({fmt::format("    {}: filename starts with a '{}'", shown(path), base[0]), {}});
      continue;
    }
    ast::File* f = parse(path, p.problems);
    if (!f) continue;
    std::string package = f->package() ? std::string(f->package()->name->name.text()) : "";
    LoadProblem why;
    if (!should_build(f, p.problems, &why)) {
      if (!why.message.empty()) excluded.push_back({fmt::format("    {}: {}", shown(path), why.message), {}});
      continue;
    }
    if (base.ends_with("_test.cue")) continue;
    if (base.ends_with("_tool.cue") && !config_.tools) {
      excluded.push_back({fmt::format("    {}: _tool.cue files excluded in non-cmd mode", shown(path)), {}});
      if (!package.empty() && package != "_" && !explicit_name && name.empty()) continue;
      continue;
    }
    found.push_back({path, base, f, package});
  }
  if (!p.problems.empty()) return &p;

  // Which package is meant: the one asked for, the only one, or the one named like the directory.
  std::vector<std::pair<std::string, std::string>> names;  // and the first file of each
  bool unnamed = false;
  for (const Found& f : found) {
    if (f.package.empty() || f.package == "_") {
      unnamed = true;
      continue;
    }
    if (std::none_of(names.begin(), names.end(), [&](const auto& n) { return n.first == f.package; }))
      names.emplace_back(f.package, f.base);
  }
  std::string chosen;
  if (explicit_name) {
    chosen = name == "_" ? "" : name;
  } else if (names.size() == 1) {
    chosen = names[0].first;
  } else if (names.size() > 1) {
    bool matches = std::any_of(names.begin(), names.end(), [&](const auto& n) { return n.first == name; });
    if (matches) {
      chosen = name;
    } else {
      p.problems.push_back({fmt::format("found packages \"{}\" ({}) and \"{}\" ({}) in \"{}\"", names[0].first,
                                        names[0].second, names[1].first, names[1].second, display),
                            {}});
      return &p;
    }
  }
  p.name = chosen;
  for (const Found& f : found) {
    bool mine = f.package == chosen || (chosen.empty() && (f.package.empty() || f.package == "_"));
    if (explicit_name && name == "_") mine = f.package.empty() || f.package == "_";
    if (!explicit_name && (f.package.empty() || f.package == "_")) {
      excluded.push_back({fmt::format("    {}: no package name", shown(f.path)), {}});
      continue;
    }
    if (!mine) {
      if (explicit_name && !f.package.empty())
        excluded.push_back({fmt::format("    {}: package is {}, want {}", shown(f.path), f.package, chosen), {}});
      continue;
    }
    (f.base.ends_with("_tool.cue") ? p.tools : p.files).push_back(f.file);
  }
  // Directories above, when the directory itself has files of the package; the root's files come first. What lies in
  // cue.mod is of other modules: nothing above it belongs to it.
  if (!chosen.empty() && !root.empty() && dir != root && dir.starts_with(root + "/") &&
      !dir.starts_with(root + "/cue.mod/") && (!p.files.empty() || !p.tools.empty())) {
    std::vector<std::string> above;
    for (fs::path up = fs::path(dir).parent_path();; up = up.parent_path()) {
      above.insert(above.begin(), up.string());
      if (up.string() == root) break;
    }
    std::vector<ast::File*> files, tools;
    for (const std::string& up : above)
      for (const std::string& base : listing(up)) {
        if (!base.ends_with(".cue") || base.starts_with('_') || base.starts_with('.') || base.ends_with("_test.cue"))
          continue;
        bool tool = base.ends_with("_tool.cue");
        if (tool && !config_.tools) continue;
        ast::File* f = parse(up + "/" + base, p.problems);  // of whatever package: one that cannot be read may be ours
        if (!f || !f->package() || f->package()->name->name.text() != chosen) continue;
        if (!should_build(f, p.problems, nullptr)) continue;
        (tool ? tools : files).push_back(f);
      }
    p.files.insert(p.files.begin(), files.begin(), files.end());
    p.tools.insert(p.tools.begin(), tools.begin(), tools.end());
  }
  if (p.import_path.empty() && !module_.empty()) {
    std::string rel = fs::path(dir).lexically_relative(root_).string();
    p.import_path = rel == "." ? module_ : module_ + "/" + rel;
    if (!chosen.empty() && split_import(p.import_path).name != chosen) p.import_path += ":" + chosen;
  }
  if (p.files.empty() && p.tools.empty() && !(wildcard) && p.data.empty()) {
    if (!excluded.empty()) {
      std::string message = fmt::format("build constraints exclude all CUE files in {}:", display);
      for (const LoadProblem& e : excluded) message += "\n" + e.message;
      p.problems.push_back({message, {}});
    } else if (explicit_name && any_cue) {
      p.problems.push_back({fmt::format("no files in package directory with package name \"{}\"", name), {}});
    } else if (!any_cue) {
      p.problems.push_back({explicit_name ? fmt::format("cue: \"{}\" matched no packages", display)
                                          : fmt::format("no CUE files in {}", display),
                            {}});
    } else if (!unnamed) {
      p.problems.push_back({fmt::format("no CUE files in {}", display), {}});
    }
  }
  return &p;
}

std::vector<std::string> PackageLoader::import_dirs(const std::string& path) const {
  std::vector<std::string> out;
  if (!module_.empty() && (path == module_ || path.starts_with(module_ + "/"))) {
    if (std::string dir = clean(root_ + path.substr(module_.size())); is_directory(dir)) out.push_back(dir);
  } else if (!root_.empty()) {
    for (const char* place : {"pkg", "usr", "gen"})
      if (std::string dir = root_ + "/cue.mod/" + place + "/" + path; is_directory(dir)) out.push_back(dir);
  }
  return out;
}

std::vector<LoadedPackage*> PackageLoader::imported() const {
  std::vector<LoadedPackage*> out;
  for (const auto& [path, p] : by_import_)
    if (p) out.push_back(p);
  return out;
}

std::string PackageLoader::package_name(const std::string& path) {
  if (LoadedPackage* p = import(path); p && !p->name.empty()) return p->name;
  return split_import(path).name;
}

// Why an import path alone does not say which package is meant; "" when it does.
static std::string no_package_name(const std::string& path) {
  ImportPath ip = split_import(path);
  if (ip.explicit_name || is_identifier(ip.name)) return {};
  return fmt::format("cannot determine package name for {}; set it explicitly with ':'", quote(path));
}

namespace {

// That a folder has no files of the package that is looked for.
bool says_no_files(const LoadProblem& x) {
  return x.message.starts_with("no files in package") || x.message.starts_with("no CUE files") ||
         x.message.starts_with("build constraints") || x.message.starts_with("cue: ");
}

// A path without a host is one of the packages that come with the language.
bool is_standard(const std::string& path) {
  return !path.empty() && !is_local(path) && path.substr(0, path.find('/')).find('.') == std::string::npos;
}

// Where a file declares a field of this name at its top; no place when it does not.
Pos declared_at(const ast::File* f, const std::string& name) {
  for (const ast::Node* d : f->decls) {
    if (d->kind != ast::Kind::kField) continue;
    const ast::Node* l = ast::as<ast::Field>(d)->label;
    if (l->kind == ast::Kind::kIdent && ast::as<ast::Ident>(l)->name.text() == name) return ast::first(l).pos;
  }
  return {};
}

bool refers_to(ast::Node* n, const std::string& name) {
  if (n->kind == ast::Kind::kImport) return false;
  if (n->kind == ast::Kind::kIdent) return ast::as<ast::Ident>(n)->name.text() == name;
  bool found = false;
  for_children(n, [&](ast::Node* c) { found = found || refers_to(c, name); });
  return found;
}

void undefined_package(LoadedPackage& p, ast::File* f, const std::string& path, const std::string& called, Pos at) {
  p.problems.push_back({fmt::format("builtin package {} undefined", quote(path)),
                        {at},
                        meant_name(path, builtin_package_paths()),
                        "CUE-IMPORT"});
  if (!refers_to(f, called)) p.problems.push_back({fmt::format("imported and not used: {}", quote(path)), {at}});
}

}  // namespace

// Files of the package that lie in more than one of cue.mod/pkg, usr and gen are one package. That a folder has none of
// it is a problem only when no other has any.
LoadedPackage* PackageLoader::joined(const std::vector<std::string>& dirs, const std::string& name,
                                     const std::string& import_path) {
  LoadedPackage* all = nullptr;
  for (const std::string& dir : dirs) {
    std::string display = "./" + fs::path(dir).lexically_relative(config_.dir).string();
    LoadedPackage* part = directory(dir, name, display, true, false, import_path);
    auto nothing = [](const LoadedPackage& p) {
      return p.files.empty() && p.tools.empty() && std::ranges::all_of(p.problems, says_no_files);
    };
    if (!all || nothing(*all)) {
      if (!all || !nothing(*part)) all = part;
      continue;
    }
    if (nothing(*part)) continue;
    all->files.insert(all->files.end(), part->files.begin(), part->files.end());
    all->tools.insert(all->tools.end(), part->tools.begin(), part->tools.end());
    all->problems.insert(all->problems.end(), part->problems.begin(), part->problems.end());
  }
  return all;
}

LoadedPackage* PackageLoader::import(const std::string& path) {
  if (auto it = by_import_.find(path); it != by_import_.end()) return it->second;
  ImportPath ip = split_import(path);
  std::vector<std::string> dirs = import_dirs(ip.path);
  std::string identity = path;
  if (dirs.empty()) {
    std::optional<PackagePlace> place = find_in_modules(path);
    if (!place) return by_import_[path] = nullptr;
    dirs.push_back(place->folder);
    // However it is spelt, it is one package.
    identity = ip.explicit_name ? ip.path + ":" + ip.name : ip.path;
    identity += " in " + place->root;
    if (auto it = by_import_.find(identity); it != by_import_.end()) return by_import_[path] = it->second;
  }
  bool tools = config_.tools, data = config_.data_files;
  config_.tools = config_.data_files = false;
  LoadedPackage* p = joined(dirs, ip.name, path);
  config_.tools = tools;
  config_.data_files = data;
  by_import_[path] = by_import_[identity] = p;
  if (p->problems.empty()) {
    embed(*p);
    load_imports(*p);
  }
  return p;
}

void PackageLoader::load_imports(LoadedPackage& p) {
  if (config_.skip_imports) return;
  importing_.push_back(p.import_path);
  std::vector<ast::File*> files = p.files;
  files.insert(files.end(), p.tools.begin(), p.tools.end());
  for (ast::File* f : files) {
    std::map<std::string, Pos> imported;
    for (ast::Node* d : f->decls) {
      if (d->kind != ast::Kind::kImport) continue;
      for (ast::Node* s : static_cast<ast::Import*>(d)->specs) {
        auto* spec = static_cast<ast::ImportSpec*>(s);
        Unquoted u = unquote(spec->path->text);
        if (!u.ok()) continue;
        const std::string& path = u.text;
        Pos at = spec->path->pos.pos;
        std::string called = spec->name ? std::string(spec->name->name.text()) : split_import(path).name;
        auto [before, once] = imported.emplace(called, ast::first(spec).pos);
        if (Pos other = once ? declared_at(f, called) : before->second) {
          if (!find_package(path) && is_standard(path) && import_dirs(split_import(path).path).empty())
            undefined_package(p, f, path, called, at);
          p.problems.push_back({fmt::format("{} redeclared as imported package name\n\tprevious declaration at {}",
                                            called, sources_.show(other)),
                                {ast::first(spec).pos}});
          continue;
        }
        if (path == "encoding/yaml" || path == "encoding/openapi") shows_syntax_ = true;
        if (find_package(path)) continue;
        if (is_standard(path) && import_dirs(split_import(path).path).empty()) {
          undefined_package(p, f, path, called, at);
          continue;
        }
        if (is_local(path)) {
          p.problems.push_back(
              {fmt::format("import failed: relative import paths not allowed ({})", quote(path)), {at}});
          continue;
        }
        if (std::find(importing_.begin(), importing_.end(), path) != importing_.end()) {
          p.problems.push_back({"import failed: package import cycle not allowed", {at}});
          continue;
        }
        if (std::string wrong = no_package_name(path); !wrong.empty()) {
          p.problems.push_back({"import failed: " + wrong, {at}});
          continue;
        }
        if (ImportPath ip = split_import(path); ip.name == "_") {
          std::string why = fmt::format("_ is not a valid import path qualifier in {}", quote(path));
          std::string where = split_import(p.import_path).path + "@v0: import failed: ";
          Pos first = ast::start(spec);
          p.problems.push_back({where + why, {first}});
          p.problems.push_back({fmt::format("{}cannot find package {}: {}", where, quote(ip.path), why), {first}});
          continue;
        }
        LoadedPackage* i = has_module_file_ ? import(path) : nullptr;
        if (!i) {
          std::string why = !has_module_file_ ? "imports are unavailable because there is no cue.mod/module.cue file"
                                              : fmt::format("cannot find package \"{}\"", path);
          if (auto reason = why_not_.find(path); reason != why_not_.end()) why += ": " + reason->second;
          p.problems.push_back({"import failed: " + why, {at}, meant_name(path, builtin_package_paths())});
          continue;
        }
        if (!i->problems.empty()) {
          for (const LoadProblem& x : i->problems) {
            LoadProblem copy = x;
            if (says_no_files(x))
              copy.message = fmt::format(
                  "import failed: cannot find package \"{}\": no files in package directory with package name \"{}\"",
                  path, split_import(path).name);
            else
              copy.message = x.message.starts_with("import failed") ? x.message : "import failed: " + x.message;
            copy.places.insert(copy.places.begin(), at);
            p.problems.push_back(std::move(copy));
          }
          continue;
        }
        if (std::find(p.imports.begin(), p.imports.end(), i) == p.imports.end()) p.imports.push_back(i);
      }
    }
  }
  importing_.pop_back();
}

namespace {

// `data: FILE` is CUE without anything to work out; in `graph:` and `dag:` there may be references.
void check_form(ast::Node* n, const std::string& form, std::vector<LoadProblem>& problems) {
  auto wrong = [&](const char* what) {
    problems.push_back({fmt::format("{} not allowed in {} mode", what, form), {ast::first(n).pos}});
  };
  auto below = [&] { for_children(n, [&](ast::Node* c) { check_form(c, form, problems); }); };
  switch (n->kind) {
    case ast::Kind::kFile:
    case ast::Kind::kStruct:
    case ast::Kind::kList:
    case ast::Kind::kEmbed: return below();
    case ast::Kind::kField: {
      auto* f = ast::as<ast::Field>(n);
      std::string name = f->label->kind == ast::Kind::kIdent ? label_name(f->label) : "";
      if (name.starts_with('#') || name.starts_with("_#")) wrong("definitions");
      if (f->label->kind != ast::Kind::kIdent && f->label->kind != ast::Kind::kLit) wrong("optional fields");
      if (f->value) check_form(f->value, form, problems);
      return;
    }
    case ast::Kind::kUnary: {
      auto* u = ast::as<ast::Unary>(n);
      if (u->op == Tok::kMul) return wrong("default values");
      if (u->op == Tok::kNot) return wrong("expressions");
      if (u->op != Tok::kSub && u->op != Tok::kAdd) return wrong("constraints");
      return u->x->kind == ast::Kind::kLit ? void() : wrong("expressions");
    }
    case ast::Kind::kBinary:
    case ast::Kind::kParen:
    case ast::Kind::kIndex:
    case ast::Kind::kSlice:
    case ast::Kind::kCall:
    case ast::Kind::kComprehension:
    case ast::Kind::kInterpolation: return wrong("expressions");
    case ast::Kind::kEllipsis: return wrong("ellipsis");
    case ast::Kind::kIdent:
    case ast::Kind::kSelector:
    case ast::Kind::kAlias:
    case ast::Kind::kLet: return form == "data" ? wrong("references") : void();
    default: return;
  }
}

}  // namespace

bool is_package_arg(const std::string& arg) {
  if (arg == "-") return false;
  if (arg.ends_with("/...") || arg == "..." || arg == "." || arg == "..") return true;
  if (std::size_t colon = arg.find(':'); colon != std::string::npos) {
    // ./dir:name and mod.test/dir:name are packages; json:x and json: are file types.
    std::string head = arg.substr(0, colon), tail = arg.substr(colon + 1);
    bool word = is_identifier(tail) && !tail.empty();
    bool path = head.find('/') != std::string::npos || head.starts_with('.') || head.empty() ||
                head.find('.') != std::string::npos;
    return word && path && fs::path(head).extension() != ".cue";
  }
  std::string ext = fs::path(arg).extension().string();
  std::error_code ec;
  if (is_local(arg) || arg.starts_with('/')) {
    if (ext == ".mod") return false;
    if (fs::is_directory(arg, ec)) return true;
    return ext.empty();
  }
  static const std::set<std::string> kKnown = {".cue", ".json", ".jsonl", ".ldjson",    ".yaml",
                                               ".yml", ".toml", ".proto", ".textproto", ".textpb",
                                               ".txt", ".go",   ".wasm",  ".xml",       ".pb"};
  if (kKnown.count(ext)) return false;
  return ext.empty() || arg.find('@') != std::string::npos;
}

void PackageLoader::expand(const std::string& pattern, std::vector<LoadedPackage*>& out) {
  std::string p = pattern, name;
  bool explicit_name = false;
  if (std::size_t colon = p.rfind(':'); colon != std::string::npos) {
    name = p.substr(colon + 1);
    p = p.substr(0, colon);
    explicit_name = true;
    if (p.empty()) p = ".";
  }
  if (!explicit_name && !config_.package.empty()) {
    name = config_.package;
    explicit_name = true;
  }
  bool wild = p.ends_with("/...") || p == "...";
  if (wild) p = p == "..." ? "." : p.substr(0, p.size() - 4);
  std::string dir;
  std::vector<std::string> dirs;  // of an import path
  bool local = is_local(p) || p.starts_with('/');
  if (local) {
    dir = absolute(p);
  } else {
    ImportPath ip = split_import(p);
    if (explicit_name && name == "_") {
      all_.push_back(std::make_unique<LoadedPackage>());
      all_.back()->problems.push_back({fmt::format("invalid import path qualifier _ in {}", quote(pattern)), {}});
      out.push_back(all_.back().get());
      return;
    }
    dirs = import_dirs(ip.path);
    if (!dirs.empty()) dir = dirs[0];
    if (dir.empty()) {
      all_.push_back(std::make_unique<LoadedPackage>());
      bool standard = ip.path.substr(0, ip.path.find('/')).find('.') == std::string::npos;
      all_.back()->problems.push_back(
          {standard ? fmt::format("standard library import path \"{}\" cannot be imported as a CUE package", pattern)
                    : fmt::format("cannot find package \"{}\"", pattern),
           {}});
      out.push_back(all_.back().get());
      return;
    }
  }
  if (!wild) {
    if (!is_directory(dir)) {
      all_.push_back(std::make_unique<LoadedPackage>());
      all_.back()->problems.push_back({fmt::format("cannot find package \"{}\"", pattern), {}});
      out.push_back(all_.back().get());
      return;
    }
    std::string display = local ? p : "./" + fs::path(dir).lexically_relative(config_.dir).string();
    if (!root_.empty() && dir == root_ + "/cue.mod") {
      all_.push_back(std::make_unique<LoadedPackage>());
      all_.back()->problems.push_back({"cannot load packages inside the cue.mod directory", {}});
      out.push_back(all_.back().get());
      return;
    }
    if (dir != root_ && exists(dir + "/cue.mod") && !root_.empty() && dir.starts_with(root_ + "/")) {
      all_.push_back(std::make_unique<LoadedPackage>());
      all_.back()->problems.push_back(
          {local ? fmt::format("cannot determine import path for \"{}\" (directory is in a nested module)", pattern)
                 : fmt::format("cannot find package \"{}\"", pattern),
           {}});
      out.push_back(all_.back().get());
      return;
    }
    if (std::string wrong = local ? "" : no_package_name(pattern); !wrong.empty()) {
      all_.push_back(std::make_unique<LoadedPackage>());
      all_.back()->problems.push_back({wrong, {}});
      out.push_back(all_.back().get());
      return;
    }
    if (!local && !explicit_name) {
      LoadedPackage* m = joined(dirs, split_import(p).name, "");
      for (LoadProblem& x : m->problems) {
        if (x.message.starts_with("build constraints") || x.message.starts_with("no files") ||
            x.message.starts_with("no CUE"))
          x.message = fmt::format("no files in package directory with package name \"{}\"", split_import(p).name);
        x.message = fmt::format("cannot find package \"{}\": {}", pattern, x.message);
      }
      out.push_back(m);
      return;
    }
    out.push_back(local ? directory(dir, name, display, explicit_name, false, "") : joined(dirs, name, ""));
    return;
  }
  std::size_t before = out.size();
  std::vector<std::string> work{dir};
  while (!work.empty()) {
    std::string d = work.back();
    work.pop_back();
    bool cue = false;
    std::vector<std::string> below;
    for (const auto& [e, is_dir] : entries(d)) {
      std::string path = d + "/" + e;
      if (is_dir) {
        if (e.starts_with('.') || e.starts_with('_') || e == "cue.mod" || e == "testdata") continue;
        if (is_directory(path + "/cue.mod") || is_link(path)) continue;  // a link may lead back here
        below.push_back(path);
      } else if (e.ends_with(".cue") || config_.data_files) {
        cue = true;
      }
    }
    if (cue) {
      std::string rel = fs::path(d).lexically_relative(config_.dir).string();
      std::string display = rel == "." ? "." : rel.starts_with("..") ? rel : "./" + rel;
      std::vector<LoadedPackage*> made{directory(d, name, rel, explicit_name, true, "")};
      made.back()->display = display;
      for (LoadedPackage* m : made)
        if (!m->files.empty() || !m->tools.empty() || !m->problems.empty() || !m->data.empty()) out.push_back(m);
    }
    for (std::size_t i = below.size(); i-- > 0;) work.push_back(below[i]);
  }
  if (out.size() == before) {
    all_.push_back(std::make_unique<LoadedPackage>());
    all_.back()->problems.push_back({fmt::format("cue: \"{}\" matched no packages", pattern), {}});
    out.push_back(all_.back().get());
  }
}

namespace {

// The order in which files are named does not matter: those of a folder come before those of the folders in it.
std::vector<DataFile> in_tree_order(std::vector<DataFile> files) {
  auto depth = [](const DataFile& d) { return std::count(d.path.begin(), d.path.end(), '/'); };
  std::stable_sort(files.begin(), files.end(), [&](const DataFile& a, const DataFile& b) {
    if (a.encoding != "cue" || b.encoding != "cue") return a.encoding == "cue" && b.encoding != "cue";
    return std::pair(depth(a), a.path) < std::pair(depth(b), b.path);
  });
  return files;
}

}  // namespace

std::vector<LoadedPackage*> PackageLoader::load(const std::vector<std::string>& patterns,
                                                const std::vector<DataFile>& files) {
  std::vector<LoadedPackage*> out;
  for (const std::string& p : patterns) expand(p, out);
  for (LoadedPackage* p : out)
    if (p->problems.empty()) {
      embed(*p);
      load_imports(*p);
    }
  if (!files.empty()) {
    all_.push_back(std::make_unique<LoadedPackage>());
    LoadedPackage& u = *all_.back();
    u.user = true;
    u.dir = config_.dir;
    u.root = root_;
    u.module = module_;
    u.display = "command-line-arguments";
    std::string first_file;
    std::vector<std::string> excluded;
    for (const DataFile& d : in_tree_order(files)) {
      if (d.encoding != "cue" || d.interpretation == "openapi" || d.interpretation == "jsonschema") {
        u.data.push_back(d);
        continue;
      }
      if (d.path.ends_with("_test.cue") && files.size() > 1) continue;  // as in a package
      ast::File* f = parse(d.path, u.problems);
      if (!f) continue;
      if (d.form == "data" || d.form == "graph" || d.form == "dag") check_form(f, d.form, u.problems);
      LoadProblem why;
      if (!should_build(f, u.problems, &why)) {
        if (!why.message.empty()) excluded.push_back(fmt::format("    {}: {}", shown(absolute(d.path)), why.message));
        continue;
      }
      if (f->package()) {
        std::string n(f->package()->name->name.text());
        if (n != "_") {
          if (u.name.empty()) {
            u.name = n;
            first_file = fs::path(d.path).filename().string();
          } else if (u.name != n) {
            u.problems.push_back({fmt::format("found packages \"{}\" ({}) and \"{}\" ({}) in \"{}\"", u.name,
                                              first_file, n, fs::path(d.path).filename().string(), "."),
                                  {}});
          }
        }
      }
      (d.path.ends_with("_tool.cue") && config_.tools ? u.tools : u.files).push_back(f);
    }
    if (u.files.empty() && u.tools.empty() && u.data.empty() && u.problems.empty() && !excluded.empty()) {
      std::sort(excluded.begin(), excluded.end());
      u.problems.push_back(
          {fmt::format("build constraints exclude all CUE files in {}:\n{}", u.display, fmt::join(excluded, "\n")),
           {}});
    }
    if (u.problems.empty()) {
      embed(u);
      load_imports(u);
    }
    out.push_back(&u);
  }
  inject_tags(out);
  return out;
}

}  // namespace tutti::cue
