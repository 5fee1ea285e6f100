#include "cli/apply_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "base/near.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/system/interrupts.h"
#include "cli/system/record_place.h"
#include "cli/system_input.h"
#include "deploy/running/program.h"
#include "engine/plan/back.h"
#include "engine/report/gantt.h"
#include "engine/report/progress.h"
#include "engine/verify/verify.h"
#include "format/json.h"
#include "format/write.h"

namespace tutti {
namespace {

using namespace engine;

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

void save_way_back(Call& call, const std::string& file, const model::System& system, const Runner& runner) {
  WayBack back = way_back(system, runner.scheduler());
  if (back.found) {
    std::string text;
    for (const std::string& line : back.program) text += line + "\n";
    save(call, file, text);
    return;
  }
  Diagnostic& d = call.session.diagnostics.warning(
      "RUN-NO-WAY-BACK", {}, "there is no safe program that brings back the assembly it began with");
  for (const std::string& line : back.why_not) d.note(line);
}

// Under which name a program's runs are remembered: as asked for, as its configuration says, or as its file is called.
std::string name_of(const Call& call, const Value& root) {
  if (std::string name = call.options.get("system"); !name.empty()) return name;
  if (const Entry* e = root.find("system"); e && e->value.is(Kind::kString)) return std::string(e->value.text());
  for (const std::string& file : call.arguments)
    if (!is_program_file(file)) return std::filesystem::path(file).stem().string();
  return "program";
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

void tell_program(Call& call, deploy::RunSettings& settings) {
  if (!call.options.has("quiet"))
    settings.listener = [](const model::System& system) -> std::unique_ptr<RunListener> {
      return std::make_unique<Progress>(system, live(), terminal_manner());
    };
  settings.ended = [&call](const model::System& system, const Runner& runner, const RunReport& report) {
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
    if (std::string f = call.options.get("back"); !f.empty()) save_way_back(call, f, system, runner);
    std::string output = call.options.get("out", "text");
    if (output == "text")
      call.out.put(account_text(system, runner, report));
    else
      write_answer(call, tree, output);
  };
}

int report_program(RecordedCall& here, const deploy::Outcome& o) {
  Call& call = here.call;
  if (!o.wrong.empty() || (o.unknown && !o.failures.empty())) return report_outcome(here, o);
  end_interrupts();
  if (o.open && here.remembers()) {
    say_now(fmt::format("Run {} was interrupted: `tutti resume` goes on from here; `tutti resume --stop` ends it.\n",
                        o.run));
    return o.unknown ? exit_code::kUnknown : exit_code::kInterrupted;
  }
  if (!call.session.diagnostics.ok()) return exit_code::kError;
  if (!o.finished && !o.retry.empty() && here.remembers())
    say_now(fmt::format("`tutti resume --repeat {0}` starts it again, `--done {0}` says that it is done.\n", o.retry));
  return o.finished ? exit_code::kOk : o.cancelled ? exit_code::kInterrupted : exit_code::kFailed;
}

// What the run would leave in files is looked at before anything is started.
bool can_write_files(Call& call) {
  for (std::string_view name : {"save", "back", "trace", "gantt"})
    if (std::string file = call.options.get(name); !file.empty() && !can_write(call, file)) return false;
  return true;
}

int apply_program(Call& call) {
  if (!can_write_files(call)) return exit_code::kError;
  auto in = read_system_input(call, call.arguments);
  if (!in) return exit_code::kError;
  if (!call.options.has("unsafe") && !proven(call, in->system)) return exit_code::kError;
  RecordedCall here(call);
  if (!here.open(call.options.has("no-journal"))) return exit_code::kError;
  deploy::Program program;
  program.system = name_of(call, in->root);
  if (int busy = here.nothing_unfinished(program.system)) return busy;
  program.tree = in->root;
  if (in->options.text) {
    program.text = in->options.text->text;
    program.text_name = in->options.text->name;
  }
  program.entry = in->options.program;
  program.parameters = in->options.parameters;
  program.keep_going = call.options.has("continue");
  program.model = std::move(in->system);
  auto settings = here.settings("run");
  if (here.remembers()) remember_project(here.call, here.record->directory);
  settings.parallel_per_host = number_of<u32>(call.options, "per-host", 0);
  settings.grace = number_of<double>(call.options, "grace", 10);
  tell_program(call, settings);
  return report_program(here, here.deployer->run(program, settings));
}

}  // namespace tutti
