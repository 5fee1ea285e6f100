// mod: modules made, edited, renamed and tidied. Nothing is fetched: what a module needs has to lie under cue.mod.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/boundary.h"
#include "base/file.h"
#include "format/json.h"
#include "lang/cue/cli/plan.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/load/instance.h"
#include "lang/cue/load/module_file.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

Value sorted(const Value& v, const TreeBuilder& builder) {
  if (v.is(Kind::kList)) {
    std::vector<Value> items;
    for (const Value& x : v.items()) items.push_back(sorted(x, builder));
    return builder.list(items);
  }
  if (!v.is(Kind::kMap)) return v;
  std::vector<Entry> entries;
  for (const Entry& e : v.entries()) entries.push_back({e.key, tutti::Field::kPlain, sorted(e.value, builder)});
  std::ranges::sort(entries, {}, [](const Entry& e) { return e.key.text(); });
  return builder.map(entries);
}

// What cue keeps of a module file when it writes it anew: neither comments nor the description.
struct Module {
  struct Need {
    std::string version;
    bool is_default = false;
  };
  std::string path, version, source;
  std::map<std::string, Need> needs;
  std::optional<Value> custom;
};

class ModuleEditor {
 public:
  explicit ModuleEditor(Program& p) : p_(p) {
    LoaderConfig config;
    config.skip_imports = config.tools = true;
    p.make_loader(config);
    if (root().empty()) p.fail("module root not found");
    file_ = root() + "/cue.mod/module.cue";
  }

  const std::string& root() const { return p_.loader().root(); }

  // In errors `tidy` names the file from the root on and says what helps; the others give its whole path.
  Module read(bool tidy = false) {
    const std::string shown = tidy ? "cue.mod/module.cue" : file_;
    std::error_code ec;
    if (!fs::exists(file_, ec))
      p_.fail(fmt::format("{}open {}: no such file or directory", tidy ? "cannot read cue.mod file: " : "", shown));
    std::vector<LoadProblem> problems = p_.loader().problems();
    for (LoadProblem& problem : problems)
      if (!tidy) problem.message.resize(std::min(problem.message.find("; run 'cue mod fix'"), problem.message.size()));
    if (!problems.empty()) p_.fail(problems);
    Value tree = value_of(p_.loader().parse(file_, problems));
    Module m;
    m.path = text(tree, "module");
    if (m.path.empty()) p_.fail(fmt::format("invalid module file {}: empty module path", shown));
    if (const Entry* language = tree.find(Symbol("language"))) m.version = text(language->value, "version");
    if (const Entry* source = tree.find(Symbol("source"))) m.source = text(source->value, "kind");
    if (const Entry* needs = tree.find(Symbol("deps")))
      for (const Entry& e : needs->value.entries()) {
        const Entry* is_default = e.value.find(Symbol("default"));
        m.needs[std::string(e.key.text())] = {
            text(e.value, "v"), is_default && is_default->value.is(Kind::kBool) && is_default->value.as_bool()};
      }
    if (const Entry* custom = tree.find(Symbol("custom")))
      m.custom = sorted(custom->value, TreeBuilder(p_.session().arena));
    return m;
  }

  void write(const Module& m) {
    std::string source = fmt::format("module: {}, language: version: {}\n", quote(m.path), quote(m.version));
    if (!m.source.empty()) source += fmt::format("source: kind: {}\n", quote(m.source));
    for (const auto& [path, need] : m.needs)
      source += fmt::format("deps: {}: {{v: {}{}}}\n", quote(path), quote(need.version),
                            need.is_default ? ", default: true" : "");
    if (m.custom) {
      StringSink json;
      write_json(*m.custom, {.indent = 0}, json);
      source += "custom: " + json.take();
    }
    Result<const Source*> made = p_.sources().add("module.cue", source);
    if (!made) p_.fail(made.error().message);
    Vertex* v = p_.build_files({parse_file(**made, p_.arena()).file}, "");
    p_.context().finalize(v);
    put(file_, format_node(export_value(p_.context(), p_.sources(), "", v, {})));
  }

  // A file that is right is left alone.
  void put(const std::string& path, const std::string& text) {
    Result<std::string> before = read_file(path, ~u64{0});
    if (before && *before == text) return;
    if (Result<void> r = write_file_atomically(path, text); !r) p_.fail_write(r.error());
  }

 private:
  Value value_of(ast::File* file) {
    Vertex* v = p_.build_files({file}, "");
    p_.context().finalize(v);
    if (Bottom* b = p_.validate(v, true, true)) p_.fail(b);
    return to_tree(p_.session(), p_.context(), v);
  }
  static std::string text(const Value& map, std::string_view key) {
    const Entry* e = map.find(Symbol(key));
    return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
  }

