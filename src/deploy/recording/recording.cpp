#include "deploy/recording/recording.h"

#include <set>

#include "deploy/recording/evidence.h"
#include "deploy/recording/rules.h"

namespace tutti::deploy {
namespace {

// What is made of secrets is as secret as they are, also where a thing is only named.
void mark_secrets(engine::RecordedComponent& c, const resource::Scrubber& scrub, const TreeBuilder& b) {
  for (Value* v : {&c.before, &c.touched, &c.formerly, &c.stray}) *v = scrub.marked(*v, b);
}

// Types of everything that is left, as they are now and, for what stayed behind, as they were.
void keep_kinds(engine::Recorded& next, const engine::Recorded& was, const Value& flat) {
  if (Value kinds = engine::read_head(flat).kinds; kinds.is(Kind::kMap))
    for (const Entry& e : kinds.entries()) next.kinds[std::string(e.key.text())] = e.value;
  for (auto& [name, tree] : was.kinds) next.kinds.try_emplace(name, tree);
  next.forget_unused_kinds();
}

// How hosts are reached. One that is no longer described goes with the last component that was there.
Value hosts_left(const Prepared& p, const engine::Recorded& next, const TreeBuilder& b) {
  Value known = hosts_of(p.plan.flat), wanted = hosts_of(p.wanted);
  if (!known.is(Kind::kMap)) return known;
  std::set<Symbol> needed;
  for (auto& [name, c] : next.components) needed.insert(c.host);
  MapDraft hosts;
  for (const Entry& e : known.entries())
    if (needed.count(e.key) || (wanted.is(Kind::kMap) && wanted.find(e.key.text()))) hosts.set(e.key, e.value);
  return hosts.build(b);
}

}  // namespace

Value next_state(const EndedRun& run, Arena& arena) {
  TreeBuilder b(arena);
  const Prepared& p = run.prepared;
  engine::Recorded was = engine::read_recorded(p.state), next;
  auto instances = evidence_of(run, was, arena);
  // Those that stay come first: that is the order in which plans and people go through them.
  for (bool staying : {true, false})
    for (auto& instance : instances) {
      if (instance.name.empty() || instance.planned->stays != staying) continue;
      engine::RecordedComponent c = recorded_after(instance, b);
      mark_secrets(c, run.scrub, b);
      next.add(std::move(c));
    }
  keep_kinds(next, was, p.plan.flat);
  next.hosts = hosts_left(p, next, b);
  return engine::write_recorded(next, b);
}

}  // namespace tutti::deploy
