#include "engine/run/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::engine {

using model::ComponentType;
using model::for_each_bit;
using model::Instruction;
using model::Link;
using model::Op;
using model::Outcome;
using model::Station;
using model::System;

// Everything is in flat arrays, one run of slots per instance: a component of a few places costs some 300 bytes.
//
// Counters make each rule's premise a constant-time test: tokens per port, active users per provide port, missing
// endings per station, tokens in transit and places yet to be left per instance. What is blocked is a Waiter in exactly
// one list, that of the port it waits for, and is tried again only when that port changes.
struct Scheduler::Impl {
  struct Item {
    const ComponentType* type = nullptr;
    u32 marking = 0;   // first word in marks_
    u32 ports = 0;     // first in tokens_, uses_ and provides_ share the numbering: port p is ports + p
    u32 stations = 0;  // first in missing_
    u32 finished = 0, pushed = 0;
    u32 queue_head = kNone, queue_tail = kNone;  // in pushes_
    u32 transit = 0;                             // tokens on transitions and endings
    u32 pending = 0;                             // marked places that the current behaviour leaves
    bool present = false, failed = false, odd = false;
    bool half_way = false;  // from the start, until a behaviour comes
  };
  struct PortState {
    u32 tokens = 0;
    u32 waiters = kNone;  // use: stations of this instance until it is linked; provide: stations of users
    u32 leavers = kNone;  // provide: places of this instance until nobody uses it
    // use: the link. provide: first user and how many of them are active.
    u32 provider = kNone, provide = 0;
    u32 next = kNone, before = kNone;  // use: in the provider's list of users (global port numbers)
    u32 users = kNone, active_users = 0;
  };
  struct Waiter {
    u32 instance, index, next;
  };
  struct PushNode {
    u32 behaviour, next;
  };
  struct Task {
    enum class Kind : u8 { kEnter, kFire, kFinish } kind;
    u32 instance, index;
  };

