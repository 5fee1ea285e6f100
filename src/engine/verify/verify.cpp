#include "engine/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/verify/compose.h"
#include "engine/verify/counting.h"
#include "engine/verify/reduce.h"
#include "engine/verify/state_set.h"
#include "engine/verify/symmetry.h"

namespace tutti::engine {

using model::ComponentType;
using model::Instruction;
using model::Op;
using model::System;

namespace {

// One breadth-first search. Ordering properties add bits to the state: whether the first event has happened.
class Search {
 public:
  Search(const System& system, const std::vector<Property>& properties, const VerifyOptions& options,
         const std::function<void(const Rules&, const u64*)>& on_end)
      : properties_(properties),
        options_(options),
        on_end_(on_end),
        rules_(system, {options.del_waits, options.failures}),
        reduction_(rules_, properties),
        symmetry_(rules_, properties),
        sorting_(symmetry_.any() && options.symmetry && !options.full),
        base_(rules_.words()),
        words_(base_ + (properties.size() + 63) / 64),
        seen_(words_) {}

  VerifyReport run() {
    for (const Property& p : properties_) report_.verdicts.push_back({p});
    found_.assign(properties_.size() + 1, kNone);
    std::vector<u64> s(words_);
    Rules::State first = rules_.initial();
    std::copy(first.begin(), first.end(), s.begin());
    std::vector<Step> steps;
    if (!options_.full && !sorting_ && properties_.empty()) follow_the_only_way(s, steps);
    add(s.data(), kNone, {});
    for (u32 at = 0; at < seen_.size(); ++at) {
      if (options_.budget) options_.budget->step();
      if (before_.size() + seen_.size() > options_.most_states || bytes() > options_.most_bytes) {
        finish(false);
        return std::move(report_);
      }
      steps.clear();
      s.assign(seen_[at], seen_[at] + words_);
      if (options_.full)
        rules_.enabled(s.data(), steps);
      else
        reduction_.steps(s.data(), hint(at ? steps_[at] : before_.empty() ? Step{} : before_.back()), steps);
      report_.steps += steps.size();
      if (steps.empty()) end(at, s.data());
      for (const Step& step : steps) {
        s.assign(seen_[at], seen_[at] + words_);
        note_merge(s.data(), step);
        note_orphan(s.data(), step);
        u32 wrong = apply(s.data(), step);
        if (sorting_) symmetry_.sort(s.data());
        u32 number = add(s.data(), at, step);
        if (wrong != kNone) violated(wrong, number);
      }
    }
    finish(true);
    return std::move(report_);
  }

 private:
  static u32 hint(const Step& last) { return last.instance != kNone ? last.instance : 0; }

  // As long as there is only one step to take no state can be met again, so none is kept: the plan of a large system is
  // often nothing but that, and its states together are as large as their number squared.
  void follow_the_only_way(std::vector<u64>& s, std::vector<Step>& steps) {
    Awake awake(rules_);
    while (before_.size() < options_.most_states) {
      if (options_.budget) options_.budget->step();
      steps.clear();
      reduction_.steps(s.data(), before_.empty() ? 0 : hint(before_.back()), steps, &awake);
      if (steps.size() != 1) return;
      note_merge(s.data(), steps[0]);
      note_orphan(s.data(), steps[0]);
      rules_.apply(s.data(), steps[0]);
      awake.after(steps[0]);
      before_.push_back(steps[0]);
      ++report_.steps;
    }
  }

  std::size_t bytes() const {
    return before_.capacity() * sizeof(Step) + seen_.bytes() + parents_.capacity() * 4 +
           steps_.capacity() * sizeof(Step);
  }

  bool flag(const u64* s, std::size_t k) const { return s[base_ + k / 64] >> (k % 64) & 1; }
  static void set_flag(u64* s, std::size_t base, std::size_t k, bool on) {
    u64 mask = u64{1} << (k % 64);
    s[base + k / 64] = on ? s[base + k / 64] | mask : s[base + k / 64] & ~mask;
  }

