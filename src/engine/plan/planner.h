#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/plan/moments.h"
#include "engine/plan/plan.h"
#include "engine/plan/words.h"
#include "model/read.h"

// How a plan is made, a file for each stage: gather (which instances there are), decide (what each has to do for its
// own sake), between (where a run left it on its way), interrupt (what follows for those that use them), order (who
// before whom), invariants (what must hold throughout), emit (the program).
namespace tutti::engine {

using model::Component;
using model::ComponentKind;
using model::ComponentType;
using model::Deployment;
using model::Need;

// An instance in the plan: there already, or to be added.
struct Item {
  std::string component, instance;
  u32 generation = 1;
  ComponentKind kind;
  const RecordedComponent* was = nullptr;  // nullptr: to be added
  const Component* want = nullptr;         // nullptr: to be removed
  std::vector<Need> old_needs, new_needs;
  std::vector<Need> dropped;  // of what it had, what it no longer needs: its type has no such port any more
  const ComponentType* type = nullptr;
  std::string type_name;
  std::vector<Symbol> stands;  // where: names of elements
  Marking at;                  // the same, by its type's numbers
  Symbol goal;
  std::vector<u32> first, second;    // behaviours before and after its links are changed
  bool linked_first = false;         // they are changed before all of that
  bool makes_way = false;            // its successor holds what it holds: it is gone before that comes
  bool down = false;                 // what it provides was found not to run
  std::vector<Need> unlink, link;    // of the old and the new needs
  std::vector<model::Order> orders;  // those that count in this plan
  std::set<Symbol> gated;            // ports of what it begins to use, which count from when it comes back
  std::set<Symbol> resting;          // ports of what it uses that goes down and comes back while it stays as it is
  std::optional<PlanChange> change;

  bool busy() const { return !first.empty() || !second.empty(); }
  bool half_way() const {
    return std::any_of(at.begin(), at.end(), [&](u32 e) { return !type->is_place(e); });
  }
  std::vector<u32> word() const {
    std::vector<u32> w = first;
    w.insert(w.end(), second.begin(), second.end());
    return w;
  }
};

// It has not begun to act, and no other has left it anything.
bool never_came_to_it(const RecordedComponent& was);

// Where two values differ, by path.
void differences(const Value& a, const Value& b, std::string path, std::vector<PlanChange::Detail>& out,
                 bool secret = false);

// The keys of two configurations that differ, at their top.
std::vector<Symbol> changed_keys(const Value& a, const Value& b);

// What a type says of a changed setting, where it makes a difference which others the component has.
const Value* change_rule(const ComponentKind& kind, std::string_view key, const Component& want);

// Whether a word leads through the place.
bool visits(const Item& item, Marking m, const std::vector<u32>& word, u32 place);

// Whose old one, or new one that never came up, a recorded component is: "db" of "db~db#2"; "db" of "db" itself.
std::string_view left_of(std::string_view name);

// Those of the wanted component, or of the one that was.
const std::vector<model::Order>& all_orders(const Item& item);

class Planner {
 public:
  Planner(Session& session, const Deployment& wanted, const Recorded& recorded, const PlanOptions& options)
      : session_(session),
        wanted_(wanted),
        recorded_(recorded),
        options_(options),
        builder_(session.arena),
        invariants_(wanted.invariants) {}

  std::optional<Plan> make();

 private:
  std::size_t index_of(const Item& item) const { return static_cast<std::size_t>(&item - items_.data()); }
  // Wanted to be gone, and never made by us: it is taken to be there, whoever made it, and goes.
  static bool to_be_cleared(const Item& item) {
    return !item.was && item.generation == 1 && item.goal == item.kind.removed && item.goal != item.kind.goal;
  }
  bool goes(const Item& item) const { return item.was && !item.want && !kept_.count(index_of(item)); }

  // ---- gather.cpp: which instances there are, what becomes of each as a whole

