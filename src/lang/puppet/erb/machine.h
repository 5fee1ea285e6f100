#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/puppet/erb/syntax.h"
#include "lang/puppet/erb/value.h"
#include "lang/puppet/functions/function.h"

namespace tutti::puppet::erb {

// What a template shares with those it calls.
struct Rendering {
  explicit Rendering(Budget& budget) : heap(budget) {}
  Heap heap;
  std::vector<std::pair<std::string, Any>> variables;  // by scope.setvar
  bool changed = false;                                // something that a variable of the manifest holds
  std::vector<std::pair<std::string, Any>> changes;    // those variables, as they are now
};

// Runs one template. The syntax is in render.cpp, the methods of values are in methods.cpp.
class Machine {
 public:
  Machine(Compiler& compiler, Scope& scope, Rendering& rendering, Pos at);
  std::string run(const Template& t);

 private:
  // The local variables of the template or of a call of a block.
  struct Frame {
    Frame* parent = nullptr;
    std::vector<Any> slots;
  };
  struct Next {
    Any value;
  };
  struct Break {
    const Node* call;  // the call whose block it leaves
    Any value;
  };
  struct Variable {
    std::string_view name;
    Any value;
    bool set = false;  // by the template
  };
  struct Return {
    Any value;
  };
  using Args = std::span<const Any>;

  // --- render.cpp
  Any evaluate(const Node* n);
  Any evaluate_call(const Node& n);
  Any evaluate_case(const Node& n);
  std::string join_pieces(const Node& n);
  void list_items(const Node& n, std::size_t from, std::vector<Any>& out);
  Variable& variable(std::string_view name);
  bool method_call(std::string_view name, Args args, Any& out);
  // Before a change of an array or a hash. One that would contain itself is left to Ruby.
  template <typename Container>
  void about_to_change(Container& c, Args added = {}) {
    for (const Any& v : added)
      if (reaches(v, &c)) throw Unsupported{"an array in itself"};
    if (c.foreign && !c.own_variable) throw Unsupported{"a change of a value of the manifest"};
    if (c.foreign) rendering_.changed = c.changed = true;
  }
  void note_changes();
  void written();  // checks how much text there is
  Any set_index(const Any& receiver, const Any& index, const Any& value);
  Any yield(Args args);  // the block of the call that is being made
  Any yield(const Any& a) { return yield(Args(&a, 1)); }
  Any yield(const Any& a, const Any& b) {
    const Any both[2] = {a, b};
    return yield(Args(both));
  }
  void bind(Frame& frame, std::span<const BlockParam> params, Args args);
  Any scope_method(std::string_view name, Args args);
  Any own_function(std::string_view name, Args args);
  Any puppet_function(std::string_view name, const Any& args);

  // --- methods.cpp; false: there is no such method here
  Any send(const Any& receiver, std::string_view name, Args args);
  bool any_method(const Any& v, std::string_view name, Args args, Any& out);
  bool number_method(const Any& v, std::string_view name, Args args, Any& out);
  bool string_method(const Any& v, std::string_view name, Args args, Any& out);
  bool substitute(const Any& v, std::string_view name, Args args, Any& out);
  bool list_method(const Any& v, std::string_view name, Args args, Any& out);
  bool list_change(const Any& v, std::string_view name, Args args, Any& out);
  bool map_method(const Any& v, std::string_view name, Args args, Any& out);
  // What lists and hashes have in common; a hash is a list of pairs here.
  bool enumeration(const Any& v, const std::vector<Any>& items, std::string_view name, Args args, Any& out);
  Any element(const Any& v, Args args);  // []
  Any element_of_text(const std::string& text, Args args);
  Any split(const std::string& text, Args args);
  bool class_method(const Any& v, std::string_view name, Args args, Any& out);
  bool search(const Any& regex, const std::string& text);  // and remembers the groups
  bool is_a(const Any& v, const Any& type);
  bool matches(const Any& pattern, const Any& v);  // ===
  Any sum(const Any& a, const Any& b);
  Any arithmetic(char op, const Any& a, const Any& b);
  Any flat(const std::vector<Any>& items, i64 levels);
  void join(std::string& out, const std::vector<Any>& items, std::string_view between);
  std::vector<Any> pairs_of(const Any& map);
  std::vector<Any> sorted(std::vector<Any> items, const std::function<int(const Any&, const Any&)>& order);
  bool has_block() const { return block_ != nullptr; }

  Compiler& compiler_;
  Scope& scope_;
  Pos at_;
  Budget& budget_;
  Rendering& rendering_;
  Heap& heap_;
  Frame* frame_ = nullptr;
  // The block of the call that is being made, and the variables it sees.
  const Block* block_ = nullptr;
  const Node* block_call_ = nullptr;
  Frame* block_frame_ = nullptr;
  std::vector<Variable> variables_;  // that were asked for
  std::vector<std::pair<std::string_view, const Block*>> methods_;
  // The last match: what $1 is of.
  bool matched_ = false;
  std::string matched_text_;
  std::vector<i32> groups_;
  std::string out_;
};

}  // namespace tutti::puppet::erb
