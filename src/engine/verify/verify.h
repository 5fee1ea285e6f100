#pragma once

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

struct Verdict {
  Property property;
  bool holds = true;
  bool proved = false;  // by counting (counting.h): whether or not everything was looked at
};

struct VerifyReport {
  bool complete = false;      // everything was looked at
  bool deadlock_free = true;  // of what was looked at
  u64 states = 0, steps = 0;
  u64 ends = 0, deadlocks = 0;  // states without a next one; those of them that are not final
  u64 failed_ends = 0;          // with failures: ends with a failed token
  u64 orphans = 0;              // states in which an instance is deleted while it does something
  u32 parts = 0;                // looked at one by one, each standing for all that are like it; 0: the whole at once
  bool one_safe = true;         // no two tokens ever meet in one place
  std::size_t bytes = 0;
  std::vector<Verdict> verdicts;                // one per property
  std::vector<Counterexample> counterexamples;  // at most one for deadlock and one per property
};

// Looks at all states the rules allow, breadth first; with the reduction of reduce.h unless `full`.
VerifyReport verify(const model::System& system, const std::vector<Property>& properties,
                    const VerifyOptions& options = {},
                    const std::function<void(const Rules&, const u64*)>& on_end = {});

// Plays steps against the rules: how many of them are allowed, from the start.
std::size_t replay(const Rules& rules, const std::vector<Step>& steps, Rules::State& state);

// What is where in a state, and why each instance does not go on.
std::vector<std::string> describe(const Rules& rules, const u64* state);

}  // namespace tutti::engine
