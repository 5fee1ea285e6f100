// What a plan takes from the world beside what it says: files that components lose while they change, and what goes or
// stays because another system of the record has it, too.
#include <fmt/format.h>

#include "deploy/planning/stages.h"
#include "deploy/shared/machines.h"
#include "deploy/shared/share.h"

namespace tutti::deploy {
namespace {

std::string with_blank(std::string thing) {
  if (std::size_t colon = thing.find(':'); colon != std::string::npos) thing[colon] = ' ';
  return thing;
}

// What components share without getting in each other's way: a directory goes when it is empty, a package when nobody
// has it.
bool is_shared(const resource::Resource& r) {
  return r.type != "file" || resource::Params(r.parameters).text("ensure") == "directory";
}

}  // namespace

void note_let_go(const Noting& n) {
  Prepared& p = n.plan;
  const model::System& s = p.program.system;
  resource::Knowledge knowledge(p.program);
  teach(knowledge, p, n.was, n.home);
  resource::Scrubber scrub(p.plan.flat);
  std::map<std::string_view, engine::PlanChange*> changes;
  for (auto& c : p.plan.changes) changes.emplace(c.component, &c);
  for (u32 i = 0; i < s.assembly; ++i) {
    auto self = n.was.components.find(p.program.component_of[i]);
    auto found = changes.find(p.program.component_of[i]);
    if (self == n.was.components.end() || self->second.instance != s.instances[i].name.text() || found == changes.end())
      continue;
    engine::PlanChange* change = found->second;
    Share share = Share::of(self->second);
    std::set<std::string> goes, left, restored;
    for (auto& t : s.type_of(i).transitions) {
      std::string problem;
      for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), n.session.arena, problem))
        if (r.let_go) (share.is_left(r) ? left : share.was_otherwise(r) ? restored : goes).insert(scrub.clean(r.title));
    }
    auto add = [&](std::string_view what, const std::set<std::string>& files, std::string_view why) {
      if (files.empty()) return;
      std::string words = fmt::format("{} {}{}", what, fmt::join(files, ", "), why);
      change->why += (change->why.empty() ? "" : "; ") + words;
    };
    add("removes", goes, "");
    add("restores", restored, fmt::format(" to what {} before", restored.size() == 1 ? "it was" : "they were"));
    add("leaves", left, fmt::format(", which {} there before", left.size() == 1 ? "was" : "were"));
  }
}

void note_others(const Noting& n, const OtherSystems& others, std::set<std::string>& told) {
  Prepared& p = n.plan;
  if (others.empty()) return;
  const model::System& s = p.program.system;
  resource::Knowledge knowledge(p.program);
  resource::Scrubber scrub(p.plan.flat);
  auto instances = p.program.instances_of();
  for (engine::PlanChange& change : p.plan.changes) {
    auto self = n.was.components.find(change.component);
    if (change.kind == engine::PlanChange::Kind::kRemove && self != n.was.components.end()) {
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
        for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), n.session.arena, problem)) {
          if (is_shared(r) || resource::Params(r.parameters).text("ensure") == "absent") continue;
          for (auto& thing : resource::find_provider(r.type)->writes(r))
            if (auto who = others.holder(machine(s.instances[i].host, p.plan.flat), thing, false);
                who && told.insert(fmt::format("{} {} {}", change.component, thing, who->name)).second)
              n.session.diagnostics
                  .warning("PLAN-ELSEWHERE", change.at,
                           fmt::format("`{}` and {} of this record both have {}", change.component, who->name,
                                       with_blank(scrub.clean(thing))))
                  .note("the one that is applied last counts; it stays until both are gone");
        }
      }
  }
}

}  // namespace tutti::deploy
