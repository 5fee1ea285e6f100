#include "engine/run/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <queue>
#include <unordered_map>

namespace tutti::engine {

using model::ComponentType;
using model::System;

struct Runner::Impl : StepListener {
  Impl(const System& system, Executor& executor, const RunOptions& options, Journal* journal, RunListener* listener)
      : system_(system),
        executor_(executor),
        options_(options),
        journal_(journal),
        listener_(listener),
        scheduler_(system, options.on_failure, this),
        outputs_(system.instances.size()) {
    for (std::size_t i = 0; i < system.instances.size(); ++i) {
      if (!system.instances[i].outputs.is(Kind::kMap)) continue;
      any_outputs_ = true;
      for (const Entry& e : system.instances[i].outputs.entries())
        if (e.value.is(Kind::kString)) outputs_[i].emplace_back(e.key.text(), e.value.text());
    }
  }

  void step(const Step& s) override {
    double now = executor_.now();
    if (s.kind == Step::Kind::kInstruction) program_end_ = now;
    if (journal_ && !replaying_) journal_->step(now, s);
    if (listener_) listener_->step(now, s);
  }

  struct Wanted {
    u32 instance, transition, attempt;
    double ready;
    bool in_flight = false;
  };
  struct Later {
    double at;
    Wanted what;
    bool operator<(const Later& o) const { return at > o.at; }
  };

  void collect() {
    double now = executor_.now();
    for (const Scheduler::Start& s : scheduler_.starts()) want({s.instance, s.transition, 0, now});
  }

  void want(const Wanted& w) {
    if (options_.parallel_per_instance && in_instance_[w.instance] >= options_.parallel_per_instance) {
      behind_[w.instance].push_back(w);  // its turn comes when another action of the instance ends
      return;
    }
    if (options_.parallel_per_instance) ++in_instance_[w.instance];
    ready_.push_back(w);
  }

  // What runs and waits on one host. A host that is slow or gone keeps only its own actions waiting: they step out of
  // the queue, and come back to its front when one of them ends.
  struct Load {
    Symbol host;
    u32 running = 0;
    std::deque<Wanted> held;
  };

  Load& load_of(u32 instance) {
    Symbol host = system_.instances[instance].host;
    auto [at, added] = load_index_.emplace(host, static_cast<u32>(loads_.size()));
    if (added) loads_.push_back({host, 0, {}});
    return loads_[at->second];
  }

  // How many more may begin there.
  std::size_t room(const Load& load) const {
    u32 now = executor_.most_on(load.host);
    u32 most = options_.parallel_per_host && now ? std::min(options_.parallel_per_host, now)
                                                 : std::max(options_.parallel_per_host, now);
    if (most == 0) return std::numeric_limits<std::size_t>::max();
    return most > load.running ? most - load.running : 0;
  }

  bool take(Wanted& w) {
    if (options_.parallel && running_.size() >= options_.parallel) return false;
    while (!ready_.empty()) {
      w = ready_.front();
      ready_.pop_front();
      Load& load = load_of(w.instance);
      if (room(load) > 0) {
        ++load.running;
        return true;
      }
      load.held.push_back(w);
    }
    return false;
  }

  void release(Load& load) {
    if (load.held.empty()) return;
    auto end = load.held.begin() + static_cast<std::ptrdiff_t>(std::min(room(load), load.held.size()));
    ready_.insert(ready_.begin(), load.held.begin(), end);
    load.held.erase(load.held.begin(), end);
  }

  // An action is over, one way or another.
  void left(u32 instance) {
    Load& load = load_of(instance);
    --load.running;
    release(load);
  }

  static u64 key(u32 instance, u32 transition) { return u64{instance} << 32 | transition; }

  ActionRequest request(const Wanted& w) {
    const ComponentType& type = system_.type_of(w.instance);
    const model::Action& action = type.action_of(type.transitions[w.transition]);
    return {w.instance,     w.transition, w.attempt,  &system_, &action, system_.instances[w.instance].host,
            action.timeout, nullptr,      w.in_flight};
  }

