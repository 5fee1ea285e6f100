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
#include "resource/holdings.h"

namespace tutti::deploy {
namespace {

// What is lost of what is there when a component comes: files with another content, and those that are purged.
struct Lost {
  std::set<std::string> overwritten, purged;
};

std::string inner(const std::string& reference) {  // File[/x]: /x
  std::size_t open = reference.find('[') + 1;
  return reference.substr(open, reference.size() - open - 1);
}

void look(const resource::Resource& r, Symbol at, Host& host, const resource::ExecutorOptions& options,
          const resource::Holdings& holdings, const resource::Scrubber& scrub, Lost& lost) {
  resource::Params params(r.parameters);
  if (r.type != "file" || params.text("ensure") == "absent" || r.title.find("${") != std::string::npos ||
      model::has_placeholders(r.parameters))
    return;
  resource::Context context(host, r);
  context.home = options.home;
  context.scope = options.scope;
  context.locate = options.locate;
  context.managed = [&](const std::string& name) { return holdings.has(at, name); };
  context.managed_below = [&](const std::string& directory) { return holdings.below(at, directory); };
  auto found = resource::find_provider(r.type)->examine(context);
  if (!found) return;
  for (const resource::Change& c : found->changes)
    if (c.subject.empty() ? c.property == "content" || (c.property == "ensure" && c.from != "absent")
                          : c.property == "ensure" && c.to == "absent")
      (c.subject.empty() ? lost.overwritten : lost.purged)
          .insert(scrub.clean(c.subject.empty() ? r.title : inner(c.subject)));
}

// The first few, and how many more.
std::string some_of(const std::set<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string> shown;
  for (auto& name : names)
    if (shown.size() < kShown) shown.push_back(name);
  return fmt::format("{}{}", fmt::join(shown, ", "),
                     names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
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
  resource::Holdings holdings;
  for (u32 i = 0; i < s.instances.size(); ++i)
    for (auto& t : s.type_of(i).transitions) {
      std::string problem;
      for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), session.arena, problem))
        holdings.add(s.instances[i].host, r, i);
    }
  for (engine::PlanChange& change : p.plan.changes) {
    Host* host = options.host && change.host.empty() ? options.host(change.host) : nullptr;
    if (change.kind != engine::PlanChange::Kind::kAdd || !host) continue;
    Lost lost;
    for (u32 i = 0; i < s.instances.size(); ++i) {
      if (p.program.component_of[i] != change.component) continue;
      for (auto& t : s.type_of(i).transitions) {
        std::string problem;
        for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), session.arena, problem))
          look(r, s.instances[i].host, *host, options, holdings, scrub, lost);
      }
    }
    auto add = [&](const std::string& text) { change.why += (change.why.empty() ? "" : "; ") + text; };
    if (!lost.overwritten.empty())
      add(fmt::format("overwrites {}, there with another content: a copy is kept, and the file goes with `{}`",
                      fmt::join(lost.overwritten, ", "), change.component));
    if (!lost.purged.empty()) add(fmt::format("purges {}: copies are kept", some_of(lost.purged)));
  }
}

}  // namespace tutti::deploy
