#include "cli/system/catalog_system.h"

#include <fmt/format.h>

#include <set>

#include "resource/catalog.h"

namespace tutti {
namespace {

std::vector<Value> values_of(const Value& catalog, std::string_view key) {
  std::vector<Value> out;
  const Entry* all = catalog.find(key);
  if (all && all->value.is(Kind::kMap))
    for (const Entry& e : all->value.entries()) out.push_back(e.value);
  if (all && all->value.is(Kind::kList)) out.assign(all->value.items().begin(), all->value.items().end());
  return out;
}

// A catalog is applied as one, or describes components: resources beside them would be left out without a word.
void refuse_resources(Call& call, const Value& catalog) {
  std::set<std::string> containers;  // classes, and defines in which components are declared
  for (const Value& edge : values_of(catalog, "edges"))
    if (const Entry* e = edge.find("source"); e && e->value.is(Kind::kString)) containers.emplace(e->value.text());
  std::vector<std::string> left;
  Value first;
  for (const Value& r : values_of(catalog, "resources")) {
    const Entry *type = r.find("type"), *title = r.find("title");
    if (!type || !title) continue;
    std::string name = fmt::format("{}[{}]", type->value.text(), title->value.text());
    std::string_view kind = type->value.text();
    bool define = kind.find("::") != std::string_view::npos || containers.count(name) != 0;
    if (define || kind == "Class" || kind == "Stage" || kind == "Node") continue;
    if (left.empty()) first = r;
    left.push_back(std::move(name));
  }
  if (left.empty()) return;
  constexpr std::size_t kMost = 8;
  std::size_t more = left.size() > kMost ? left.size() - kMost : 0;
  left.resize(left.size() - more);
  call.session.diagnostics
      .error("CATALOG-BESIDE", call.session.origins.nearest(first.origin()),
             fmt::format("{}{} would not be applied: the manifest declares components too", fmt::join(left, ", "),
                         more ? fmt::format(" and {} more", more) : ""))
      .note("a system is made of components, or of the resources of a catalog")
      .suggest(
          "write them as components (`tutti::component { NAME: type => 'file', ... }`), or in a manifest of their own");
}

}  // namespace

std::optional<Value> system_of_catalog(Call& call, const Value& catalog) {
  TreeBuilder b(call.session.arena);
  std::vector<Entry> components;
  MapDraft root;
  root.set(Symbol("system"), b.string("system"));
  auto take = [&](MapDraft& m, const Value& r) {
    const Entry* parameters = r.find("parameters");
    if (!parameters) return;
    for (const Entry& e : parameters->value.entries())
      if (e.key.text() != "name" && e.value.size() + !(e.value.is(Kind::kMap) || e.value.is(Kind::kList)) > 0)
        m.set(e.key, resource::plain_data(e.value, b));
  };
  auto look = [&](const Value& r) {
    const Entry* type = r.find("type");
    const Entry* title = r.find("title");
    if (!type || !title) return;
    if (type->value.text() == "Tutti::System") {
      root.set(Symbol("system"), title->value);
      take(root, r);  // types, hosts, invariants, ...
    }
    if (type->value.text() != "Tutti::Component") return;
    MapDraft m;
    take(m, r);
    components.push_back({Symbol(title->value.text()), Field::kPlain, m.build(b, r.origin())});
  };
  for (const Value& r : values_of(catalog, "resources")) look(r);
  if (components.empty()) return std::nullopt;
  refuse_resources(call, catalog);
  root.set(Symbol("components"), b.map(components));
  return root.build(b, catalog.origin());
}

}  // namespace tutti
