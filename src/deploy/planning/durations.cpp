// How long the actions of a plan will take, as earlier runs have learnt: for the estimate, and for the order of what
// may begin at once. Nothing is right or wrong by it.
#include "deploy/planning/durations.h"

#include <fmt/format.h>

#include "deploy/planning/stages.h"

namespace tutti::deploy {

std::vector<std::string> duration_keys(const engine::PlannedSystem& plan, u32 instance, u32 transition, bool former) {
  const engine::PlannedInstance& self = plan.instances[instance];
  std::string_view t = plan.system.type_of(instance).transitions[transition].name.text();
  std::vector<std::string> keys{fmt::format("{}/{}", self.component, t)};
  if (former)
    for (auto name = self.former.rbegin(); name != self.former.rend(); ++name)
      keys.push_back(fmt::format("{}/{}", name->substr(0, name->find('#')), t));
  keys.push_back(fmt::format("{}:{}", self.kind, t));
  return keys;
}

namespace {

// What a type's actions took for others says how long this one's take only where it was much the same for all.
bool is_like_others(const LearntDuration& l) { return l.count >= 3 && l.deviation <= 0.25 * l.mean; }

}  // namespace

void set_durations(engine::PlannedSystem& program, const LearntDurations& learnt) {
  model::System& s = program.system;
  program.timed.assign(s.instances.size(), 0);
  for (u32 i = 0; i < s.instances.size(); ++i) {
    const model::ComponentType& type = s.type_of(i);
    std::vector<model::Duration> own;
    for (u32 t = 0; t < type.transitions.size(); ++t) {
      const model::Action& action = type.action_of(type.transitions[t]);
      bool known = action.what.is(Kind::kNull) || action.duration.mean() > 0;
      auto keys = learnt.empty() ? std::vector<std::string>() : duration_keys(program, i, t, true);
      for (auto& key : keys)
        if (auto it = learnt.find(key); it != learnt.end()) {
          if (own.empty())
            for (auto& a : type.actions) own.push_back(a.duration);
          own[type.transitions[t].action] = model::Duration::fixed(it->second.mean);
          known = &key != &keys.back() || is_like_others(it->second);
          break;
        }
      if (known && t < 64) program.timed[i] |= u64{1} << t;
    }
    if (!own.empty()) s.durations[i] = std::move(own);
  }
}

}  // namespace tutti::deploy
