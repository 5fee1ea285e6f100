#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/cue/compile/compile.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/load/packages.h"
#include "tree/session.h"

namespace tutti::cue {

struct LoadOptions {
  std::vector<std::string> files;  // .cue files and folders of packages, all of one instance
  std::vector<std::string> tags;   // NAME or NAME=VALUE
  std::string directory;           // absolute; the current one when empty
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
  // The same, unified with trees of other languages; with an expression (`#Catalog`) only what that means in the
  // files is. nullptr with errors() when there is no such thing.
  Vertex* evaluate_with(std::span<const Value> data, const std::string& schema = {});

  Session& session() { return session_; }
  Context& context() { return *context_; }
  NodeStore& store() { return store_; }
  Vertex* root() { return root_; }
  const std::vector<ast::File*>& files() const { return files_; }
  const std::string& package() const { return package_; }
  const std::vector<FlatError>& errors() const { return errors_; }
  CompileInput scope() const;

 private:
  bool parse(const Source* source);
  bool compile();
  Node* expression(const std::string& text);  // in the scope of the files; nullptr with errors()
  Vertex* compile_files(const std::vector<ast::File*>& files, const std::string& package);
  Vertex* import(Symbol path);
  void problems(const std::vector<LoadProblem>& list);

  Session& session_;
  Room arena_;  // everything made for this instance
  NodeStore store_{arena_};
  Budget budget_;
  std::unique_ptr<Context> context_;
  Vertex* root_ = nullptr;
  std::vector<ast::File*> files_;
  std::string package_;
  std::vector<FlatError> errors_;
  std::unique_ptr<PackageLoader> loader_;
  std::map<std::string, Vertex*> packages_;  // by import path
};

// Errors as diagnostics, with cue's words.
void report(Session& session, std::span<const FlatError> errors);

struct TreeOptions {
  bool definitions = true, hidden = true, optional = false;
  bool leaves = false;  // for --out leaves: a list that has definitions too becomes a map of both
  bool reveal = false;  // also in the words of errors
};

// The result as the common tree: defaults taken, what is not concrete as an open value, errors where they are.
Value to_tree(Session& session, Context& context, Vertex* v, const TreeOptions& options = {});
inline Value to_tree(Instance& instance, Vertex* v, const TreeOptions& options = {}) {
  return to_tree(instance.session(), instance.context(), v, options);
}

}  // namespace tutti::cue