  bool looked_at(const std::string& name) const;
  void gather();
  struct Gathering {
    std::vector<Item> fresh;                       // those to add
    std::set<std::string, std::less<>> instances;  // names that are taken
  };
  void check_only() const;        // names of --only that nobody has
  void check_only_needs() const;  // what those use is there, or is looked at, too
  void add(Gathering& g, const Component& c, u32 generation) const;
  Item recorded_item(const std::string& name) const;
  void stay_or_replace(Gathering& g, Item& item);
  void replace(Gathering& g, Item& item, const std::string& why);
  void remove(Item& item) const;
  PlanChange change_of(PlanChange::Kind kind, const std::string& name, const Component& want,
                       const RecordedComponent& was);
  // Settings that are written otherwise than they were, or refer to what is otherwise now.
  std::vector<Symbol> changed_settings(const Component& want, const RecordedComponent& was) const;
  std::string must_replace(const Component& want, const RecordedComponent& was) const;
  // Whether its type is another one, and not only another name for the same life.
  bool lives_otherwise(const Component& want, const RecordedComponent& was) const;
  // The setting because of which its type wants another one in its place; empty where there is none.
  Symbol replacing_setting(const Component& want, const RecordedComponent& was) const;
  const Present* present(const std::string& component) const {
    auto it = options_.present.find(component);
    return it == options_.present.end() ? nullptr : &it->second;
  }

  // ---- decide.cpp: what each has to do for its own sake

  // On the way down whoever came after another goes before it, because its actions may refer to it; unless policies of
  // the component model say how they go.
  bool goes_before(const Item& item, const Need& n) const;
  bool compile_types();
  std::optional<std::vector<u32>> path(const Item& item, const Marking& from, Symbol goal);
  std::vector<u32> behaviours(const Item& item, const Value& names);
  void decide(Item& item);
  void decide_new(Item& item);
  void decide_gone(Item& item);
  // One that is there and stays: what changes of it, and the word that brings it there.
  struct Staying {
    Item& item;
    PlanChange change;
    std::vector<Symbol> keys = {};  // of its settings, those that changed
    std::vector<u32> word = {};     // behaviours
    bool there = false;             // it stands where it is wanted
    bool anew = false;              // its type, or what it read from others, has changed
    bool all_of_it = false;         // it is changed as for any setting, whether one has changed or not
    bool drifted = false;           // found otherwise than it was left
    bool again = false;             // what an earlier run did for it is done again
  };
  void decide_staying(Item& item);
  // Links: those that are no more or lead elsewhere now.
  void change_links(Staying& s) const;
  // What its type says of the settings that have changed.
  void choose_word(Staying& s);
  // What was found otherwise, what failed, and what lies behind one that is on its way.
  void mend(Staying& s);
  static PlanChange::Kind kind_of(const Staying& s);
  // Where only files are otherwise, what is done when they change; else what is done for any change. Either way
  // everything is looked at before it is touched.
  std::vector<u32> repair(const Item& item, const std::vector<Deviation>& found);
  // What was found not to run stands where the service has just ended, and is brought up from there. (Not where
  // somebody who is up uses it: that one must leave it first, which the rules allow only while it is provided.)
  void stand_down(Item& item, std::vector<u32>& word) const;
  bool in_use(const Item& item) const;
  // Cuts the word where the ports whose links change are inactive; where it has no such moment, a detour makes one for
  // those that it must let go of. What it begins to use may come to it while it is up.
  void split(Item& item, std::vector<u32> word);

  // ---- between.cpp: what a run left on its way

  // Whether a run that did not come to its end left it where it stands.
  static bool between(const Item& item);
  // What failed on its way up is removed as if it had come up: every action looks before it touches, and nothing is
  // started only to be stopped. What had not begun to act leaves nothing to remove.
  static void take_as_made(Item& item);
  // Settings that are others than those that it was brought to where it stands with.
  std::vector<Symbol> changed_since_tried(const Item& item) const;
  // Whether anything that was done to bring it there counts on its way on, and would not be done again.
  static bool done_otherwise(const Item& item);
  // How it comes to be as its settings are now: the word that its type has for such a change where that leads on from
  // where it stands, or where it had come up before; else all the way down.
  std::vector<u32> begin_again(Item& item, const std::vector<u32>& word);

  // ---- interrupt.cpp: what follows for the others

