#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/component.h"
#include "tree/session.h"

// A system as a user wants it: components of known types, each with its host, its configuration, the state it should be
// in and what it uses from others. Read from a tree of any language; see docs/deploy.md and schema/.
namespace tutti::model {

// What one component needs of another.
struct Need {
  Symbol port;               // its own name for it; `after` gives after1, after2, ...
  Symbol provider, provide;  // the component and its port
  bool hold = true;          // as long as it is up; otherwise only when it starts
  Pos at;
  bool implied = false;  // nobody wrote it: found anew whenever the system is read
};

// When one does something together with another: it enters a place only after the other provides a port. Unlike a need
// it counts only in plans in which both of them move that way (all of a compound comes up, or goes down).
struct Order {
  Symbol place;              // of its own life cycle: deploy-gate
  Symbol provider, provide;  // the component and its port
  Pos at;
};

struct Component {
  Symbol name;
  Pos at;
  Symbol type;
  Symbol host;   // empty: here
  Symbol state;  // the place it should be in
  Value config;  // a map, defaults filled in
  std::vector<Need> needs;
  std::vector<Order> orders;
  bool protect = false;  // never removed or replaced by a plan
  std::string was;       // the name it had before: what is recorded under that is this one
  Pos was_at;
};

// "At least 2 of these provide their service, throughout." Checked on every interleaving of a plan.
struct Invariant {
  enum class Kind : u8 { kAtLeast, kAtMost };
  Kind kind = Kind::kAtLeast;
  u32 count = 1;
  Symbol port;                     // the provide port that counts; empty: the component is in its wanted state
  std::vector<Symbol> of, groups;  // components; the beginnings of names that they were asked for by (`app*`)
  Pos at;

  bool asks_for(std::string_view component) const;  // by the beginning of its name
  std::string text() const;                         // for people: "at least 2 of app1, app2, app3 up"
};

// What the library or the user says about a type beyond its life cycle (model/component.h reads that).
struct ComponentKind {
  Symbol name;
  Pos at;
  Value tree;                      // the whole type, `extends` resolved
  std::vector<Symbol> hold, gate;  // places in which what it uses, or comes after, must be there
  std::vector<Symbol> rest;        // of `hold`, places where it stays while what it uses is only interrupted
  Symbol goal, removed;            // the place wanted when nothing is said; the one from which it can be deleted
  Symbol service;                  // the provide port meant when none is named: the first
  Value change;                    // key of the configuration -> behaviours, or "replace"; "*" is any other
  Value outputs;                   // what others may refer to
};

struct Deployment {
  std::string name;
  std::vector<Component> components;  // in the order written
  std::map<std::string, ComponentKind> kinds;
  std::map<std::string, Value> hosts;
  std::vector<Invariant> invariants;

  const Component* find(Symbol component) const;

 private:
  mutable std::unordered_map<Symbol, u32> number_;  // the first of that name, of the first `numbered_` components
  mutable std::size_t numbered_ = 0;
};

// `library` holds the types that ship with tutti. Every complaint is at the user's own line. `complete` puts in what
// is elsewhere (templates), before references are looked at.
using Completion = std::function<void(Deployment&)>;
std::optional<Deployment> read_deployment(Session& session, const Value& root, const Value& library,
                                          const Completion& complete = {});

// What a type's tree says beyond its life cycle. The places must be there.
ComponentKind describe_kind(Symbol name, const Value& tree, Pos at);

// Whether a tree looks like one: it has `components`.
bool is_deployment(const Value& root);

// The same system as a tree again, with nothing left to guess: names in full, settings checked, secrets marked.
Value plain_tree(const Deployment& deployment, const Value& root, const TreeBuilder& builder);

// One type as the engine wants it, with a use port for each need and each order that counts; several components with
// the same ports share one. The port of the n-th order (from 1) is called "order N".
Value engine_type(const ComponentKind& kind, const std::vector<Need>& needs, const std::vector<Order>& orders,
                  const TreeBuilder& builder);
std::string engine_type_name(const ComponentKind& kind, const std::vector<Need>& needs,
                             const std::vector<Order>& orders);
Symbol order_port(std::size_t number);
bool is_order_port(Symbol port);

}  // namespace tutti::model
