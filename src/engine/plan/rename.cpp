#include "engine/plan/rename.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/planner.h"
#include "model/template.h"

namespace tutti::engine {
namespace {

std::string_view component_of(std::string_view instance) { return instance.substr(0, instance.find('#')); }

// "app.port" with the new name of app; a port of its own goes before a component of that name.
std::string renamed_path(std::string_view path, const RecordedComponent& self,
                         const std::map<std::string, std::string, std::less<>>& now) {
  std::string_view lead = path.starts_with("uses.") ? path.substr(0, 5) : path.substr(0, 0);
  std::string_view rest = path.substr(lead.size());
  for (std::size_t at = 0; at < rest.size(); ++at) {
    if (rest[at] != '.' && rest[at] != ':') continue;
    std::string_view name = rest.substr(0, at);
    if (std::any_of(self.needs.begin(), self.needs.end(), [&](auto& n) { return n.port.text() == name; })) break;
    if (auto to = now.find(name); to != now.end()) return fmt::format("{}{}{}", lead, to->second, rest.substr(at));
  }
  return std::string(path);
}

}  // namespace

Renames find_renames(const model::Deployment& wanted, const Recorded& recorded, const std::vector<std::string>& only,
                     bool back, std::vector<std::string>& notes) {
  Renames out;
  auto is_there = [&](const std::string& name) {
    auto it = recorded.components.find(name);
    return it != recorded.components.end() && !it->second.forgotten;
  };
  auto former = [&](std::string_view name) -> std::string {
    for (auto& other : recorded.order) {
      const RecordedComponent& c = recorded.components.at(other);
      if (c.forgotten || wanted.find(Symbol(other)) || left_of(other) != other) continue;
      if (std::any_of(c.former.begin(), c.former.end(), [&](auto& f) { return component_of(f) == name; })) return other;
    }
    return "";
  };
  for (const model::Component& c : wanted.components) {
    std::string name(c.name.text());
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    std::string old = is_there(c.was) ? c.was : back && !recorded.components.count(name) ? former(name) : "";
    if (old.empty()) continue;
    if (recorded.components.count(name))
      notes.push_back(fmt::format("`{}` is there already, so `was: {}` is not looked at: that one goes", name, old));
    else if (std::none_of(out.begin(), out.end(), [&](auto& r) { return r.second == old; }))
      out[name] = old;
  }
  return out;
}

Recorded renamed(const Recorded& recorded, const Renames& renames, const TreeBuilder& b) {
  std::map<std::string, std::string, std::less<>> now;  // the name it had -> the one it has
  for (auto& [to, from] : renames) now[from] = to;
  std::set<std::string, std::less<>> taken;  // in programs, and by what is there
  for (auto& [name, c] : recorded.components) taken.insert({c.instance, std::string(c.made_as())});
  Recorded out = recorded;
  out.components.clear();
  for (auto& name : out.order) {
    RecordedComponent c = recorded.components.at(name);
    // What is left of one that was being replaced goes by its name, too.
    if (auto to = now.find(left_of(name)); to != now.end()) {
      std::string known(c.made_as());
      if (std::find(c.former.begin(), c.former.end(), c.instance) == c.former.end()) c.former.push_back(c.instance);
      auto instance = [&] { return instance_name(to->second, c.generation); };
      while (instance() != known && taken.count(instance())) ++c.generation;
      c.instance = instance();
      taken.insert(c.instance);
      c.name = left_of(name) == name ? to->second : fmt::format("{}~{}", to->second, c.instance);
      if (c.name != to->second) now[name] = c.name;
    }
    name = c.name;
    out.components.emplace(c.name, std::move(c));
  }
  auto name_of = [&](Symbol name) {
    auto it = now.find(name.text());
    return it == now.end() ? name : Symbol(it->second);
  };
  for (auto& [name, c] : out.components) {
    for (auto& n : c.needs) n.provider = name_of(n.provider);
    for (auto& o : c.orders) o.provider = name_of(o.provider);
    auto path = [&](std::string_view p) { return renamed_path(p, c, now); };
    c.config = model::with_paths(c.config, path, b);
    if (!c.reads.is(Kind::kMap)) continue;
    MapDraft reads;
    for (const Entry& e : c.reads.entries()) reads.set(Symbol(path(e.key.text())), e.value, e.field);
    c.reads = reads.build(b);
  }
  return out;
}

}  // namespace tutti::engine