  Program& p_;
  std::string file_;
};

void wants_arguments(Program& p, std::size_t n) {
  if (std::size_t given = p.flags().arguments().size(); given != n)
    p.fail(fmt::format("accepts {} arg(s), received {}", n, given));
}

// The import paths of files, each with the literal it is written as.
std::vector<ast::Lit*> imports_of(const ast::File& file) {
  std::vector<ast::Lit*> out;
  for (ast::Node* d : file.decls)
    if (d->kind == ast::Kind::kImport)
      for (ast::Node* s : ast::as<ast::Import>(d)->specs) out.push_back(ast::as<ast::ImportSpec>(s)->path);
  return out;
}

// A path without a host is one of the packages that come with the language.
bool is_standard(std::string_view path) { return path.substr(0, path.find('/')).find('.') == path.npos; }

// The packages that files of the module, or those that they import, need and that are nowhere under its root.
std::set<std::string> missing_packages(Program& p, const std::string& root) {
  std::set<std::string> seen, missing;
  std::vector<const ast::File*> work;
  std::vector<LoadProblem> ignored;  // what is not CUE imports nothing
  for (const std::string& path : cue_files(p, {root + "/..."}))
    if (ast::File* f = p.loader().parse(path, ignored, true)) work.push_back(f);
  while (!work.empty()) {
    const ast::File* f = work.back();
    work.pop_back();
    for (const ast::Lit* lit : imports_of(*f)) {
      std::string path = unquote(lit->text).text;
      if (is_standard(path) || !seen.insert(path).second) continue;
      LoadedPackage* found = p.loader().import(path);
      if (!found || found->files.empty())
        missing.insert(path);
      else
        work.insert(work.end(), found->files.begin(), found->files.end());
    }
  }
  return missing;
}

// The path of an import: mod.test/a/b@v0:name.
struct ImportPath {
  std::string path, version, name;

  explicit ImportPath(std::string text) {
    if (std::size_t colon = text.find_last_of("/:"); colon != text.npos && text[colon] == ':') {
      name = text.substr(colon + 1);
      text.resize(colon);
    }
    std::size_t at = std::min(text.find('@'), text.size());
    path = text.substr(0, at);
    if (at < text.size()) version = text.substr(at + 1);
    if (name.empty()) name = implied();
  }
  // The name of the package that the path alone means; "" for none.
  std::string implied() const {
    std::string last = path.substr(path.rfind('/') + 1);
    return is_identifier(last) && last != "_" && !last.starts_with('#') ? last : "";
  }
  std::string text() const {
    return path + (version.empty() ? "" : "@" + version) + (name == implied() ? "" : ":" + name);
  }
};

// A module's path and its major version, which is v0 where none is said.
std::pair<std::string, std::string> split_module(Program& p, const std::string& path) {
  std::size_t at = path.find('@');
  std::string wrong = wrong_module_path(path);
  if (wrong == "path can contain major version only")
    p.fail(fmt::format("module path {} should contain the major version only", quote(path)));
  if (!wrong.empty()) p.fail(fmt::format("invalid module path {}: {}", quote(path), wrong));
  return {path.substr(0, at), at == path.npos ? "v0" : path.substr(at + 1)};
}

void check_flag(Program& p, std::string_view flag, std::string_view value, const std::string& wrong) {
  if (!wrong.empty()) p.fail(fmt::format("invalid argument \"{}\" for \"--{}\" flag: {}", value, flag, wrong));
}

std::string malformed(const std::string& path) {
  std::string wrong = wrong_module_path(path);
  return wrong.empty() ? "" : fmt::format("malformed module path {}: {}", quote(path), wrong);
}

std::string wrong_source(const std::string& kind) {
  return kind == "self" || kind == "git" ? "" : fmt::format("unrecognized source kind {}", quote(kind));
}

}  // namespace

