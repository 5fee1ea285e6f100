#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/run/journal.h"

// What the user says about actions whose result nobody knows, and about those that failed: "done", or "repeat".
namespace tutti::deploy {

using Decisions = std::map<std::string, std::string>;  // "component/transition" -> "done" or "repeat"
using Started = engine::JournalRecord::Started;

// Makes full names of what was said: a component's name is enough where only one of its actions is meant. Returns what
// is wrong with it, "" for nothing.
std::string settle_decisions(const model::System& system, std::vector<Started> undecided,
                             const std::vector<Started>& failed, Decisions& decisions);

// Where the failed tokens are after what the journal has (F4).
std::vector<Started> failed_tokens(const model::System& system, const engine::JournalRecord& record);

}  // namespace tutti::deploy
