#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/cue/cli/plan.h"
#include "lang/cue/format/literal.h"

// The module file that the verbs `mod` work on, and the imports of its packages.
namespace tutti::cue {

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
  explicit ModuleEditor(Program& p);

  const std::string& root() const { return p_.loader().root(); }
  const std::string& file() const { return file_; }

  // In errors `tidy` names the file from the root on and says what helps; the others give its whole path.
  Module read(bool tidy = false);
  // As it is where it is right, else as it would have been written before there were versions of the language: what is
  // not known any more is kept under custom.legacy.
  Module read_legacy();
  std::string text_of(const Module& m);  // laid out
  void write(const Module& m) { put(file_, text_of(m)); }
  // A file that is right is left alone.
  void put(const std::string& path, const std::string& text);

 private:
  Value value_of(ast::File* file);

  Program& p_;
  std::string file_;
};

void wants_arguments(Program& p, std::size_t n);
// The import paths of files, each with the literal it is written as.
std::vector<ast::Lit*> imports_of(const ast::File& file);
// A path without a host is one of the packages that come with the language.
inline bool is_standard_path(std::string_view path) { return path.substr(0, path.find('/')).find('.') == path.npos; }

// The path of an import: mod.test/a/b@v0:name.
struct ImportName {
  std::string path, version, name;

  explicit ImportName(std::string text) {
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

void run_mod_fix(Program& p);
void run_mod_get(Program& p);
void run_mod_publish(Program& p);
void run_mod_resolve(Program& p);

}  // namespace tutti::cue