  // What an action may read: the outputs of its own instance under their keys, those of each used port's provider under
  // "port.key".
  void gather(u32 i, Outputs& inputs) {
    inputs = outputs_[i];
    const ComponentType& type = system_.type_of(i);
    for (u32 q = 0; q < type.uses; ++q) {
      u32 provider = kNone, provide = 0;
      if (!scheduler_.link_of(i, q, provider, provide)) continue;
      const model::Port& port = system_.type_of(provider).ports[provide];
      for (const auto& [k, v] : outputs_[provider]) {
        if (port.data.is(Kind::kMap)) {  // only what the port gives, under the names it gives
          for (const Entry& e : port.data.entries())
            if (e.value.is(Kind::kString) && e.value.text() == k)
              inputs.emplace_back(fmt::format("{}.{}", type.ports[q].name.text(), e.key.text()), v);
        } else {
          inputs.emplace_back(fmt::format("{}.{}", type.ports[q].name.text(), k), v);
        }
      }
    }
  }

  bool stopping() const {
    return cancelled_.load(std::memory_order_relaxed) || draining_.load(std::memory_order_relaxed);
  }

  void launch() {
    if (stopping()) return drop_what_waits();
    double now = executor_.now();
    while (!later_.empty() && later_.top().at <= now) {
      Wanted w = later_.top().what;
      later_.pop();
      want(w);
    }
    while (launch_some(now)) {
    }
    if (stopping()) drop_what_waits();  // told meanwhile, or the journal refused: nobody waits for what never begins
  }

  void drop_what_waits() {
    ready_.clear();
    for (Load& load : loads_) load.held.clear();
    behind_.clear();
    later_ = {};
  }

  bool launch_some(double now) {
    batch_.clear();
    Wanted w;
    while (batch_.size() < 4096 && take(w)) {
      running_.emplace(key(w.instance, w.transition), Begun{now, w.ready});
      batch_.push_back(request(w));
    }
    if (batch_.empty()) return false;
    if (journal_ && !journal_->starting(now, batch_)) {  // nothing is done that is not written down
      for (const ActionRequest& r : batch_) {
        running_.erase(key(r.instance, r.transition));
        left(r.instance);
      }
      cancelled_.store(true);
      return false;
    }
    Outputs inputs;
    for (ActionRequest& r : batch_) {
      if (any_outputs_) {
        gather(r.instance, inputs);
        r.inputs = &inputs;
      }
      if (listener_) listener_->started(now, r);
      executor_.start(r);
    }
    return true;
  }

  // -1 when the name is none of the transition's outcomes.
  int outcome_named(const ComponentType& type, const model::Transition& t, std::string_view name) {
    auto outcomes = type.outcomes_of(t);
    for (std::size_t o = 0; o < outcomes.size(); ++o)
      if (name.empty() ? !outcomes[o].on_failure : outcomes[o].name.text() == name) return static_cast<int>(o);
    return -1;
  }

  void take_in(ActionResult& r) {
    const ComponentType& type = system_.type_of(r.instance);
    const model::Transition& t = type.transitions[r.transition];
    const model::Action& action = type.action_of(t);
    Begun begun{r.started, r.started};
    if (auto it = running_.find(key(r.instance, r.transition)); it != running_.end()) {
      begun = it->second;
      running_.erase(it);
      left(r.instance);
    }
    if (options_.parallel_per_instance) {
      --in_instance_[r.instance];
      if (auto next = behind_.find(r.instance); next != behind_.end() && !next->second.empty()) {
        ++in_instance_[r.instance];
        ready_.push_back(next->second.front());
        next->second.pop_front();
      }
    }
    int outcome = -1;
    if (r.how == How::kOk) {
      outcome = outcome_named(type, t, r.outcome);
      if (outcome < 0) {
        r.how = How::kFailed;
        r.message = fmt::format("it ended with outcome `{}`, which {} does not have", r.outcome,
                                system_.transition_text(r.instance, r.transition));
      }
    }
    // What was lost on the way may still have happened: only what may be done twice is tried again unasked.
    bool again = r.how != How::kOk && r.how != How::kCancelled && (r.how != How::kLost || action.idempotent) &&
                 r.attempt < action.retry.times && !cancelled_.load();
    if (r.how == How::kCancelled && !cancelled_.load()) r.message = r.message.empty() ? "cancelled" : r.message;
    if (listener_) listener_->ended(executor_.now(), r, again);
    if (again) {  // the token stays where it is: to the model the action only takes longer (F2)
      later_.push({executor_.now() + action.retry.wait_before(r.attempt + 1),
                   {r.instance, r.transition, r.attempt + 1, begun.ready}});
      return;
    }
    if (!r.outputs.empty()) {
      any_outputs_ = true;
      Outputs& mine = outputs_[r.instance];
      std::unordered_map<std::string, std::size_t> known;
      for (std::size_t i = 0; i < mine.size(); ++i) known.emplace(mine[i].first, i);
      for (auto& [k, v] : r.outputs) {
        auto [at, added] = known.emplace(k, mine.size());
        if (added)
          mine.emplace_back(k, v);
        else
          mine[at->second].second = v;
      }
    }
    if (outcome < 0) {  // the outcome declared for failure, if there is one (F3); else a failed token (F4)
      auto outcomes = type.outcomes_of(t);
      for (std::size_t o = 0; o < outcomes.size(); ++o)
        if (outcomes[o].on_failure) outcome = static_cast<int>(o);
    }
    report_.actions.push_back({r.instance, r.transition, r.attempt + 1, static_cast<u32>(std::max(outcome, 0)), r.how,
                               begun.ready, begun.start, executor_.now(), r.code, std::move(r.message),
                               std::move(r.log)});
    if (outcome >= 0)
      scheduler_.ended(r.instance, r.transition, static_cast<u32>(outcome));
    else
      scheduler_.failed(r.instance, r.transition);
  }

