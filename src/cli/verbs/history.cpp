#include <fmt/format.h>

#include "cli/system/recorded_call.h"
#include "cli/system_input.h"
#include "cli/wording.h"

namespace tutti {
namespace {

constexpr OptionSpec kHistoryOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    {"most", "N", "at most so many runs (default 20)"},
    kTellOption,
};

int run_history(Call& call) {
  RecordedCall here(call);
  if (!here.look()) return exit_code::kError;
  std::size_t most = std::strtoul(call.options.get("most", "20").c_str(), nullptr, 10);
  if (most == 0) {
    call.session.diagnostics.error("USE", {}, "--most wants a number of runs, 1 or more");
    return exit_code::kError;
  }
  auto runs = here.record->store->runs(call.options.get("system"), most);
  if (!runs) {
    call.session.diagnostics.error("STATE-READ", {}, runs.error().message);
    return exit_code::kError;
  }
  // What has no end and nobody at work was cut off.
  for (auto& r : *runs) {
    if (r.status != "running") continue;
    auto lock = here.record->store->lock(r.system);
    if (!lock || !*lock || !store::held(**lock, store::wall_clock())) r.status = "unfinished";
  }
  std::string out = call.options.get("out", "text");
  if (out != "text") {
    TreeMaker make(call.session);
    std::vector<Value> list;
    for (auto& r : *runs)
      list.push_back(make.map({{"run", make.integer(r.id)},
                               {"system", make.text(r.system)},
                               {"kind", make.text(r.kind)},
                               {"status", make.text(r.status)},
                               {"started", make.number(r.started)},
                               {"ended", make.number(r.ended)},
                               {"who", make.text(r.who)},
                               {"base", make.integer(r.base_serial)},
                               {"summary", make.text(r.summary)}}));
    return write_answer(call, make.list(list), out) ? exit_code::kOk : exit_code::kError;
  }
  for (auto& r : *runs)
    call.out.put(fmt::format("{:>4}  {}  {:<8} {:<11} {:<12} {}  {}\n", r.id, when(r.started), r.kind, r.status,
                             r.system, r.who, r.summary));
  if (runs->empty()) call.out.put("No runs yet.\n");
  return exit_code::kOk;
}

}  // namespace

extern const Verb history_verb = {
    .name = "history",
    .group = "Running",
    .summary = "the runs so far, newest first",
    .arguments = "",
    .details = "`tutti show RUN` tells one of them action by action.",
    .examples = "$ tutti history\n$ tutti history --out json --most 5",
    .options = kHistoryOptions,
    .run = run_history,
    .most = 0,
};

}  // namespace tutti