  // Applies a step and moves the observers on; the number of an ordering property that it breaks, or kNone.
  u32 apply(u64* s, const Step& step) {
    u32 wrong = kNone;
    if (step.kind != Step::Kind::kInstruction) {
      for (u32 k = 0; k < properties_.size(); ++k) {
        const Property& p = properties_[k];
        if (p.kind == Property::Kind::kBefore) {
          if (matches(rules_, s, step, p.a))
            set_flag(s, base_, k, true);
          else if (!flag(s, k) && matches(rules_, s, step, p.b))
            wrong = k;
        } else if (p.kind == Property::Kind::kBetween) {
          if (flag(s, k) && matches(rules_, s, step, p.c)) wrong = k;
          if (matches(rules_, s, step, p.a)) set_flag(s, base_, k, true);
          if (matches(rules_, s, step, p.b)) set_flag(s, base_, k, false);
        }
      }
    }
    rules_.apply(s, step);
    return wrong;
  }

  u32 add(const u64* s, u32 parent, const Step& step) {
    auto [number, fresh] = seen_.insert(s);
    if (!fresh) return number;
    parents_.push_back(parent);
    steps_.push_back(step);
    for (u32 k = 0; k < properties_.size(); ++k) {
      const Property& p = properties_[k];
      if (p.kind == Property::Kind::kAlways && !holds(rules_, s, p.expr)) violated(k, number);
      if (p.kind == Property::Kind::kNever && holds(rules_, s, p.expr)) violated(k, number);
      if (p.kind == Property::Kind::kReachable && holds(rules_, s, p.expr)) report_.verdicts[k].holds = Answer::kYes;
    }
    return number;
  }

  void violated(u32 k, u32 number) {
    report_.verdicts[k].holds = Answer::kNo;
    if (found_[k] == kNone) found_[k] = number;
  }

  void end(u32 at, const u64* s) {
    ++report_.ends;
    if (on_end_) on_end_(rules_, s);
    bool failed = false;
    for (u32 i = 0; options_.failures && i < rules_.system().instances.size(); ++i)
      failed = failed || rules_.failed(s, i);
    if (failed) ++report_.failed_ends;  // an end, though no deadlock
    if (!failed && !rules_.is_final(s)) {
      ++report_.deadlocks;
      report_.deadlock_free = false;
      if (found_.back() == kNone) found_.back() = at;
    }
    for (u32 k = 0; k < properties_.size(); ++k)
      if (properties_[k].kind == Property::Kind::kFinally && !holds(rules_, s, properties_[k].expr)) violated(k, at);
  }

  // Tokens that meet: M is a set and would lose one.
  void note_merge(const u64* s, const Step& step) {
    if (step.kind == Step::Kind::kInstruction) return;
    const ComponentType& t = rules_.system().type_of(step.instance);
    bool merges = false;
    if (step.kind == Step::Kind::kEnter) merges = rules_.marked(s, step.instance, t.stations[step.index].place);
    if (step.kind == Step::Kind::kEnd)
      merges = rules_.marked(s, step.instance, t.outcomes_of(t.transitions[step.index])[step.outcome].ending);
    if (step.kind == Step::Kind::kFire)
      for (u32 k : t.out(step.index, rules_.current(s, step.instance)))
        merges = merges || rules_.marked(s, step.instance, t.transition_element(k));
    if (merges) report_.one_safe = false;
  }

  void note_orphan(const u64* s, const Step& step) {
    if (options_.del_waits || step.kind != Step::Kind::kInstruction) return;
    const Instruction& in = rules_.system().program[step.index];
    if (in.op == Op::kDel && rules_.finished(s, in.instance) != rules_.pushed(s, in.instance)) ++report_.orphans;
  }

  void finish(bool complete) {
    report_.complete = complete;
    for (Verdict& v : report_.verdicts)  // what was neither broken nor reached
      if (complete && v.holds == Answer::kOpen)
        v.holds = v.property.kind == Property::Kind::kReachable ? Answer::kNo : Answer::kYes;
    report_.surely_one_safe = true;
    for (u32 i = 0; i < rules_.system().instances.size(); ++i)
      report_.surely_one_safe = report_.surely_one_safe && reduction_.one_safe(i);
    report_.states = before_.size() + seen_.size();
    report_.bytes = bytes();
    if (found_.back() != kNone) show(found_.back(), std::string(kNoDeadlock));
    for (u32 k = 0; k < properties_.size(); ++k)
      if (found_[k] != kNone) show(found_[k], properties_[k].text);
  }