  Impl(const System& system, OnFailure on_failure, StepListener* listener)
      : system_(system), on_failure_(on_failure), listener_(listener) {
    std::size_t n = system.instances.size(), words = 0, ports = 0, stations = 0;
    items_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const ComponentType& t = system.type_of(static_cast<u32>(i));
      items_[i].type = &t;
      items_[i].marking = static_cast<u32>(words);
      items_[i].ports = static_cast<u32>(ports);
      items_[i].stations = static_cast<u32>(stations);
      words += t.words();
      ports += t.ports.size();
      stations += t.stations.size();
    }
    marks_.resize(words);
    ports_.resize(ports);
    missing_.resize(stations);
    for (std::size_t i = 0; i < n; ++i) {
      const Item& it = items_[i];
      for (std::size_t s = 0; s < it.type->stations.size(); ++s) missing_[it.stations + s] = it.type->stations[s].needs;
      if (system.instances[i].present) appear(static_cast<u32>(i));
    }
    for (const Link& l : system.links) connect(l.user, l.use, l.provider, l.provide);
  }

  // ---- markings and ports

  u64* marks(const Item& it) { return marks_.data() + it.marking; }
  bool marked(const Item& it, u32 e) const { return marks_[it.marking + e / 64] >> (e % 64) & 1; }

  void appear(u32 i) {
    Item& it = items_[i];
    it.present = true;
    for (u32 e : system_.instances[i].marking) {
      if (marked(it, e)) continue;
      marks(it)[e / 64] |= u64{1} << (e % 64);
      for_each_bit(it.type->ports_of.row(e), it.type->port_words(), [&](u32 q) {
        ++ports_[it.ports + q].tokens;
        if (q < it.type->uses) it.odd = true;  // used from the start: the shortcut of try_enter needs this checked
      });
      if (it.type->is_place(e)) continue;
      it.half_way = true;
      ++it.transit;
      if (it.type->is_ending(e)) --missing_[it.stations + it.type->half_way(e).ended->station];
    }
  }

  void add_token(u32 i, u32 e) {
    Item& it = items_[i];
    marks(it)[e / 64] |= u64{1} << (e % 64);
    for_each_bit(it.type->ports_of.row(e), it.type->port_words(), [&](u32 q) { more_tokens(i, q); });
  }

  void remove_token(u32 i, u32 e) {
    Item& it = items_[i];
    marks(it)[e / 64] &= ~(u64{1} << (e % 64));
    for_each_bit(it.type->ports_of.row(e), it.type->port_words(), [&](u32 q) {
      if (--ports_[it.ports + q].tokens == 0) deactivated(i, q);
    });
  }

  // Moves a token: only the ports that hold one of the two elements and not the other change.
  void move_token(u32 i, u32 from, u32 to) {
    Item& it = items_[i];
    u64* m = marks(it);
    m[from / 64] &= ~(u64{1} << (from % 64));
    m[to / 64] |= u64{1} << (to % 64);
    const u64 *a = it.type->ports_of.row(from), *b = it.type->ports_of.row(to);
    for (std::size_t w = 0; w < it.type->port_words(); ++w) {
      for (u64 left = b[w] & ~a[w]; left; left &= left - 1) {
        u32 q = static_cast<u32>(w * 64 + std::countr_zero(left));
        more_tokens(i, q);
      }
      for (u64 left = a[w] & ~b[w]; left; left &= left - 1) {
        u32 q = static_cast<u32>(w * 64 + std::countr_zero(left));
        if (--ports_[it.ports + q].tokens == 0) deactivated(i, q);
      }
    }
  }

  void more_tokens(u32 i, u32 q) {
    PortState& p = ports_[items_[i].ports + q];
    if (++p.tokens == 1)
      activated(i, q);
    else if (p.leavers != kNone)
      wake(p.leavers, Task::Kind::kFire);  // no longer the last token: it may go although the port is in use
  }

  void activated(u32 i, u32 q) {
    Item& it = items_[i];
    PortState& p = ports_[it.ports + q];
    if (q < it.type->uses) {
      if (p.provider != kNone) ++ports_[items_[p.provider].ports + p.provide].active_users;
      return;
    }
    wake(p.waiters, Task::Kind::kEnter);
    wake(p.leavers, Task::Kind::kFire);
  }

  void deactivated(u32 i, u32 q) {
    Item& it = items_[i];
    PortState& p = ports_[it.ports + q];
    if (q >= it.type->uses) return;
    if (p.provider != kNone) {
      PortState& provide = ports_[items_[p.provider].ports + p.provide];
      if (--provide.active_users == 0) wake(provide.leavers, Task::Kind::kFire);
    }
    if (pc_ < system_.program.size()) {
      const Instruction& in = system_.program[pc_];
      if (in.op == Op::kDcon && in.instance == i && in.port == q) look_at_program_ = true;
    }
  }

  bool refusing(u32 i, u32 q) {
    Item& it = items_[i];
    if (ports_[it.ports + q].tokens == 0) return false;
    if (it.failed) return true;
    if (it.queue_head == kNone) return false;
    const ComponentType& t = *it.type;
    const u64 *m = marks(it), *group = t.group.row(q),
              *exits = t.exits.row(pushes_[it.queue_head].behaviour * t.ports.size() + q);
    for (std::size_t w = 0; w < t.words(); ++w)
      if (m[w] & group[w] & ~(w < t.exits.words() ? exits[w] : 0)) return false;
    return true;
  }

  // ---- waiting

  void wait_in(u32& list, u32 i, u32 index) {
    u32 w;
    if (free_ != kNone) {
      w = free_;
      free_ = waiters_[w].next;
    } else {
      w = static_cast<u32>(waiters_.size());
      waiters_.push_back({});
    }
    waiters_[w] = {i, index, list};
    list = w;
  }

  void wake(u32& list, Task::Kind kind) {
    while (list != kNone) {
      u32 w = list;
      list = waiters_[w].next;
      tasks_.push_back({kind, waiters_[w].instance, waiters_[w].index});
      waiters_[w].next = free_;
      free_ = w;
    }
  }

  // ---- links

  void connect(u32 user, u32 use, u32 provider, u32 provide) {
    u32 g = items_[user].ports + use;
    PortState &u = ports_[g], &p = ports_[items_[provider].ports + provide];
    u.provider = provider;
    u.provide = provide;
    u.next = p.users;
    u.before = kNone;
    if (p.users != kNone) ports_[p.users].before = g;
    p.users = g;
    if (u.tokens) ++p.active_users;
    wake(u.waiters, Task::Kind::kEnter);
  }

  void disconnect(u32 user, u32 use) {
    PortState& u = ports_[items_[user].ports + use];
    if (u.provider == kNone) return;
    PortState& p = ports_[items_[u.provider].ports + u.provide];
    if (u.before != kNone)
      ports_[u.before].next = u.next;
    else
      p.users = u.next;
    if (u.next != kNone) ports_[u.next].before = u.before;
    u.provider = u.next = u.before = kNone;
  }

  bool has_links(u32 i) const {
    const Item& it = items_[i];
    for (u32 q = 0; q < it.type->ports.size(); ++q) {
      const PortState& p = ports_[it.ports + q];
      if (q < it.type->uses ? p.provider != kNone : p.users != kNone) return true;
    }
    return false;
  }

  // ---- the rules

  void did(Step::Kind kind, u32 i, u32 index, u32 outcome = 0) {
    ++steps_;
    if (listener_) listener_->step({kind, i, index, outcome});
  }

  void try_fire(u32 i, u32 place) {  // R1
    Item& it = items_[i];
    if (it.failed || it.queue_head == kNone || !marked(it, place)) return;
    const ComponentType& t = *it.type;
    u32 b = pushes_[it.queue_head].behaviour;
    auto out = t.out(place, b);
    if (out.empty()) return;
    // Ports that this place holds and would leave. (Ports that are inactive with an active user block too, as the rule
    // is printed: they exist only where a type is used from its initial place.)
    u32 blocking = kNone;
    const u64* held = t.ports_of.row(place);
    for (std::size_t w = 0; w < t.port_words() && blocking == kNone; ++w)
      for (u64 left = held[w]; left && blocking == kNone; left &= left - 1) {
        u32 q = static_cast<u32>(w * 64 + std::countr_zero(left));
        const PortState& p = ports_[it.ports + q];
        if (q < t.uses || p.tokens > 1 || p.active_users == 0) continue;
        if (std::none_of(out.begin(), out.end(), [&](u32 k) { return t.ports_of.test(t.transition_element(k), q); }))
          blocking = q;
      }
    if (blocking == kNone && any_odd_)
      for (u32 q = t.uses; q < t.ports.size() && blocking == kNone; ++q)
        if (ports_[it.ports + q].active_users && !ports_[it.ports + q].tokens) blocking = q;
    if (blocking != kNone) {
      wait_in(ports_[it.ports + blocking].leavers, i, place);
      return;
    }
    did(Step::Kind::kFire, i, place);
    --it.pending;
    if (out.size() == 1 && !marked(it, t.transition_element(out[0]))) {
      ++it.transit;
      move_token(i, place, t.transition_element(out[0]));
      starts_.push_back({i, out[0]});
      ++running_;
      return;
    }
    for (u32 k : out) {
      u32 e = t.transition_element(k);
      if (marked(it, e)) {  // not 1-safe: a set cannot hold it twice
        ++merged_;
        continue;
      }
      ++it.transit;
      add_token(i, e);
      starts_.push_back({i, k});
      ++running_;
    }
    remove_token(i, place);
  }

  void end(u32 i, u32 k, u32 outcome) {  // R2
    Item& it = items_[i];
    const ComponentType& t = *it.type;
    u32 e = t.transition_element(k);
    if (!marked(it, e)) return;
    const Outcome& o = t.outcomes_of(t.transitions[k])[outcome];
    --running_;
    did(Step::Kind::kEnd, i, k, outcome);
    if (marked(it, o.ending)) {
      ++merged_;
      --it.transit;
      remove_token(i, e);
      return;
    }
    move_token(i, e, o.ending);
    if (--missing_[it.stations + o.station] == 0) tasks_.push_back({Task::Kind::kEnter, i, o.station});
  }

  void fail(u32 i, u32 k) {  // F4
    Item& it = items_[i];
    if (!marked(it, it.type->transition_element(k))) return;
    --running_;
    did(Step::Kind::kFail, i, k);
    failed_.push_back({i, k});
    if (!it.failed) ++failed_items_;
    it.failed = true;
    look_at_program_ = true;
  }

  void try_enter(u32 i, u32 station) {  // R3
    Item& it = items_[i];
    if (missing_[it.stations + station] != 0) return;
    const ComponentType& t = *it.type;
    const Station& st = t.stations[station];
    auto needs = t.needs_of(st);
    if (needs.empty()) return;
    // A use port that an ending already holds is linked, provided and allowed (invariant T1): skip those.
    const u64 *wants = t.ports_of.row(st.place), *has = t.ports_of.row(needs[0]);
    for (std::size_t w = 0; w < t.port_words(); ++w)
      for (u64 left = wants[w] & ~(it.odd ? 0 : has[w]); left; left &= left - 1) {
        u32 q = static_cast<u32>(w * 64 + std::countr_zero(left));
        if (q >= t.uses) break;
        PortState& u = ports_[it.ports + q];
        if (u.provider == kNone) return wait_in(u.waiters, i, station);
        PortState& p = ports_[items_[u.provider].ports + u.provide];
        if (p.tokens == 0 || (u.tokens == 0 && refusing(u.provider, u.provide))) return wait_in(p.waiters, i, station);
      }
    did(Step::Kind::kEnter, i, station);
    missing_[it.stations + station] = st.needs;
    bool already = marked(it, st.place);
    if (needs.size() == 1 && !already) {
      --it.transit;
      move_token(i, needs[0], st.place);
    } else {
      if (already)
        ++merged_;
      else
        add_token(i, st.place);
      for (u32 e : needs) {
        --it.transit;
        remove_token(i, e);
      }
    }
    // A provide port that had only exit places may have a token again that stays: its waiters look again.
    const u64* holds = t.ports_of.row(st.place);
    for (std::size_t w = t.uses / 64; w < t.port_words(); ++w)
      for (u64 left = holds[w]; left; left &= left - 1) {
        u32 q = static_cast<u32>(w * 64 + std::countr_zero(left));
        if (q >= t.uses) wake(ports_[it.ports + q].waiters, Task::Kind::kEnter);
      }
    if (!already && !t.out(st.place, pushes_[it.queue_head].behaviour).empty()) {
      ++it.pending;
      tasks_.push_back({Task::Kind::kFire, i, st.place});
    }
    if (it.transit == 0 && it.pending == 0) tasks_.push_back({Task::Kind::kFinish, i, 0});
  }

  // Another behaviour is current: which places does it leave, and what do the provide ports refuse now?
  void behaviour_changed(u32 i) {
    Item& it = items_[i];
    const ComponentType& t = *it.type;
    for (u32 q = t.uses; q < t.ports.size(); ++q) wake(ports_[it.ports + q].waiters, Task::Kind::kEnter);
    it.pending = 0;
    if (it.queue_head == kNone) return;
    u32 b = pushes_[it.queue_head].behaviour;
    for_each_bit(marks(it), t.words(), [&](u32 e) {
      if (t.is_place(e) && !t.out(e, b).empty()) {
        ++it.pending;
        tasks_.push_back({Task::Kind::kFire, i, e});
      }
    });
    if (std::exchange(it.half_way, false)) go_on(i);
    if (it.pending == 0 && it.transit == 0) tasks_.push_back({Task::Kind::kFinish, i, 0});
  }

  // What was half way from the start moves: transitions are run, and what has ended is entered.
  void go_on(u32 i) {
    const Item& it = items_[i];
    for_each_bit(marks(it), it.type->words(), [&](u32 e) {
      if (it.type->is_transition(e)) {
        starts_.push_back({i, it.type->element_transition(e)});
        ++running_;
      } else if (it.type->is_ending(e)) {
        tasks_.push_back({Task::Kind::kEnter, i, it.type->half_way(e).ended->station});
      }
    });
  }

  void try_finish(u32 i) {  // R4
    Item& it = items_[i];
    if (it.queue_head == kNone || it.failed || it.transit || it.pending) return;
    u32 b = pushes_[it.queue_head].behaviour;
    did(Step::Kind::kFinish, i, b);
    ++it.finished;
    u32 node = it.queue_head;
    it.queue_head = pushes_[node].next;
    pushes_[node].next = free_push_;
    free_push_ = node;
    if (it.queue_head == kNone) {
      it.queue_tail = kNone;
      --busy_;
    }
    behaviour_changed(i);
    if (pc_ < system_.program.size()) {
      const Instruction& in = system_.program[pc_];
      if (in.op == Op::kWaitAll ? busy_ == 0 || failed_items_ : in.instance == i) look_at_program_ = true;
    }
  }

  void push(u32 i, u32 behaviour) {  // R9
    Item& it = items_[i];
    u32 node;
    if (free_push_ != kNone) {
      node = free_push_;
      free_push_ = pushes_[node].next;
      pushes_[node] = {behaviour, kNone};
    } else {
      node = static_cast<u32>(pushes_.size());
      pushes_.push_back({behaviour, kNone});
    }
    ++it.pushed;
    if (it.queue_tail != kNone) {
      pushes_[it.queue_tail].next = node;
      it.queue_tail = node;
      return;
    }
    it.queue_head = it.queue_tail = node;
    ++busy_;
    behaviour_changed(i);
  }

  // The next instruction, if it can be done now.
  bool instruct() {
    if (pc_ >= system_.program.size() || stopped_) return false;
    const Instruction& in = system_.program[pc_];
    bool lost = in.instance != kNone && items_[in.instance].failed;
    switch (in.op) {
      case Op::kAdd: appear(in.instance); break;
      case Op::kDel:
        if (lost) return stop();
        if (items_[in.instance].queue_head != kNone || has_links(in.instance)) return false;
        items_[in.instance].present = false;
        break;
      case Op::kCon:
        if (ports_[items_[in.instance].ports + in.port].provider != kNone) return false;
        connect(in.instance, in.port, in.provider, in.provide);
        break;
      case Op::kDcon:
        if (ports_[items_[in.instance].ports + in.port].tokens) return lost && stop();
        disconnect(in.instance, in.port);
        break;
      case Op::kPush: push(in.instance, in.behaviour); break;
      case Op::kWait:
        if (items_[in.instance].finished >= in.upto) break;
        if (!lost) return false;
        if (on_failure_ == OnFailure::kStop) return stop();
        break;
      case Op::kWaitAll:
        if (busy_ == 0) break;
        if (!failed_items_ || busy_ > failed_items_) return false;
        if (on_failure_ == OnFailure::kStop) return stop();
        break;
    }
    if (in.op == Op::kAdd) any_odd_ = any_odd_ || items_[in.instance].odd;
    did(Step::Kind::kInstruction, kNone, pc_);
    ++pc_;
    return true;
  }

  // Runs the program as far as it goes.
  void advance() {
    look_at_program_ = false;
    while (instruct()) {
    }
  }

  bool stop() {
    stopped_ = true;
    return false;
  }

  void drain() {
    for (;;) {
      if (look_at_program_) advance();
      if (next_task_ == tasks_.size()) break;
      Task task = tasks_[next_task_++];
      switch (task.kind) {
        case Task::Kind::kEnter: try_enter(task.instance, task.index); break;
        case Task::Kind::kFire: try_fire(task.instance, task.index); break;
        case Task::Kind::kFinish: try_finish(task.instance); break;
      }
      if (next_task_ == tasks_.size()) tasks_.clear(), next_task_ = 0;
    }
  }

  const System& system_;
  OnFailure on_failure_;
  StepListener* listener_;
  std::vector<Item> items_;
  std::vector<u64> marks_;
  std::vector<PortState> ports_;
  std::vector<u32> missing_;
  std::vector<Waiter> waiters_;
  std::vector<PushNode> pushes_;
  std::vector<Task> tasks_;
  std::size_t next_task_ = 0;
  std::vector<Start> starts_, given_;
  std::vector<std::pair<u32, u32>> failed_;  // (instance, transition)
  u32 free_ = kNone, free_push_ = kNone;
  u32 pc_ = 0, busy_ = 0, running_ = 0, failed_items_ = 0, merged_ = 0;
  u64 steps_ = 0;
  bool look_at_program_ = true, stopped_ = false, any_odd_ = false;
};

