// What is known of instances while a system runs: a path in a text (`db.port`, `config.path`, `uses.db.address`) to the
// value that stands there now.
#include <fmt/format.h>

#include "resource/action.h"
#include "tree/raw_mark.h"

namespace tutti::resource {

constexpr u32 kMostThrough = 50;

Knowledge::Knowledge(const engine::PlannedSystem& plan)
    : system_(plan.system), instances_(plan.instances), outputs_(instances_.size()) {
  for (u32 i = 0; i < instances_.size(); ++i) {
    if (instances_[i].stays)
      by_component_[instances_[i].component] = i;
    else
      by_component_.try_emplace(instances_[i].component, i);
  }
}

void Knowledge::learn(u32 instance, const std::map<std::string, std::string>& outputs) {
  std::lock_guard lock(mutex_);
  for (auto& [k, v] : outputs) {
    auto [at, fresh] = outputs_[instance].try_emplace(k);
    if (!fresh && at->second == v) continue;
    at->second = v;
    ++version_;
  }
}

std::map<std::string, std::string> Knowledge::outputs(u32 instance) const {
  std::lock_guard lock(mutex_);
  return outputs_[instance];
}

std::optional<Value> Knowledge::look_up(u32 instance, std::string_view path, const Value& config, const Value& old,
                                        Arena& arena, u32 through) const {
  TreeBuilder builder(arena);
  const engine::PlannedInstance& self = instances_[instance];
  auto rest = [&](std::string_view prefix) -> std::optional<std::string_view> {
    if (path.substr(0, prefix.size()) != prefix) return std::nullopt;
    return path.substr(prefix.size());
  };
  // Something of another instance: what its actions gave, else its configuration.
  auto of_instance = [&](u32 other, std::string_view key) -> std::optional<Value> {
    {
      std::lock_guard lock(mutex_);
      auto it = outputs_[other].find(std::string(key));
      if (it != outputs_[other].end()) {
        Value output = builder.string(it->second);
        return other == instance || is_plain_word(it->second) ? output : output.as_raw(Raw::kOutput);
      }
    }
    const engine::PlannedInstance& o = instances_[other];
    if (key == "host") return builder.string(o.host.empty() ? "localhost" : o.host.text());
    if (key == "address") {
      if (o.host.empty()) return builder.string("127.0.0.1");
      auto h = hosts_.find(std::string(o.host.text()));
      if (h != hosts_.end())
        if (const Entry* a = h->second.find("address")) return a->value;
      return builder.string(o.host.text());
    }
    auto v = model::at_path(o.config, key);
    if (!v && supposing_ && other != instance) return builder.string(fmt::format("${{{}}}", path)).as_raw(Raw::kOutput);
    return v ? put_in(other, *v, o.config, arena, through) : v;
  };
  if (path == "name") return builder.string(self.made_as());
  if (path == "home") {
    auto h = hosts_.find(std::string(self.host.text()));
    if (const Entry* own = h != hosts_.end() && h->second.is(Kind::kMap) ? h->second.find("directory") : nullptr)
      return own->value;
    return builder.string(self.host.empty() ? home_ : remote_home_);
  }
  if (path == "component") return builder.string(self.component);
  if (path == "half_made") return Value::boolean(self.half_made);
  if (path == "host") return builder.string(self.host.empty() ? "localhost" : self.host.text());
  if (auto key = rest("config.")) return model::at_path(config, *key);
  if (path == "config") return config;
  if (auto key = rest("old.")) return model::at_path(old, *key);
  if (auto key = rest("self.")) return of_instance(instance, *key);
  if (auto key = rest("hosts.")) {
    std::size_t dot = key->find('.');
    auto h = hosts_.find(std::string(key->substr(0, dot)));
    if (h == hosts_.end() || dot == std::string_view::npos) return std::nullopt;
    return model::at_path(h->second, key->substr(dot + 1));
  }
  std::string_view p = path;
  if (auto key = rest("uses.")) p = *key;
  // A port of its own, then a component; a component's name may hold dots.
  for (const engine::PlannedNeed& n : self.needs) {
    std::string_view name = n.port.text();
    if (n.instance == model::kNone || !p.starts_with(name) || p.size() <= name.size() || p[name.size()] != '.')
      continue;
    if (auto v = of_instance(n.instance, p.substr(name.size() + 1))) return v;
  }
  for (std::size_t at = 0; at < p.size(); ++at) {
    if (p[at] != '.' && p[at] != ':') continue;
    auto it = by_component_.find(std::string(p.substr(0, at)));
    if (it != by_component_.end())
      if (auto v = of_instance(it->second, p.substr(at + 1))) return v;
  }
  return std::nullopt;
}

std::optional<Value> Knowledge::put_in(u32 instance, const Value& v, const Value& config, Arena& arena,
                                       u32 through) const {
  if (!model::has_placeholders(v)) return v;
  if (through >= kMostThrough) return std::nullopt;  // circles are refused where they are read
  std::string missing;
  auto inner = [&](std::string_view path) { return of_config(instance, path, config, arena, through + 1); };
  Value now = model::expand(v, inner, TreeBuilder(arena), &missing, true);
  return missing.empty() ? std::optional<Value>(now) : std::nullopt;
}

std::optional<Value> Knowledge::of_config(u32 instance, std::string_view path, const Value& config, Arena& arena,
                                          u32 through) const {
  auto found = look_up(instance, path, config, config, arena, through);
  bool own = path == "config" || path.starts_with("config.");  // as it is written: that may refer to others
  return found && own ? put_in(instance, *found, config, arena, through) : found;
}

Value Knowledge::settled(u32 instance, const Value& v, Arena& arena, std::string& missing) const {
  if (!model::has_placeholders(v)) return v;
  return model::expand(
      v, [&](std::string_view path) { return of_config(instance, path, v, arena, 0); }, TreeBuilder(arena), &missing,
      true);
}

}  // namespace tutti::resource