  void show(u32 at, std::string property) {
    Counterexample c;
    c.property = std::move(property);
    for (u32 n = at; parents_[n] != kNone; n = parents_[n]) c.steps.push_back(steps_[n]);
    std::reverse(c.steps.begin(), c.steps.end());
    c.steps.insert(c.steps.begin(), before_.begin(), before_.end());
    if (sorting_) undo_exchanges(at, c.steps);
    Rules::State s;
    replay(rules_, c.steps, s);
    c.state = describe(rules_, s.data());
    report_.counterexamples.push_back(std::move(c));
  }

  // The steps on the way were taken in states whose alike instances had been exchanged: who was it really?
  void undo_exchanges(u32 at, std::vector<Step>& steps) {
    std::vector<u32> path, who(rules_.system().instances.size()), from, next;
    for (u32 n = at; n != kNone; n = parents_[n]) path.push_back(n);
    std::reverse(path.begin(), path.end());
    for (u32 i = 0; i < who.size(); ++i) who[i] = i;
    std::vector<u64> s(words_);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      s.assign(seen_[path[k]], seen_[path[k]] + words_);
      rules_.apply(s.data(), steps[k]);
      if (steps[k].instance != kNone) steps[k].instance = who[steps[k].instance];
      symmetry_.sort(s.data(), &from);
      next.resize(who.size());
      for (u32 i = 0; i < who.size(); ++i) next[i] = who[from[i]];
      std::swap(who, next);
    }
    push_in_time(steps);
  }

  // Alike ones may be pushed at different points of a run of pushes: whoever it really was may come later in it than
  // the one it stood for, and then the program goes on that far first.
  void push_in_time(std::vector<Step>& steps) {
    Rules::State s = rules_.initial();
    for (auto at = steps.begin(); at != steps.end(); ++at) {
      while (!rules_.is_enabled(s.data(), *at)) {
        auto next = std::find_if(at, steps.end(), [](const Step& x) { return x.kind == Step::Kind::kInstruction; });
        if (next == at || next == steps.end()) return;
        std::rotate(at, next, next + 1);
      }
      rules_.apply(s.data(), *at);
    }
  }

  const std::vector<Property>& properties_;
  const VerifyOptions& options_;
  const std::function<void(const Rules&, const u64*)>& on_end_;
  Rules rules_;
  Reduction reduction_;
  Symmetry symmetry_;
  bool sorting_;
  std::size_t base_, words_;
  StateSet seen_;
  std::vector<Step> before_;  // the first state was kept after these
  std::vector<u32> parents_;
  std::vector<Step> steps_;
  std::vector<u32> found_;  // first state that breaks property k; the last one is for deadlocks
  VerifyReport report_;
};

// A violation found in the reduced graph may carry steps that have nothing to do with it. First drop what can be
// dropped; then, where a full search up to that length is affordable, take the shortest there is.
void shorten(const System& system, const VerifyOptions& options, const Property& property, Counterexample& c) {
  Rules rules(system, {options.del_waits, options.failures});
  auto breaks = [&](const std::vector<Step>& steps) {
    Rules::State s = rules.initial();
    bool armed = false;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (!rules.is_enabled(s.data(), steps[k])) return false;
      bool last = k + 1 == steps.size();
      const Step& step = steps[k];
      if (step.kind != Step::Kind::kInstruction) {
        if (property.kind == Property::Kind::kBefore) {
          if (matches(rules, s.data(), step, property.a))
            armed = true;
          else if (last)
            return !armed && matches(rules, s.data(), step, property.b);
        } else if (property.kind == Property::Kind::kBetween) {
          if (last) return armed && matches(rules, s.data(), step, property.c);
          if (matches(rules, s.data(), step, property.a)) armed = true;
          if (matches(rules, s.data(), step, property.b)) armed = false;
        }
      }
      rules.apply(s.data(), step);
    }
    if (property.kind == Property::Kind::kAlways) return !holds(rules, s.data(), property.expr);
    if (property.kind == Property::Kind::kNever) return holds(rules, s.data(), property.expr);
    return false;
  };
  if (!breaks(c.steps)) return;
  // From the end, because what comes later depends on what comes before.
  for (std::size_t k = c.steps.size(); k-- > 0;) {
    std::vector<Step> without = c.steps;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(k));
    if (breaks(without)) c.steps = std::move(without);
  }
  Rules::State s;
  replay(rules, c.steps, s);
  c.state = describe(rules, s.data());
  c.shortest = false;
}

