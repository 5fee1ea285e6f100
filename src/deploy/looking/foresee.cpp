#include "deploy/looking/foresee.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "resource/catalog.h"
#include "resource/catalog_result.h"
#include "resource/schedule.h"

namespace tutti::deploy {
namespace {

using engine::PlannedInstance;
using engine::PlannedNeed;

class Events {
 public:
  Events(const engine::PlannedSystem& catalog, const std::vector<Drift>& found, const engine::Recorded& was)
      : plan_(catalog), was_(was), told_(catalog.instances.size()) {
    for (auto& d : found) found_[d.component] = &d;
  }

  // Instances are in the order of the catalog: what one needs comes before it.
  std::vector<Foreseen> follow() {
    std::vector<Foreseen> out;
    for (u32 i = 0; i < plan_.instances.size(); ++i) {
      auto r = resource::resource_of(plan_.instances[i].config);
      if (!r) {
        pass_on(i);
        continue;
      }
      const resource::Provider* provider = resource::find_provider(r->type);
      if (!provider || !due(plan_.instances[i])) continue;
      Foreseen f = of(i, *r, *provider);
      if (f.changes.empty() && f.refresh.empty() && f.problem.empty()) continue;
      if (f.problem.empty()) told_[i] = {f.resource};
      for (auto& thing : provider->writes(*r))
        if (!f.changes.empty() && f.changes[0].to != "absent") made_.emplace(thing, i);
      out.push_back(std::move(f));
    }
    return out;
  }

 private:
  // The ends of a container tell whoever comes after of what changed inside.
  void pass_on(u32 i) {
    std::set<std::string> all;
    for_events(i, [&](const std::string& who) { all.insert(who); });
    told_[i].assign(all.begin(), all.end());
  }

  template <class F>
  void for_events(u32 i, F&& f) const {
    for (const PlannedNeed& n : plan_.instances[i].needs)
      if (n.instance != model::kNone && n.port.text().starts_with("n"))
        for (auto& who : told_[n.instance]) f(who);
  }

  bool due(const PlannedInstance& self) const {
    const Entry* schedule = self.config.find("schedule");
    if (!schedule) return true;
    auto before = was_.components.find(self.component);
    std::time_t last = 0;
    if (before != was_.components.end()) last = resource::CatalogResult::read(before->second.outputs).checked;
    return resource::is_due(schedule->value, std::time(nullptr), last);
  }

  Foreseen of(u32 i, const resource::Resource& r, const resource::Provider& provider) const {
    const PlannedInstance& self = plan_.instances[i];
    Foreseen f;
    f.resource = self.component;
    if (auto d = found_.find(self.component); d != found_.end()) {
      f.changes = d->second->changes;
      f.problem = d->second->problem;
    }
    if (r.type == "exec" && !f.changes.empty() && is_made_by_then(i, r)) f.changes.clear();
    const Entry* noop = self.config.find("noop");
    if (!f.problem.empty() || !provider.minds() || (noop && resource::truth_of(noop->value, false))) return f;
    if (!provider.is_fresh(f.changes)) for_events(i, [&](const std::string& who) { f.because.push_back(who); });
    if (!f.changes.empty() && provider.minds_itself(f.changes)) f.because.push_back(f.resource);
    if (!f.because.empty()) f.refresh = provider.refreshing(r);
    return f;
  }

  // A file that the command `creates` will be there, because something that comes before it makes it.
  bool is_made_by_then(u32 i, const resource::Resource& r) const {
    for (auto& path : resource::Params(r.parameters).list("creates"))
      if (auto by = made_.find("file:" + path); by != made_.end() && comes_after(i, by->second)) return true;
    return false;
  }

  bool comes_after(u32 i, u32 earlier) const {
    std::set<u32> seen{i};
    std::vector<u32> todo{i};
    while (!todo.empty()) {
      u32 at = todo.back();
      todo.pop_back();
      if (at == earlier) return true;
      for (const PlannedNeed& n : plan_.instances[at].needs)
        if (n.instance != model::kNone && n.instance >= earlier && seen.insert(n.instance).second)
          todo.push_back(n.instance);
    }
    return false;
  }

  const engine::PlannedSystem& plan_;
  const engine::Recorded& was_;
  std::map<std::string, const Drift*> found_;
  std::vector<std::vector<std::string>> told_;  // instance -> whose changes it tells those of that come after
  std::map<std::string, u32> made_;             // thing -> who makes it
};

}  // namespace

std::vector<Foreseen> foresee(const engine::PlannedSystem& catalog, const std::vector<Drift>& found,
                              const engine::Recorded& was) {
  return Events(catalog, found, was).follow();
}

std::vector<Foreseen> foresee(const Prepared& catalog, const engine::Recorded& was,
                              const resource::ExecutorOptions& options) {
  engine::Recorded all;
  for (const PlannedInstance& i : catalog.program.instances) {
    engine::RecordedComponent c;
    c.name = i.name;
    c.type = "resource";
    c.config = i.config;
    all.add(std::move(c));
  }
  return foresee(catalog.program, look_for_drift(all, options), was);
}

}  // namespace tutti::deploy