Scheduler::Scheduler(const System& system, OnFailure on_failure, StepListener* listener)
    : impl_(std::make_unique<Impl>(system, on_failure, listener)) {
  for (const auto& it : impl_->items_) impl_->any_odd_ = impl_->any_odd_ || (it.present && it.odd);
}
Scheduler::~Scheduler() = default;

void Scheduler::begin() { impl_->drain(); }

void Scheduler::ended(u32 instance, u32 transition, u32 outcome) {
  impl_->end(instance, transition, outcome);
  impl_->drain();
}

void Scheduler::failed(u32 instance, u32 transition) {
  impl_->fail(instance, transition);
  impl_->drain();
}

// Tasks that a step brings about stay where they are: every one of them looks again whether it applies.
bool Scheduler::perform(const Step& step) {
  Impl& m = *impl_;
  u64 before = m.steps_;
  switch (step.kind) {
    case Step::Kind::kInstruction: return step.index == m.pc_ && m.instruct();
    case Step::Kind::kFire: m.try_fire(step.instance, step.index); break;
    case Step::Kind::kEnd: m.end(step.instance, step.index, step.outcome); break;
    case Step::Kind::kEnter: m.try_enter(step.instance, step.index); break;
    case Step::Kind::kFinish: m.try_finish(step.instance); break;
    case Step::Kind::kFail: m.fail(step.instance, step.index); break;
  }
  return m.steps_ != before;
}

