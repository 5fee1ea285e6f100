#include "engine/verify/reduce.h"

#include <algorithm>
#include <bit>

namespace tutti::engine {

using model::BitRows;
using model::ComponentType;
using model::Instruction;
using model::Op;
using model::Outcome;

Reduction::Reduction(const Rules& rules, const std::vector<Property>& properties) : rules_(rules), one_safe_(rules) {
  const model::System& system = rules.system();
  for (const auto& type : system.types) {
    const ComponentType& t = *type;
    PerType& x = types_.emplace_back();
    std::size_t np = t.ports.size();
    x.exits = BitRows(t.behaviours.size(), np);
    x.enters = BitRows(t.behaviours.size(), np);
    for (u32 b = 0; b < t.behaviours.size(); ++b) {
      for (u32 q = 0; q < np; ++q) {
        const u64* row = t.exits.row(b * np + q);
        if (std::any_of(row, row + t.exits.words(), [](u64 w) { return w != 0; })) x.exits.set(b, q);
      }
      for (u32 k : t.behaviours[b].transitions)
        for (const Outcome& o : t.outcomes_of(t.transitions[k])) {
          const u64 *to = t.ports_of.row(t.stations[o.station].place), *from = t.ports_of.row(t.transition_element(k));
          for (std::size_t w = 0; w < t.port_words(); ++w) x.enters.row(b)[w] |= to[w] & ~from[w];
        }
    }
  }
  u32 n = static_cast<u32>(system.instances.size());
  first_port_.resize(n + 1);
  for (u32 i = 0; i < n; ++i) {
    const ComponentType& t = system.type_of(i);
    const PerType& x = types_[system.instances[i].type];
    first_port_[i + 1] = first_port_[i] + static_cast<u32>(t.ports.size());
    std::vector<u64>& half_way = half_way_enters_.emplace_back(t.port_words());
    for (u32 e : system.instances[i].marking) {
      if (t.is_place(e)) continue;
      model::HalfWay h = t.half_way(e);
      for (const Outcome& o : t.outcomes_of(t.transitions[h.transition])) {
        if (h.ended && o.ending != h.ended->ending) continue;
        const u64 *to = t.ports_of.row(t.stations[o.station].place), *from = t.ports_of.row(e);
        for (std::size_t w = 0; w < t.port_words(); ++w) half_way[w] |= to[w] & ~from[w];
      }
    }
    auto pushes = rules.pushes(i);
    BitRows exits(pushes.size() + 1, t.ports.size()), enters(pushes.size() + 1, t.ports.size());
    for (std::size_t k = pushes.size(); k-- > 0;)
      for (std::size_t w = 0; w < t.port_words(); ++w) {
        exits.row(k)[w] = exits.row(k + 1)[w] | x.exits.row(pushes[k].behaviour)[w];
        enters.row(k)[w] =
            enters.row(k + 1)[w] | x.enters.row(pushes[k].behaviour)[w] | (k == 0 ? half_way[w] : u64{0});
      }
    later_exits_.push_back(std::move(exits));
    later_enters_.push_back(std::move(enters));
  }
  users_.resize(first_port_[n]);
  early_users_.resize(n);
  for (u32 i = 0; i < n; ++i)
    for (u32 k : rules.links_as_provider(i)) {
      const Rules::LinkSpan& l = rules.link(k);
      users_[first_port_[i] + l.provide].push_back(k);
      const model::Marking& at = system.instances[l.user].marking;
      if (l.from > 0 &&
          std::any_of(at.begin(), at.end(), [&](u32 e) { return system.type_of(l.user).group.test(l.use, e); }))
        early_users_[i].push_back(k);
    }

  watch_.resize(n);
  auto watch = [&](u32 i) -> Watch& {
    watching_ = true;
    Watch& w = watch_[i];
    const ComponentType& t = system.type_of(i);
    w.elements.resize(t.words());
    w.ports.resize(t.port_words());
    w.behaviours.resize(t.behaviours.size());
    return w;
  };
  auto mark = [](std::vector<u64>& bits, u32 k) { bits[k / 64] |= u64{1} << (k % 64); };
  for (const Property& p : properties) {
    std::vector<Atom> atoms;
    if (p.kind != Property::Kind::kFinally) atoms_of(p.expr, atoms);  // ends are all found anyway
    for (const Atom& a : atoms) {
      Watch& w = watch(a.instance);
      switch (a.kind) {
        case Atom::Kind::kPlace: mark(w.elements, a.index); break;
        case Atom::Kind::kTransition: mark(w.elements, system.type_of(a.instance).transition_element(a.index)); break;
        case Atom::Kind::kPort: mark(w.ports, a.index); break;
        case Atom::Kind::kIdle: w.idle = true; break;
      }
    }
    for (const EventPattern* e : {&p.a, &p.b, &p.c})
      for (const auto& [i, x] : e->what) {
        Watch& w = watch(i);
        if (e->kind == Step::Kind::kFinish)
          w.behaviours[x] = true;
        else if (e->kind == Step::Kind::kEnter || e->leave)
          mark(w.elements, x);
        else
          mark(w.elements, system.type_of(i).transition_element(x));
      }
  }
}

template <class F>
bool Reduction::any_user(const u64* s, u32 i, u32 port, F&& f) const {
  u32 pc = rules_.pc(s);
  for (u32 k : users_[first_port_[i] + port]) {
    const Rules::LinkSpan& l = rules_.link(k);
    if (l.to != kNone && l.to < pc) continue;  // gone
    if (f(l.user, l.use)) return true;
  }
  return false;
}

bool Reduction::may_leave(const u64* s, u32 i, u32 port) const {
  if (rules_.options().failures && rules_.finished(s, i) < rules_.pushes(i).size())
    return true;  // it may fail and refuse
  return later_exits_[i].test(rules_.finished(s, i), port);
}

bool Reduction::may_take_up(const u64* s, u32 i, u32 use) const {
  return later_enters_[i].test(rules_.finished(s, i), use);
}

bool Reduction::may_take_up_queued(const u64* s, u32 i, u32 use) const {
  for (u32 k = rules_.finished(s, i), n = rules_.pushed(s, i); k < n; ++k)
    if (enters(i, k, use)) return true;
  return false;
}

bool Reduction::enters(u32 i, u32 push, u32 port) const {
  const PerType& x = types_[rules_.system().instances[i].type];
  return x.enters.test(rules_.pushes(i)[push].behaviour, port) ||
         (push == 0 && (half_way_enters_[i][port / 64] >> (port % 64) & 1));
}

bool Reduction::refuses_under(const u64* s, u32 i, u32 port, u32 b) const {
  const ComponentType& t = rules_.system().type_of(i);
  std::vector<u64> m(t.words());
  rules_.marking(s, i, m.data());
  const u64 *group = t.group.row(port), *exits = t.exits.row(b * t.ports.size() + port);
  bool any = false;
  for (std::size_t w = 0; w < m.size(); ++w) {
    u64 in = m[w] & group[w];
    any = any || in;
    if (in & ~(w < t.exits.words() ? exits[w] : 0)) return false;
  }
  return any;
}

// A user to come that is in its use port already: once it is linked nothing leaves, whatever it holds.
bool Reduction::early_user(const u64* s, u32 i) const {
  return std::any_of(early_users_[i].begin(), early_users_[i].end(), [&](u32 k) {
    const Rules::LinkSpan& l = rules_.link(k);
    return rules_.pc(s) < l.from && rules_.active(s, l.user, l.use);
  });
}

// A failed instance refuses on all the ports that it provides.
bool Reduction::safe_failure(const u64* s, u32 i) const {
  const ComponentType& t = rules_.system().type_of(i);
  for (u32 q = t.uses; q < t.ports.size(); ++q)
    if (rules_.active(s, i, q) && any_user(s, i, q, [&](u32 j, u32 u) { return may_take_up(s, j, u); })) return false;
  return true;
}

// The next behaviour may make a port refuse.
bool Reduction::safe_finish(const u64* s, u32 i) const {
  u32 next = rules_.finished(s, i) + 1;
  if (next >= rules_.pushes(i).size()) return true;
  const ComponentType& t = rules_.system().type_of(i);
  for (u32 q = t.uses; q < t.ports.size(); ++q)
    if (refuses_under(s, i, q, rules_.pushes(i)[next].behaviour) &&
        any_user(s, i, q, [&](u32 j, u32 u) { return may_take_up(s, j, u); }))
      return false;
  return true;
}

bool Reduction::safe_fire(const u64* s, u32 i, u32 place) const {
  const ComponentType& t = rules_.system().type_of(i);
  u32 b = rules_.current(s, i);
  auto out = t.out(place, b);
  std::vector<u64> others(t.words());
  rules_.marking(s, i, others.data());
  others[place / 64] &= ~(u64{1} << (place % 64));
  if (early_user(s, i)) return false;
  if (std::none_of(others.begin(), others.end(), [](u64 w) { return w != 0; }))
    return true;  // the only token: just its next step
  bool ok = true;
  model::for_each_bit(t.ports_of.row(place), t.port_words(), [&](u32 q) {
    if (!ok || std::any_of(out.begin(), out.end(), [&](u32 k) { return t.ports_of.test(t.transition_element(k), q); }))
      return;
    bool held = model::any_common(others.data(), t.group.row(q), others.size());
    bool again = enters(i, rules_.finished(s, i), q);  // a sibling may come (back) into the group
    if (q < t.uses) {
      // Released now, taken up again by a sibling: before or after the provider went makes a difference.
      if (held || !again) return;
      const Rules::LinkSpan* l = rules_.link_of(s, i, q);
      if (l && (l->to != kNone || may_leave(s, l->provider, l->provide))) ok = false;
    } else if (held || again) {
      // Of several tokens that leave a port the last one waits for the users: which is last is a choice.
      if (any_user(s, i, q, [&](u32 j, u32 u) { return rules_.active(s, j, u) || may_take_up(s, j, u); })) ok = false;
    }
  });
  return ok;
}

bool Reduction::safe_enter(const u64* s, u32 i, u32 station) const {
  const ComponentType& t = rules_.system().type_of(i);
  const model::Station& st = t.stations[station];
  auto needs = t.needs_of(st);
  u32 b = rules_.current(s, i);
  bool ok = true;
  model::for_each_bit(t.ports_of.row(st.place), t.port_words(), [&](u32 q) {
    if (!ok) return;
    bool held = std::any_of(needs.begin(), needs.end(), [&](u32 e) { return t.ports_of.test(e, q); });
    if (q < t.uses) {
      // Taking up a port that may go, or be disconnected: first come.
      if (held) return;
      const Rules::LinkSpan* l = rules_.link_of(s, i, q);
      if (!l || l->to != kNone || may_leave(s, l->provider, l->provide)) ok = false;
    } else if (held && t.exits.test(b * t.ports.size() + q, st.place)) {
      // The port begins to refuse: whoever is in time is in.
      if (any_user(s, i, q, [&](u32 j, u32 u) { return may_take_up(s, j, u); })) ok = false;
    }
  });
  return ok;
}

bool Reduction::safe_instruction(const u64* s, u32 pc) const {
  const Instruction& in = rules_.system().program[pc];
  switch (in.op) {
    case Op::kPush: {
      u32 i = in.instance;
      if (rules_.finished(s, i) != rules_.pushed(s, i)) return true;
      const ComponentType& t = rules_.system().type_of(i);
      for (u32 q = t.uses; q < t.ports.size(); ++q)
        if (refuses_under(s, i, q, in.behaviour) &&
            any_user(s, i, q, [&](u32 j, u32 u) { return may_take_up_queued(s, j, u); }))
          return false;
      return true;
    }
    case Op::kDcon: return !may_take_up_queued(s, in.instance, in.port);
    case Op::kCon: return !rules_.active(s, in.instance, in.port);
    case Op::kDel: return rules_.options().del_waits;
    default: return true;
  }
}

bool Reduction::safe(const u64* s, const Step& step) const {
  if (step.kind == Step::Kind::kInstruction) return safe_instruction(s, step.index);
  if (!one_safe_.of(step.instance) || step.kind == Step::Kind::kFail) return false;  // a failure goes with its end
  if (deleted_under_way(s, step.instance)) return false;
  // A failure stops the siblings: with failures nothing goes alone that has some.
  bool fire = step.kind == Step::Kind::kFire;
  if (rules_.options().failures && (fire || step.kind == Step::Kind::kEnd) && tokens(s, step.instance) > 1)
    return false;
  return fire ? safe_fire(s, step.instance, step.index) : safe_together(s, step);
}

u32 Reduction::tokens(const u64* s, u32 i) const {
  std::vector<u64> m(rules_.system().type_of(i).words());
  rules_.marking(s, i, m.data());
  u32 n = 0;
  for (u64 w : m) n += static_cast<u32>(std::popcount(w));
  return n;
}

// The printed rule deletes instances that are doing something.
bool Reduction::deleted_under_way(const u64* s, u32 i) const {
  return !rules_.options().del_waits && rules_.deleted_later(i, rules_.pc(s));
}

bool Reduction::safe_together(const u64* s, const Step& step) const {
  if (deleted_under_way(s, step.instance)) return false;
  switch (step.kind) {
    case Step::Kind::kEnd: return !rules_.options().failures || safe_failure(s, step.instance);
    case Step::Kind::kFail: return safe_failure(s, step.instance);
    case Step::Kind::kFire: return !early_user(s, step.instance);
    case Step::Kind::kEnter: return safe_enter(s, step.instance, step.index);
    case Step::Kind::kFinish: return safe_finish(s, step.instance);
    case Step::Kind::kInstruction: break;
  }
  return false;
}

// Whether the instance has tokens that only a port keeps from moving on.
bool Reduction::waits_for_ports(const u64* s, u32 i, const std::vector<Step>& possible) const {
  const ComponentType& t = rules_.system().type_of(i);
  u32 b = rules_.current(s, i);
  auto has = [&](Step::Kind kind, u32 index) {
    return std::any_of(possible.begin(), possible.end(),
                       [&](const Step& x) { return x.kind == kind && x.index == index; });
  };
  for (u32 p = 0; p < t.places.size() && !rules_.failed(s, i); ++p)
    if (rules_.marked(s, i, p) && !t.out(p, b).empty() && !has(Step::Kind::kFire, p)) return true;
  for (u32 st = 0; st < t.stations.size(); ++st) {
    auto needs = t.needs_of(t.stations[st]);
    if (!needs.empty() && std::all_of(needs.begin(), needs.end(), [&](u32 e) { return rules_.marked(s, i, e); }) &&
        !has(Step::Kind::kEnter, st))
      return true;
  }
  return false;
}

bool Reduction::all_of(const u64* s, u32 i, std::vector<Step>& steps) const {
  found_.clear();
  rules_.enabled_of(s, i, found_);
  if (found_.empty() || waits_for_ports(s, i, found_)) return false;
  for (const Step& step : found_)
    if (!safe_together(s, step) || visible(s, step)) return false;
  steps.insert(steps.end(), found_.begin(), found_.end());
  return true;
}

bool Reduction::visible(const u64* s, const Step& step) const {
  if (!watching_) return false;
  if (step.kind == Step::Kind::kInstruction) {
    const Instruction& in = rules_.system().program[step.index];
    if (in.instance == kNone || watch_[in.instance].elements.empty()) return false;
    return in.op == Op::kAdd || in.op == Op::kDel || (in.op == Op::kPush && watch_[in.instance].idle);
  }
  const Watch& w = watch_[step.instance];
  if (w.elements.empty()) return false;
  const ComponentType& t = rules_.system().type_of(step.instance);
  auto watched = [&](u32 e) { return (w.elements[e / 64] >> (e % 64) & 1) != 0; };
  switch (step.kind) {
    case Step::Kind::kFire: {
      if (watched(step.index)) return true;
      auto out = t.out(step.index, rules_.current(s, step.instance));
      for (u32 k : out)
        if (watched(t.transition_element(k))) return true;
      for (std::size_t x = 0; x < t.port_words(); ++x) {
        u64 leaves = w.ports[x] & t.ports_of.row(step.index)[x];
        for (u32 k : out) leaves &= ~t.ports_of.row(t.transition_element(k))[x];
        if (leaves) return true;
      }
      return false;
    }
    case Step::Kind::kEnd:
    case Step::Kind::kFail: return watched(t.transition_element(step.index));
    case Step::Kind::kEnter: {
      const model::Station& st = t.stations[step.index];
      if (watched(st.place)) return true;
      for (std::size_t x = 0; x < t.port_words(); ++x) {
        u64 enters = w.ports[x] & t.ports_of.row(st.place)[x];
        for (u32 e : t.needs_of(st)) enters &= ~t.ports_of.row(e)[x];
        if (enters) return true;
      }
      return false;
    }
    case Step::Kind::kFinish: return w.idle || w.behaviours[step.index];
    case Step::Kind::kInstruction: return false;
  }
  return false;
}

bool Reduction::alone(const u64* s, u32 i, std::vector<Step>& steps, bool& any) const {
  Step chosen;
  any = false;
  bool found = rules_.visit_enabled(s, i, [&](const Step& step) {
    any = true;
    if (!safe(s, step) || visible(s, step)) return false;
    chosen = step;
    return true;
  });
  if (!found) return false;
  if (chosen.kind != Step::Kind::kEnd) {
    steps.push_back(chosen);
    return true;
  }
  // All outcomes of a transition go together.
  const model::Transition& ending = rules_.system().type_of(i).transitions[chosen.index];
  for (u32 o = 0; o < ending.outcomes; ++o) steps.push_back({Step::Kind::kEnd, i, chosen.index, o});
  if (rules_.may_fail(s, i, chosen.index)) steps.push_back({Step::Kind::kFail, i, chosen.index, 0});
  return true;
}

bool Reduction::instruction_alone(const u64* s, std::vector<Step>& steps) const {
  Step step{Step::Kind::kInstruction, kNone, rules_.pc(s), 0};
  if (!rules_.instruction_enabled(s) || !safe(s, step) || visible(s, step)) return false;
  steps.push_back(step);
  return true;
}

void Reduction::steps(const u64* s, u32 hint, std::vector<Step>& steps, Awake* awake) const {
  u32 n = static_cast<u32>(rules_.system().instances.size());
  if (n && hint >= n) hint = 0;
  bool any = false;
  if (awake) {
    const std::set<u32>& all = awake->all();
    auto next = all.lower_bound(hint);
    for (std::size_t left = all.size(); left > 0; --left) {
      if (next == all.end()) next = all.begin();
      u32 i = *next++;
      if (alone(s, i, steps, any)) return;
      if (!any) awake->sleep(i);
    }
    if (instruction_alone(s, steps)) return;
    for (u32 i : all)
      if (rules_.current(s, i) != kNone && all_of(s, i, steps)) return;
    for (u32 i : all) rules_.enabled_of(s, i, steps);
    if (rules_.instruction_enabled(s)) steps.push_back({Step::Kind::kInstruction, kNone, rules_.pc(s), 0});
    return;
  }
  for (u32 k = 0; k < n; ++k)
    if (alone(s, hint + k < n ? hint + k : hint + k - n, steps, any)) return;
  if (instruction_alone(s, steps)) return;
  for (u32 i = 0; i < n; ++i)
    if (rules_.current(s, i) != kNone && all_of(s, i, steps)) return;
  rules_.enabled(s, steps);
}

Awake::Awake(const Rules& rules) : rules_(rules) {
  for (u32 i = 0; i < rules.system().instances.size(); ++i) awake_.insert(awake_.end(), i);
}

void Awake::wake(u32 instance) {
  awake_.insert(instance);
  for (u32 k : rules_.links_as_user(instance)) awake_.insert(rules_.link(k).provider);
  for (u32 k : rules_.links_as_provider(instance)) awake_.insert(rules_.link(k).user);
}

void Awake::after(const Step& step) {
  if (step.kind != Step::Kind::kInstruction) return wake(step.instance);
  const Instruction& in = rules_.system().program[step.index];
  for (u32 i : {in.instance, in.provider})
    if (i != kNone) wake(i);
}

}  // namespace tutti::engine
