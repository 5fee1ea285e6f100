#include "lang/puppet/hiera/layer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/near.h"

namespace tutti::puppet {
namespace {

[[noreturn]] void wrong(const HieraLayer& layer, const Val& at, std::string_view what) {
  throw HieraError(fmt::format("{}: {}", layer.config, what), at.origin.pos());
}

std::string text_at(const Val& map, std::string_view key, std::string_view otherwise = "") {
  const Val* v = map.is(VK::kHash) ? map.get(key) : nullptr;
  return v != nullptr && v->is(VK::kString) ? std::string(v->text()) : std::string(otherwise);
}

// A key that means nothing is a mistake in writing, and what was meant would be missing without a word.
void check_keys(const HieraLayer& layer, const Val& map, std::string_view what,
                std::span<const std::string_view> known) {
  for (const Pair& p : map.entries()) {
    std::string key = to_text(p.key);
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string_view near = nearest(key, known);
    wrong(
        layer, p.key,
        fmt::format("{} has no key `{}`{}", what, key, near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
  }
}

// Which backend an entry (or the defaults) names, if any.
bool read_backend(const HieraLayer& layer, const Val& entry, HieraLevel& level) {
  constexpr std::pair<std::string_view, HieraLevel::Shape> kShapes[] = {
      {"data_hash", HieraLevel::kDataHash}, {"lookup_key", HieraLevel::kLookupKey}, {"data_dig", HieraLevel::kDataDig}};
  bool found = false;
  for (auto [key, shape] : kShapes) {
    const Val* v = entry.get(key);
    if (v == nullptr) continue;
    if (found) wrong(layer, *v, "only one of data_hash, lookup_key and data_dig can be given");
    if (!v->is(VK::kString)) wrong(layer, *v, fmt::format("`{}` is the name of a function", key));
    found = true;
    level.function = v->text();
    level.shape = shape;
    level.backend = level.function == "yaml_data"          ? HieraLevel::kYaml
                    : level.function == "json_data"        ? HieraLevel::kJson
                    : level.function == "eyaml_lookup_key" ? HieraLevel::kEyaml
                                                           : HieraLevel::kFunction;
  }
  if (entry.get("hiera3_backend") != nullptr) wrong(layer, entry, "`hiera3_backend` is not supported");
  return found;
}

void read_locations(const HieraLayer& layer, const Val& entry, HieraLevel& level) {
  using Location = HieraLevel::Location;
  constexpr std::tuple<std::string_view, std::string_view, Location::What> kKinds[] = {
      {"path", "paths", Location::kPath}, {"glob", "globs", Location::kGlob}, {"uri", "uris", Location::kUri}};
  int given = 0;
  for (auto [one, many, what] : kKinds) {
    if (const Val* v = entry.get(one)) {
      if (!v->is(VK::kString)) wrong(layer, *v, fmt::format("`{}` is a string", one));
      level.locations.push_back({what, std::string(v->text()), {}, {}});
      given++;
    }
    if (const Val* v = entry.get(many)) {
      if (!v->is(VK::kArray)) wrong(layer, *v, fmt::format("`{}` is an array of strings", many));
      for (const Val& p : v->items()) {
        if (!p.is(VK::kString)) wrong(layer, p, fmt::format("`{}` is an array of strings", many));
        level.locations.push_back({what, std::string(p.text()), {}, {}});
      }
      given++;
    }
  }
  if (const Val* v = entry.get("mapped_paths")) {
    if (!v->is(VK::kArray) || v->items().size() != 3) {
      wrong(layer, *v, "`mapped_paths` has three parts: a variable, a name for its items, and a template");
    }
    level.locations.push_back({Location::kMapped, std::string(v->items()[2].text()), std::string(v->items()[0].text()),
                               std::string(v->items()[1].text())});
    given++;
  }
  if (given > 1) {
    wrong(layer, entry,
          fmt::format("entry '{}' may have only one of path, paths, glob, globs, uri, uris, mapped_paths", level.name));
  }
}

std::vector<HieraLevel> read_hierarchy(const HieraLayer& layer, const Val& entries, const Val& defaults) {
  if (!entries.is(VK::kArray)) wrong(layer, entries, "the hierarchy is an array of entries");
  std::vector<HieraLevel> levels;
  for (const Val& entry : entries.items()) {
    if (!entry.is(VK::kHash)) wrong(layer, entry, "an entry of the hierarchy is a hash");
    HieraLevel level;
    level.name = text_at(entry, "name");
    if (level.name.empty()) wrong(layer, entry, "an entry of the hierarchy needs a `name`");
    for (const HieraLevel& other : levels) {
      if (other.name == level.name)
        wrong(layer, entry, fmt::format("the hierarchy name '{}' is used twice", level.name));
    }
    level.datadir = text_at(entry, "datadir", text_at(defaults, "datadir", "data"));
    constexpr std::string_view kKeys[] = {"name",    "data_hash", "lookup_key", "data_dig",    "hiera3_backend",
                                          "options", "datadir",   "path",       "paths",       "glob",
                                          "globs",   "uri",       "uris",       "mapped_paths"};
    check_keys(layer, entry, fmt::format("the entry '{}' of the hierarchy", level.name), kKeys);
    bool named = read_backend(layer, entry, level);
    // Defaults of one's own stand in place of those built in, the backend included.
    if (!named && defaults.is(VK::kHash) && !read_backend(layer, defaults, level))
      wrong(layer, entry,
            fmt::format(
                "one of data_hash, lookup_key and data_dig must be given in the entry '{}' of the hierarchy, or in "
                "`defaults`",
                level.name));
    const Val* options = entry.get("options");
    if (options == nullptr && defaults.is(VK::kHash)) options = defaults.get("options");
    if (options != nullptr) level.options = *options;
    read_locations(layer, entry, level);
    if (level.locations.empty() && level.backend != HieraLevel::kFunction)
      wrong(layer, entry, fmt::format("the entry '{}' of the hierarchy needs a path", level.name));
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace

// Version 4: an entry names a backend, and its paths have no extension.
static void read_version_4(const Val& config, HieraLayer& layer) {
  constexpr std::string_view kKeys[] = {"version", "datadir", "hierarchy"},
                             kOfEntry[] = {"name", "backend", "datadir", "path", "paths"};
  check_keys(layer, config, "hiera.yaml of version 4", kKeys);
  const Val* entries = config.get("hierarchy");
  if (entries == nullptr) return;
  if (!entries->is(VK::kArray)) wrong(layer, *entries, "the hierarchy is an array of entries");
  for (const Val& entry : entries->items()) {
    if (!entry.is(VK::kHash)) wrong(layer, entry, "an entry of the hierarchy is a hash");
    HieraLevel level;
    level.name = text_at(entry, "name");
    check_keys(layer, entry, fmt::format("the entry '{}' of the hierarchy", level.name), kOfEntry);
    level.datadir = text_at(entry, "datadir", text_at(config, "datadir", "data"));
    std::string backend = text_at(entry, "backend");
    if (backend != "yaml" && backend != "json")
      wrong(layer, entry, fmt::format("there is no backend `{}` in version 4; there are yaml and json", backend));
    level.backend = backend == "json" ? HieraLevel::kJson : HieraLevel::kYaml;
    level.function = backend + "_data";
    read_locations(layer, entry, level);
    if (level.locations.empty()) level.locations.push_back({HieraLevel::Location::kPath, level.name, {}, {}});
    for (HieraLevel::Location& l : level.locations) l.text += "." + backend;
    layer.hierarchy.push_back(std::move(level));
  }
}

void read_layer(const Val& config, HieraLayer& layer) {
  const Val* version = config.is(VK::kHash) ? config.get("version") : nullptr;
  // What has no version is of version 3, which an environment cannot have: Puppet passes it over.
  if (layer.of_environment && (version == nullptr || (version->is(VK::kInt) && version->i == 3))) {
    layer.warning = fmt::format("{}: hiera.yaml of version 3 is ignored in an environment", layer.config);
    return;
  }
  if (!config.is(VK::kHash)) wrong(layer, config, "the configuration is a hash");
  if (version != nullptr && version->is(VK::kInt) && version->i == 4) {
    layer.warning = fmt::format("{}: version 4 of hiera.yaml is deprecated; it should become version 5", layer.config);
    return read_version_4(config, layer);
  }
  if (version == nullptr || !version->is(VK::kInt) || version->i != 5) {
    wrong(layer, version != nullptr ? *version : config,
          "only versions 4 and 5 of Hiera's configuration are supported here");
  }
  constexpr std::string_view kKeys[] = {"version", "defaults", "hierarchy", "default_hierarchy"},
                             kOfDefaults[] = {"data_hash", "lookup_key", "data_dig", "datadir", "options"};
  check_keys(layer, config, "hiera.yaml", kKeys);
  if (const Val* own = config.get("defaults"); own != nullptr && own->is(VK::kHash))
    check_keys(layer, *own, "`defaults`", kOfDefaults);
  const Val* defaults = config.get("defaults");
  Val none;
  if (const Val* h = config.get("hierarchy")) {
    layer.hierarchy = read_hierarchy(layer, *h, defaults != nullptr ? *defaults : none);
  } else {
    HieraLevel common;
    common.name = "Common";
    common.datadir = defaults != nullptr ? text_at(*defaults, "datadir", "data") : "data";
    if (defaults != nullptr && defaults->is(VK::kHash)) read_backend(layer, *defaults, common);
    common.locations.push_back({HieraLevel::Location::kPath, "common.yaml", {}, {}});
    layer.hierarchy.push_back(std::move(common));
  }
  if (const Val* h = config.get("default_hierarchy")) {
    if (layer.module.empty()) wrong(layer, *h, "`default_hierarchy` is for modules only");
    layer.default_hierarchy = read_hierarchy(layer, *h, defaults != nullptr ? *defaults : none);
  }
}

}  // namespace tutti::puppet
