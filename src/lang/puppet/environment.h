#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/puppet/syntax/parser.h"
#include "tree/session.h"

namespace tutti::puppet {

class DataFiles;
class OwnTypes;
struct NativeType;

struct Module {
  Symbol name;
  std::string path;
};

// A function that a module brings in Ruby.
struct RubyFunction {
  std::string file;
  bool old = false;  // the interface of before Puppet 4 (lib/puppet/parser/functions)
  const Module* module = nullptr;
};

struct Settings {
  std::string environment_dir;  // empty: none
  std::string environment_name = "production";
  std::vector<std::string> modulepath;
  bool strict_variables = false;
  enum class Strict : u8 { kOff, kWarning, kError };
  Strict strict = Strict::kWarning;
  std::string enc;             // external node classifier: a program, a file, or a folder of NAME.yaml; empty: none
  std::string hiera_config;    // the hiera.yaml of the global layer; empty: none
  bool storeconfigs = false;   // exported resources are collected
  std::string exported_file;   // those of other nodes (JSON); empty: there are none
  bool facts_of_host = false;  // the facts are those of this host: what modules bring is asked for when it is wanted
};

// What all nodes of a site share: parsed files, modules, the definitions found in them. Safe to use from several
// threads; a file is parsed once, whoever asks first.
class Environment {
 public:
  Environment(Settings settings, std::shared_ptr<Sources> sources, const Limits& limits);
  ~Environment();

  u64 number() const { return number_; }  // no two in the life of the program have the same
  const Settings& settings() const { return settings_; }
  Sources& sources() { return *sources_; }
  const std::shared_ptr<DataFiles>& data_files() const { return data_files_; }
  // What other nodes export, a list of {certname, type, title, parameters, tags}: from Settings::exported_file, read
  // once, or what was found. nullptr: there is none. Throws EvalError when the file cannot be read.
  const Value* exported(Pos asked_at);
  void set_exported(std::string json);  // before nodes are compiled that are to see it

  // Parses a manifest given by the user and adds its definitions. Syntax errors go to `diagnostics`.
  const Program* add_manifest(const Source& source, Diagnostics& diagnostics);
  // A parsed file or template, or nullptr after errors (reported each time, so that every node hears of them).
  const Program* load(const std::string& path, LexMode mode, Diagnostics& diagnostics);
  // Text that was made during evaluation (inline_epp).
  const Program* parse_text(std::string name, std::string text, LexMode mode, Diagnostics& diagnostics);

  // Definitions by full name without leading ::, loaded from a module when they are not known yet. nullptr: there is
  // none.
  const Definition* find_class(Symbol name, Diagnostics& d) { return find(NodeKind::kClass, name, d); }
  const Definition* find_define(Symbol name, Diagnostics& d) { return find(NodeKind::kDefine, name, d); }
  const Definition* find_function(Symbol name, Diagnostics& d) { return find(NodeKind::kFunction, name, d); }
  const Definition* find_type(Symbol name, Diagnostics& d) { return find(NodeKind::kTypeAlias, name, d); }
  const std::vector<const Definition*>& nodes() const { return nodes_; }

  // The name of a class or define that is nearest to one that was not found, or "".
  std::string nearest_name(NodeKind kind, std::string_view name);

  const Module* module(std::string_view name);          // nullptr: not installed
  const Module* module_of(const Source* source) const;  // the module a file belongs to
  const std::vector<const Module*>& modules();          // by name
  const RubyFunction* ruby_function(Symbol name);       // nullptr: no module has one
  // Whether a native function that is made after one of the module `origin` is the one to call: that module has it, or
  // is not there, and no other one has its own.
  bool native_function_counts(Symbol name, std::string_view origin);
  // A resource type that is implemented in Ruby: a module's own, else the one that the program knows. nullptr: none.
  // `warning` is set where not all is known of it.
  const NativeType* native_type(std::string_view name, std::string* warning = nullptr);
  // A file of a module: "mod/file.erb" in its `templates` or `files`; an absolute path is itself. Empty: not found.
  std::string module_file(std::string_view folder, std::string_view name);

 private:
  const Definition* find(NodeKind kind, Symbol name, Diagnostics& d);
  const Definition* known(NodeKind kind, Symbol name) const;
  void add_definitions(const Program& program, const Module* module, Diagnostics& d);
  std::vector<std::string> candidates(NodeKind kind, std::string_view name);
  void check_module_file(const Program& program, const Module& module, NodeKind kind, Diagnostics& d);
  void scan_modules();

  u64 number_;
  Settings settings_;
  std::shared_ptr<Sources> sources_;
  std::shared_ptr<DataFiles> data_files_;
  std::unique_ptr<OwnTypes> own_types_;
  Limits limits_;
  mutable std::shared_mutex mutex_;
  std::recursive_mutex load_mutex_;
  Arena arena_;
  std::once_flag exported_once_;
  std::unique_ptr<Session> exported_session_;  // in which it was read
  std::optional<Value> exported_;
  std::string exported_wrong_;
  std::vector<std::unique_ptr<Program>> programs_;
  struct Loaded {
    const Program* program = nullptr;
    std::unique_ptr<Diagnostics> diagnostics;
  };
  std::unordered_map<std::string, Loaded> files_;
  std::unordered_map<Symbol, const Definition*> classes_, defines_, functions_, types_;
  std::unordered_map<Symbol, bool> missing_[4];
  std::vector<const Definition*> nodes_;
  std::once_flag modules_once_;
  std::vector<std::unique_ptr<Module>> modules_;
  std::vector<const Module*> module_list_;
  std::unordered_map<Symbol, const Module*> modules_by_name_;
  std::once_flag ruby_functions_once_;
  std::unordered_map<Symbol, RubyFunction> ruby_functions_;
};

}  // namespace tutti::puppet
