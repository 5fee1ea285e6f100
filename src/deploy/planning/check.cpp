#include "deploy/planning/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "deploy/shared/machines.h"
#include "engine/estimate/estimate.h"
#include "engine/verify/verify.h"
#include "resource/executor.h"

namespace tutti::deploy {
namespace {

// An invariant that holds now must hold in every state on the way; one that does not hold yet, at the end.
engine::Property property_of(const engine::PlannedSystem& p, const model::Invariant& inv, bool& now) {
  const model::System& s = p.system;
  engine::Property out;
  engine::Expr count;
  count.kind = engine::Expr::Kind::kCount;
  count.compare = inv.kind == model::Invariant::Kind::kAtLeast ? engine::Expr::Compare::kGreaterEqual
                                                               : engine::Expr::Compare::kLessEqual;
  count.number = inv.count;
  u32 up = 0;
  for (u32 i = 0; i < s.instances.size(); ++i) {
    if (std::find(inv.of.begin(), inv.of.end(), Symbol(p.component_of[i])) == inv.of.end()) continue;
    const model::ComponentType& type = s.type_of(i);
    u32 port = inv.port.empty() ? (type.uses < type.ports.size() ? type.uses : model::kNone) : type.find_port(inv.port);
    if (port == model::kNone) continue;
    engine::Expr atom;
    atom.kind = engine::Expr::Kind::kAtom;
    atom.atom = {engine::Atom::Kind::kPort, i, port};
    count.parts.push_back(atom);
    if (s.instances[i].present)
      for (u32 e : s.instances[i].marking)
        if (type.group.test(port, e)) {
          ++up;
          break;
        }
  }
  now = inv.kind == model::Invariant::Kind::kAtLeast ? up >= inv.count : up <= inv.count;
  out.kind = now ? engine::Property::Kind::kAlways : engine::Property::Kind::kFinally;
  out.text = inv.text();
  out.expr = std::move(count);
  return out;
}

bool acts(const model::System& s, const engine::Event& fire) {
  const model::ComponentType& type = s.type_of(fire.instance);
  return !type.action_of(type.transitions[fire.index]).what.is(Kind::kNull);
}

bool is_timed(const engine::PlannedSystem& p, const engine::Event& fire) {
  return fire.instance < p.timed.size() && fire.index < 64 && (p.timed[fire.instance] >> fire.index & 1);
}

// As many at once as the run will have: workers on this machine, sessions on a host. Hosts are known by what the plan
// says of them: nobody is asked. (One that has not answered yet takes one action, which is no matter of seconds.)
engine::Estimate estimate_under(u32 parallel, const Prepared& p, const engine::Graph& graph) {
  constexpr u32 kSessions = 8;
  engine::RunOptions options;
  u32 here = resource::workers(parallel);
  if (parallel) options.parallel = here;
  std::map<Symbol, u32> known;
  return engine::estimate(graph, options, [&](Symbol name) -> u32 {
    auto [it, fresh] = known.emplace(name, here);
    if (fresh && !machine(name, p.plan.flat).empty()) it->second = kSessions;
    return it->second;
  });
}

void estimate(const Prepared& p, u32 parallel, Check& c, bool& finishes, std::vector<std::string>& stuck) {
  const model::System& s = p.program.system;
  engine::Graph graph(s);
  engine::Estimate e = estimate_under(parallel, p, graph);
  c.total = e.total;
  c.limited = e.total > 1.01 * e.graph_total;
  finishes = e.finishes;
  if (!e.finishes) stuck = e.stuck;
  for (const engine::Event& ev : graph.events())
    if (ev.kind == engine::Event::Kind::kFire && acts(s, ev)) ++(is_timed(p.program, ev) ? c.timed : c.untimed);
  if (e.total <= 0) return;
  for (u32 v : e.critical) {
    const engine::Event& ev = graph.events()[v];
    if (ev.kind != engine::Event::Kind::kFire) continue;
    const model::ComponentType& type = s.type_of(ev.instance);
    if (s.duration(ev.instance, type.transitions[ev.index]).mean() < e.total / 1000) continue;
    c.critical.push_back(s.transition_text(ev.instance, ev.index));
  }
}

// The verdict on an invariant; `held`: it holds as things are, so it must hold throughout.
std::string verdict(engine::Answer holds, bool held, const std::string& text) {
  if (holds == engine::Answer::kOpen) return fmt::format("not seen broken, as far as was looked: {}", text);
  return fmt::format("{} {}: {}", holds == engine::Answer::kNo ? "BROKEN" : "holds", held ? "throughout" : "at the end",
                     text);
}

void tell(const model::System& s, const engine::Counterexample& x, std::vector<std::string>& trouble) {
  trouble.push_back(x.property == engine::kNoDeadlock ? "it gets stuck after:"
                                                      : fmt::format("not kept after: {}", x.property));
  for (auto& step : x.steps) trouble.push_back("  " + engine::step_words(s, step));
  for (auto& line : x.state) trouble.push_back("    " + line);
}

}  // namespace

Check check_plan(Session& session, const Prepared& p, u64 most_states, u32 parallel) {
  Check c;
  bool finishes = false;
  std::vector<std::string> stuck;
  estimate(p, parallel, c, finishes, stuck);
  std::vector<engine::Property> properties;
  std::vector<bool> held;
  for (auto& inv : p.program.invariants) {
    bool now = false;
    properties.push_back(property_of(p.program, inv, now));
    held.push_back(now);
  }
  engine::VerifyOptions options;
  options.most_states = most_states;
  options.budget = &session.budget;
  // Large systems without invariants to watch: one run in any order decides whether it gets stuck, see the reduction.
  auto report = engine::verify(p.program.system, properties, options);
  c.states = report.states;
  c.complete = report.complete;
  c.safe = c.reaches = report.deadlock_free && finishes;
  std::set<std::string> explained;  // in the words of the configuration: then nobody needs the steps that lead there
  for (std::size_t i = 0; i < report.verdicts.size(); ++i) {
    bool ok = report.verdicts[i].holds != engine::Answer::kNo;
    c.verdicts.push_back(verdict(report.verdicts[i].holds, held[i], properties[i].text));
    c.safe = c.safe && ok;
    if (const std::string& why = p.program.cannot[i]; !ok && !why.empty()) {
      c.verdicts.back() += fmt::format(": {}", why);
      explained.insert(properties[i].text);
    }
  }
  for (auto& x : report.counterexamples)
    if (!explained.count(x.property)) tell(p.program.system, x, c.trouble);
  c.trouble.insert(c.trouble.end(), stuck.begin(), stuck.end());
  return c;
}

}  // namespace tutti::deploy