  // Whoever holds a port that is dropped must let go of it first, and may come back after: until nothing more follows.
  void propagate();
  // Whether it can stay where it is while what it uses goes down and comes back (`rest` of its type).
  bool can_rest(const Item& user, const Need& n) const;
  // Who goes down for its own sake after all lets go of everything, as long as that is there.
  void rest_no_longer();
  // What was done with a thing that is made anew is done again; what is protected is not made anew.
  void follow_what_is_made_anew();
  // Who goes down and comes back needs what it begins to use only then: on the way down it cannot have it yet.
  void count_from_return();
  std::optional<std::size_t> ordered_after(const Item& item, const model::Order& o) const;
  bool takes_turns(const Item& later, const Item& sooner) const;
  // An order counts where one enters the place in this plan and the other is on its way to provide the port for good.
  // Where both only go down and come up again they take turns instead, in the same order.
  void count_orders();
  // Whether a word of its own has a moment without the port.
  bool lets_go(const Item& item, u32 port) const;
  bool interrupted(const Item& item) const;

  // ---- order.cpp: who before whom

  std::optional<std::size_t> item_of(const std::map<std::string, std::size_t>& by, Symbol component) const;
  void order();
  // What the ports see to: users leave before what they use goes down, and come when it is up.
  void follow_ports();
  // Who begins to use something while it is up finds it there.
  void link_in_use();
  void come_after(std::size_t i);
  // What one that goes does as it leaves is done before what it uses goes: by then it no longer holds that.
  void leave_before(std::size_t i);
  // Who makes way for its successor goes before that comes.
  void make_way(std::size_t i);
  // One that goes, and one that comes and is the same but for the name: the first makes room, because both would hold
  // the same thing.
  void follow_renamed(std::size_t i);
  std::optional<std::size_t> renamed_as(std::size_t i) const;  // the one that comes, where `i` is such a one
  // What goes, goes last.
  void go_last(std::size_t i);

  // ---- invariants.cpp: what must hold throughout

  struct Members {
    std::vector<std::size_t> interrupted, coming, going;  // those that are up, that are not yet, that are up and go
    u32 up = 0;
  };
  // Those that go count as long as they are there: `app*` are also the ones that only the record has.
  void count_what_goes();
  // One that the wanted system itself breaks is a mistake in it, whatever there is to do.
  void hold_when_all_is_done();
  using Group = std::vector<std::size_t>;
  Members members_of(const model::Invariant& inv) const;
  // Those that are down at the same time, whatever the order: they use something that is interrupted.
  std::vector<Group> down_together(const Members& members) const;
  void keep(const model::Invariant& inv);
  // The way from a user to what it uses, by names: {"app", "cache", "db"}.
  std::vector<std::string> uses_path(std::size_t from, std::size_t to) const;
  // Why these are down at the same time: whom they use that is changed for its own sake.
  std::string why_down(const std::vector<std::size_t>& group) const;

  // ---- emit.cpp: the program

  void instruction(std::initializer_list<Value> words);
  void push(std::size_t i, const std::vector<u32>& behaviours);
  void connect(std::size_t i, const Need& n);
  void disconnect(std::size_t i, const Need& n);
  void link_orders(std::size_t i, std::string_view op);
  // How many of its first behaviours take nothing away from anybody, where a later one does: what is made ready (an
  // image pulled) before anybody is interrupted.
  std::size_t made_ready(const Item& item) const;
  // Providers before users: then a provider that goes down refuses whoever would come back too early.
  std::vector<std::size_t> providers_first() const;
  void emit();
  Value flat();
  PlannedInstance planned(std::size_t i) const;
  // Of an instance that is there already what an action has to know of it.
  void add_what_is_there(const Item& item, PlannedInstance& p) const;
  Value number(std::size_t i) { return Value::integer(static_cast<i64>(i)); }

  Session& session_;
  const Deployment& wanted_;
  const Recorded& recorded_;
  const PlanOptions& options_;
  TreeBuilder builder_;
  std::vector<Item> items_;  // those that are there, then those to add
  std::vector<model::Invariant> invariants_;
  std::size_t existing_ = 0;
  std::set<std::size_t> kept_;  // not looked at: they stay as they are
  std::set<std::string> replaced_;
  std::map<std::string, std::size_t> by_old_, by_new_;
  std::vector<std::shared_ptr<ComponentType>> types_;
  Value types_tree_;
  std::vector<std::pair<std::size_t, std::size_t>> turns_;  // by policies: the second one after the first
  std::optional<Moments> moments_;
  std::map<const model::Invariant*, std::string> cannot_;  // why an invariant cannot be kept
  std::vector<Value> program_;
  std::set<std::size_t> pending_;
  Plan plan_;
};

}  // namespace tutti::engine
