#include "deploy/looking/overwrite.h"

#include <fmt/format.h>

#include <set>

#include "model/template.h"
#include "resource/action.h"
#include "resource/holdings.h"

namespace tutti::deploy {
namespace {

// What is lost of what is there when a component comes: files with another content, and those that are purged.
struct Lost {
  std::set<std::string> overwritten, replaced, for_good, purged, spared, changed;
};

std::string inner(const std::string& reference) {  // File[/x]: /x
  std::size_t open = reference.find('[') + 1;
  return reference.substr(open, reference.size() - open - 1);
}

void look(const resource::Resource& r, Symbol at, Host& host, const resource::ExecutorOptions& options,
          const resource::Holdings& holdings, const resource::Holdings& ours, const OtherSystems& others,
          const resource::Scrubber& scrub, Lost& lost) {
  resource::Params params(r.parameters);
  static const std::set<std::string_view> kLookedAt{"file", "user",    "group",   "host",      "mount",
                                                    "cron", "package", "service", "file_line", "ini_setting"};
  if (!kLookedAt.count(r.type) || params.text("ensure") == "absent" || r.title.find("${") != std::string::npos ||
      model::has_placeholders(r.parameters))
    return;
  resource::Context context(host, r);
  context.home = options.home;
  context.scope = options.scope;
  context.locate = options.locate;
  context.managed = [&](const std::string& name) { return holdings.has(at, name); };
  context.managed_below = [&](const std::string& directory) { return !holdings.below(at, directory).empty(); };
  context.elsewhere = [&](const std::string& path, bool below) {
    auto who = others.holder("", below ? path : "file:" + path, below);
    if (who) lost.spared.insert(fmt::format("{} ({})", scrub.clean(path), who->name));
    return who ? who->name : std::string();
  };
  auto found = resource::find_provider(r.type)->examine(context);
  if (!found) return;
  if (r.type != "file") {
    if (auto former = resource::find_provider(r.type)->keep_former(context, *found); former && !former->empty())
      lost.changed.insert(scrub.clean(fmt::format("{} {}", r.type, r.title)));
    return;
  }
  for (const resource::Change& c : found->changes) {
    if (c.subject.empty() && ours.has(at, r.title)) continue;  // another component's, which gives it up or is told of
    auto& overwritten = params.text("backup") == "false"                  ? lost.for_good
                        : c.property == "ensure" && c.from == "directory" ? lost.replaced
                                                                          : lost.overwritten;
    if (c.subject.empty() ? c.property == "content" || (c.property == "ensure" && c.from != "absent")
                          : c.property == "ensure" && c.to == "absent")
      (c.subject.empty() ? overwritten : lost.purged)
          .insert(scrub.clean(c.subject.empty() ? r.title : inner(c.subject)));
  }
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

}  // namespace

void note_overwritten(Session& session, Prepared& p, const resource::ExecutorOptions& options,
                      const OtherSystems& others) {
  const model::System& s = p.program.system;
  resource::Knowledge knowledge(p.program);
  knowledge.set_home(options.home, options.remote_home);
  resource::Scrubber scrub(p.plan.flat);
  resource::Holdings holdings, ours;  // those of this plan, and what is recorded
  for (auto& [name, c] : engine::read_recorded(p.state).components)
    for (auto& held : c.held) ours.add(c.host, resource_of(held), 0);
  for (u32 i = 0; i < s.instances.size(); ++i)
    for (auto& t : s.type_of(i).transitions) {
      std::string problem;
      for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), session.arena, problem))
        holdings.add(s.instances[i].host, r, i);
    }
  auto instances = p.program.instances_of();
  for (engine::PlanChange& change : p.plan.changes) {
    Host* host = options.host && change.host.empty() ? options.host(change.host) : nullptr;
    if (change.kind != engine::PlanChange::Kind::kAdd || !host) continue;
    Lost lost;
    for (u32 i : instances[change.component])
      for (auto& t : s.type_of(i).transitions) {
        std::string problem;
        for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), session.arena, problem))
          look(r, s.instances[i].host, *host, options, holdings, ours, others, scrub, lost);
      }
    auto add = [&](const std::string& text) { change.why += (change.why.empty() ? "" : "; ") + text; };
    if (!lost.overwritten.empty())
      add(fmt::format("overwrites {}, there with another content, which comes back when `{}` goes",
                      fmt::join(lost.overwritten, ", "), change.component));
    if (!lost.changed.empty())
      add(fmt::format("changes {}, which {} there already and not removed when `{}` goes",
                      fmt::join(lost.changed, ", "), lost.changed.size() == 1 ? "is" : "are", change.component));
    if (!lost.replaced.empty())
      add(fmt::format("replaces directory {}: copies of its files are kept", fmt::join(lost.replaced, ", ")));
    if (!lost.for_good.empty())
      add(fmt::format("overwrites {}, there with another content: no copy is kept", fmt::join(lost.for_good, ", ")));
    if (!lost.spared.empty()) add(fmt::format("does not purge {}, which others have", some_of(lost.spared)));
    if (!lost.purged.empty()) add(fmt::format("purges {}: copies are kept", some_of(lost.purged)));
  }
}

}  // namespace tutti::deploy
