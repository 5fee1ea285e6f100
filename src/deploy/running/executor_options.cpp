// What the executor of a planned run may do and has to know: which hosts there are, what is nobody else's to purge,
// which texts must not be shown, what other systems hold.
#include <fmt/format.h>

#include "deploy/record/encode.h"
#include "deploy/running/plan_run.h"
#include "deploy/shared/machines.h"

namespace tutti::deploy {

resource::ExecutorOptions PlanRun::options() {
  resource::ExecutorOptions o = context_.settings.executor;
  o.run = context_.mark();
  o.scope = scope_;
  o.host = [this](Symbol name) { return fencing_.host(name); };
  o.parallel = context_.settings.parallel;
  o.workers = resource::workers(context_.settings.parallel);
  keep_from_purging(o);
  remember_looks(o);
  keep_secrets(o);
  if (const auto& say = context_.settings.events.say)
    o.say = [this, say, clean = o.clean](u32 i, resource::Level level, std::string_view text) {
      say(system().instances[i].name.text(), level, clean(text));
    };
  o.elsewhere = [this](u32 i, const std::string& thing, bool below) {
    return others_.holder(machine(system().instances[i].host, plan_.plan.flat), thing, below);
  };
  o.begins = [this](u32 i, u32 t, const std::string& resource, const resource::Former& former) {
    return journal_->begins(i, t, resource, former);
  };
  return o;
}

// In the first run and in one that is taken up again.
void PlanRun::keep_from_purging(resource::ExecutorOptions& o) const {
  std::set<std::string> managed;
  for (auto& i : plan_.program.instances)
    if (auto r = i.of_catalog() ? resource::resource_of(i.config) : std::nullopt)
      managed.insert(resource::managed_as(*r));
  if (!managed.empty()) o.managed = [managed](const std::string& path) { return managed.count(path) != 0; };
}

void PlanRun::remember_looks(resource::ExecutorOptions& o) const {
  std::map<u32, std::map<std::string, std::string>> earlier;
  for (u32 i = 0; i < system().instances.size(); ++i)
    if (plan_.program.instances[i].of_catalog())
      if (auto c = was_.components.find(plan_.program.component_of[i]); c != was_.components.end())
        earlier[i] = c->second.outputs;
  if (earlier.empty()) return;
  o.recall = [earlier](u32 i) {
    auto it = earlier.find(i);
    return it == earlier.end() ? std::map<std::string, std::string>{} : it->second;
  };
}

void PlanRun::keep_secrets(resource::ExecutorOptions& o) const {
  const store::Seal& seal = context_.effects.seal;
  o.clean = [this](std::string_view text) { return before_.clean(scrub_.clean(text)); };
  o.sealing.holds_secret = [this](std::string_view bytes) {
    return before_.has_secret(bytes) || scrub_.has_secret(bytes);
  };
  o.sealing.seal = [&seal](std::string_view bytes) { return fmt::format("{}{}", kSealedCopy, seal.seal(bytes)); };
  o.sealing.name = [&seal](std::string_view bytes) { return sha256_hex(seal.sign(bytes)); };
  o.sealing.open = [&seal](std::string_view copy) -> std::optional<std::string> {
    if (!copy.starts_with(kSealedCopy)) return std::string(copy);
    return seal.unseal(copy.substr(kSealedCopy.size()));
  };
}

}  // namespace tutti::deploy
