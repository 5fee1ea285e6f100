#include "cli/apply_program.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>

#include "base/file.h"
#include "cli/system_input.h"
#include "engine/plan/back.h"
#include "engine/report/gantt.h"
#include "engine/report/progress.h"
#include "engine/run/process_executor.h"
#include "engine/verify/verify.h"
#include "format/json.h"

namespace tutti {
namespace {

using namespace engine;

// For the signal handler: the first Ctrl-C lets what runs come to its end, the second one ends it, the third us.
Runner* g_runner = nullptr;
ProcessExecutor* g_executor = nullptr;
volatile std::sig_atomic_t g_signals = 0;

void on_signal(int) {
  g_signals = g_signals + 1;
  if (g_runner) g_signals == 1 ? g_runner->drain() : g_runner->cancel();
  if (g_executor) g_executor->wake();
  if (g_signals > 1) {  // the next signal does what it always does; the guardian cleans up
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
  }
}

class SignalsHere {
 public:
  SignalsHere(Runner& runner, ProcessExecutor& executor) {
    g_runner = &runner;
    g_executor = &executor;
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, &old_int_);
    sigaction(SIGTERM, &action, &old_term_);
  }
  ~SignalsHere() {
    sigaction(SIGINT, &old_int_, nullptr);
    sigaction(SIGTERM, &old_term_, nullptr);
    g_runner = nullptr;
    g_executor = nullptr;
  }

 private:
  struct sigaction old_int_ {
  }, old_term_{};
};

template <class T>
T number_of(const Options& o, std::string_view name, T otherwise) {
  std::string s = o.get(name);
  std::from_chars(s.data(), s.data() + s.size(), otherwise);
  return otherwise;
}

bool save(Call& call, const std::string& file, std::string_view bytes) {
  auto done = write_file_atomically(file, bytes);
  if (!done) call.session.diagnostics.error("IO-WRITE", {}, done.error().message);
  return static_cast<bool>(done);
}

// Refuses what may deadlock; a search that is too large says so and lets the user decide.
bool proven(Call& call, const model::System& system) {
  VerifyOptions options;
  options.most_states = 300'000;
  options.most_bytes = u64{1} << 30;
  VerifyReport report = verify(system, {}, options);
  if (report.deadlock_free && report.complete) return true;
  if (report.deadlock_free) {
    call.session.diagnostics.warning(
        "RUN-NOT-VERIFIED", {}, "too many interleavings to look at all of them; none of those looked at gets stuck");
    return true;
  }
  Diagnostic& d =
      call.session.diagnostics.error("RUN-DEADLOCK", {}, "this program can get stuck, so it was not started");
  for (const Counterexample& c : report.counterexamples)
    for (const std::string& line : c.state) d.note(line);
  d.suggest("`tutti verify` shows how it gets there; --unsafe runs it all the same");
  return false;
}

}  // namespace

int apply_program(Call& call) {
  auto in = read_system_input(call, call.arguments);
  if (!in) return exit_code::kError;
  const model::System& system = in->system;
  if (!call.options.has("unsafe") && !proven(call, system)) return exit_code::kError;
  RunOptions options;
  options.parallel = number_of<u32>(call.options, "parallel", 0);
  options.parallel_per_host = number_of<u32>(call.options, "per-host", 0);
  if (call.options.has("continue")) options.on_failure = OnFailure::kContinue;
  ProcessExecutor::Options how;
  how.grace = number_of<double>(call.options, "grace", 10);
  ProcessExecutor executor(how);
  bool quiet = call.options.has("quiet"), terminal = isatty(2) != 0;
  winsize size{};
  u32 columns = terminal && ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 100;
  Progress progress(system, stderr, terminal, columns);
  Runner runner(system, executor, options, nullptr, quiet ? nullptr : &progress);
  RunReport report;
  {
    SignalsHere signals(runner, executor);
    report = runner.run();
  }
  if (std::string f = call.options.get("trace"); !f.empty()) save(call, f, chrome_trace(system, report));
  if (std::string f = call.options.get("gantt"); !f.empty()) save(call, f, gantt_svg(system, report));
  Value tree = report_tree(call.session, system, runner, report);
  if (std::string f = call.options.get("save"); !f.empty()) {
    StringSink sink;
    MapDraft d;
    if (const Entry* a = tree.find("assembly")) d.set(Symbol("assembly"), a->value);
    write_json(d.build(call.session.builder()), {}, sink);
    save(call, f, sink.take() + "\n");
  }
  if (std::string f = call.options.get("back"); !f.empty()) {
    WayBack back = way_back(system, runner.scheduler());
    std::string text;
    for (const std::string& line : back.program) text += line + "\n";
    if (back.found) {
      save(call, f, text);
    } else {
      Diagnostic& d = call.session.diagnostics.warning(
          "RUN-NO-WAY-BACK", {}, "there is no safe program that brings back the assembly it began with");
      for (const std::string& line : back.why_not) d.note(line);
    }
  }
  std::string output = call.options.get("out", "text");
  if (output == "text")
    call.out.put(account_text(system, runner, report));
  else
    write_answer(call, tree, output);
  if (!call.session.diagnostics.ok()) return exit_code::kError;
  return report.finished ? exit_code::kOk : report.cancelled ? exit_code::kInterrupted : exit_code::kFailed;
}

}  // namespace tutti
