// What a run came to: in sentences, in diagnostics, in the answer that --out asks for, and as an exit code.
#include <fmt/format.h>

#include "cli/live.h"
#include "cli/system/interrupts.h"
#include "cli/system/recorded_call.h"
#include "cli/system_input.h"
#include "cli/wording.h"

namespace tutti {

int to_be_changed(const Call& call) {
  return call.options.has("detailed-exitcode") ? exit_code::kDifferent : exit_code::kOk;
}

int failure_code(const deploy::Outcome& o) {
  return (o.changed ? exit_code::kMixed : exit_code::kFailed) | (o.unreachable ? exit_code::kUnreachable : 0);
}

void RecordedCall::tell(const deploy::Outcome& o, std::string_view sentence) {
  if (as_text()) {
    call.out.put(sentence);
    return;
  }
  TreeMaker make(call.session);
  std::string_view status = o.open                        ? "open"
                            : o.cancelled                 ? "interrupted"
                            : o.finished && o.failed == 0 ? "done"
                                                          : "failed";
  told.push_back(make.map({{"run", make.integer(o.run)},
                           {"status", make.text(status)},
                           {"changed", make.integer(o.changed)},
                           {"failed", make.integer(o.failed)},
                           {"unreachable", make.integer(o.unreachable)},
                           {"seconds", make.number(o.seconds)},
                           {"failures", make.list(o.failures)}}));
}

int RecordedCall::answered(int code) {
  if (as_text()) return code;
  TreeMaker make(call.session);
  Value answer = make.map({{"runs", make.list(told)}});
  return write_answer(call, answer, call.options.get("out")) ? code : exit_code::kError;
}

int report_outcome(RecordedCall& here, const deploy::Outcome& o) {
  end_interrupts();
  Call& call = here.call;
  call.acted = call.acted || o.run != 0;
  if (!o.wrong.empty()) {
    bool held = o.wrong_code == store::kHeld;
    call.session.diagnostics.error(held                              ? "STATE-HELD"
                                   : o.wrong_code == store::kStale   ? "PLAN-STALE"
                                   : o.wrong_code == store::kDamaged ? "STATE-DAMAGED"
                                                                     : "STATE-RUN",
                                   {}, o.wrong);
    // Nothing was begun, or what was begun could not be written to its end.
    return held                                       ? exit_code::kLocked
           : o.open || o.wrong_code == store::kFenced ? exit_code::kUnknown
                                                      : exit_code::kError;
  }
  for (std::size_t i = 0; i < o.failures.size(); ++i) {
    Diagnostic& d = call.session.diagnostics.error(o.unknown ? "RUN-UNKNOWN" : "RUN-FAILED", {}, o.failures[i]);
    if (i < o.actions.size() && !o.actions[i].empty())
      d.note(fmt::format("look, then say what is so: `tutti resume --done {0}` or `tutti resume --repeat {0}`",
                         as_typed(o.actions[i])));
  }
  if (o.open) {
    here.tell(o, fmt::format("Run {}: interrupted, {}.\n", o.run, o.summary));
    say_now("`tutti resume` goes on from here; `tutti resume --stop` ends it as it is.\n");
    if (!o.unknown) return exit_code::kInterrupted;
    return exit_code::kUnknown | (o.unreachable ? exit_code::kUnreachable : 0);
  }
  if (o.unknown) return exit_code::kUnknown | (o.unreachable ? exit_code::kUnreachable : 0);
  if (!o.finished && o.failures.empty() && !o.cancelled)
    for (auto& s : o.stuck) call.session.diagnostics.error("RUN-STUCK", {}, s);
  here.tell(o, fmt::format("Run {}: {}{}.\n", o.run,
                           o.cancelled                   ? "interrupted, "
                           : o.finished && o.failed == 0 ? ""
                                                         : "failed, ",
                           o.summary));
  if (o.cancelled && !o.failed) return exit_code::kInterrupted;
  if (o.failed || !o.finished) return failure_code(o);
  if (call.options.has("detailed-exitcode") && o.changed) return exit_code::kDifferent;
  return exit_code::kOk;
}

}  // namespace tutti