  RunReport loop() {
    std::vector<ActionResult> results;
    bool told = false;
    for (;;) {
      collect();
      launch();
      if (cancelled_.load(std::memory_order_relaxed) && !told) {
        told = true;
        for (const auto& [k, begun] : running_) executor_.cancel(static_cast<u32>(k >> 32), static_cast<u32>(k));
      }
      if (journal_) journal_->settle();
      if (running_.empty() && later_.empty()) break;
      if (listener_) listener_->idle(executor_.now(), scheduler_);
      results.clear();
      executor_.wait(results, later_.empty() ? std::numeric_limits<double>::infinity() : later_.top().at);
      if (results.empty())  // woken: a host may take more than it did
        for (Load& load : loads_) release(load);
      if (journal_ && !results.empty()) journal_->ended(executor_.now(), results);
      for (ActionResult& r : results) take_in(r);
      if (!results.empty()) last_ = executor_.now();
    }
    return finish();
  }

  RunReport finish() {
    report_.finished = scheduler_.finished();
    report_.cancelled = stopping();
    report_.total = std::max(last_, program_end_);
    report_.program_end = program_end_;
    report_.pc = scheduler_.pc();
    report_.steps = scheduler_.steps();
    for (u32 i = 0; i < system_.instances.size(); ++i)
      if (scheduler_.has_failed(i)) report_.failed.push_back(i);
    if (!report_.finished) {
      report_.stuck = scheduler_.why_blocked(kNone);
      for (u32 i = 0; i < system_.instances.size() && report_.stuck.size() < 1000; ++i)
        for (std::string& s : scheduler_.why_blocked(i)) report_.stuck.push_back(std::move(s));
    }
    return std::move(report_);
  }

  struct Begun {
    double start, ready;
  };

