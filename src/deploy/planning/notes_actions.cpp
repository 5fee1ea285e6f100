// What the actions of a plan will do, said with the plan: in goes a plan with its program, out come, for each change,
// whether any action of it acts at all, and of what goes every command that will be run and every thing that is stopped
// or removed. What comes and what changes is shown by its settings, which say the same; of what goes no setting
// changes, and "undeploy" alone hides that this is `dropdb shop`. A change without an action (a job that is over goes,
// what is used has another name) is one of the record only, and no run counts it.
#include <fmt/format.h>

#include <algorithm>

#include "deploy/planning/stages.h"
#include "deploy/shared/share.h"
#include "engine/plan/words.h"

namespace tutti::deploy {
namespace {

using Kind_ = engine::PlanChange::Kind;

bool has_steps(const model::Action& action) {
  const Entry* todo = action.what.is(Kind::kMap) ? action.what.find("do") : nullptr;
  if (!todo) return !action.what.is(Kind::kNull);
  return !todo->value.is(Kind::kList) || todo->value.size() > 0;
}

// Of a command what a run shows of it, and under which conditions; "" for `true`, which types have where there is
// nothing to do.
std::string command_words(const resource::Resource& r) {
  resource::Params p(r.parameters);
  std::string command = p.text("shown", p.text("command", r.title));
  command.erase(0, command.find_first_not_of(" \n\t"));
  if (command == "true") return "";
  std::string line = fmt::format("run {}", command);
  if (!p.has("shown") && p.has("unless")) line += fmt::format("  (unless {})", p.text("unless"));
  if (!p.has("shown") && p.has("onlyif")) line += fmt::format("  (if {})", p.text("onlyif"));
  return line;
}

std::string words_for(const resource::Resource& r, bool restored) {
  resource::Params p(r.parameters);
  std::string ensure = p.text("ensure");
  if (r.type == "exec") return command_words(r);
  if (ensure == "absent")
    return fmt::format("{} {} {}", restored ? "restore" : "remove", r.type,
                       p.text(r.type == "file" ? "path" : "name", r.title));
  if (ensure == "stopped") return fmt::format("stop {} {}", r.type, r.title);
  return r.type == "wait" ? "" : fmt::format("{} {}{}", r.type, r.title, ensure.empty() ? "" : ": " + ensure);
}

}  // namespace

void note_actions(const Noting& n) {
  Prepared& p = n.plan;
  const model::System& s = p.program.system;
  std::map<std::string_view, engine::PlanChange*> changes;
  for (auto& c : p.plan.changes) c.acts = false, changes[c.component] = &c;
  std::vector<std::vector<u32>> pushed(s.instances.size());
  for (auto& in : s.program)
    if (in.op == model::Op::kPush) pushed[in.instance].push_back(in.behaviour);
  resource::Knowledge knowledge(p.program);
  teach(knowledge, p, n.was, n.home);
  resource::Scrubber scrub(p.plan.flat), before(p.state);
  for (u32 i = 0; i < s.instances.size(); ++i) {
    auto found = changes.find(p.program.component_of[i]);
    if (found == changes.end() || pushed[i].empty()) continue;
    engine::PlanChange& change = *found->second;
    const engine::PlannedInstance& self = p.program.instances[i];
    auto recorded = n.was.components.find(self.component);
    Share share = recorded != n.was.components.end() && self.goes() ? Share::of(recorded->second) : Share{};
    model::Marking at = s.instances[i].marking;
    for (u32 b : pushed[i]) {
      engine::Passage way = engine::pass(s.type_of(i), at, b);
      at = way.end;
      for (u32 t : way.fired) {
        const model::Action& action = s.type_of(i).action_of(s.type_of(i).transitions[t]);
        if (!self.goes()) {
          change.acts = change.acts || has_steps(action);
          continue;
        }
        std::string problem;
        for (auto& r : knowledge.resources(i, action, n.session.arena, problem)) {
          std::string ensure = resource::Params(r.parameters).text("ensure");
          if ((ensure == "absent" || ensure == "stopped") && share.is_left(r)) continue;
          change.acts = true;
          std::string line = before.clean(scrub.clean(words_for(r, share.was_otherwise(r))));
          if (!line.empty()) change.actions.push_back(std::move(line));
        }
        change.acts = change.acts || (!problem.empty() && has_steps(action));
      }
    }
  }
}

}  // namespace tutti::deploy
