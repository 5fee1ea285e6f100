#pragma once

#include <string>
#include <vector>

#include "deploy/shared/prepared.h"
#include "tree/session.h"

// The proof of a plan: whether every order in which its steps can happen leads to the wanted state and keeps the
// invariants; and how long it will take.
namespace tutti::deploy {

struct Check {
  double total = 0;                   // seconds, with nothing for the actions of which nobody knows
  std::vector<std::string> critical;  // "db.start", ...
  bool limited = false;               // it takes longer than its critical path: more is ready than may run at once
  u32 timed = 0, untimed = 0;         // actions of which it is known how long they take, and others
  bool reaches = false;               // the wanted state, without deadlock, as far as was looked
  bool safe = false;                  // that, and no invariant was seen broken: a proof only when `complete`
  bool complete = true;               // all interleavings were looked at
  u64 states = 0;
  std::vector<std::string> verdicts;  // "holds: at least 1 of app1, app2 up"
  std::vector<std::string> trouble;   // why it is not safe: steps that lead there
};

// At most so many states of a plan are looked at, where counting does not prove what must hold.
inline constexpr u64 kMostStates = 300'000;

// `parallel`: as many actions at once as the user asks for; 0: as many as make sense.
Check check_plan(Session& session, const Prepared& plan, u64 most_states = kMostStates, u32 parallel = 0);

}  // namespace tutti::deploy