  const System& system_;
  Executor& executor_;
  RunOptions options_;
  Journal* journal_;
  RunListener* listener_;
  Scheduler scheduler_;
  std::deque<Wanted> ready_;
  std::vector<Load> loads_;
  std::unordered_map<Symbol, u32> load_index_;
  std::unordered_map<u32, u32> in_instance_;  // only when instances have limits
  std::unordered_map<u32, std::deque<Wanted>> behind_;
  std::priority_queue<Later> later_;
  std::unordered_map<u64, Begun> running_;
  std::vector<ActionRequest> batch_;
  std::vector<Outputs> outputs_;
  RunReport report_;
  double program_end_ = 0, last_ = 0;
  bool replaying_ = false, any_outputs_ = false;
  std::atomic<bool> cancelled_{false}, draining_{false};
};

Runner::Runner(const System& system, Executor& executor, const RunOptions& options, Journal* journal,
               RunListener* listener)
    : impl_(std::make_unique<Impl>(system, executor, options, journal, listener)) {}
Runner::~Runner() = default;

RunReport Runner::run() {
  impl_->scheduler_.begin();
  return impl_->loop();
}

RunReport Runner::resume(const JournalRecord& record) {
  Impl& m = *impl_;
  m.replaying_ = true;
  m.scheduler_.begin();
  m.collect();
  // Everything asked for so far stays in the ready list; a recorded result takes its request from there.
  auto forget = [&](u32 instance, u32 transition, u32 attempt) {
    auto match = [&](const Impl::Wanted& w) {
      return w.instance == instance && w.transition == transition && w.attempt <= attempt;
    };
    auto& list = m.ready_;
    auto at = std::find_if(list.begin(), list.end(), match);
    if (at == list.end()) return;
    list.erase(at);
  };
  // What has a failed token and is in the journal once more was started again (F6).
  auto revive = [&](u32 instance, u32 transition) {
    auto failures = m.scheduler_.failures();
    if (std::find(failures.begin(), failures.end(), std::pair{instance, transition}) == failures.end()) return;
    m.scheduler_.retry(instance, transition);
    m.collect();
    auto& spans = m.report_.actions;  // it is told as it went the last time
    auto old = std::find_if(spans.rbegin(), spans.rend(),
                            [&](auto& a) { return a.instance == instance && a.transition == transition; });
    if (old != spans.rend()) spans.erase(std::next(old).base());
  };
  for (ActionResult r : record.results) {
    revive(r.instance, r.transition);
    forget(r.instance, r.transition, r.attempt);
    m.take_in(r);
    m.collect();
    while (!m.later_.empty()) {  // its retry has happened already, or will now
      Impl::Wanted w = m.later_.top().what;
      m.later_.pop();
      m.want(w);
    }
  }
  m.replaying_ = false;
  for (const JournalRecord::Started& s : record.again) revive(s.instance, s.transition);
  for (const JournalRecord::Started& s : record.open) {
    revive(s.instance, s.transition);
    const ComponentType& type = m.system_.type_of(s.instance);
    const model::Action& action = type.action_of(type.transitions[s.transition]);
    if (action.idempotent || action.check()) {  // still in the ready list: started again
      for (Impl::Wanted& w : m.ready_)
        if (w.instance == s.instance && w.transition == s.transition) w.in_flight = true;
      continue;
    }
    forget(s.instance, s.transition, s.attempt);
    ActionResult lost;
    lost.instance = s.instance;
    lost.transition = s.transition;
    lost.attempt = kNone - 1;  // never tried again by itself
    lost.how = How::kLost;
    lost.message = "it was running when the engine stopped, and nobody knows what became of it";
    if (m.journal_) m.journal_->ended(m.executor_.now(), std::span(&lost, 1));
    m.take_in(lost);
    m.collect();
  }
  return m.loop();
}

RunReport Runner::replay(std::span<const Step> steps) {
  Impl& m = *impl_;
  double now = 0;
  for (const Step& step : steps) {
    if (!m.scheduler_.perform(step)) break;
    now += 1;
    for (const Scheduler::Start& s : m.scheduler_.starts())
      m.running_.emplace(m.key(s.instance, s.transition), Impl::Begun{now, now});
    if (step.kind == Step::Kind::kInstruction) m.program_end_ = now;
    if (step.kind != Step::Kind::kEnd && step.kind != Step::Kind::kFail) continue;
    auto it = m.running_.find(m.key(step.instance, step.index));
    if (it == m.running_.end()) continue;
    ActionSpan& a = m.report_.actions.emplace_back();
    a.instance = step.instance, a.transition = step.index, a.outcome = step.outcome;
    a.how = step.kind == Step::Kind::kFail ? How::kFailed : How::kOk;
    a.ready = it->second.ready, a.start = it->second.start, a.end = now;
    m.running_.erase(it);
  }
  m.last_ = now;
  return m.finish();
}

void Runner::drain() { impl_->draining_.store(true); }
void Runner::cancel() { impl_->cancelled_.store(true); }
const Scheduler& Runner::scheduler() const { return impl_->scheduler_; }
const Outputs& Runner::outputs(u32 instance) const { return impl_->outputs_[instance]; }

}  // namespace tutti::engine
