#include "model/deployment_types.h"

#include <algorithm>
#include <array>

#include "model/component_model.h"
#include "model/deployment_check.h"
#include "model/read.h"
#include "tree/layer.h"

namespace tutti::model {
namespace {

// Of a type: its life cycle, and what is needed to change a running one.
constexpr std::array<std::string_view, 24> kTypeKeys{
    "places", "initial", "initial_place", "stations",   "transitions", "behaviors", "behaviours",   "groups",
    "use",    "uses",    "provide",       "provides",   "config",      "goal",      "removed",      "hold",
    "rest",   "gate",    "change",        "operations", "outputs",     "extends",   "component_of", "doc"};
}  // namespace

void DeploymentTypes::check() {
  if (!types_.is(Kind::kMap)) return;
  for (const Entry& e : types_.entries()) {
    if (e.field == Field::kHidden || e.field == Field::kOptional ||
        (e.value.is(Kind::kMap) && e.value.find("component_of")))
      continue;
    std::string_view name = e.key.text();
    if (name.starts_with('#')) name.remove_prefix(1);  // a definition of CUE
    std::size_t before = session_.diagnostics.errors();
    auto whole = whole_type({Symbol(name), at(e.value)});
    if (whole && session_.diagnostics.errors() == before) check_settings(*this, name, e.value, *whole);
    if (whole && session_.diagnostics.errors() == before && whole->find("places")) {
      std::vector<Entry> one{
          {e.key, Field::kPlain, engine_type(describe_kind(Symbol(name), *whole, {}), {}, {}, builder_)}};
      read_types(session_, builder_.map(one));
    }
  }
}

std::optional<Value> DeploymentTypes::whole_type(const Named& n) {
  if (auto it = types_read_.find(n.name); it != types_read_.end()) return it->second;
  std::vector<Symbol> chain;
  auto tree = type_tree(n.name, n.at, chain);
  if (types_.is(Kind::kMap) && types_.find(n.name)) types_read_[n.name] = tree;
  return tree;
}

const ComponentKind* DeploymentTypes::kind_named(const Named& n) {
  std::string key(n.name.text());
  if (auto it = out_.kinds.find(key); it != out_.kinds.end()) return &it->second;
  auto tree = whole_type(n);
  if (!tree) return nullptr;
  const Value* places = find(*tree, {"places"});
  if (!places) {
    error("DEPLOY-TYPE", *tree, fmt::format("type `{}` has no `places`", key))
        .suggest("extend a skeleton: `extends: service`");
    return nullptr;
  }
  ComponentKind k = describe_kind(n.name, *tree, at(*tree));
  return &out_.kinds.emplace(key, std::move(k)).first->second;
}

std::optional<Value> DeploymentTypes::type_tree(Symbol n, Pos wanted_at, std::vector<Symbol>& chain) {
  const Entry* own = types_.is(Kind::kMap) ? types_.find(n) : nullptr;
  if (!own && types_.is(Kind::kMap)) own = types_.find("#" + std::string(n.text()));
  const Entry* shipped = library_.find(n);
  const Entry* e = own ? own : shipped;
  // A user's type may extend the library's of the same name.
  if (std::count(chain.begin(), chain.end(), n) == 1 && shipped) e = shipped;
  if (!e) {
    std::vector<std::string_view> known;
    for (Value* m : {&types_, &library_})
      if (m->is(Kind::kMap))
        for (const Entry& x : m->entries()) known.push_back(x.key.text());
    session_.diagnostics
        .error("DEPLOY-UNKNOWN-TYPE", wanted_at, fmt::format("there is no component type `{}`", n.text()))
        .did_you_mean(nearest(n.text(), known));
    return std::nullopt;
  }
  if (!wants(e->value, Kind::kMap, fmt::format("type `{}`", n.text()))) return std::nullopt;
  if (std::count(chain.begin(), chain.end(), n) > 1 || chain.size() > 50) {
    error("DEPLOY-TYPE-CYCLE", e->value, fmt::format("type `{}` extends itself", n.text()));
    return std::nullopt;
  }
  chain.push_back(n);
  if (own && e == own && !e->value.find("component_of") && keys_checked_.insert(n).second)
    check_keys(e->value, kTypeKeys, fmt::format("type `{}`", n.text()));
  if (const Entry* of = e->value.find("component_of")) return component_tree(e->value, of->value, chain);
  const Entry* base = e->value.find("extends");
  if (!base) return e->value;
  auto b = name(base->value, "`extends`");
  if (!b) return std::nullopt;
  auto tree = type_tree(b->name, b->at, chain);
  if (!tree) return std::nullopt;
  return layered(*tree, e->value, builder_, session_.budget);
}

std::optional<Value> DeploymentTypes::component_tree(const Value& type, const Value& of, std::vector<Symbol>& chain) {
  auto base = name(of, "`component_of`");
  auto tree = base ? type_tree(base->name, base->at, chain) : std::nullopt;
  if (!tree) return std::nullopt;
  const Entry* children = type.find("children");
  std::string why;
  auto life =
      component_life(*tree, children && children->value.is(Kind::kBool) && children->value.as_bool(), builder_, why);
  if (!life)
    error("DEPLOY-COMPONENT-TYPE", of,
          fmt::format("type `{}` cannot be a component's class: {}", base->name.text(), why))
        .note("its `operations` say which of its transitions are deploy, start, stop and undeploy");
  return life;
}

}  // namespace tutti::model
