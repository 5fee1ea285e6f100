#include "resource/holdings.h"

#include <fmt/format.h>

namespace tutti::resource {
namespace {

std::string on_host(Symbol host, std::string_view thing) { return fmt::format("{} {}", host.text(), thing); }

}  // namespace

void Holdings::add(Symbol host, const Resource& r, u32 who) {
  const Provider* provider = find_provider(r.type);
  if (!provider || Params(r.parameters).text("ensure") == "absent") return;
  for (auto& thing : provider->writes(r)) by_thing_[on_host(host, thing)].push_back(who);
  for (auto& file : provider->parts(r)) by_thing_[on_host(host, "file:" + file)].push_back(who);
}

void Holdings::add(const Holdings& others) {
  for (auto& [thing, who] : others.by_thing_) {
    auto& all = by_thing_[thing];
    all.insert(all.end(), who.begin(), who.end());
  }
}

std::span<const u32> Holdings::holders(Symbol host, const std::string& thing) const {
  auto it = by_thing_.find(on_host(host, thing));
  return it == by_thing_.end() ? std::span<const u32>{} : std::span<const u32>(it->second);
}

bool Holdings::has(Symbol host, const std::string& name) const {
  return !holders(host, name.starts_with('/') ? "file:" + name : name).empty();
}

std::span<const u32> Holdings::below(Symbol host, const std::string& directory) const {
  std::string start = on_host(host, fmt::format("file:{}/", directory == "/" ? "" : directory));
  auto it = by_thing_.lower_bound(start);
  return it != by_thing_.end() && it->first.starts_with(start) ? std::span<const u32>(it->second)
                                                               : std::span<const u32>{};
}

}  // namespace tutti::resource