void Scheduler::retry(u32 instance, u32 transition) {
  Impl& m = *impl_;
  auto at = std::find(m.failed_.begin(), m.failed_.end(), std::pair{instance, transition});
  if (at == m.failed_.end()) return;
  m.failed_.erase(at);
  m.starts_.push_back({instance, transition});
  ++m.running_;
  heal(instance);
}

void Scheduler::skip(u32 instance, u32 transition, u32 outcome) {
  Impl& m = *impl_;
  auto at = std::find(m.failed_.begin(), m.failed_.end(), std::pair{instance, transition});
  if (at == m.failed_.end()) return;
  m.failed_.erase(at);
  ++m.running_;
  heal(instance);
  ended(instance, transition, outcome);
}

// When its last failed token is gone an instance goes on where it was, and so does a program that stopped for it.
void Scheduler::heal(u32 instance) {
  Impl& m = *impl_;
  if (std::any_of(m.failed_.begin(), m.failed_.end(), [&](const auto& f) { return f.first == instance; })) return;
  Impl::Item& it = m.items_[instance];
  it.failed = false;
  --m.failed_items_;
  m.stopped_ = false;
  m.look_at_program_ = true;
  m.behaviour_changed(instance);
  m.drain();
}

std::span<const Scheduler::Start> Scheduler::starts() {
  impl_->given_.swap(impl_->starts_);
  impl_->starts_.clear();
  return impl_->given_;
}

