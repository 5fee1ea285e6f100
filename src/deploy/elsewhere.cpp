#include "deploy/elsewhere.h"

#include <fmt/format.h>

#include <algorithm>

#include "deploy/hosts.h"

namespace tutti::deploy {
namespace {

std::string with_blank(std::string thing) {
  if (std::size_t colon = thing.find(':'); colon != std::string::npos) thing[colon] = ' ';
  return thing;
}

// Commands and processes are known by their component's name: those of another system are others, whatever they are
// called.
bool has_a_name_of_its_own(std::string_view thing) {
  return !thing.starts_with("exec:") && !thing.starts_with("process:");
}

// What components share without getting in each other's way: a directory goes when it is empty, a package when nobody
// has it.
bool is_shared(const resource::Resource& r) {
  return r.type != "file" || resource::Params(r.parameters).text("ensure") == "directory";
}

}  // namespace

std::string machine(Symbol host, const Value& tree) {
  const Entry* hosts = tree.is(Kind::kMap) ? tree.find("hosts") : nullptr;
  const Entry* described = hosts && hosts->value.is(Kind::kMap) ? hosts->value.find(host.text()) : nullptr;
  if (is_here(host.text(), described ? &described->value : nullptr)) return "";
  if (!described) return std::string(host.text());
  if (described->value.is(Kind::kString)) return std::string(described->value.text());
  resource::Params p(described->value);
  return fmt::format("{}:{}", p.text("ssh", p.text("address", std::string(host.text()))), p.text("port"));
}

Elsewhere::Elsewhere(Deployer& deployer, store::Store& store, const std::string& system) {
  auto systems = store.systems();
  if (!systems) return;
  for (auto& name : *systems) {
    Value tree;
    auto recorded = name == system ? std::nullopt : deployer.recorded(name, nullptr, nullptr, &tree);
    if (!recorded) continue;
    for (auto& [component, c] : recorded->components) {
      if (c.forgotten) continue;
      Symbol where(machine(c.host, tree));
      auto who = static_cast<u32>(all_.size());
      all_.push_back({fmt::format("{}/{}", name, component), Share::of(c)});
      for (auto& held : c.held) holdings_.add(where, resource_of(held), who);
      if (auto r = c.type == "resource" ? resource::resource_of(c.config) : std::nullopt) holdings_.add(where, *r, who);
    }
  }
}

std::optional<resource::Holder> Elsewhere::holder(const std::string& machine, const std::string& thing,
                                                  bool below) const {
  if (!below && !has_a_name_of_its_own(thing)) return std::nullopt;
  auto who = below ? holdings_.below(Symbol(machine), thing) : holdings_.holders(Symbol(machine), thing);
  if (who.empty()) return std::nullopt;
  const One& one = all_[who[0]];
  auto former = one.share.formerly.find(thing);
  return resource::Holder{one.name, former == one.share.formerly.end() ? resource::Former{} : former->second};
}

const Share* Elsewhere::share(const std::string& machine, const std::string& thing) const {
  if (!has_a_name_of_its_own(thing)) return nullptr;
  auto who = holdings_.holders(Symbol(machine), thing);
  return who.empty() ? nullptr : &all_[who[0]].share;
}

void Deployer::note_elsewhere(Prepared& p, const engine::Recorded& was) {
  Elsewhere others(*this, *place_.store, p.system);
  if (others.empty()) return;
  const model::System& s = p.program.system;
  resource::Knowledge knowledge(p.program);
  resource::Scrubber scrub(p.plan.flat);
  auto instances = p.program.instances_of();
  for (engine::PlanChange& change : p.plan.changes) {
    auto self = was.components.find(change.component);
    if (change.kind == engine::PlanChange::Kind::kRemove && self != was.components.end()) {
      for (auto& held : self->second.held) {
        resource::Resource r = resource_of(held);
        for (auto& thing : resource::find_provider(r.type)->writes(r))
          if (auto who = others.holder(machine(change.host, p.state), thing, false))
            change.why += fmt::format("{}{} is left: {} has it, too", change.why.empty() ? "" : "; ",
                                      with_blank(scrub.clean(thing)), who->name);
      }
      continue;
    }
    for (u32 i : instances[change.component])
      for (auto& t : s.type_of(i).transitions) {
        std::string problem;
        for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), session_.arena, problem)) {
          if (is_shared(r) || resource::Params(r.parameters).text("ensure") == "absent") continue;
          for (auto& thing : resource::find_provider(r.type)->writes(r))
            if (auto who = others.holder(machine(s.instances[i].host, p.plan.flat), thing, false);
                who && claims_told_.insert(fmt::format("{} {} {}", change.component, thing, who->name)).second)
              session_.diagnostics
                  .warning("PLAN-ELSEWHERE", change.at,
                           fmt::format("`{}` and {} of this record both have {}", change.component, who->name,
                                       with_blank(scrub.clean(thing))))
                  .note("the one that is applied last counts; it stays until both are gone");
        }
      }
  }
}

}  // namespace tutti::deploy
