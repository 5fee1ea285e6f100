#pragma once

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/cue/eval/vertex.h"
#include "lang/cue/syntax/ast.h"

namespace tutti::cue {

// A struct of the output while it is made: what is in it so far, and what references to its fields are called.
struct OutputScope {
  const Vertex* shows = nullptr;  // the evaluated struct, where there is one
  std::vector<ast::Node*> decls;

  struct Name {
    ast::Field* field = nullptr;
    std::string alias;
  };
  std::unordered_map<u32, Name> names;  // by label
  std::vector<u32> declares;            // labels that a reference written in it would mean, sorted

  struct Let {
    Label label;
    Node* body;
    ast::Let* written = nullptr;  // once something refers to it
  };
  std::vector<Let> lets;

  ast::Field* pattern = nullptr;     // [string]: ..., whose value is being written
  std::string alias_written, alias;  // of the value itself: a: X={...}
  bool bound = false;                // may be found once it is closed
};

// The scopes of an output, from the outermost to the one being written. An expression knows its scope by an
// environment: that of the evaluator, whose vertex is shown, or one that the export made when it opened a literal.
class OutputScopes {
 public:
  OutputScope& open(const Vertex* shows);
  void close();
  std::size_t depth() const { return open_.size(); }
  OutputScope& innermost() { return *open_.back(); }
  bool showing(const Vertex* v) const;

  void bind(const Environment* env, OutputScope& scope) {
    by_env_[env] = &scope;
    scope.bound = true;
  }
  OutputScope* find(const Environment* env, u32 up) const;

  // Innermost first.
  template <class F>
  OutputScope* search(F&& wanted) const {
    for (auto s = open_.rbegin(); s != open_.rend(); ++s)
      if (wanted(**s)) return s->get();
    return nullptr;
  }

  // Is a field of this label declared further in than `scope`?
  bool hidden(const OutputScope& scope, u32 label) const;

  // Names that mean something in the output; one that is not taken yet, like `base`.
  void reserve(std::string_view name) { taken_.emplace(name); }
  std::string fresh_name(std::string_view base);

 private:
  std::vector<std::unique_ptr<OutputScope>> open_, closed_;  // of the closed ones those that were bound
  std::unordered_map<const Environment*, OutputScope*> by_env_;
  std::set<std::string, std::less<>> taken_;
};

// The scope so many steps up, as the evaluator counts them.
const Environment* outer_scope(const Environment* env, u32 up);

}  // namespace tutti::cue
