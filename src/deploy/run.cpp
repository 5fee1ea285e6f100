#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <thread>

#include "deploy/deployer.h"
#include "deploy/elsewhere.h"
#include "deploy/encode.h"
#include "deploy/fencing.h"
#include "deploy/journal.h"
#include "deploy/program.h"
#include "deploy/reins.h"
#include "engine/run/simulate.h"

namespace tutti::deploy {
namespace {

using engine::ActionRequest;
using engine::ActionResult;
using engine::How;
using engine::RunReport;

// Tells the user what happens.
class Narrator : public engine::RunListener {
 public:
  // `live`, when there is one, shows what runs: then only ends are told.
  Narrator(const model::System& system, const RunEvents& events, engine::RunListener* live)
      : system_(system), events_(events), live_(live) {
    for (u32 i = 0; i < system.program.size(); ++i) {
      const model::Instruction& in = system.program[i];
      if (in.op != model::Op::kPush) continue;
      const model::ComponentType& type = system.type_of(in.instance);
      for (u32 t : type.behaviours[in.behaviour].transitions)
        if (!type.action_of(type.transitions[t]).what.is(Kind::kNull)) ++total_;
    }
  }
  void started(double time, const ActionRequest& q) override {
    if (q.action->what.is(Kind::kNull)) return;
    ++running_;
    if (live_) live_->started(time, q);
    if (events_.line && !quiet(q) && !live_)
      events_.line(time, fmt::format("{}  starts{}", name(q.instance, q.transition),
                                     q.attempt ? fmt::format(" (try {})", q.attempt + 1) : ""));
    if (events_.progress) events_.progress(done_, total_, running_, name(q.instance, q.transition));
  }
  void idle(double time, const engine::Scheduler& scheduler) override {
    if (live_) live_->idle(time, scheduler);
  }
  void ended(double time, const ActionResult& r, bool again) override {
    const model::ComponentType& type = system_.type_of(r.instance);
    const model::Action& action = type.action_of(type.transitions[r.transition]);
    if (action.what.is(Kind::kNull)) return;
    if (live_) live_->ended(time, r, again);
    if (running_) --running_;
    if (!again) ++done_;
    if (events_.ended && !again) events_.ended(system_.instances[r.instance].name.text());
    if (events_.line && !action.what.find("resource")) {
      std::string how = r.how == How::kOk          ? "done"
                        : r.how == How::kCancelled ? "cancelled"
                        : r.how == How::kLost      ? "UNKNOWN"
                                                   : "FAILED";
      events_.line(time,
                   fmt::format("{}  {} in {:.2f} s{}{}{}", name(r.instance, r.transition), how, r.ended - r.started,
                               r.message.empty() ? "" : ": ", r.message, again ? " (will try again)" : ""));
    }
    if (events_.progress) events_.progress(done_, total_, running_, name(r.instance, r.transition));
  }

