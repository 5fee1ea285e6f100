#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/cue/compile/compile.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/load/module.h"
#include "lang/cue/load/tags.h"
#include "tree/session.h"

namespace tutti::cue {

struct LoadOptions {
  std::vector<std::string> files;  // .cue files, all of one instance
  std::vector<std::string> tags;   // NAME or NAME=VALUE
  std::string directory = ".";     // in or below the module, if there is one
};

// One set of files evaluated together, with everything it needs: the arena of its nodes, the evaluator, imported
// packages.
class Instance {
 public:
  explicit Instance(Session& session);
  ~Instance();

  // Reads, parses and compiles. False with errors(); nothing can be evaluated then.
  bool load(const LoadOptions& options);
  // From text that is in no file, or was read already.
  bool load_sources(std::span<const Source* const> sources);

  // Evaluates everything. The root is there even when errors were found in it.
  Vertex* evaluate();

  Session& session() { return session_; }
  Context& context() { return *context_; }
  NodeStore& store() { return store_; }
  Vertex* root() { return root_; }
  const std::vector<ast::File*>& files() const { return files_; }
  const std::string& package() const { return package_; }
  const std::vector<FlatError>& errors() const { return errors_; }
  CompileInput scope() const;

 private:
  struct Package {
    enum : u8 { kLoading, kReady, kFailed } state = kLoading;
    Vertex* root = nullptr;
  };
  bool parse(const Source* source);
  bool compile();
  bool compile_files(const CompileInput& in, Vertex** root);
  bool import(Symbol path, Pos at);

  Session& session_;
  Arena arena_;  // everything made for this instance
  NodeStore store_{arena_};
  Budget budget_;
  std::unique_ptr<Context> context_;
  Vertex* root_ = nullptr;
  std::vector<ast::File*> files_;
  std::string package_;
  std::vector<FlatError> errors_;
  std::optional<Module> module_;
  std::unique_ptr<Tags> tags_;
  std::map<u32, Package> packages_;  // by the symbol of their path
};

// Errors as diagnostics, with cue's words.
void report(Session& session, std::span<const FlatError> errors);

struct TreeOptions {
  bool definitions = true, hidden = true, optional = false;
  bool leaves = false;  // for --out leaves: a list that has definitions too becomes a map of both
};

// The result as the common tree: defaults taken, what is not concrete as an open value, errors where they are.
Value to_tree(Instance& instance, Vertex* v, const TreeOptions& options = {});

}  // namespace tutti::cue
