#pragma once

// The search for what can go wrong: in go a system with its program and properties, out comes what was looked at, what
// was found, and a way there. An answer is a proof only where everything that bears on it was looked at; `Answer` and
// the questions of a report say so, and whoever shows them shows nothing else. A search that met a limit is `kOpen`
// about all that it did not see broken (nor, for `reachable`, seen).
#include <functional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "engine/verify/property.h"

namespace tutti::engine {

struct VerifyOptions {
  bool full = false;     // every interleaving, no reduction
  bool symmetry = true;  // what alike instances hold may be exchanged (with reduction only)
  bool compose = true;   // parts that nothing outside influences are looked at alone (with reduction, without failures)
  bool del_waits = true;  // as the engine does; the printed rule does not
  u32 failures = 0;       // how many actions may fail
  u64 most_states = 20'000'000;
  u64 most_bytes = u64{4} << 30;
  Budget* budget = nullptr;
};

inline constexpr std::string_view kNoDeadlock = "no deadlock";

// A path to a state where something is wrong, shortest first.
struct Counterexample {
  std::string property;  // kNoDeadlock, or the property's text
  std::vector<Step> steps;
  std::vector<std::string> state;  // what is where, and who waits for what
  bool shortest = true;            // no shorter one exists (else: nothing could be left out of this one)
};

enum class Answer : u8 { kOpen, kYes, kNo };
std::string_view answer_word(Answer a);  // "open", "yes", "no"

struct Verdict {
  Property property;
  Answer holds = Answer::kOpen;
  bool by_counting = false;  // proved without a search (counting.h)
};

struct VerifyReport {
  bool complete = false;      // everything was looked at
  bool deadlock_free = true;  // of what was looked at
  u64 states = 0, steps = 0;
  u64 ends = 0, deadlocks = 0;   // states without a next one; those of them that are not final
  u64 failed_ends = 0;           // with failures: ends with a failed token
  u64 orphans = 0;               // states in which an instance is deleted while it does something
  u32 parts = 0;                 // looked at one by one, each standing for all that are like it; 0: the whole at once
  bool one_safe = true;          // no two tokens met in one place, of what was looked at
  bool surely_one_safe = false;  // they cannot, by the net alone (one_safe.h)
  std::size_t bytes = 0;
  std::vector<Verdict> verdicts;                // one per property
  std::vector<Counterexample> counterexamples;  // at most one for deadlock and one per property

  Answer never_stuck() const { return !deadlock_free ? Answer::kNo : complete ? Answer::kYes : Answer::kOpen; }
  Answer tokens_never_meet() const {
    return !one_safe ? Answer::kNo : complete || surely_one_safe ? Answer::kYes : Answer::kOpen;
  }
};

// Where two searches of one system contradict each other: one of them is wrong, and so are we.
std::vector<std::string> contradictions(const VerifyReport& a, const VerifyReport& b);

// Looks at all states the rules allow, breadth first; with the reduction of reduce.h unless `full`.
VerifyReport verify(const model::System& system, const std::vector<Property>& properties,
                    const VerifyOptions& options = {},
                    const std::function<void(const Rules&, const u64*)>& on_end = {});

// Plays steps against the rules: how many of them are allowed, from the start.
std::size_t replay(const Rules& rules, const std::vector<Step>& steps, Rules::State& state);

// What is where in a state, and why each instance does not go on.
std::vector<std::string> describe(const Rules& rules, const u64* state);

}  // namespace tutti::engine
