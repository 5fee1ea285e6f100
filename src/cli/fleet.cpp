#include "cli/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <unordered_map>

#include "base/sink.h"
#include "cli/doors/puppet.h"
#include "cli/doors/registry.h"
#include "cli/output.h"
#include "format/json.h"
#include "format/write.h"
#include "resource/catalog.h"

namespace fs = std::filesystem;

namespace tutti {
namespace {

const Symbol& catalogs_tag() {
  static const Symbol s("catalogs");
  return s;
}

bool is_directory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<std::string> files_below(const std::string& dir, std::initializer_list<std::string_view> endings) {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& e : fs::recursive_directory_iterator(dir, error)) {
    std::string ending = e.path().extension().string();
    if (std::find(endings.begin(), endings.end(), ending) != endings.end()) out.push_back(e.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string_view text_of(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e != nullptr && e->value.is(Kind::kString) ? e->value.text() : std::string_view{};
}

bool holds_reference(const Value& v) {
  if (v.is(Kind::kList)) return std::any_of(v.items().begin(), v.items().end(), holds_reference);
  if (v.is(Kind::kMap))
    return std::any_of(v.entries().begin(), v.entries().end(), [](const Entry& e) { return holds_reference(e.value); });
  return v.is(Kind::kResource);
}

// References as a catalog's JSON has them: as text. One side may be read from such a file, the other be compiled.
Value with_text_references(const TreeBuilder& b, const Value& v) {
  if (!holds_reference(v)) return v;
  if (v.is(Kind::kResource)) return b.string(fmt::format("{}[{}]", v.tag().text(), v.text()), v.origin());
  if (v.is(Kind::kList)) {
    std::vector<Value> items;
    for (const Value& i : v.items()) items.push_back(with_text_references(b, i));
    return b.list(items, v.origin());
  }
  std::vector<Entry> entries(v.entries().begin(), v.entries().end());
  for (Entry& e : entries) e.value = with_text_references(b, e.value);
  return b.map(entries, v.origin());
}

// One resource without where it was written, its tags as a set.
Value plain_resource(const TreeBuilder& b, const Value& r) {
  std::vector<Entry> kept;
  for (Entry e : r.entries()) {
    std::string_view key = e.key.text();
    if (key == "file" || key == "line") continue;
    if (key == "tags" && e.value.is(Kind::kList)) {
      std::vector<Value> tags(e.value.items().begin(), e.value.items().end());
      std::sort(tags.begin(), tags.end(), [](const Value& x, const Value& y) { return compare(x, y) < 0; });
      e.value = b.list(tags);
    }
    if (key == "parameters") e.value = with_text_references(b, e.value);
    kept.push_back(e);
  }
  return b.map(kept, r.origin());
}

// A catalog with its resources by reference and its edges as a set: their order, the lines they were written on, the
// environment's name and what counts up from run to run say nothing about a node.
Value plain_catalog(const TreeBuilder& b, const Value& catalog) {
  if (!resource::is_catalog(catalog)) return catalog;
  std::vector<Entry> kept;
  for (Entry e : catalog.entries()) {
    std::string_view key = e.key.text();
    if (key == "version" || key == "catalog_uuid" || key == "code_id" || key == "catalog_format" || key == "tags" ||
        key == "environment")
      continue;
    MapDraft draft;
    if (key == "resources" && e.value.is(Kind::kList)) {
      for (const Value& r : e.value.items())
        draft.set(Symbol(fmt::format("{}[{}]", text_of(r, "type"), text_of(r, "title"))), plain_resource(b, r));
      e.value = draft.build(b);
    } else if (key == "resources" && e.value.is(Kind::kMap)) {
      for (const Entry& r : e.value.entries()) draft.set(r.key, plain_resource(b, r.value));
      e.value = draft.build(b);
    } else if (key == "edges" && e.value.is(Kind::kList)) {
      for (const Value& edge : e.value.items())
        draft.set(Symbol(fmt::format("{} -> {}", text_of(edge, "source"), text_of(edge, "target"))),
                  Value::boolean(true));
      e.value = draft.build(b);
    }
    kept.push_back(e);
  }
  return b.map(kept, catalog.origin());
}

std::string key_of(const Difference& d) {
  StringSink sink;
  sink.put(static_cast<char>('0' + static_cast<int>(d.change)));
  sink.put(d.path.text());
  for (const Value* v : {d.before, d.after}) {
    sink.put('\0');
    if (v != nullptr) write_json(*v, {.indent = 0}, sink);
  }
  return sink.take();
}

}  // namespace

std::vector<std::string> with_folders(Call& call, std::span<const std::string> files, Options& options) {
  std::vector<std::string> out;
  bool puppet_files = call.manner.lang.empty() || call.manner.lang == "puppet";
  for (const std::string& f : files) {
    if (!puppet_files || !is_directory(f)) {
      out.push_back(f);
      continue;
    }
    bool environment = puppet::is_environment(f);
    std::vector<std::string> found =
        environment ? puppet::environment_manifests(call.session, f) : puppet::manifests_below(f);
    if (environment && !options.has("environment")) options.add("environment", f);
    if (found.empty()) out.push_back(f);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

std::optional<Value> evaluate_side(Call& call, const std::string& argument) {
  if (!is_directory(argument) || languages().for_folder(argument) != nullptr)
    return evaluate_files(call, std::span(&argument, 1), false).value;
  bool environment = puppet::is_environment(argument);
  if (environment || !puppet::manifests_below(argument).empty()) {
    Options options = call.options;
    if (environment) options.add("environment", argument);
    std::vector<Part> parts = call.parts(with_folders(call, std::span(&argument, 1), options));
    return evaluate(call.session, parts, options, false);
  }
  auto failed = std::make_shared<puppet::FailedNodes>();
  std::vector<Entry> nodes;
  for (const std::string& file : files_below(argument, {".json", ".yaml", ".yml"})) {
    std::optional<Value> tree = evaluate_files(call, std::span(&file, 1), false).value;
    if (!tree) {
      failed->names.push_back(fs::path(file).stem().string());
      continue;
    }
    Entry e;
    e.key = Symbol(fs::path(file).stem().string());
    e.value = *tree;
    nodes.push_back(e);
  }
  if (nodes.empty() && !failed->names.empty()) return std::nullopt;
  if (nodes.empty()) {
    call.session.diagnostics
        .error("DIFF-EMPTY", {}, fmt::format("{}: no file of a node (NAME.json, NAME.yaml) in this folder", argument))
        .suggest(
            "write them with `tutti export --out catalog`, or name an environment, which has a folder `manifests`");
    return std::nullopt;
  }
  Value all = call.session.builder().map(nodes).with_tag(catalogs_tag());
  call.session.attach(all, failed);
  return all;
}

std::optional<Fleet> fleet_of(Session& session, const Value& tree) {
  TreeBuilder b = session.builder();
  Fleet fleet;
  if (tree.is(Kind::kMap) && tree.tag() == catalogs_tag()) {
    for (const Entry& e : tree.entries()) fleet.trees.emplace(e.key.text(), plain_catalog(b, e.value));
    if (const auto* failed = session.attached<puppet::FailedNodes>(tree)) fleet.failed = failed->names;
    return fleet;
  }
  if (tree.tag() != documents_tag()) return std::nullopt;
  for (const Value& document : documents(tree)) {
    if (!resource::is_catalog(document)) return std::nullopt;
    fleet.trees.insert_or_assign(std::string(text_of(document, "name")), plain_catalog(b, document));
  }
  return fleet;
}

Value comparable(Session& session, const Value& tree) { return plain_catalog(session.builder(), tree); }

std::string without_name(std::string_view text, std::string_view node) {
  std::string out;
  auto in_word = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  std::string_view host = node.substr(0, node.find('.'));
  for (std::size_t at = 0; at < text.size();) {
    bool begins = (at == 0 || !in_word(at - 1)) && text.substr(at).starts_with(host) && !host.empty();
    bool whole = begins && text.substr(at).starts_with(node) && !in_word(at + node.size());
    if (begins && !whole && in_word(at + host.size())) begins = false;
    if (!begins) {
      out += text[at++];
      continue;
    }
    out += whole ? "<node>" : "<host>";
    at += whole ? node.size() : host.size();
  }
  return out;
}

FleetDiff diff_fleets(const Fleet& before, const Fleet& after, bool ordered) {
  FleetDiff out;
  struct Found {
    Difference difference;
    u32 node;
    std::string key;
  };
  std::vector<Found> all;
  std::unordered_map<std::string, std::size_t> times;
  auto fails = [](const Fleet& fleet, const std::string& name) {
    return std::find(fleet.failed.begin(), fleet.failed.end(), name) != fleet.failed.end();
  };
  out.failed_before = before.failed;
  out.failed_after = after.failed;
  for (const auto& [name, tree] : before.trees) {
    auto other = after.trees.find(name);
    if (other == after.trees.end()) {
      if (!fails(after, name)) out.only_before.push_back(name);
      continue;
    }
    u32 node = static_cast<u32>(out.names.size());
    out.names.push_back(name);
    std::vector<Difference> found = diff(tree, other->second, ordered);
    if (found.empty()) ++out.same;
    for (Difference& d : found) {
      std::string key = key_of(d);
      ++times[key];
      all.push_back({std::move(d), node, std::move(key)});
    }
  }
  // What only one node has may be what others have with their names in it.
  std::unordered_map<std::string, std::size_t> known;
  for (Found& f : all) {
    bool alone = times[f.key] == 1;
    std::string key = alone ? "\1" + without_name(f.key, out.names[f.node]) : f.key;
    auto [at, fresh] = known.try_emplace(std::move(key), out.changes.size());
    if (fresh) out.changes.push_back({std::move(f.difference), {}, false});
    FleetChange& change = out.changes[at->second];
    change.nodes.push_back(f.node);
    change.named = alone && change.nodes.size() > 1;
  }
  for (const auto& [name, tree] : after.trees) {
    if (!before.trees.contains(name) && !fails(before, name)) out.only_after.push_back(name);
  }
  // What concerns most nodes first; changes on the same nodes together.
  std::stable_sort(out.changes.begin(), out.changes.end(), [](const FleetChange& a, const FleetChange& b) {
    if (a.nodes.size() != b.nodes.size()) return a.nodes.size() > b.nodes.size();
    return a.nodes < b.nodes;
  });
  return out;
}

}  // namespace tutti
