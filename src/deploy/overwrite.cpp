#include "deploy/overwrite.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "deploy/share.h"
#include "format/json.h"
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

// The digest of what a component's file held when it was first written, as the journals tell; "" when it was not there,
// or nobody knows.
std::string former_content(Session& session, store::Store& store, const std::string& system,
                           const std::string& component) {
  constexpr std::size_t kMost = 200;
  constexpr std::string_view kChanged = "content changed '{sha256}";
  auto runs = store.runs(system, kMost);
  if (!runs || runs->size() == kMost) return "";
  std::string oldest;
  for (const store::RunRecord& run : *runs) {  // newest first
    auto entries = store.entries(run.id);
    if (!entries) return "";
    std::reverse(entries->begin(), entries->end());
    for (const store::Entry& e : *entries) {
      if (e.kind != store::Entry::Kind::kEnd || e.changes.empty() || e.name.substr(0, e.name.rfind('/')) != component)
        continue;
      auto source = session.sources->add("changes", e.changes);
      auto changes = source ? read_json(session, **source) : std::nullopt;
      if (!changes || !changes->is(Kind::kList)) return "";
      for (const Value& c : changes->items()) {
        const Entry *property = c.find("property"), *text = c.find("text");
        if (!property || !text) continue;
        std::string_view words = text->value.text();
        if (property->value.text() == "ensure" && words == "removed")
          return oldest;  // what was before is another story
        if (property->value.text() == "ensure") oldest.clear();
        if (property->value.text() == "content")
          oldest = words.starts_with(kChanged) ? words.substr(kChanged.size(), 64) : std::string_view();
      }
    }
  }
  return oldest;
}

}  // namespace

void note_former(Session& session, Prepared& p, const engine::Recorded& was, const Place& place) {
  for (engine::PlanChange& change : p.plan.changes) {
    auto self = was.components.find(change.component);
    if (change.kind != engine::PlanChange::Kind::kRemove || !change.host.empty() || self == was.components.end())
      continue;
    // Journals do not say which of several files of a component they speak of.
    if (self->second.held.size() != 1) continue;
    resource::Resource r = resource_of(self->second.held[0]);
    if (r.type != "file" || Share::of(self->second).is_left(r)) continue;
    std::string digest = former_content(session, *place.store, p.system, change.component);
    std::string copy = fmt::format("{}/kept/{}", place.directory, digest);
    if (digest.empty() || ::access(copy.c_str(), F_OK) != 0) continue;
    change.why += fmt::format("{}removes {}, there before with another content, which is kept: {}",
                              change.why.empty() ? "" : "; ", r.title, copy);
  }
}

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
