#include "deploy/overwrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/template.h"
#include "resource/action.h"

namespace tutti::deploy {
namespace {

bool overwrites(const resource::Resource& r, Host& host, const resource::ExecutorOptions& options) {
  if (r.type != "file" || resource::Params(r.parameters).text("ensure") == "absent" ||
      r.title.find("${") != std::string::npos || model::has_placeholders(r.parameters))
    return false;
  resource::Context context(host, r);
  context.home = options.home;
  context.scope = options.scope;
  context.locate = options.locate;
  auto found = resource::find_provider(r.type)->examine(context);
  return found && std::any_of(found->changes.begin(), found->changes.end(), [](const resource::Change& c) {
           return c.subject.empty() && (c.property == "content" || (c.property == "ensure" && c.from != "absent"));
         });
}

}  // namespace

void note_overwritten(Session& session, Prepared& p, const resource::ExecutorOptions& options) {
  const model::System& s = p.program.system;
  resource::Knowledge knowledge(s);
  knowledge.set_home(options.home, options.remote_home);
  resource::Scrubber scrub(p.plan.flat);
  for (engine::PlanChange& change : p.plan.changes) {
    Host* host = options.host && change.host.empty() ? options.host(change.host) : nullptr;
    if (change.kind != engine::PlanChange::Kind::kAdd || !host) continue;
    std::set<std::string> files;
    for (u32 i = 0; i < s.instances.size(); ++i) {
      if (p.program.component_of[i] != change.component) continue;
      for (auto& t : s.type_of(i).transitions) {
        std::string problem;
        for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), session.arena, problem))
          if (overwrites(r, *host, options)) files.insert(scrub.clean(r.title));
      }
    }
    if (files.empty()) continue;
    change.why +=
        fmt::format("{}overwrites {}, there with another content: a copy is kept, and the file goes with `{}`",
                    change.why.empty() ? "" : "; ", fmt::join(files, ", "), change.component);
  }
}

}  // namespace tutti::deploy