// Part by part. Nothing when there is only one part, or when something does not hold in a part: then the whole decides.
std::optional<VerifyReport> by_parts(const System& system, const std::vector<Property>& properties,
                                     const VerifyOptions& options) {
  Composition composition(system);
  std::vector<std::vector<u32>> parts = composition.parts(20'000'000);
  if (parts.empty()) return std::nullopt;
  VerifyReport all;
  all.complete = all.surely_one_safe = true;
  auto look = [&](const std::vector<u32>& members, const std::vector<Property>& wanted) {
    System part = cut(system, members);
    VerifyReport r = Search(part, wanted, options, {}).run();
    all.states += r.states, all.steps += r.steps, all.ends += r.ends, all.failed_ends += r.failed_ends;
    all.bytes = std::max(all.bytes, r.bytes);
    all.one_safe = all.one_safe && r.one_safe;
    all.surely_one_safe = all.surely_one_safe && r.surely_one_safe;
    ++all.parts;
    return r.complete && r.deadlock_free &&
           std::all_of(r.verdicts.begin(), r.verdicts.end(), [](const Verdict& v) { return v.holds == Answer::kYes; });
  };
  for (const std::vector<u32>& members : parts)
    if (!look(members, {})) return std::nullopt;
  for (const Property& p : properties) {
    if (p.kind == Property::Kind::kReachable) return std::nullopt;  // in a part alone says nothing about the whole
    std::vector<u32> members = composition.around(p);
    if (members.size() == system.instances.size() || !look(members, {cut(p, members)})) return std::nullopt;
    all.verdicts.push_back({p, Answer::kYes});
  }
  return all;
}

VerifyReport search(const System& system, const std::vector<Property>& properties, const VerifyOptions& options,
                    const std::function<void(const Rules&, const u64*)>& on_end) {
  if (options.compose && !options.full && !options.failures && !on_end)
    if (auto report = by_parts(system, properties, options)) return std::move(*report);
  VerifyReport report = Search(system, properties, options, on_end).run();
  if (options.full) return report;
  for (Counterexample& c : report.counterexamples) {
    auto p =
        std::find_if(properties.begin(), properties.end(), [&](const Property& x) { return x.text == c.property; });
    if (p == properties.end() || p->kind == Property::Kind::kFinally) continue;  // ends are found at their shortest
    if (c.steps.size() < 400) shorten(system, options, *p, c);
    VerifyOptions small = options;
    small.full = true;
    small.most_states = 100'000;
    VerifyReport exact = Search(system, {*p}, small, {}).run();
    for (Counterexample& e : exact.counterexamples)
      if (e.property == c.property && e.steps.size() <= c.steps.size()) c = std::move(e);
  }
  return report;
}

}  // namespace

VerifyReport verify(const System& system, const std::vector<Property>& properties, const VerifyOptions& options,
                    const std::function<void(const Rules&, const u64*)>& on_end) {
  std::vector<Property> open;
  std::vector<bool> kept;
  for (const Property& p : properties) {
    kept.push_back(!options.full && !options.failures && kept_by_counting(system, p));
    if (!kept.back()) open.push_back(p);
  }
  VerifyReport report = search(system, open, options, on_end);
  std::vector<Verdict> found = std::move(report.verdicts);
  report.verdicts.clear();
  for (std::size_t k = 0, next = 0; k < properties.size(); ++k)
    report.verdicts.push_back(kept[k] ? Verdict{properties[k], Answer::kYes, true} : found[next++]);
  return report;
}

std::string_view answer_word(Answer a) { return a == Answer::kOpen ? "open" : a == Answer::kYes ? "yes" : "no"; }

std::vector<std::string> contradictions(const VerifyReport& a, const VerifyReport& b) {
  std::vector<std::string> all;
  auto compare = [&](std::string_view what, Answer x, Answer y) {
    if (x != Answer::kOpen && y != Answer::kOpen && x != y)
      all.push_back(fmt::format("{}: {} and {}", what, answer_word(x), answer_word(y)));
  };
  compare(kNoDeadlock, a.never_stuck(), b.never_stuck());
  compare("tokens never meet", a.tokens_never_meet(), b.tokens_never_meet());
  for (std::size_t k = 0; k < std::min(a.verdicts.size(), b.verdicts.size()); ++k)
    compare(a.verdicts[k].property.text, a.verdicts[k].holds, b.verdicts[k].holds);
  return all;
}