 private:
  static bool quiet(const ActionRequest& q) { return q.action->what.find("resource") != nullptr; }
  std::string name(u32 i, u32 t) const { return system_.transition_text(i, t); }
  const model::System& system_;
  const RunEvents& events_;
  engine::RunListener* live_;
  u32 total_ = 0, done_ = 0, running_ = 0;
};

bool is_action(const model::System& s, std::string_view name) {
  for (u32 i = 0; i < s.instances.size(); ++i)
    for (u32 t = 0; t < s.type_of(i).transitions.size(); ++t)
      if (s.transition_text(i, t) == name) return true;
  return false;
}

using Started = engine::JournalRecord::Started;

// What was said about actions whose result is not known, and those that failed, by their full names: a component's name
// is enough where only one of its actions is meant. Returns what is wrong with it.
std::string settle_decisions(const model::System& s, std::vector<Started> undecided, const std::vector<Started>& failed,
                             std::map<std::string, std::string>& decisions) {
  undecided.insert(undecided.end(), failed.begin(), failed.end());
  std::map<std::string, std::string> settled;
  std::vector<std::string> open;
  for (auto& o : undecided) open.push_back(s.transition_text(o.instance, o.transition));
  for (auto& [name, what] : decisions) {
    std::vector<std::string> meant;
    for (std::size_t i = 0; i < open.size(); ++i)
      if (open[i] == name || s.instances[undecided[i].instance].name.text() == name) meant.push_back(open[i]);
    if (meant.empty() && is_action(s, name)) continue;  // its result is known: there is nothing to decide
    if (meant.size() != 1)
      return fmt::format("--{} {}: {}; {}", what, name,
                         meant.empty() ? "no action of that name is without a result" : "it has several open actions",
                         open.empty() ? "there is none" : fmt::format("there is {}", fmt::join(open, ", ")));
    settled[meant[0]] = what;
  }
  decisions = std::move(settled);
  return "";
}

// Where the failed tokens are after what the journal has (F4).
std::vector<Started> failed_tokens(const model::System& s, const engine::JournalRecord& record) {
  engine::SimulatedExecutor nothing;
  engine::Runner runner(s, nothing);
  runner.drain();
  engine::JournalRecord results;
  results.results = record.results;
  runner.resume(results);
  std::vector<Started> out;
  for (auto& [i, t] : runner.scheduler().failures())
    if (std::none_of(record.open.begin(), record.open.end(),
                     [&, i = i, t = t](auto& o) { return o.instance == i && o.transition == t; }))
      out.push_back({i, t, 0});
  return out;
}

// A catalog with --noop: what an earlier run left is still what is there.
bool only_looked(const engine::PlannedSystem& plan) {
  for (auto& i : plan.instances) {
    const Entry* noop = i.config.find("noop");
    if (!i.of_catalog()) return false;
    if (resource::resource_of(i.config) && !(noop && resource::truth_of(noop->value, false))) return false;
  }
  return !plan.instances.empty();
}

}  // namespace

std::function<Result<void>(Symbol)> flush_of(const resource::ExecutorOptions& options) {
  return [find = options.host](Symbol name) {
    Host* host = find ? find(name) : nullptr;
    return host ? host->flush() : Result<void>{};
  };
}

i64 Deployer::unfinished(const std::string& system) {
  auto runs = place_.store->runs(system, 20);
  if (!runs) {
    fail("STATE-READ", runs.error());
    return 0;
  }
  for (auto& r : *runs)
    if (r.status == "running" || r.damaged) return r.id;  // of what cannot be read nobody can say that it has ended
  return 0;
}

std::optional<store::Lease> Deployer::begin(store::RunRecord& record, const RunSettings& settings, Outcome& out) {
  store::Holder me = store::this_process(settings.command);
  auto lease = hold(record.system, settings);
  auto wrong = [&](const Failure& f) {
    out.wrong = f.message;
    out.wrong_code = f.code;
    return std::nullopt;
  };
  if (!lease) return wrong(lease.error());
  record.started = store::wall_clock();
  record.who = me.user + "@" + me.host;
  auto id = place_.store->begin(*lease, record);
  if (!id) {
    [[maybe_unused]] auto released = place_.store->release(*lease);
    return wrong(id.error());
  }
  out.run = *id;
  return *lease;
}

Outcome Deployer::run(const Prepared& prepared, RunSettings& settings) {
  Outcome out;
  store::RunRecord record;
  record.system = prepared.system;
  record.kind = only_looked(prepared.program) ? kLookRun : std::string_view(prepared.kind);
  record.base_serial = prepared.serial;
  record.base_state = encode(prepared.state, *place_.seal);
  record.plan = encode(prepared.plan.flat, *place_.seal);
  record.wanted = encode(prepared.wanted, *place_.seal);
  auto lease = begin(record, settings, out);
  if (!lease) return out;
  out = execute(prepared, settings, *lease, out.run, nullptr);
  [[maybe_unused]] auto released = place_.store->release(*lease);
  return out;
}

Outcome Deployer::resume(i64 run, RunSettings& settings) {
  Outcome out;
  auto wrong = [&](std::string why, int code = 0) {
    out.wrong = std::move(why);
    out.wrong_code = code;
    return out;
  };
  auto record = place_.store->run(run);
  if (!record) return wrong(record.error().message);
  if (!*record) return wrong(fmt::format("there is no run {}", run));
  if ((*record)->damaged)
    return wrong(fmt::format("what was stored of run {} is damaged: it is not what was written", run), store::kDamaged);
  bool ended = (*record)->status != "running";
  if (ended && ((*record)->kind != kProgramRun || settings.decisions.empty()))
    return wrong(fmt::format("run {} has ended already: {}", run, (*record)->status));
  auto lease = hold((*record)->system, settings);
  if (!lease) return wrong(lease.error().message, lease.error().code);
  struct Release {
    store::Store& store;
    const store::Lease& lease;
    ~Release() { [[maybe_unused]] auto r = store.release(lease); }
  } release{*place_.store, *lease};
  // Read again now that nobody else can write.
  record = place_.store->run(run);
  if (!record || !*record || (!ended && (*record)->status != "running"))
    return wrong(fmt::format("run {} has just been ended by somebody else", run));
  auto entries = place_.store->entries(run);
  if (!entries) return wrong(entries.error().message);
  if ((*record)->kind == kForgetRun) return strike(**record, *lease, run);
  if ((*record)->kind == kProgramRun) {
    auto stored = decode(session_, "program of the run", (*record)->plan, *place_.seal);
    auto program = stored ? Program::restored(session_, *stored) : std::nullopt;
    if (!program) return wrong("what was stored of the run cannot be read");
    program->system = (*record)->system;
    Replay replay = read_journal(program->model, std::move(*entries), *place_.seal);
    if (!replay.wrong.empty()) return wrong(replay.wrong);
    auto failed = failed_tokens(program->model, replay.record);
    if (auto why = settle_decisions(program->model, replay.record.open, failed, settings.decisions); !why.empty())
      return wrong(why);
    for (auto& f : failed)
      if (settings.decisions.count(program->model.transition_text(f.instance, f.transition)))
        replay.record.again.push_back(f);
    if (ended) {
      if (replay.record.again.empty() && replay.record.open.empty())
        return wrong(fmt::format("run {} has ended already, and nothing of that failed in it", run));
      if (auto r = place_.store->reopen(*lease, run); !r) return wrong(r.error().message, r.error().code);
    }
    return execute(*program, settings, *lease, run, &replay.record);
  }
  auto p = as_prepared(**record);
  if (!p) return wrong("what was stored of the run cannot be read");
  Replay replay = read_journal(p->program.system, std::move(*entries), *place_.seal);
  if (!replay.wrong.empty()) return wrong(replay.wrong);
  if (auto why = settle_decisions(p->program.system, replay.record.open, {}, settings.decisions); !why.empty())
    return wrong(why);
  return execute(*p, settings, *lease, run, &replay);
}

std::optional<Prepared> Deployer::as_prepared(const store::RunRecord& record) {
  Prepared p;
  p.system = record.system;
  p.kind = record.kind;
  p.serial = record.base_serial;
  auto flat = decode(session_, "plan of the run", record.plan, *place_.seal);
  auto state = decode(session_, "state before the run", record.base_state, *place_.seal);
  auto wanted = decode(session_, "wanted system", record.wanted, *place_.seal);
  if (!flat || !state || !wanted) return std::nullopt;
  p.plan.flat = *flat;
  p.state = *state;
  p.wanted = *wanted;
  if (!finish_preparing(p)) return std::nullopt;
  return p;
}

std::string Deployer::mark_of(i64 run) const {
  auto mark = place_.store->mark(run);
  if (mark && !mark->empty()) return *mark;
  return fmt::format("{}-{}", sha256_hex(place_.directory).substr(0, 8), run);  // of an older version
}

namespace {

bool refers_to(const Value& v, std::string_view component) {
  if (v.is(Kind::kString)) {
    for (const char* opening : {"${", "${'"})
      if (v.text().find(fmt::format("{}{}.", opening, component)) != std::string_view::npos) return true;
    return false;
  }
  if (v.is(Kind::kList))
    return std::any_of(v.items().begin(), v.items().end(), [&](auto& i) { return refers_to(i, component); });
  return v.is(Kind::kMap) && std::any_of(v.entries().begin(), v.entries().end(),
                                         [&](const Entry& e) { return refers_to(e.value, component); });
}

// Nobody has seen what an action printed that is said to be done. (Settings of others are put in when a plan is made:
// what is still referred to is given by actions.)
void warn_of_outputs(Session& session, const Prepared& p, u32 instance, const std::string& action) {
  const std::string& component = p.program.component_of[instance];
  if (!refers_to(p.plan.flat, component)) return;
  session.diagnostics
      .warning("RUN-OUTPUTS", {},
               fmt::format("what {} gives is not known: whoever refers to `{}` has the old values, or none", action,
                           component))
      .suggest(fmt::format("tutti apply --restart --only {} asks for them", component));
}

}  // namespace

std::string Deployer::scope_of(const std::string& system) const {
  auto record = place_.store->system(system);
  std::string name = resource::file_name(system);
  return record && *record ? fmt::format("{}.{}", name, (*record)->lineage) : name;
}

namespace {
bool host_is_away(const Failure& f) { return f.code == EHOSTUNREACH || f.code == ECONNRESET; }
}  // namespace

void Deployer::end_leftovers(const model::System& s, const engine::JournalRecord& record, i64 run,
                             const store::Lease& lease, const RunSettings& settings) const {
  Fencing fencing(*place_.store, lease, settings.executor, scope_of(lease.system));
  std::map<Symbol, std::vector<std::pair<u32, u32>>> open;
  for (auto& o : record.open) open[s.instances[o.instance].host].emplace_back(o.instance, o.transition);
  for (auto& [h, actions] : open)
    if (Host* host = settings.executor.host ? settings.executor.host(h) : nullptr) {
      // First nothing more of it may begin. A host that is not there is met again by whoever looks at it.
      if (auto raised = fencing.raise(h); !raised && !host_is_away(raised.error()) && settings.events.line)
        settings.events.line(0, fmt::format("{}: what the interrupted run does there cannot be kept from beginning: {}",
                                            h.text(), raised.error().message));
      u32 n = resource::end_leftovers(*host, mark_of(run), actions);
      if (n && settings.events.line)
        settings.events.line(0, fmt::format("ended {} process{} that the interrupted run had left on {}", n,
                                            n == 1 ? "" : "es", h.empty() ? "this machine" : h.text()));
    }
}

Outcome Deployer::execute(const Prepared& p, RunSettings& settings, const store::Lease& lease, i64 run,
                          const Replay* replay) {
  Outcome out;
  const engine::JournalRecord* record = replay ? &replay->record : nullptr;
  out.run = run;
  const model::System& s = p.program.system;
  resource::Knowledge knowledge(p.program);
  engine::Recorded was = engine::read_recorded(session_, p.state);
  teach(knowledge, p, was);
  knowledge.set_home(settings.executor.home, settings.executor.remote_home);
  resource::ExecutorOptions eo = settings.executor;
  eo.run = fmt::format("{}.{}", mark_of(run), lease.fence);
  eo.scope = scope_of(p.system);
  Fencing fencing(*place_.store, lease, settings.executor, eo.scope);
  eo.host = [&](Symbol name) { return fencing.host(name); };
  eo.parallel = settings.parallel;
  eo.workers = resource::workers(settings.parallel);
  // What has a resource of its own is nobody else's to purge, in the first run and in one that is taken up
  // again.
  std::set<std::string> managed;
  for (auto& i : p.program.instances)
    if (auto r = i.of_catalog() ? resource::resource_of(i.config) : std::nullopt)
      managed.insert(resource::managed_as(*r));
  if (!managed.empty()) eo.managed = [managed](const std::string& path) { return managed.count(path) != 0; };
  std::map<u32, std::map<std::string, std::string>> earlier;
  for (u32 i = 0; i < s.instances.size(); ++i)
    if (p.program.instances[i].of_catalog())
      if (auto c = was.components.find(p.program.component_of[i]); c != was.components.end())
        earlier[i] = c->second.outputs;
  if (!earlier.empty())
    eo.recall = [&](u32 i) {
      auto it = earlier.find(i);
      return it == earlier.end() ? std::map<std::string, std::string>{} : it->second;
    };
  resource::Scrubber before(p.state), scrub(p.plan.flat);
  eo.clean = [&](std::string_view text) { return before.clean(scrub.clean(text)); };
  if (settings.events.say)
    eo.say = [&](u32 i, resource::Level l, std::string_view text) {
      settings.events.say(s.instances[i].name.text(), l, eo.clean(text));
    };
  eo.sealing.holds_secret = [&](std::string_view bytes) { return before.has_secret(bytes) || scrub.has_secret(bytes); };
  eo.sealing.seal = [&](std::string_view bytes) { return fmt::format("{}{}", kSealedCopy, place_.seal->seal(bytes)); };
  eo.sealing.name = [&](std::string_view bytes) { return sha256_hex(place_.seal->sign(bytes)); };
  eo.sealing.open = [&](std::string_view copy) -> std::optional<std::string> {
    if (!copy.starts_with(kSealedCopy)) return std::string(copy);
    return place_.seal->unseal(copy.substr(kSealedCopy.size()));
  };
  Elsewhere others(*this, *place_.store, p.system);
  eo.elsewhere = [&](u32 i, const std::string& thing, bool below) {
    return others.holder(machine(s.instances[i].host, p.plan.flat), thing, below);
  };
  StoreJournal* written = nullptr;
  eo.begins = [&](u32 i, u32 t, const std::string& resource, const resource::Former& former) {
    return written->begins(i, t, resource, former);
  };
  resource::ResourceExecutor executor(p.program, knowledge, eo);
  StoreJournal journal(*place_.store, lease, run, s, {*place_.seal, scrub},
                       [&](u32 i, u32 k) { return executor.effect(i, k).changes; });
  written = &journal;
  journal.flush = flush_of(settings.executor);
  auto live = settings.listener ? settings.listener(s) : nullptr;
  Narrator narrator(s, settings.events, live.get());
  engine::RunOptions ro;
  ro.parallel = settings.parallel ? eo.workers : 0;  // else each host has its own limit, which the executor knows
  ro.on_failure = engine::OnFailure::kStop;
  engine::Runner runner(s, executor, ro, &journal, &narrator);
  if (settings.give_up) runner.drain();
  RunReport report;
  std::optional<std::string> lost;
  std::set<std::pair<u32, u32>> unknown;
  {
    Reins reins(
        *place_.store, lease, runner, [&] { executor.wake(); }, [&] { executor.stop_all(); });
    journal.on_broken = [&](const Failure& f) { reins.lost(f); };
    StopHere stop_here(settings.on_stop, reins);
    if (!record) {
      report = runner.run();
    } else {
      for (auto& r : record->results) {
        std::map<std::string, std::string> outputs;
        for (auto& [k, v] : r.outputs) outputs[k] = v;
        if (r.how == How::kOk) knowledge.learn(r.instance, outputs);
      }
      end_leftovers(s, *record, run, lease, settings);  // nothing of the dead run may go on beside us
      // What was in flight is looked at first.
      engine::JournalRecord now = *record;
      now.open.clear();
      std::vector<ActionResult> found;
      for (auto& o : record->open) {
        std::string name = s.transition_text(o.instance, o.transition);
        Failure why;
        engine::Outputs outputs;
        if (replay->begun.count({o.instance, o.transition})) executor.clear_unfinished(o.instance, o.transition);
        auto decision = settings.decisions.find(name);
        bool begun = replay->begun.count({o.instance, o.transition}) > 0;
        auto f = decision != settings.decisions.end()
                     ? (decision->second == "done" ? resource::ResourceExecutor::Found::kDone
                                                   : resource::ResourceExecutor::Found::kNotDone)
                     : executor.probe(o.instance, o.transition, begun, why, outputs);
        using Found = resource::ResourceExecutor::Found;
        std::string text;
        if (f == Found::kDone) {
          if (decision != settings.decisions.end()) {
            outputs = executor.taken_as_done(o.instance, o.transition);
            warn_of_outputs(session_, p, o.instance, name);
          }
          found.push_back(o.ended_well());
          found.back().outputs = std::move(outputs);
          text = "was in flight and is done";
        } else if (f == Found::kNotDone && !settings.give_up) {
          text =
              begun ? "was in flight and is done again" : "had only looked when the run was cut off, and is done now";
        } else if (f == Found::kNotDone) {
          text = begun ? "was in flight and is not done" : "had only looked when the run was cut off, and is not done";
          if (begun) now.open.push_back(o), unknown.insert({o.instance, o.transition});
        } else {
          now.open.push_back(o);
          unknown.insert({o.instance, o.transition});
          text = "was in flight: " + why.message;
          if (why.code == EHOSTUNREACH || why.code == ECONNRESET) ++out.unreachable;
        }
        if (settings.events.line) settings.events.line(0, fmt::format("{}  {}", name, text));
      }
      if (!unknown.empty() && !settings.give_up) {
        // Nobody but the user can say. Nothing is done until they do.
        out.unknown = true;
        for (auto& [i, t] : unknown) {
          out.actions.push_back(s.transition_text(i, t));
          out.failures.push_back(fmt::format("{}: its result is not known", out.actions.back()));
        }
        out.summary = "the result of an action is not known";
        return out;
      }
      if (!found.empty()) {
        journal.ended(executor.now(), found);
        now.results.insert(now.results.end(), found.begin(), found.end());
      }
      report = runner.resume(now);
    }
    lost = reins.lost();
  }
  live.reset();
  if (!out.take(report, lost)) return out;
  // Learn, count, record.
  std::vector<std::pair<std::string, double>> durations;
  Fate fate;
  if (replay) fate.acted = replay->acted;
  for (auto& [i, t] : unknown) fate.failed[i] = s.type_of(i).transitions[t].name.text();
  std::set<u32> touched;
  if (replay) touched = replay->touched;
  struct Failed {
    u32 instance;
    std::string line, action;
  };
  std::vector<Failed> failures;             // told in the order of the components, not of their ends
  std::map<u32, std::string> of_resources;  // why resources of a catalog failed, which is a result like any other
  for (auto& a : report.actions) {
    const model::ComponentType& type = s.type_of(a.instance);
    const model::Transition& t = type.transitions[a.transition];
    if (type.action_of(t).what.is(Kind::kNull)) continue;
    resource::Effect effect = executor.effect(a.instance, a.transition);
    if (!effect.acted.empty()) fate.acted[{a.instance, a.transition}].merge(effect.acted);
    if (!effect.changes.empty()) touched.insert(a.instance);  // also where what came after it failed
    if (a.how == How::kOk) {
      double took = effect.seconds;  // without waiting for a worker: how many there are the estimate knows itself
      if (!p.program.instances[a.instance].of_catalog() && (!record || took > 0))
        for (auto& key : duration_keys(p.program, a.instance, a.transition)) durations.emplace_back(key, took);
      if (!a.message.empty()) of_resources[a.instance] = a.message;
    } else {
      fate.failed[a.instance] = t.name.text();
      ++out.failed;
      if (a.code == EHOSTUNREACH || a.code == ECONNRESET) ++out.unreachable;
      // Whoever gives a run up wants it ended: what nobody knows counts as failed.
      bool cut_off = !settings.give_up && (a.how == How::kLost || a.how == How::kCancelled);
      if (cut_off) out.open = out.unknown = true;
      std::string name = s.transition_text(a.instance, a.transition);
      failures.push_back(
          {a.instance, fmt::format("{}: {}", name, a.message.empty() ? "failed" : a.message), cut_off ? name : ""});
    }
  }
  std::stable_sort(failures.begin(), failures.end(), [](auto& x, auto& y) { return x.instance < y.instance; });
  for (auto& f : failures) {
    out.failures.push_back(std::move(f.line));
    out.actions.push_back(std::move(f.action));
  }
  for (u32 i = 0; i < s.instances.size(); ++i) {
    if (!p.program.instances[i].of_catalog()) continue;
    auto outputs = knowledge.outputs(i);
    if (auto st = outputs.find("status"); st != outputs.end()) {
      out.status[std::string(s.instances[i].name.text())] = st->second;
      if (st->second == "failed") {
        ++out.failed;
        out.failures.push_back(fmt::format("{}: {}", s.instances[i].name.text(), of_resources[i]));
        out.actions.emplace_back();
      }
    }
    if (outputs.count("noop")) {
      touched.erase(i);
      ++out.would;
    }
  }
  out.changed = static_cast<u32>(touched.size());
  if (!report.finished) out.stuck = report.stuck;
  [[maybe_unused]] auto learnt = place_.store->learn(durations);
  out.sum_up("changed", report.cancelled && !report.finished && !settings.give_up);
  if (!out.open)
    write_end(lease, run, report.finished && out.failed == 0,
              only_looked(p.program) ? p.state : next_state(p, runner, knowledge, report.actions, fate, scrub), out);
  return out;
}

void Outcome::sum_up(std::string_view what, bool left_open) {
  open = open || left_open;
  summary = fmt::format("{} {}, {} {} in {:.1f} s", changed, what, failed,
                        unknown ? "without a known result" : "failed", seconds);
}

void Deployer::write_end(const store::Lease& lease, i64 run, bool good, const Value& state, Outcome& out) {
  std::string status = good ? "done" : out.cancelled ? "interrupted" : "failed";
  auto written = place_.store->finish(lease, run, status, out.summary, encode(state, *place_.seal));
  if (written) return;
  out.wrong = written.error().message;
  out.wrong_code = written.error().code;
  out.open = true;
}

}  // namespace tutti::deploy
