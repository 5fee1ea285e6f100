#include "deploy/running/program_run.h"

#include <fmt/format.h>

#include "deploy/recording/assembly.h"
#include "deploy/running/run_control.h"

namespace tutti::deploy {

using engine::How;
using engine::JournalRecord;

ProgramRun::ProgramRun(const RunContext& context, const Program& program, const JournalRecord* record)
    : context_(context), program_(program), record_(record), scrub_(program.tree) {
  out_.run = context.run;
}

Outcome ProgramRun::carry_out() {
  const RunSettings& settings = context_.settings;
  const Effects& effects = context_.effects;
  if (record_ && !take_up()) return out_;
  auto executor = effects.program_executor(executor_options());
  StoreJournal journal(effects.store, context_.lease, context_.run, system(), {effects.seal, scrub_}, {},
                       effects.clock);
  engine::RunOptions how;
  how.parallel = settings.parallel;
  how.parallel_per_host = settings.parallel_per_host;
  if (program_.keep_going) how.on_failure = engine::OnFailure::kContinue;
  auto listener = settings.listener ? settings.listener(system()) : nullptr;
  engine::Runner runner(system(), *executor, how, &journal, listener.get());
  if (settings.give_up) runner.drain();
  engine::RunReport report = go(runner, *executor, journal);
  listener.reset();
  if (!out_.take(report, lost_)) return out_;
  return end(runner, report);
}

engine::ProcessExecutor::Options ProgramRun::executor_options() const {
  engine::ProcessExecutor::Options o;
  o.grace = context_.settings.grace;
  o.run = context_.mark();
  o.clean = [this](std::string_view text) { return scrub_.clean(text); };
  o.why_not = [this] {
    auto may = context_.effects.store.holds(context_.lease);
    return may ? "" : may.error().message;
  };
  return o;
}

engine::RunReport ProgramRun::go(engine::Runner& runner, engine::Executor& executor, StoreJournal& journal) {
  RunControl control(context_.effects.store, context_.lease, context_.effects.clock, runner, [&] { executor.wake(); });
  journal.on_broken = [&](const Failure& f) { control.lost(f); };
  StopHere stop_here(context_.settings.on_stop, control);
  journal.ended(executor.now(), found_done_);
  engine::RunReport report = record_ ? runner.resume(left_) : runner.run();
  lost_ = control.lost();
  return report;
}

bool ProgramRun::take_up() {
  // Nothing of the dead run may go on beside us.
  end_leftovers(context_.effects, system(), *record_, context_.run, context_.lease, context_.settings);
  left_.results = record_->results;
  for (auto& o : record_->open) take_up(o);
  for (auto& f : record_->again) take_up_failed(f);
  if (!out_.failures.empty()) return false;
  left_.results.insert(left_.results.end(), found_done_.begin(), found_done_.end());
  return true;
}

// What was in flight is looked at by its check, repeated where that does no harm, and otherwise asked about.
void ProgramRun::take_up(const JournalRecord::Started& o) {
  const RunSettings& settings = context_.settings;
  const model::ComponentType& type = system().type_of(o.instance);
  const model::Action& action = type.action_of(type.transitions[o.transition]);
  std::string name = system().transition_text(o.instance, o.transition), text;
  if (auto decision = settings.decisions.find(name); decision != settings.decisions.end()) {
    text = decision->second == "done" ? "was in flight and is done" : "was in flight and is done again";
    if (decision->second == "done") found_done_.push_back(o.ended_well());
  } else if (action.check() || action.idempotent || !action.what.find("run")) {
    left_.open.push_back(o);
    text = action.check() ? "was in flight and is looked at" : "was in flight and is done again";
  } else if (settings.give_up) {
    unknown_[o.instance] = type.transitions[o.transition].name.text();
    text = "was in flight";
  } else {
    text = "was in flight: whether its command ran to its end cannot be seen";
    out_.ask_about(name);
  }
  settings.tell(fmt::format("{}  {}", name, text));
}

// What had failed for good goes on as the user says of it (F6).
void ProgramRun::take_up_failed(const JournalRecord::Started& f) {
  std::string name = system().transition_text(f.instance, f.transition);
  bool declared = context_.settings.decisions.at(name) == "done";
  if (declared)
    found_done_.push_back(f.ended_well());
  else
    left_.again.push_back(f);
  context_.settings.tell(fmt::format("{}  had failed and is {}", name, declared ? "done" : "done again"));
}

void ProgramRun::count(const engine::RunReport& report) {
  for (auto& a : report.actions) {
    const model::ComponentType& type = system().type_of(a.instance);
    if (type.action_of(type.transitions[a.transition]).what.is(Kind::kNull)) continue;
    if (a.how == How::kOk) {
      ++out_.changed;
      continue;
    }
    ++out_.failed;
    if (a.how == How::kLost || a.how == How::kCancelled) out_.unknown = true;
  }
}

Outcome ProgramRun::end(const engine::Runner& runner, const engine::RunReport& report) {
  const RunSettings& settings = context_.settings;
  count(report);
  if (auto failures = runner.scheduler().failures(); !failures.empty())
    out_.retry = system().transition_text(failures[0].first, failures[0].second);
  out_.sum_up("done", report.cancelled && !report.finished && !settings.give_up);
  if (settings.ended) settings.ended(system(), runner, report);
  if (out_.open) return out_;
  // What failed and had a place to go for that is no failure of the program.
  TreeBuilder b(context_.session.arena);
  Value state = engine::write_recorded(assembly_of(system(), runner, scrub_, unknown_), b);
  write_end(context_.effects, context_.lease, context_.run, report.finished, state, out_);
  return out_;
}

}  // namespace tutti::deploy