std::size_t replay(const Rules& rules, const std::vector<Step>& steps, Rules::State& state) {
  state = rules.initial();
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (!rules.is_enabled(state.data(), steps[k])) return k;
    rules.apply(state.data(), steps[k]);
  }
  return steps.size();
}

std::vector<std::string> describe(const Rules& rules, const u64* s) {
  const System& system = rules.system();
  std::vector<std::string> lines;
  if (rules.pc(s) < system.program.size()) {
    const Instruction& in = system.program[rules.pc(s)];
    std::string why;
    if (in.op == Op::kCon && !rules.instruction_enabled(s))
      why = fmt::format(": {} is already connected", system.port_text(in.instance, in.port));
    if (in.op == Op::kDcon && !rules.instruction_enabled(s))
      why = fmt::format(": {} is in use", system.port_text(in.instance, in.port));
    if (in.op == Op::kDel && !rules.instruction_enabled(s)) why = ": it is still connected or busy";
    lines.push_back(fmt::format("the program is at {}{}", system.instruction_text(in), why));
  }
  std::vector<u64> m;
  for (u32 i = 0; i < system.instances.size(); ++i) {
    if (!rules.present(s, i)) continue;
    const ComponentType& t = system.type_of(i);
    u32 b = rules.current(s, i);
    m.assign(t.words(), 0);
    rules.marking(s, i, m.data());
    std::string where;
    std::vector<std::string> why;
    model::for_each_bit(m.data(), m.size(), [&](u32 e) {
      if (!where.empty()) where += ", ";
      if (t.is_place(e)) {
        where += t.places[e].name.text();
        if (b == kNone || t.out(e, b).empty()) return;
        for (u32 k : rules.links_as_provider(i)) {
          const Rules::LinkSpan& l = rules.link(k);
          if (rules.pc(s) < l.from || rules.pc(s) > l.to || !t.group.test(l.provide, e) ||
              !rules.active(s, l.user, l.use))
            continue;
          auto out = t.out(e, b);
          if (std::any_of(out.begin(), out.end(),
                          [&](u32 x) { return t.group.test(l.provide, t.transition_element(x)); }))
            continue;
          why.push_back(fmt::format("cannot leave {} while {} uses its port {}", t.places[e].name.text(),
                                    system.port_text(l.user, l.use), t.ports[l.provide].name.text()));
        }
      } else if (t.is_transition(e)) {
        u32 k = t.element_transition(e);
        where +=
            fmt::format("{} {}", rules.failed_transition(s, i, k) ? "failed in" : "in", t.transitions[k].name.text());
      } else {
        where += fmt::format("after {}", t.transitions[t.half_way(e).transition].name.text());
      }
    });
    for (u32 st = 0; b != kNone && st < t.stations.size(); ++st) {
      auto needs = t.needs_of(t.stations[st]);
      std::size_t have = static_cast<std::size_t>(
          std::count_if(needs.begin(), needs.end(), [&](u32 e) { return rules.marked(s, i, e); }));
      if (have == 0) continue;
      std::string_view place = t.places[t.stations[st].place].name.text();
      if (have < needs.size()) {
        why.push_back(fmt::format("cannot enter {}: {} of {} transitions ended there", place, have, needs.size()));
        continue;
      }
      for (u32 u = 0; u < t.uses; ++u) {
        if (!t.group.test(u, t.stations[st].place)) continue;
        const Rules::LinkSpan* l = rules.link_of(s, i, u);
        if (!l)
          why.push_back(fmt::format("cannot enter {}: use port {} is not connected", place, t.ports[u].name.text()));
        else if (!rules.active(s, l->provider, l->provide))
          why.push_back(
              fmt::format("cannot enter {}: {} is not provided", place, system.port_text(l->provider, l->provide)));
        else if (rules.refusing(s, l->provider, l->provide) && !rules.active(s, i, u))
          why.push_back(
              fmt::format("cannot enter {}: {} takes no new users", place, system.port_text(l->provider, l->provide)));
      }
    }
    std::string line = fmt::format("{} ({}): {}", system.instances[i].name.text(), t.name.text(), where);
    if (b != kNone) line += fmt::format("; to do: {}", t.behaviours[b].name.text());
    for (u32 k = rules.finished(s, i) + 1; k < rules.pushed(s, i); ++k)
      line += fmt::format(", {}", t.behaviours[rules.pushes(i)[k].behaviour].name.text());
    for (const std::string& w : why) line += "; " + w;
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace tutti::engine
