#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "lang/smartfrog/eval/order.h"
#include "lang/smartfrog/production/model.h"

namespace tutti::smartfrog::production {

struct Settings {
  std::map<std::string, std::string> properties;  // what PROPERTY finds, before those of the system
  bool keep_links = false;                        // references within the result stay references, for another language
};

// The production language: raw descriptions -> type -> place -> function -> sfConfig -> link -> tree. Each phase
// reports everything it could not do, with the code of the phase (SF-TYPE, SF-PLACE, ...), and ends the compilation if
// there was anything. What only a running system knows (LAZY, HOST, PROCESS) stays in the tree.
class Compiler {
 public:
  Compiler(Session& session, const Settings& settings);

  std::optional<Value> run(const Body& spec);

  // After a run: what decided the position of the attribute at this path, an attribute and perhaps a rule.
  struct Position {
    Pos placed;
    const OrderRule* rule = nullptr;
  };
  Position position(std::span<const Symbol> path) const;

  // Say where a block sets attributes in another order than what it inherits (section 10.4 of the paper).
  bool warn_about_order = false;

  // Give what there is after an error of the link phase too, with what could not be resolved as it is written.
  bool partial = false;

 private:
  // How an attempt to find a value ended.
  enum class Found : u8 { kYes, kLazy, kNo, kCycle };
  struct Argument {
    Symbol name;
    Item item;
  };
  struct Trouble {
    Span where;
    std::string message;
    std::string help;
    Span other;
    std::string other_text;
  };

  // build.cpp: syntax to descriptions, and copies of them
  Description* make_description(Pos begin, Pos end, Description* parent);
  void fill(Description* d, const Body& body);
  void add(Description* d, const Attribute& a);
  Item make_item(const Expr& e, Description* parent);
  Item make_function(const Expr& e, Description* parent);
  Slot* put(Description* d, Symbol key, const Item& item, Pos at);
  void put_text(Description* d, Symbol key, std::string_view text);
  Item copy(const Item& item, Description* parent);
  Description* copy(const Description* d, Description* parent);
  void copy_slots(Description* to, const TableOf<Slot>& from, u32 spare);
  void mark_places(Description* d);
  void set_tags(Slot* s, std::span<const Symbol> tags);

  // types.cpp, phases.cpp: one function for each phase, true when all of it could be done
  bool type_phase(Description* root);
  void resolve_types(Description* d);
  bool take_in_types(Description* d);
  void tell_circle(Description* prototype, Span at);
  bool take_in(Description* d, TableOf<Slot>& from, Span at);
  void inherit_orders(Description* d, std::span<const OrderRule> orders);
  void check_order(const Description* d, const TableOf<Slot>& from);
  void compose(Slot* own, Slot* inherited);
  void mark_merge(Description* d);
  bool place_phase(Description* root);
  void place_all(Description* d);
  bool place(Description* d, const Slot& s);
  bool function_phase(Description* root, Symbol phase);
  bool construct_all(Description* d, Symbol phase);
  void construct(Description* parent, u32 slot, const Slot& wanted);
  void unknown_action(const Slot& wanted);
  void check_phase_left(const Slot& s);
  void construct_function(Description* parent, u32 slot);
  void construct_assertions(Description* parent, u32 slot);
  void construct_schema(Description* parent, u32 slot);
  Description* select_config(Description* root);
  bool link_phase(Description* root);
  void link(Description* d);
  std::vector<Symbol> phases_of(Description* root);

  // resolve.cpp
  Found resolve(Description* at, Item& item, Item& out);
  Found resolve_reference(Description* at, const Reference& r, std::span<const RefPart> parts, Item& out);
  Description* own(Description* at, std::span<const RefPart> parts, int links = 100);
  Found walk(Description* at, std::span<const RefPart> parts, const Reference* whole, Item& out);
  Found value_of(Description* d, u32 slot, Item& out);
  Found find_value(Description* d, u32 slot, Item& out);
  Origin as_inherited(Origin link, Origin value, int most = 16);
  void tell_loop(Description* d, u32 slot);
  void tell_endless(Description* d);
  Found outside(const RefPart& part, Item& out);
  Found apply(Description* at, Item& item, Item& out);
  Found check(Description* at, Item& item, Item& out);
  Found no(std::string why, std::string help = {});

  // functions.cpp
  Found call(std::string_view name, std::vector<Argument>& args, Description* at, Description* own, Item& out);
  Found call_schema(std::vector<Argument>& args, Description* at, Item& out);
  Found call_set(std::vector<Argument>& args, Description* own, Item& out);
  Found arithmetic(Tok op, const Item& a, const Item& b, Item& out);
  bool equal_items(const Item& a, const Item& b);
  std::string java_string(const Item& item);
  std::string shown(const Item& item);

  // text.cpp: as the production compiler prints
  std::string text_of(const Item& item, bool marks = true);
  std::string text_of(const Reference& r);
  void write_slots(std::string& out, const Description* d);
  void write_item(std::string& out, const Item& item);
  std::string name_of(const Description* d);

  // keep.cpp
  void keep_links(Description* d);
  Symbol way_to(Description* from, const Reference& r);
  Symbol from_root(Description* top, std::span<const Symbol> down);

  // finish.cpp
  Value finish(Description* d);
  Value finish(const Item& item);

  void trouble(Span where, std::string message, std::string help = {});
  bool report(const char* code);
  void forget_troubles(std::size_t from);

  Session& session_;
  const Settings& settings_;
  Arena& arena_;
  std::vector<Trouble> troubles_;
  struct Defining {
    Description* component;
    const Reference* extends;
  };
  std::vector<Defining> defining_;  // components whose prototypes are being taken in, outermost first
  std::vector<std::pair<Description*, u32>> linking_in_;  // components whose links are being made, outermost first
  std::set<Description*> circles_;                        // components of circles of prototypes that have been told
  std::vector<std::pair<Description*, u32>> resolving_;   // attributes whose value is being looked for, outermost first
  bool progress_ = false;
  bool copies_all_ = false;  // copies share nothing
  u64 taken_ = 1;            // counts the prototypes that were taken in
  bool endless_ = false;     // a component contains itself: there is no tree
  bool linking_ = false;     // values found may be kept: nothing moves any more
  std::string why_, help_;
  bool reported_ = false;  // what why_ says is among the troubles already
  u32 epoch_ = 1;          // goes on when troubles are forgotten, because something optional covers them
  Description* result_ = nullptr;
  Pos phase_list_;             // where the file has a list of phases
  std::set<Pos> phases_left_;  // places of actions that no phase took
  OrderWarnings order_;
  u32 variables_ = 0;
  i64 next_last_ = -1;
  u64 random_state_ = 0;
  bool random_seeded_ = false;
  bool secrets_ = false;  // something is tagged sfSecret
};

}  // namespace tutti::smartfrog::production
