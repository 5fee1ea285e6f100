#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/arena.h"
#include "lang/cue/syntax/parser.h"
#include "text/diagnostic.h"
#include "text/source.h"

// From the words of a command line to files: packages and their directories, modules, build attributes, tags, imports
// and embedded files. Everything here is about syntax; nothing is evaluated.
namespace tutti::cue {

struct LoadProblem {
  std::string message;
  std::vector<Pos> places;
  std::string near = {};       // the name that may have been meant; "" for none
  std::string_view code = {};  // of its kind of error, where the message does not tell (eval/error_code.h)
  Pos field = {};              // where the field is said that it is about, for a problem without a place
};

// The problem as a diagnostic, with its code, every place and what may have been meant.
Diagnostic& report(Diagnostics& out, const LoadProblem& problem);

// A data file beside CUE: what it holds and how it is to be taken.
struct DataFile {
  std::string path;                         // as given; "-" for standard input
  std::string encoding;                     // json, jsonl, yaml, toml, text, binary, proto, textproto, xml, cue
  std::string interpretation;               // jsonschema, openapi, pb; "" none, "auto" to be found out
  std::string form;                         // schema, data, ...; mostly ""
  std::map<std::string, std::string> tags;  // of the file type: json+strict, xml+koala
  std::string package = {};                 // that a schema read from it is to be in; mostly ""
  std::vector<std::string> include = {};    // folders of imported .proto files; absolute
};

struct LoadedPackage {
  std::string import_path;   // what hidden fields belong to; "" for loose files
  std::string dir;           // absolute
  std::string name;          // of the package clause; "" without
  std::string display;       // as the user named it
  std::string root, module;  // of the module it is in; "" without
  std::vector<ast::File*> files, tools;
  std::vector<DataFile> data;
  std::vector<LoadProblem> problems;
  std::vector<LoadedPackage*> imports;
  bool user = false;  // of files given one by one
};

struct LoaderConfig {
  std::string dir;        // where relative paths start; absolute
  std::string module_of;  // the folder whose module it is; that of `dir` when empty
  std::vector<std::string> tags;
  bool tag_vars = false;
  bool tools = false;         // read _tool.cue files too
  bool data_files = false;    // note the data files of package directories (import)
  bool skip_imports = false;  // syntax only (fmt)
  std::string package;        // -p
  bool fetches = false;       // modules that are not on this machine may be asked for
};

class ModuleCache;
class ModuleGraph;
struct ModuleFile;
struct PackagePlace;

class PackageLoader {
 public:
  PackageLoader(Sources& sources, Arena& arena, LoaderConfig config);
  ~PackageLoader();

  // The instances that patterns (`.`, `./...`, `mod.test/p:name`) and files name. A problem of an instance is with it.
  std::vector<LoadedPackage*> load(const std::vector<std::string>& patterns, const std::vector<DataFile>& files);

  // The package an import path means, loaded; nullptr when there is none.
  LoadedPackage* import(const std::string& path);
  // The name a package declares, for compiling references to it.
  std::string package_name(const std::string& path);

  const std::string& root() const { return root_; }
  const std::string& module() const { return module_; }
  const std::vector<LoadProblem>& problems() const { return problems_; }  // of the whole load
  std::vector<LoadedPackage*> imported() const;                           // all of them
  bool shows_syntax() const { return shows_syntax_; }  // values may be shown as they were written (encoding/yaml)
  // Reads and parses a file; shown to the user relative to the directory of the load.
  ast::File* parse(const std::string& path, std::vector<LoadProblem>& problems, bool imports_only = false);
  const Source* open(const std::string& path, std::vector<LoadProblem>& problems);
  std::string shown(const std::string& absolute) const;
  std::string absolute(const std::string& path) const;

  // Adds what the flags -t and -T say to the fields with @tag; reports tags nobody asked for.
  void inject_tags(const std::vector<LoadedPackage*>& packages);
  // Puts the files that @embed names into their fields.
  void embed(LoadedPackage& p);
  // What embed() put beside what was written: the values of fields, embeddings, imports.
  const std::set<const ast::Node*>& added() const { return added_; }

 private:
  const std::vector<std::string>& listing(const std::string& dir);  // names in it; read once
  struct Directory;
  void find_module();
  void read_local_module();
  ModuleGraph& graph();
  // The package of another module; no place where there is none, with the reason in why_not_.
  std::optional<PackagePlace> find_in_modules(const std::string& import_path);
  // The module that a folder lies in: its root and its path.
  std::pair<std::string, std::string> module_of(const std::string& dir) const;
  LoadedPackage* directory(const std::string& dir, std::string name, const std::string& display, bool explicit_name,
                           bool wildcard, const std::string& import_path);
  void expand(const std::string& pattern, std::vector<LoadedPackage*>& out);
  bool should_build(ast::File* f, std::vector<LoadProblem>& problems, LoadProblem* why);
  bool tag_expression(ast::Node* x, bool& known);
  void load_imports(LoadedPackage& p);
  std::vector<std::string> import_dirs(const std::string& path) const;  // that are there
  LoadedPackage* joined(const std::vector<std::string>& dirs, const std::string& name, const std::string& import_path);

  Sources& sources_;
  Arena& arena_;
  LoaderConfig config_;
  std::string root_, module_;
  bool has_module_file_ = false;
  std::unique_ptr<ModuleFile> main_;
  std::unique_ptr<ModuleCache> cache_;
  std::unique_ptr<ModuleGraph> graph_;
  std::map<std::string, std::string> other_modules_;  // the paths of those that packages were found in, by root
  std::map<std::string, std::string> why_not_;        // for imports
  std::set<const ast::File*> embedded_;  // whose @embed attributes are done; a file may be of several packages
  std::set<const ast::Node*> added_;
  bool module_read_ = false, shows_syntax_ = false;
  std::vector<LoadProblem> problems_;
  std::vector<std::unique_ptr<LoadedPackage>> all_;
  std::map<std::string, LoadedPackage*> by_import_;
  std::vector<std::string> importing_;
  std::map<std::string, bool> used_tags_;
  std::map<std::string, ast::File*> parsed_;
  std::map<std::string, std::vector<std::string>> listings_;
};

// A word of the command line as a file: "x.json", "yaml: x", "-", ... ; nullopt for a package pattern. `next` types
// carry on (json: a b). An error is put in `error`.
bool is_package_arg(const std::string& arg);

}  // namespace tutti::cue
