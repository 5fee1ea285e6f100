#include "deploy/shared/prepared.h"

#include "engine/plan/plan_head.h"
#include "resource/executor.h"

namespace tutti::deploy {

bool Prepared::empty() const { return program.system.program.size() <= 1 && engine::read_head(plan.flat).changes == 0; }

bool Prepared::hosts_differ() const {
  Value now = hosts_of(plan.flat), before = hosts_of(state);
  return !catalog && now.is(Kind::kMap) && before.is(Kind::kMap) && !equal(now, before);
}

bool only_looks(const engine::PlannedSystem& plan) {
  for (auto& i : plan.instances) {
    const Entry* noop = i.config.find("noop");
    if (!i.of_catalog()) return false;
    if (resource::resource_of(i.config) && !(noop && resource::truth_of(noop->value, false))) return false;
  }
  return !plan.instances.empty();
}

Value hosts_of(const Value& tree) {
  const Entry* hosts = tree.is(Kind::kMap) ? tree.find("hosts") : nullptr;
  return hosts && hosts->value.is(Kind::kMap) ? hosts->value : Value::null();
}

std::vector<const engine::RecordedComponent*> recorded_of(const engine::PlannedSystem& plan,
                                                          const engine::Recorded& was) {
  std::vector<const engine::RecordedComponent*> out(plan.system.instances.size(), nullptr);
  auto by_instance = was.by_instance();
  for (u32 i = 0; i < plan.system.assembly; ++i)
    if (auto c = by_instance.find(plan.system.instances[i].name.text()); c != by_instance.end()) out[i] = c->second;
  return out;
}

void teach(resource::Knowledge& knowledge, const Prepared& p, const engine::Recorded& was, const std::string& home) {
  std::map<std::string, Value> hosts;
  if (Value described = hosts_of(p.plan.flat); described.is(Kind::kMap))
    for (const Entry& e : described.entries()) hosts[std::string(e.key.text())] = e.value;
  knowledge.set_hosts(std::move(hosts));
  knowledge.set_home(home, resource::ExecutorOptions{}.remote_home);
  auto recorded = recorded_of(p.program, was);
  for (u32 i = 0; i < recorded.size(); ++i)
    if (recorded[i]) knowledge.learn(i, recorded[i]->outputs);
}

}  // namespace tutti::deploy
