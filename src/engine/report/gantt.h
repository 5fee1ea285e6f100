#pragma once

#include <string>

#include "engine/run/runner.h"
#include "tree/session.h"

// What became of a run, for people and for other programs.
namespace tutti::engine {

std::string gantt_text(const model::System& system, const RunReport& report, u32 width);
std::string gantt_svg(const model::System& system, const RunReport& report);
// The trace event format that chrome://tracing and Perfetto open: a process for each instance.
std::string chrome_trace(const model::System& system, const RunReport& report);
// What is where, what failed, who waits for what.
std::string account_text(const model::System& system, const Runner& runner, const RunReport& report);
Value report_tree(Session& session, const model::System& system, const Runner& runner, const RunReport& report);

}  // namespace tutti::engine
