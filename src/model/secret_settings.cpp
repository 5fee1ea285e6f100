#include "model/secret_settings.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tree/secret_mark.h"

namespace tutti::model {

Value setting_hidden(const Value& map, std::string_view path, const TreeBuilder& builder, bool& found) {
  std::size_t dot = path.find('.');
  MapDraft m;
  for (const Entry& e : map.entries()) {
    Value v = e.value;
    if (e.key.text() == path) {
      v = secret_throughout(v, builder);
      found = true;
    } else if (dot != std::string_view::npos && e.key.text() == path.substr(0, dot) && v.is(Kind::kMap)) {
      v = setting_hidden(v, path.substr(dot + 1), builder, found);
    }
    m.set(e.key, v, e.field);
  }
  return m.build(builder, map.origin());
}

namespace {

using Paths = std::vector<std::string_view>;

const Value* entry(const Value& map, std::string_view key) {
  const Entry* e = map.is(Kind::kMap) ? map.find(key) : nullptr;
  return e ? &e->value : nullptr;
}

void add_names(const Value* names, Paths& to) {
  if (names == nullptr) return;
  if (names->is(Kind::kString)) to.push_back(names->text());
  for (const Value& name : names->items())
    if (name.is(Kind::kString)) to.push_back(name.text());
}

// Which settings a type declares secret, its own and those of the types that it extends.
class DeclaredSecrets {
 public:
  explicit DeclaredSecrets(const Value* types) : types_(types) {}

  const Paths& of(std::string_view type) {
    auto [known, fresh] = known_.try_emplace(type);
    if (!fresh) return known->second;  // also where types extend each other in a circle, which is told elsewhere
    Paths paths{"secrets"};
    if (const Value* t = types_ ? entry(*types_, type) : nullptr) {
      if (const Value* settings = entry(*t, "config"))
        for (const Entry& e : settings->entries())
          if (const Value* secret = entry(e.value, "secret"); secret && secret->is(Kind::kBool) && secret->as_bool())
            paths.push_back(e.key.text());
      if (const Value* base = entry(*t, "extends"); base && base->is(Kind::kString)) {
        const Paths& more = of(base->text());
        paths.insert(paths.end(), more.begin(), more.end());
      }
    }
    return known_[type] = std::move(paths);
  }

 private:
  const Value* types_;
  std::unordered_map<std::string_view, Paths> known_;
};

Value component(const Value& c, DeclaredSecrets& declared, const TreeBuilder& builder) {
  const Value* config = entry(c, "config");
  if (config == nullptr || !config->is(Kind::kMap)) return c;
  const Value* type = entry(c, "type");
  Paths paths = declared.of(type && type->is(Kind::kString) ? type->text() : "");
  add_names(entry(c, "secret"), paths);
  Value marked = *config;
  bool any = false;
  for (std::string_view path : paths) {
    bool found = false;
    if (entry(marked, path.substr(0, path.find('.'))) == nullptr) continue;
    Value with = setting_hidden(marked, path, builder, found);
    if (found) marked = with, any = true;
  }
  if (!any) return c;
  MapDraft m;
  for (const Entry& e : c.entries()) m.set(e.key, &e.value == config ? marked : e.value, e.field);
  return m.build(builder, c.origin());
}

}  // namespace

Value with_secret_settings(const Value& root, const TreeBuilder& builder) {
  const Value* components = entry(root, "components");
  if (components == nullptr || !components->is(Kind::kMap)) return root;
  DeclaredSecrets declared(entry(root, "types"));
  std::vector<Entry> all(components->entries().begin(), components->entries().end());
  bool any = false;
  for (Entry& e : all) {
    Value marked = component(e.value, declared, builder);
    any |= !marked.same_body(e.value);
    e.value = marked;
  }
  if (!any) return root;
  Value made = builder.map(all, components->origin());
  MapDraft m;
  for (const Entry& e : root.entries()) m.set(e.key, &e.value == components ? made : e.value, e.field);
  return m.build(builder, root.origin()).with_tag(root.tag());
}

}  // namespace tutti::model