bool Scheduler::finished() const { return impl_->pc_ == impl_->system_.program.size() && impl_->busy_ == 0; }
bool Scheduler::quiet() const { return impl_->running_ == 0; }
u32 Scheduler::pc() const { return impl_->pc_; }
u32 Scheduler::running() const { return impl_->running_; }
u64 Scheduler::steps() const { return impl_->steps_; }
u32 Scheduler::merged() const { return impl_->merged_; }
bool Scheduler::stopped() const { return impl_->stopped_; }

std::size_t Scheduler::bytes() const {
  const Impl& m = *impl_;
  return m.items_.capacity() * sizeof(Impl::Item) + m.marks_.capacity() * 8 +
         m.ports_.capacity() * sizeof(Impl::PortState) + m.missing_.capacity() * 4 +
         m.waiters_.capacity() * sizeof(Impl::Waiter) + m.pushes_.capacity() * sizeof(Impl::PushNode) +
         m.tasks_.capacity() * sizeof(Impl::Task) + (m.starts_.capacity() + m.given_.capacity()) * sizeof(Start);
}

bool Scheduler::present(u32 i) const { return impl_->items_[i].present; }
bool Scheduler::idle(u32 i) const { return impl_->items_[i].queue_head == kNone; }
bool Scheduler::has_failed(u32 i) const { return impl_->items_[i].failed; }
bool Scheduler::marked(u32 i, u32 e) const { return impl_->marked(impl_->items_[i], e); }
u32 Scheduler::behaviours_finished(u32 i) const { return impl_->items_[i].finished; }
std::span<const std::pair<u32, u32>> Scheduler::failures() const { return impl_->failed_; }

