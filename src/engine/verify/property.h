#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/rules/rules.h"
#include "tree/session.h"

// What is to hold for all interleavings and all outcomes.
//
//   always EXPR          in every state                     never EXPR      in no state
//   finally EXPR         in every state where it can end    reachable EXPR  in some state
//   EVENT before EVENT   the second never without the first having happened
//   between EVENT and EVENT never EVENT
//
// EXPR: atoms with not, and, or, ->, parentheses; count(atoms) compared with a number.
// An atom is NAME.PLACE, NAME.PORT (active), NAME.TRANSITION (running) or idle(NAME); NAME may be `*`, meaning each
// instance that has such a thing: `count(*.master) <= 1`, and elsewhere "one of them". EVENT: enter|leave NAME.PLACE,
// start|end NAME.TRANSITION, finish NAME.BEHAVIOUR.
namespace tutti::engine {

struct Atom {
  enum class Kind : u8 { kPlace, kPort, kTransition, kIdle } kind = Kind::kPlace;
  u32 instance = 0;
  u32 index = 0;
};

struct Expr {
  enum class Kind : u8 { kAtom, kNot, kAnd, kOr, kCount, kConstant } kind = Kind::kConstant;
  Atom atom;
  std::vector<Expr> parts;
  enum class Compare : u8 { kLess, kLessEqual, kEqual, kNotEqual, kGreaterEqual, kGreater } compare = Compare::kEqual;
  i64 number = 0;  // of a count
  bool constant = false;
};

struct EventPattern {
  Step::Kind kind = Step::Kind::kEnter;
  bool leave = false;                     // kFire: of a place (leave) or of a transition (start)
  std::vector<std::pair<u32, u32>> what;  // (instance, place, transition or behaviour)
};

struct Property {
  enum class Kind : u8 { kAlways, kNever, kFinally, kReachable, kBefore, kBetween } kind = Kind::kAlways;
  std::string text;
  Expr expr;
  EventPattern a, b, c;
};

std::optional<Property> parse_property(Session& session, const model::System& system, const Source& source);

bool holds(const Rules& rules, const u64* state, const Expr& expr);
bool matches(const Rules& rules, const u64* before, const Step& step, const EventPattern& event);
void atoms_of(const Expr& expr, std::vector<Atom>& atoms);

}  // namespace tutti::engine
