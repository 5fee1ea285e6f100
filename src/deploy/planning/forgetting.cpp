#include "deploy/planning/forgetting.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/near.h"

namespace tutti::deploy {
namespace {

using Names = std::vector<std::string>;

// Of each component those that are not chosen and hold one of its ports.
std::map<std::string_view, Names> users_of(const engine::Recorded& was, const std::set<std::string>& chosen) {
  std::map<std::string_view, Names> users;
  for (auto& [name, c] : was.components)
    for (auto& need : c.needs) {
      if (!need.hold || chosen.count(name)) continue;
      Names& all = users[need.provider.text()];
      if (all.empty() || all.back() != name) all.push_back(name);
    }
  return users;
}

Forgetting::One one_of(const engine::RecordedComponent& c, const Names& users) {
  Forgetting::One one{c.name, c.type, c.host, "", {}, users};
  for (Symbol e : c.marking) one.state += (one.state.empty() ? "" : ", ") + std::string(e.text());
  for (auto& h : c.held)
    one.held.push_back(fmt::format("{} {}", h.find("type")->value.text(), h.find("title")->value.text()));
  return one;
}

// Says which names are not there.
void check_names(Session& session, const std::string& system, const engine::Recorded& was, const Names& components,
                 const Names& hosts) {
  std::vector<std::string_view> names, places;
  for (auto& [name, c] : was.components) {
    names.push_back(name);
    if (!c.host.empty()) places.push_back(c.host.text());
  }
  auto unknown = [&](std::string what, std::string_view name, const std::vector<std::string_view>& known) {
    session.diagnostics.error("FORGET-UNKNOWN", {}, std::move(what)).did_you_mean(nearest(name, known));
  };
  for (auto& name : components)
    if (!was.components.count(name)) unknown(fmt::format("`{}` has no component `{}`", system, name), name, names);
  for (auto& host : hosts)
    if (std::find(places.begin(), places.end(), host) == places.end())
      unknown(fmt::format("`{}` has nothing on a host `{}`", system, host), host, places);
}

}  // namespace

std::optional<Forgetting> plan_forgetting(Session& session, World& world, const std::string& system,
                                          const Names& components, const Names& hosts) {
  auto there = world.recorded(system);
  if (!there) return std::nullopt;
  engine::Recorded& was = there->recorded;
  std::erase_if(was.order, [&](auto& name) { return was.components.at(name).forgotten; });
  std::erase_if(was.components, [](auto& c) { return c.second.forgotten; });
  std::size_t before = session.diagnostics.errors();
  check_names(session, system, was, components, hosts);
  std::set<std::string> chosen(components.begin(), components.end());
  for (auto& [name, c] : was.components)
    if (std::find(hosts.begin(), hosts.end(), c.host.text()) != hosts.end()) chosen.insert(name);
  Forgetting f;
  f.system = system;
  f.hosts = hosts;
  f.serial = there->serial;
  f.state = there->state;
  auto users = users_of(was, chosen);
  for (auto& name : was.order) {
    if (!chosen.count(name)) continue;
    const engine::RecordedComponent& c = was.components.at(name);
    if (c.protect)
      session.diagnostics.error("FORGET-PROTECTED", {}, fmt::format("`{}` is protected", name))
          .suggest("first apply it once without `protect`, which does nothing where it is");
    f.components.push_back(one_of(c, users[c.name]));
  }
  if (session.diagnostics.errors() != before) return std::nullopt;
  return f;
}

}  // namespace tutti::deploy