std::vector<u32> Scheduler::marking(u32 i) const {
  std::vector<u32> out;
  const Impl::Item& it = impl_->items_[i];
  for_each_bit(impl_->marks_.data() + it.marking, it.type->words(), [&](u32 e) { out.push_back(e); });
  return out;
}

std::vector<u32> Scheduler::queue(u32 i) const {
  std::vector<u32> out;
  for (u32 n = impl_->items_[i].queue_head; n != kNone; n = impl_->pushes_[n].next)
    out.push_back(impl_->pushes_[n].behaviour);
  return out;
}

bool Scheduler::port_active(u32 i, u32 port) const { return impl_->ports_[impl_->items_[i].ports + port].tokens != 0; }

bool Scheduler::link_of(u32 i, u32 use, u32& provider, u32& provide) const {
  const Impl::PortState& p = impl_->ports_[impl_->items_[i].ports + use];
  provider = p.provider;
  provide = p.provide;
  return p.provider != kNone;
}

std::vector<Link> Scheduler::links() const {
  std::vector<Link> out;
  for (u32 i = 0; i < impl_->items_.size(); ++i) {
    const Impl::Item& it = impl_->items_[i];
    for (u32 q = 0; it.present && q < it.type->uses; ++q) {
      const Impl::PortState& p = impl_->ports_[it.ports + q];
      if (p.provider != kNone) out.push_back({i, q, p.provider, p.provide});
    }
  }
  return out;
}

