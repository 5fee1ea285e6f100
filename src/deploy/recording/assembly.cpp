#include "deploy/recording/assembly.h"

#include "deploy/recording/markings.h"

namespace tutti::deploy {

engine::Recorded assembly_of(const model::System& s, const engine::Runner& runner, const resource::Scrubber& scrub,
                             std::map<u32, std::string> failed) {
  engine::Recorded out;
  out.program = true;
  const engine::Scheduler& now = runner.scheduler();
  for (auto& [i, t] : now.failures()) failed[i] = s.type_of(i).transitions[t].name.text();
  std::multimap<u32, model::Link> links;
  for (const model::Link& l : now.links()) links.emplace(l.user, l);
  for (u32 i = 0; i < s.instances.size(); ++i) {
    if (!now.present(i)) continue;
    const model::ComponentType& type = s.type_of(i);
    engine::RecordedComponent c;
    c.name = c.instance = s.instances[i].name.text();
    c.type = type.name.text();
    c.host = s.instances[i].host;
    c.marking = left_by(type, now.marking(i));
    if (auto f = failed.find(i); f != failed.end()) c.failed = f->second;
    for (auto& [key, value] : runner.outputs(i)) {
      c.outputs[key] = value;
      if (scrub.has_secret(value)) c.secret.insert(key);
    }
    for (auto [at, end] = links.equal_range(i); at != end; ++at) {
      const model::Link& l = at->second;
      c.needs.push_back({type.ports[l.use].name,
                         s.instances[l.provider].name,
                         s.type_of(l.provider).ports[l.provide].name,
                         true,
                         {}});
    }
    out.add(std::move(c));
  }
  return out;
}

}  // namespace tutti::deploy
