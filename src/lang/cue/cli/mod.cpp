// mod init, edit and rename: what can be done with the module alone. What needs others is in mod_registry.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/boundary.h"
#include "base/file.h"
#include "format/json.h"
#include "lang/cue/cli/module_editor.h"
#include "lang/cue/cli/plan.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/load/instance.h"
#include "lang/cue/load/module_file.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

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

void run_mod_fix(Program& p) {
  wants_arguments(p, 0);
  ModuleEditor editor(p);
  editor.write(editor.read_legacy());
}

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
      ImportName import(unquote(lit->text).text);
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

}  // namespace tutti::cue
