#include "engine/plan/back.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/words.h"
#include "engine/verify/verify.h"

namespace tutti::engine {

using model::ComponentType;
using model::Instruction;
using model::Link;
using model::Op;
using model::System;

namespace {

class Back {
 public:
  Back(const System& system, const Scheduler& now) : s_(system), now_(now), links_(now.links()) {}

  WayBack make() {
    if (!words()) return std::move(back_);
    // Providers first is what ports usually want (they refuse from then on and wait for their users); if that can get
    // stuck, users first, then one after the other.
    for (int order = 0; order < 4; ++order) {
      System trial = start();
      build(trial, order);
      VerifyOptions options;
      options.most_states = 100'000;
      VerifyReport report = verify(trial, {}, options);
      if (report.deadlock_free && report.complete) {
        back_.found = true;
        for (const Instruction& in : trial.program) back_.program.push_back(trial.instruction_text(in));
        return std::move(back_);
      }
      if (order == 0)
        for (const Counterexample& c : report.counterexamples) back_.why_not = c.state;
    }
    return std::move(back_);
  }

 private:
  Marking then(u32 i) const {
    Marking m = s_.instances[i].marking;
    std::sort(m.begin(), m.end());
    return m;
  }

  // For each instance the behaviours from where it is to where it was; new ones to where they hold nothing.
  bool words() {
    words_.resize(s_.instances.size());
    for (u32 i = 0; i < s_.instances.size(); ++i) {
      const ComponentType& t = s_.type_of(i);
      std::string_view name = s_.instances[i].name.text();
      if (!now_.present(i)) {
        if (i >= s_.assembly) continue;
        Marking initial = t.initial;
        std::sort(initial.begin(), initial.end());
        if (!find(i, initial, [&](const Marking& m) { return m == then(i); }))
          back_.why_not.push_back(fmt::format("{} was deleted, and no behaviours lead back to where it was", name));
        continue;
      }
      Marking m = now_.marking(i);
      if (!now_.idle(i) || now_.has_failed(i) ||
          std::any_of(m.begin(), m.end(), [&](u32 e) { return !t.is_place(e); })) {
        back_.why_not.push_back(fmt::format("{} is half way: what it is doing must end or be tried again first", name));
        continue;
      }
      bool was = i < s_.assembly;
      Marking initial = t.initial;
      std::sort(initial.begin(), initial.end());
      // What came with the run goes the way it came; if it cannot, it must at least hold nothing and be held by nobody.
      bool ok = find(i, m, [&](const Marking& x) { return x == (was ? then(i) : initial); });
      if (!ok && !was)
        ok = find(i, m, [&](const Marking& x) {
          for (u32 q = 0; q < t.ports.size(); ++q)
            if (active(t, x, q)) return false;
          return true;
        });
      if (!ok)
        back_.why_not.push_back(fmt::format("no behaviours of {} lead from where {} is to {}", t.name.text(), name,
                                            was ? "where it was" : "its initial place"));
    }
    return back_.why_not.empty();
  }

  template <class Goal>
  bool find(u32 i, const Marking& from, Goal goal) {
    auto word = word_to(s_.type_of(i), from, goal);
    if (!word) return false;
    words_[i] = *word;
    return true;
  }

  // The system as it is now, with instances under their own numbers; deleted ones come again as new ones.
  System start() const {
    System out;
    for (const auto& t : s_.types) out.types.push_back(std::make_unique<ComponentType>(*t));
    out.instances = s_.instances;
    out.links = links_;
    out.assembly = static_cast<u32>(out.instances.size());
    for (u32 i = 0; i < out.instances.size(); ++i) {
      out.instances[i].present = now_.present(i);
      if (now_.present(i))
        out.instances[i].marking = now_.marking(i);
      else
        out.instances[i].marking = s_.type_of(i).initial;
    }
    return out;
  }

  static void put(System& t, Op op, u32 i, u32 port = kNone, u32 provider = kNone, u32 provide = kNone) {
    Instruction in;
    in.op = op;
    in.instance = i;
    in.port = port;
    in.provider = provider;
    in.provide = provide;
    t.program.push_back(in);
  }

  void build(System& t, int order) {
    std::vector<u32> pushes(t.instances.size());
    auto wait = [&](u32 i) {
      if (!pushes[i]) return;
      put(t, Op::kWait, i);
      t.program.back().upto = pushes[i];
    };
    auto push = [&](u32 i) {
      for (u32 b : words_[i]) {
        put(t, Op::kPush, i);
        t.program.back().behaviour = b;
        ++pushes[i];
      }
      if (order >= 2) wait(i);
    };
    std::vector<u32> all = by_dependency();
    if (order % 2) std::reverse(all.begin(), all.end());
    for (u32 i = 0; i < s_.assembly; ++i)
      if (!now_.present(i)) put(t, Op::kAdd, i);
    // Links that are only needed again and whose use port is free: before anything may want them.
    std::vector<Link> late;
    for (const Link& l : s_.links) {
      if (std::find(links_.begin(), links_.end(), l) != links_.end()) continue;
      bool busy =
          std::any_of(links_.begin(), links_.end(), [&](const Link& x) { return x.user == l.user && x.use == l.use; });
      if (busy)
        late.push_back(l);
      else
        put(t, Op::kCon, l.user, l.use, l.provider, l.provide);
    }
    for (u32 i : all) push(i);
    for (const Link& l : links_)
      if (std::find(s_.links.begin(), s_.links.end(), l) == s_.links.end())
        put(t, Op::kDcon, l.user, l.use, l.provider, l.provide);
    for (const Link& l : late) put(t, Op::kCon, l.user, l.use, l.provider, l.provide);
    for (u32 i = s_.assembly; i < s_.instances.size(); ++i)
      if (now_.present(i)) {
        wait(i);
        put(t, Op::kDel, i);
      }
    put(t, Op::kWaitAll, kNone);
  }

  // Providers before their users, as far as the links have an order.
  std::vector<u32> by_dependency() const {
    std::vector<u32> order;
    std::vector<u8> seen(s_.instances.size());
    std::vector<std::pair<u32, bool>> todo;
    for (u32 i = 0; i < s_.instances.size(); ++i)
      todo.push_back({static_cast<u32>(s_.instances.size()) - 1 - i, false});
    while (!todo.empty()) {
      auto [i, done] = todo.back();
      todo.pop_back();
      if (done) {
        order.push_back(i);
        continue;
      }
      if (seen[i]++) continue;
      todo.push_back({i, true});
      for (const auto* list : {&links_, &s_.links})
        for (const Link& l : *list)
          if (l.user == i && !seen[l.provider]) todo.push_back({l.provider, false});
    }
    return order;
  }

  const System& s_;
  const Scheduler& now_;
  std::vector<Link> links_;
  std::vector<std::vector<u32>> words_;
  WayBack back_;
};

}  // namespace

WayBack way_back(const System& system, const Scheduler& now) { return Back(system, now).make(); }

}  // namespace tutti::engine
