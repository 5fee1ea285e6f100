#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/system.h"

namespace tutti::engine {

using model::kNone;

// One application of a rule of the operational semantics. The same record is what the rules allow, what the scheduler
// does, what the journal keeps and what a counterexample is made of.
struct Step {
  enum class Kind : u8 {
    kFire,         // instance, index: place            (R1)
    kEnd,          // instance, index: transition, outcome (R2)
    kFail,         // instance, index: transition: it failed for good and declares no outcome for that (F4)
    kEnter,        // instance, index: station          (R3)
    kFinish,       // instance, index: behaviour        (R4)
    kInstruction,  // index: position in the program    (R5 to R11)
  };
  Kind kind = Kind::kInstruction;
  u32 instance = kNone;
  u32 index = 0;
  u32 outcome = 0;
  friend auto operator<=>(const Step&, const Step&) = default;
};

// "fire:client:uninstalled", "end:client:install1/installed@install", "instr:pushB,client,install"
std::string step_text(const model::System& system, const Step& step);
// The way back from text; instructions are counted by the caller: `pc` is the position of the next one. nullopt when
// the system has no such step.
std::optional<Step> step_from_text(const model::System& system, std::string_view text, u32 pc);
// For people: "client: install1 ended", "pushB(client, install)"
std::string step_words(const model::System& system, const Step& step);

}  // namespace tutti::engine
