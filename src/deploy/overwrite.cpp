#include "deploy/overwrite.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
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

// The digests of what the files of these components held when they were first written, as the journals tell: of those
// that were not there, or of which nobody knows, none. The journals are read once for all of them.
std::map<std::string, std::string, std::less<>> former_contents(Session& session, store::Store& store,
                                                                const std::string& system,
                                                                std::set<std::string, std::less<>> components) {
  constexpr std::size_t kMost = 200;
  constexpr std::string_view kChanged = "content changed '{sha256}";
  std::map<std::string, std::string, std::less<>> oldest;
  auto runs = components.empty() ? store.runs(system, 0) : store.runs(system, kMost);
  if (!runs || runs->size() == kMost) return {};
  for (const store::RunRecord& run : *runs) {  // newest first
    auto entries = store.entries(run.id);
    if (!entries) return {};
    std::reverse(entries->begin(), entries->end());
    for (const store::Entry& e : *entries) {
      auto component = components.find(std::string_view(e.name).substr(0, e.name.rfind('/')));
      if (e.kind != store::Entry::Kind::kEnd || e.changes.empty() || component == components.end()) continue;
      auto source = session.sources->add("changes", e.changes);
      auto changes = source ? read_json(session, **source) : std::nullopt;
      if (!changes || !changes->is(Kind::kList)) return {};
      for (const Value& c : changes->items()) {
        const Entry *property = c.find("property"), *text = c.find("text");
        if (!property || !text) continue;
        std::string_view words = text->value.text();
        if (property->value.text() == "ensure" && words == "removed") {
          components.erase(component);  // what was before is another story
          break;
        }
        if (property->value.text() == "ensure") oldest.erase(*component);
        if (property->value.text() == "content")
          oldest[*component] = words.starts_with(kChanged) ? words.substr(kChanged.size(), 64) : std::string_view();
      }
    }
  }
  return oldest;
}

}  // namespace

void note_former(Session& session, Prepared& p, const engine::Recorded& was, const Place& place) {
  // The file that goes with the component. Journals do not say which of several they speak of.
  auto file_of = [&](const engine::PlanChange& change) -> std::string {
    auto self = was.components.find(change.component);
    if (change.kind != engine::PlanChange::Kind::kRemove || !change.host.empty() || self == was.components.end() ||
        self->second.held.size() != 1)
      return "";
    resource::Resource r = resource_of(self->second.held[0]);
    return r.type != "file" || Share::of(self->second).is_left(r) ? "" : r.title;
  };
  std::set<std::string, std::less<>> going;
  for (const engine::PlanChange& change : p.plan.changes)
    if (!file_of(change).empty()) going.insert(change.component);
  auto former = former_contents(session, *place.store, p.system, going);
  for (engine::PlanChange& change : p.plan.changes) {
    auto known = former.find(change.component);
    std::string digest = known == former.end() ? "" : known->second;
    std::string copy = fmt::format("{}/kept/{}", place.directory, digest);
    if (digest.empty() || ::access(copy.c_str(), F_OK) != 0) continue;
    change.why += fmt::format("{}removes {}, there before with another content, which is kept: {}",
                              change.why.empty() ? "" : "; ", file_of(change), copy);
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