void run_mod_init(Program& p) {
  const std::vector<std::string>& args = p.flags().arguments();
  if (args.size() > 1) p.fail("too many arguments");
  std::string path = args.empty() ? "cue.example" : args[0];
  if (std::string wrong = malformed(path); !wrong.empty()) p.fail(wrong);
  std::string dir = p.dir() + "/cue.mod";
  std::error_code ec;
  if (fs::exists(dir, ec))
    p.fail(fs::is_directory(dir, ec) ? "cue.mod directory already exists"
                                     : "cue.mod files are no longer supported; use cue.mod/module.cue");
  std::string version = p.flags().text("language-version");
  if (version == "current") version = kLanguageVersion;
  if (std::string wrong = wrong_language_version(version); !wrong.empty()) p.fail(wrong);
  std::string text = fmt::format("module: {}\nlanguage: {{\n\tversion: {}\n}}\n", quote(path), quote(version));
  if (std::string s = p.flags().text("source"); !s.empty()) {
    if (std::string wrong = wrong_source(s); !wrong.empty()) p.fail(wrong);
    text += fmt::format("source: {{\n\tkind: {}\n}}\n", quote(s));
  }
  fs::create_directory(dir, ec);
  if (Result<void> r = write_file_atomically(dir + "/module.cue", text); !r) p.fail_write(r.error());
}

void run_mod_edit(Program& p) {
  const CommandFlags& flags = p.flags();
  std::string version = flags.text("language-version"), module = flags.text("module"), source = flags.text("source");
  if (version == "current") version = kLanguageVersion;
  if (flags.given("language-version")) check_flag(p, "language-version", version, wrong_language_version(version));
  if (flags.given("module")) check_flag(p, "module", module, malformed(module));
  if (flags.given("source")) check_flag(p, "source", source, wrong_source(source));
  if (flags.given("drop-source") && !flags.on("drop-source"))
    check_flag(p, "drop-source", flags.text("drop-source"), "cannot set --drop-source to false");
  for (const std::string& path : flags.all("require")) check_flag(p, "require", path, wrong_required_module(path));
  for (const std::string& path : flags.all("drop-require")) check_flag(p, "drop-require", path, malformed(path));
  for (const char* flag : {"replace", "drop-replace"})
    if (flags.given(flag)) p.fail(fmt::format("cue mod edit --{} is not supported: no module is replaced", flag));
  wants_arguments(p, 0);
  ModuleEditor editor(p);
  Module m = editor.read();
  if (flags.given("language-version")) m.version = version;
  if (flags.given("module")) m.path = module;
  if (flags.on("drop-source")) m.source.clear();
  if (flags.given("source")) m.source = source;
  for (const std::string& path : flags.all("require")) {
    std::size_t at = path.find('@');
    m.needs[path.substr(0, path.find('.', at))].version = path.substr(at + 1);
  }
  for (const std::string& path : flags.all("drop-require")) m.needs.erase(path);
  editor.write(m);
}

void run_mod_rename(Program& p) {
  wants_arguments(p, 1);
  ModuleEditor editor(p);
  Module m = editor.read();
  const std::string& wanted = p.flags().arguments()[0];
  if (m.path == wanted) return;
  auto [old_path, old_major] = split_module(p, m.path);
  auto [new_path, new_major] = split_module(p, wanted);
  m.path = wanted;
  editor.write(m);
  for (const std::string& file : cue_files(p, {editor.root() + "/..."})) {
    std::vector<LoadProblem> problems;
    ast::File* f = p.loader().parse(file, problems);
    if (!f) p.fail(problems);
    bool changed = false;
    for (ast::Lit* lit : imports_of(*f)) {
      ImportPath import(unquote(lit->text).text);
      if (!(import.path + "/").starts_with(old_path + "/")) continue;
      if (import.name.empty())
        p.fail(fmt::format("import path {} has no implied package qualifier", quote(unquote(lit->text).text)));
      if (!import.version.empty() && import.version != old_major) continue;
      import.path.replace(0, old_path.size(), new_path);
      if (!import.version.empty()) import.version = new_major;
      lit->text = p.arena().copy(std::string_view(quote(import.text())));
      changed = true;
    }
    if (changed) editor.put(file, format_node(f));
  }
}

void run_mod_tidy(Program& p) {
  wants_arguments(p, 0);
  ModuleEditor editor(p);
  Module m = editor.read(true);
  const std::set<std::string> missing = missing_packages(p, editor.root());
  bool check = p.flags().on("check");
  if (!missing.empty())
    p.fail(check ? "module is not tidy, use 'cue mod tidy': missing dependency providing package " + *missing.begin()
                 : fmt::format("failed to resolve {}: nothing is fetched from a network; put the package under "
                               "cue.mod/pkg",
                               quote(*missing.begin())));
  if (check) {
    if (!m.needs.empty()) p.fail("module is not tidy, use 'cue mod tidy'");
    return;
  }
  m.needs.clear();
  if (!p.flags().on("local-only")) editor.write(m);
  std::error_code ec;
  std::string local = editor.root() + "/cue.mod/local-module.cue";
  if (Result<void> inside = may_write(local); !inside) p.fail_write(inside.error());
  fs::remove(local, ec);
}

}  // namespace tutti::cue