std::vector<std::string> Scheduler::why_blocked(u32 i) const {
  Impl& m = *impl_;
  std::vector<std::string> why;
  const System& system = m.system_;
  if (i == kNone) {
    if (m.pc_ >= system.program.size()) return why;
    const Instruction& in = system.program[m.pc_];
    std::string text = system.instruction_text(in);
    if (m.stopped_) {
      why.push_back(fmt::format(
          "the program stops at {}: {} failed", text,
          in.instance == kNone ? std::string("an instance") : std::string(system.instances[in.instance].name.text())));
    } else if (in.op == Op::kCon) {
      why.push_back(
          fmt::format("{} can never be done: {} is already connected", text, system.port_text(in.instance, in.port)));
    } else if (in.op == Op::kDcon) {
      why.push_back(fmt::format("{} waits until {} is no longer in use", text, system.port_text(in.instance, in.port)));
    } else if (in.op == Op::kDel && m.has_links(in.instance)) {
      why.push_back(
          fmt::format("{} can never be done: {} is still connected", text, system.instances[in.instance].name.text()));
    } else {
      why.push_back(fmt::format("{} waits", text));
    }
    return why;
  }
  const Impl::Item& it = m.items_[i];
  const ComponentType& t = *it.type;
  if (!it.present || it.queue_head == kNone) return why;
  u32 b = m.pushes_[it.queue_head].behaviour;
  std::string_view name = system.instances[i].name.text();
  for (const auto& [who, k] : m.failed_)
    if (who == i) why.push_back(fmt::format("{} failed", system.transition_text(i, k)));
  for (u32 e : marking(i)) {
    if (!t.is_place(e) || t.out(e, b).empty()) continue;
    for (u32 q = t.uses; q < t.ports.size(); ++q) {
      const Impl::PortState& p = m.ports_[it.ports + q];
      if (!p.active_users || (p.tokens && !t.group.test(q, e)) || p.tokens > 1) continue;
      auto out = t.out(e, b);
      if (p.tokens &&
          std::any_of(out.begin(), out.end(), [&](u32 k) { return t.group.test(q, t.transition_element(k)); }))
        continue;  // it leaves the place and not the port
      for (u32 u = p.users; u != kNone; u = m.ports_[u].next)
        if (m.ports_[u].tokens) {
          auto owner = std::upper_bound(m.items_.begin(), m.items_.end(), u,
                                        [](u32 v, const Impl::Item& x) { return v < x.ports; });
          while (owner != m.items_.begin() &&
                 (owner == m.items_.end() || owner->ports > u || owner->type->ports.empty()))
            --owner;
          why.push_back(fmt::format("{} cannot leave {}: its port {} is in use by {}", name, t.places[e].name.text(),
                                    t.ports[q].name.text(),
                                    system.port_text(static_cast<u32>(owner - m.items_.begin()), u - owner->ports)));
          break;
        }
    }
  }
  for (u32 s = 0; s < t.stations.size(); ++s) {
    auto needs = t.needs_of(t.stations[s]);
    bool some = std::any_of(needs.begin(), needs.end(), [&](u32 e) { return m.marked(it, e); });
    if (!some) continue;
    std::string_view place = t.places[t.stations[s].place].name.text();
    if (m.missing_[it.stations + s]) {
      for (const model::Transition& k : t.transitions)
        for (const Outcome& o : t.outcomes_of(k))
          if (o.station == s && !m.marked(it, o.ending))
            why.push_back(fmt::format("{} cannot enter {}: {} has not ended there", name, place, k.name.text()));
      continue;
    }
    for (u32 q = 0; q < t.uses; ++q) {
      if (!t.group.test(q, t.stations[s].place)) continue;
      const Impl::PortState& u = m.ports_[it.ports + q];
      if (u.provider == kNone) {
        why.push_back(
            fmt::format("{} cannot enter {}: its use port {} is not connected", name, place, t.ports[q].name.text()));
      } else if (m.ports_[m.items_[u.provider].ports + u.provide].tokens == 0) {
        why.push_back(fmt::format("{} cannot enter {}: {} is not provided", name, place,
                                  system.port_text(u.provider, u.provide)));
      } else if (u.tokens == 0 && m.refusing(u.provider, u.provide)) {
        why.push_back(fmt::format("{} cannot enter {}: {} is about to go and takes no new users", name, place,
                                  system.port_text(u.provider, u.provide)));
      }
    }
  }
  return why;
}

}  // namespace tutti::engine
