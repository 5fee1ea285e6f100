#pragma once

#include <optional>
#include <vector>

#include "lang/smartfrog/eval/order.h"
#include "lang/smartfrog/eval/store.h"
#include "tree/session.h"

namespace tutti::smartfrog {

// What happened to an attribute while the store was built, for `tutti why`.
struct CoreEvent {
  enum class What : u8 { kWritten, kPlaced, kLinked, kInherited, kEmptied, kGone };
  What what;
  Pos at;        // the attribute, reference or prototype that did it
  Symbol from;   // the reference or prototype, as written
  bool created;  // the attribute was not there before: this decided its position
};

// The core language compiled: definitions 4 to 27 with the same result, order included, or the same error at the same
// place as reference/reference.h. Stores are changed in place and shared copies are taken apart only where they change;
// blocks are kept on a stack of our own. After an error evaluation goes on to find others; what failed is left out and
// nothing that depends on it is reported again.
class CoreCompiler {
 public:
  explicit CoreCompiler(Session& session) : session_(session), stores_(session.arena) {}

  // SF[[B]]: the value of sfConfig, or nothing after an error.
  std::optional<Value> run(const Body& spec);

  // Writes down what happens to the attribute at this path from the root (sfConfig included) while running.
  void watch(std::vector<Symbol> path) { watched_ = std::move(path); }
  const std::vector<CoreEvent>& events() const { return events_; }
  Pos watched_placed() const { return watched_placed_; }
  const OrderRule* watched_rule() const { return watched_rule_; }  // that has a say in its position

  // Off for the comparison with the reference, where only the first error counts.
  bool warn_about_order = true;

  // Give what there is after an error too; what could not be found is an error in the tree.
  bool partial = false;

 private:
  struct Found {
    Store* store = nullptr;
    const Slot* slot = nullptr;  // nullptr: not found
    bool silent = false;         // not found, but an earlier error explains it
  };
  // A component being composed, or the file.
  struct Frame {
    const Component* component = nullptr;
    const Attribute* attribute = nullptr;
    u32 next_prototype = 0;
    const Body* body = nullptr;  // the block being evaluated
    u32 next_attribute = 0;
    u32 scopes_before = 0;  // the namespace prototypes are resolved in
    Store* target = nullptr;
    bool merging = false;  // extends within a merge block keeps what is there
    bool inherited = false;
    Origin origin;
    u32 highest = 0;  // 1 + position of the last in order of the attributes the block has set
  };
  void evaluate(const Attribute& a);
  void step_component();
  void start_component(const Attribute& a);
  void end_component();
  void end_body(Frame& f);
  void replace_orders(Store* s, std::span<const OrderRule> orders);
  void find_watched_rule(const Store* root);
  Store* parent_of(const Attribute& a, Store* from, bool push_scopes);
  void bind(const Attribute& a, const Value& value, Store* store, Origin origin);
  Slot* set(Store* parent, const Attribute& a, const Value& value, Store* store, Origin origin);
  Found resolve(u32 scopes, const Reference& r);
  Found find(Store* from, const Reference& r, bool& silent) const;
  void inherit(Frame& f, const Prototype& p);
  void copy(Store* to, Store* from);
  void merge(Store* to, Store* from);
  Store* share(Store* s);
  Store* snapshot(Store* s);
  Value basic(const Expr& e);
  void check_order(Frame& f, const Attribute& a, const Slot* slot, bool added);
  void push_scope(Store* s);
  void pop_scopes(u32 count);

  void missing(const char* code, const Reference& r, std::string message, std::string_view definition);
  void note_event(CoreEvent::What what, Pos at, Symbol from);

  Session& session_;
  Stores stores_;
  std::vector<Store*> scopes_;  // from the root to the component being defined
  std::vector<Frame> frames_;
  OrderWarnings order_;
  std::vector<Symbol> watched_;
  std::vector<CoreEvent> events_;
  bool watched_there_ = false;
  bool has_references_ = false;
  bool secrets_ = false;  // something is marked as a secret
  Origin watched_origin_;
  Pos watched_placed_;
  const OrderRule* watched_rule_ = nullptr;
};

// The text of a reference as written: a:b:c.
Symbol reference_symbol(const Reference& r);

}  // namespace tutti::smartfrog
