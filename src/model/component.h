#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/bits.h"
#include "text/diagnostic.h"
#include "tree/value.h"

// Component types of the Concerto model: an internal net of places and transitions, behaviours that say which
// transitions may fire, and ports bound to groups of places. First as written (TypeSource), then compiled into dense
// tables.
namespace tutti::model {

inline constexpr u32 kNone = ~u32{0};

struct Named {
  Symbol name;
  Pos at;
};

// How long an action takes, for estimates and simulation. In seconds, or in whatever unit the user thinks in.
struct Duration {
  enum class Law : u8 { kFixed, kUniform, kNormal, kExponential };
  Law law = Law::kFixed;
  double a = 0;  // fixed: the value; uniform: from; normal and exponential: mean
  double b = 0;  // uniform: to; normal: standard deviation
  double mean() const { return law == Law::kUniform ? (a + b) / 2 : a; }
  static Duration fixed(double seconds) { return {Law::kFixed, seconds, 0}; }
};

struct Retry {
  u32 times = 0;                          // tries after the first
  double delay = 1;                       // seconds before the first of them
  double factor = 2;                      // each next delay is this much longer,
  double most = 60;                       // but no longer than this
  double wait_before(u32 attempt) const;  // attempt 1 is the first retry
};

// What a transition does in the world. The engine knows only how to treat it (time-out, retries); what it is is read by
// the executor from `what`, the user's own map: `run` for a command, whatever a resource wants for a resource.
struct Action {
  Value what;         // null: nothing to do, ends at once
  Duration duration;  // expected
  Retry retry;
  double timeout = 0;       // seconds; 0 is none
  bool idempotent = false;  // may be started again when nobody knows whether it was done
  bool alike = true;        // does the same on every instance of the type (only the Ansible model asks)

  // What looks whether it is done; nullptr when there is nothing.
  const Value* check() const {
    const Entry* e = what.is(Kind::kMap) ? what.find("check") : nullptr;
    return e ? &e->value : nullptr;
  }
};

// ---- as written

struct TransitionSource {
  Named name;
  Named source;
  std::vector<Named> destinations;  // stations or places; several make a switch
  std::optional<Named> on_failure;  // one more destination, taken when the action failed for good
  Action action;
};

struct BehaviourSource {
  Named name;
  std::vector<Named> transitions;
};

struct PortSource {
  Named name;
  std::vector<Named> places;  // its group
  Value data;                 // provide ports: what users get; null: all outputs of the instance
};

struct StationSource {
  Named name;
  Named place;
};

struct TypeSource {
  Named name;
  std::vector<Named> places;
  std::vector<Named> initial;  // at least one
  std::vector<StationSource> stations;
  std::vector<TransitionSource> transitions;
  std::vector<BehaviourSource> behaviours;
  std::vector<PortSource> uses, provides;
};

// ---- compiled

struct Station {
  Symbol name;  // `running@deploy` for the one that a place has by default in each behaviour
  u32 place = 0;
  u32 first_need = 0, needs = 0;  // endings that must all be there, in ComponentType::needs
};

// One way a transition can end.
struct Outcome {
  Symbol name;  // as the user wrote it: what an action's result names
  u32 station = 0;
  u32 ending = 0;  // the element
  bool on_failure = false;
};

// A transition that is in several behaviours is compiled once for each, because its default station differs.
struct Transition {
  Symbol name;
  Pos at;
  u32 source = 0;
  u32 behaviour = kNone;  // kNone: in no behaviour, so it never fires
  u32 first_outcome = 0, outcomes = 0;
  u32 action = 0;    // in ComponentType::actions
  u32 declared = 0;  // index in the order of declaration; the copies of one share it
  bool is_switch() const { return outcomes > 1; }
};

struct Behaviour {
  Symbol name;
  Pos at;
  std::vector<u32> transitions;
};

struct Port {
  Symbol name;
  Pos at;
  bool provide = false;
  std::vector<u32> places;
  Value data;
};

// Elements are what a marking is made of: places, then transitions (running), then endings, in one numbering.
// Ports are numbered uses first.
//
// A marking in which nothing is half way is a set of places. What a run leaves behind, and another begins with, may
// hold transitions and endings too: those that are to be begun again, and those that have ended while others have not.
using Marking = std::vector<u32>;  // elements, sorted

// Where a token is that is half way.
struct HalfWay {
  u32 transition = 0;
  const Outcome* ended = nullptr;  // how it ended; nullptr: it has not
};

class ComponentType {
 public:
  Symbol name;
  Pos at;
  std::vector<Named> places;
  Marking initial;
  std::vector<Station> stations;
  std::vector<u32> needs;
  std::vector<Transition> transitions;
  std::vector<Outcome> outcomes;
  std::vector<Behaviour> behaviours;
  std::vector<Port> ports;
  std::vector<Action> actions;  // one per declared transition
  u32 uses = 0;                 // ports [0, uses) are used, [uses, ports.size()) provided
  u32 elements = 0;

  // Rule S4: elements(G) = the places of G, the transitions whose source and all destinations are in G, their endings.
  BitRows group;     // port -> elements
  BitRows ports_of;  // element -> ports
  // Rule S6: exit places of a port under a behaviour, row behaviour * ports + port, over places. Provide ports only.
  BitRows exits;

  u32 place_element(u32 place) const { return place; }
  u32 transition_element(u32 t) const { return static_cast<u32>(places.size()) + t; }
  bool is_place(u32 e) const { return e < places.size(); }
  bool is_transition(u32 e) const { return e >= places.size() && e < places.size() + transitions.size(); }
  bool is_ending(u32 e) const { return e >= places.size() + transitions.size(); }
  u32 element_transition(u32 e) const { return e - static_cast<u32>(places.size()); }
  std::size_t words() const { return (elements + 63) / 64; }  // of a marking
  std::size_t port_words() const { return (ports.size() + 63) / 64; }

  // Transitions of behaviour b that leave the place.
  std::span<const u32> out(u32 place, u32 b) const {
    std::size_t k = place * behaviours.size() + b;
    return {out_.data() + out_at_[k], out_at_[k + 1] - out_at_[k]};
  }
  std::span<const Outcome> outcomes_of(const Transition& t) const {
    return {outcomes.data() + t.first_outcome, t.outcomes};
  }
  std::span<const u32> needs_of(const Station& s) const { return {needs.data() + s.first_need, s.needs}; }
  const Action& action_of(const Transition& t) const { return actions[t.action]; }

  HalfWay half_way(u32 e) const;  // of a transition or an ending
  // A place by its name, "in start of deploy", "after start of deploy" (of a switch "after start to running of
  // deploy"): for people, and to be stored.
  std::string element_name(u32 e) const;
  u32 find_element(std::string_view n) const;

  u32 find_place(Symbol n) const;
  u32 find_behaviour(Symbol n) const;
  u32 find_port(Symbol n) const;
  u32 find_declared(Symbol n) const;  // declared transition (index into actions) of that name
  Symbol declared_name(u32 declared) const { return declared_names_[declared]; }
  std::size_t bytes() const;

 private:
  friend std::optional<ComponentType> compile(const TypeSource& source, Diagnostics& diagnostics);
  std::vector<u32> out_at_, out_;
  std::vector<Symbol> declared_names_;
};

// Checks and compiles. Errors: unknown or repeated names, a behaviour with a cycle, a place that no transition reaches,
// a port whose group cannot be entered. Warnings: what the model allows but nobody wants (rule S7).
std::optional<ComponentType> compile(const TypeSource& source, Diagnostics& diagnostics);

}  // namespace tutti::model
