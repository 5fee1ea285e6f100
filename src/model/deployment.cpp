#include "model/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "model/deployment_check.h"
#include "model/deployment_references.h"
#include "model/deployment_settings.h"
#include "model/deployment_types.h"
#include "model/read.h"
#include "model/reader.h"
#include "model/template.h"
#include "tree/secret.h"

namespace tutti::model {
namespace {

constexpr std::array<std::string_view, 9> kSystemKeys{"system", "types", "components", "hosts",   "invariants",
                                                      "host",   "doc",   "name",       "defaults"};
constexpr std::array<std::string_view, 12> kComponentKeys{"type",  "host",    "config", "state", "uses", "after",
                                                          "order", "protect", "secret", "doc",   "name", "was"};

// A map with the setting at a dotted path marked as secret.
Value with_secret(const Value& map, std::string_view path, const TreeBuilder& builder, bool& found) {
  std::size_t dot = path.find('.');
  MapDraft m;
  for (const Entry& e : map.entries()) {
    Value v = e.value;
    if (e.key.text() == path) {
      v = v.as_secret();
      found = true;
    } else if (dot != std::string_view::npos && e.key.text() == path.substr(0, dot) && v.is(Kind::kMap)) {
      v = with_secret(v, path.substr(dot + 1), builder, found);
    }
    m.set(e.key, v, e.field);
  }
  return m.build(builder, map.origin());
}

class DeploymentReader : public Reader {
 public:
  DeploymentReader(Session& session, const Value& library, const Completion& complete)
      : Reader(session), library_(library), complete_(complete), builder_(session.arena) {}

  // Without what is there for others to refer to, as in files of compose: anchors of YAML, for instance.
  Value own_keys(const Value& root) const {
    MapDraft own;
    for (const Entry& e : root.entries())
      if (!e.key.text().starts_with("x-")) own.set(e.key, e.value, e.field);
    return own.build(builder_, root.origin());
  }

  std::optional<Deployment> read(const Value& root) {
    std::size_t before = session_.diagnostics.errors();
    if (!wants(root, Kind::kMap, "a system")) return std::nullopt;
    check_keys(own_keys(root), kSystemKeys, "a system");
    if (const Value* n = find(root, {"system", "name"}))
      if (auto named = name(*n, "the system's name")) out_.name = named->name.text();
    Value own;
    if (const Value* t = find(root, {"types"}); t && wants(*t, Kind::kMap, "`types`")) own = *t;
    types_.emplace(session_, own, library_, out_);
    types_->check();
    if (const Value* h = find(root, {"hosts"}); h && wants(*h, Kind::kMap, "`hosts`"))
      for (const Entry& e : h->entries()) {
        check_host(*this, e);
        out_.hosts[std::string(e.key.text())] = e.value;
      }
    if (const Value* h = find(root, {"host"}))
      if (auto named = name(*h, "`host`")) host_ = named->name;
    const Value* components = find(root, {"components"});
    if (!components) {
      error("DEPLOY-MISSING", root, "there are no `components`")
          .note(find(root, {"assembly"}) ? "with `assembly` it is a system for a program: `tutti verify`, `tutti run`"
                                         : "a system is {system, components, types, hosts, invariants}");
      return std::nullopt;
    }
    if (wants(*components, Kind::kMap, "`components`")) read_components(*components, "");
    resolve_needs();
    if (complete_) complete_(out_);
    bool resolved = session_.diagnostics.errors() == before;
    if (resolved) check_action_references(session_, out_, broken_);
    if (check_references(session_, out_, broken_)) {
      settle_configs(session_, out_);
      imply_needs(session_, out_);
    }
    if (resolved) {
      check_former_names(session_, out_);
      check_circles(session_, out_);
      check_absent(session_, out_);
    }
    // One alone need not be in a list: XML-CDL has none of one element.
    if (const Value* i = find(root, {"invariants"}); i && i->is(Kind::kMap))
      read_invariant(*i);
    else if (i && wants(*i, Kind::kList, "`invariants`"))
      for (const Value& v : i->items()) read_invariant(v);
    if (session_.diagnostics.errors() != before) return std::nullopt;
    return std::move(out_);
  }

 private:
  static bool is_component(const Value& v) {
    const Entry* t = v.find("type");
    return t && t->value.is(Kind::kString);
  }

  // A map without a `type` is a group: its components have its name in front of theirs.
  void read_components(const Value& map, const std::string& prefix) {
    Budget::Level level(session_.budget);
    for (const Entry& e : map.entries()) {
      if (e.field == Field::kHidden || e.field == Field::kOptional || e.field == Field::kDefinition) continue;
      std::string full = prefix.empty() ? std::string(e.key.text()) : prefix + "." + std::string(e.key.text());
      // Names are printed, and are parts of names of files.
      if (std::any_of(full.begin(), full.end(), [](char c) { return static_cast<u8>(c) < 0x20 || c == 0x7f; })) {
        error("DEPLOY-NAME", e.value, "a component's name cannot have a line break or another control character in it");
        continue;
      }
      if (!e.value.is(Kind::kMap)) {
        error("DEPLOY-COMPONENT", e.value,
              fmt::format("component `{}` must be a map with a `type`, not {}", full, kind_word(e.value.kind())));
        continue;
      }
      if (is_component(e.value))
        read_component(Symbol(full), e.value);
      else if (e.value.size() == 0 || !std::any_of(e.value.entries().begin(), e.value.entries().end(),
                                                   [](const Entry& x) { return x.value.is(Kind::kMap); }))
        missing_type(e, full, prefix);
      else
        read_components(e.value, full);
    }
  }

  void missing_type(const Entry& e, const std::string& full, const std::string& group) {
    bool key = std::find(kComponentKeys.begin(), kComponentKeys.end(), e.key.text()) != kComponentKeys.end();
    if (group.empty() || !key) {
      error("DEPLOY-MISSING", e.value, fmt::format("component `{}` has no `type`", full));
      return;
    }
    error("DEPLOY-MISSING", e.value,
          fmt::format("`{}` has no `type`: it is a group, which has no `{}`", group, e.key.text()))
        .suggest(fmt::format("give `{}` to each component of it that needs it, or `{}` a `type`", e.key.text(), group));
  }

  void read_component(Symbol full, const Value& v) {
    Component c;
    c.name = full;
    c.at = at(v);
    std::string what = fmt::format("component `{}`", full.text());
    check_keys(v, kComponentKeys, what);
    auto type = name(*find(v, {"type"}), "a type");
    const ComponentKind* kind = types_->kind_named(*type);
    if (!kind) {
      broken_.push_back(full.text());
      return;
    }
    c.type = kind->name;
    c.state = kind->goal;
    c.host = host_;
    if (const Value* h = find(v, {"host"}))
      if (auto n = name(*h, "`host`"))
        c.host = n->name.text() == "here" || n->name.text() == "localhost" ? Symbol() : n->name;
    if (!c.host.empty() && !out_.hosts.empty() && !out_.hosts.count(std::string(c.host.text()))) {
      std::vector<std::string_view> known;
      for (auto& [n, unused] : out_.hosts) known.push_back(n);
      const Value* h = find(v, {"host"});
      error("DEPLOY-UNKNOWN-HOST", h ? *h : v, fmt::format("there is no host `{}`", c.host.text()))
          .did_you_mean(nearest(c.host.text(), known));
    }
    if (const Value* s = find(v, {"state"}))
      if (auto n = name(*s, "`state`")) {
        auto places = names(kind->tree.find("places")->value, "a place");
        if (std::none_of(places.begin(), places.end(), [&](auto& p) { return p.name == n->name; })) {
          std::vector<std::string_view> known;
          for (auto& p : places) known.push_back(p.name.text());
          error("DEPLOY-UNKNOWN-STATE", *s, fmt::format("a {} has no state `{}`", kind->name.text(), n->name.text()))
              .note(fmt::format("its states are {}", fmt::join(known, ", ")))
              .did_you_mean(nearest(n->name.text(), known));
        }
        c.state = n->name;
      }
    if (const Value* p = find(v, {"protect"}); p && wants(*p, Kind::kBool, "`protect`")) c.protect = p->as_bool();
    if (const Value* w = find(v, {"was"}))
      if (auto n = name(*w, "`was`")) c.was = n->name.text(), c.was_at = n->at;
    const Value* config = find(v, {"config"});
    if (config && !wants(*config, Kind::kMap, "`config`")) config = nullptr;
    c.config = SettingsReader(session_).read(*kind, config ? *config : builder_.map({}, v.origin()), what, v);
    if (const Value* s = find(v, {"secret"}))
      for (auto& n : names(*s, "a secret setting")) {
        bool found = false;
        c.config = with_secret(c.config, n.name.text(), builder_, found);
        if (!found)
          session_.diagnostics.error("DEPLOY-SECRET", n.at,
                                     fmt::format("{} has no setting `{}` to keep secret", what, n.name.text()));
      }
    if (find(v, {"secret"})) keep_secrets(c.config, *session_.sources);
    if (const Value* u = find(v, {"uses"})) read_uses(*u, c);
    if (const Value* a = find(v, {"after"})) {
      u32 i = 0;
      if (a->is(Kind::kList)) {
        for (const Value& item : a->items()) read_need(Symbol(fmt::format("after{}", ++i)), item, false, c);
      } else {
        read_need(Symbol("after1"), *a, false, c);
      }
    }
    if (const Value* o = find(v, {"order"}))
      for (const Value& item : o->is(Kind::kList) ? o->items() : std::span<const Value>(o, 1))
        read_order(item, *kind, c);
    if (seen_.insert(full).second)
      out_.components.push_back(std::move(c));
    else
      error("DEPLOY-TWICE", v, fmt::format("component `{}` is there twice", full.text()));
  }

  void read_uses(const Value& u, Component& c) {
    if (!wants(u, Kind::kMap, "`uses`")) return;
    for (const Entry& e : u.entries()) {
      if (e.value.is(Kind::kList)) {
        u32 i = 0;
        for (const Value& item : e.value.items())
          read_need(Symbol(fmt::format("{}{}", e.key.text(), ++i)), item, true, c);
      } else {
        read_need(e.key, e.value, true, c);
      }
    }
  }

  // "db", "db.service", or a reference of the language that names the same.
  void read_need(Symbol port, const Value& v, bool hold, Component& c) {
    auto n = name(v, "what is used");
    if (!n) return;
    c.needs.push_back({port, n->name, Symbol(), hold, n->at});
  }

  void read_order(const Value& v, const ComponentKind& kind, Component& c) {
    if (!wants(v, Kind::kMap, "an order")) return;
    const Value *place = find(v, {"at"}), *after = find(v, {"after"});
    auto where = place ? name(*place, "`at`") : std::nullopt;
    auto whom = after ? name(*after, "`after`") : std::nullopt;
    if (!where || !whom) {
      error("DEPLOY-ORDER", v, "an order is {at: PLACE, after: COMPONENT.PORT}");
      return;
    }
    auto places = names(kind.tree.find("places")->value, "a place");
    if (std::none_of(places.begin(), places.end(), [&](auto& p) { return p.name == where->name; })) {
      error("DEPLOY-ORDER", *place,
            fmt::format("a {} has no place `{}` to wait in", kind.name.text(), where->name.text()));
      return;
    }
    // What it waits for it would hold for ever in the place where it stays.
    if (where->name == c.state || where->name == kind.removed) {
      std::vector<std::string_view> passed;
      for (auto& p : places)
        if (p.name != c.state && p.name != kind.removed) passed.push_back(p.name.text());
      error("DEPLOY-ORDER", *place,
            fmt::format("`{}` does not pass through `{}`, it {} there", c.name.text(), where->name.text(),
                        where->name == c.state ? "stays" : "begins and ends"))
          .note(fmt::format("it can wait before it enters {}", fmt::join(passed, ", ")));
      return;
    }
    c.orders.push_back({where->name, whom->name, Symbol(), whom->at});
  }

  void resolve_needs() {
    std::vector<std::string_view> known;
    for (auto& c : out_.components) known.push_back(c.name.text());
    for (auto& c : out_.components) {
      for (auto& n : c.needs) resolve(c, n, known);
      for (auto& o : c.orders) resolve(c, o, known);
    }
  }

  // What may be meant by a name that nobody has: one in the same group or one around that, else one like it.
  std::string_view beside(const Component& c, std::string_view wanted, const std::vector<std::string_view>& known) {
    std::string_view group = c.name.text();
    for (std::size_t dot; (dot = group.rfind('.')) != std::string_view::npos;) {
      group = group.substr(0, dot);
      for (std::string_view whom : {wanted, wanted.substr(0, wanted.rfind('.'))})
        if (const Component* o = out_.find(Symbol(fmt::format("{}.{}", group, whom)))) return o->name.text();
    }
    return nearest(wanted, known);
  }

  // The component and the port that a need or an order names.
  template <class T>
  void resolve(const Component& c, T& n, const std::vector<std::string_view>& known) {
    const Component* provider = out_.find(n.provider);
    if (!provider) {
      std::string_view text = n.provider.text();
      std::size_t dot = text.rfind('.');
      if (dot != std::string_view::npos && (provider = out_.find(Symbol(text.substr(0, dot))))) {
        n.provider = provider->name;
        n.provide = Symbol(text.substr(dot + 1));
      }
    }
    if (!provider) {
      for (auto name : broken_)  // its own trouble was reported
        if (n.provider.text() == name || n.provider.text().starts_with(std::string(name) + ".")) return;
      session_.diagnostics
          .error("DEPLOY-UNKNOWN-COMPONENT", n.at, fmt::format("there is no component `{}`", n.provider.text()))
          .did_you_mean(beside(c, n.provider.text(), known));
      return;
    }
    if (provider == &c) {
      session_.diagnostics.error("DEPLOY-USES-ITSELF", n.at, fmt::format("`{}` cannot use itself", c.name.text()));
      return;
    }
    const ComponentKind& kind = out_.kinds.at(std::string(provider->type.text()));
    if (n.provide.empty()) n.provide = kind.service;
    const Value* provides = find(kind.tree, {"provide", "provides"});
    if (!provides || !provides->find(n.provide)) {
      std::vector<std::string_view> ports;
      if (provides)
        for (const Entry& e : provides->entries()) ports.push_back(e.key.text());
      session_.diagnostics
          .error(
              "DEPLOY-UNKNOWN-PORT", n.at,
              fmt::format("`{}` ({}) provides no `{}`", provider->name.text(), provider->type.text(), n.provide.text()))
          .note(ports.empty() ? "it provides nothing" : fmt::format("it provides {}", fmt::join(ports, ", ")))
          .did_you_mean(nearest(n.provide.text(), ports));
    }
  }

  void read_invariant(const Value& v) {
    if (!wants(v, Kind::kMap, "an invariant")) return;
    constexpr std::array<std::string_view, 6> kKeys{"at_least", "at_most", "of", "port", "doc", "state"};
    check_keys(v, kKeys, "an invariant");
    Invariant i;
    i.at = at(v);
    const Value* count = find(v, {"at_least"});
    if (!count && (count = find(v, {"at_most"}))) i.kind = Invariant::Kind::kAtMost;
    const Value* of = find(v, {"of"});
    Value number = !count ? Value::null() : count->is(Kind::kString) ? from_text(*count) : *count;
    if (!of || !number.fits_i64() || number.as_i64() < 0) {
      error("DEPLOY-INVARIANT", v, "an invariant is {at_least: N, of: [components]} or {at_most: N, of: [components]}");
      return;
    }
    i.count = static_cast<u32>(number.as_i64());
    if (const Value* p = find(v, {"port"}))
      if (auto n = name(*p, "`port`")) i.port = n->name;
    for (auto& n : names(*of, "a component")) {
      std::string_view text = n.name.text();
      bool group = !text.empty() && text.back() == '*';
      std::size_t found = 0;
      for (auto& c : out_.components)
        if (group ? c.name.text().substr(0, text.size() - 1) == text.substr(0, text.size() - 1) : c.name == n.name) {
          i.of.push_back(c.name);
          ++found;
        }
      if (found == 0)
        session_.diagnostics.error("DEPLOY-UNKNOWN-COMPONENT", n.at, fmt::format("there is no component `{}`", text));
      if (group) i.groups.push_back(Symbol(text.substr(0, text.size() - 1)));
    }
    out_.invariants.push_back(std::move(i));
  }

  const Value& library_;
  const Completion& complete_;
  TreeBuilder builder_;
  std::optional<DeploymentTypes> types_;
  Symbol host_;
  Deployment out_;
  std::set<Symbol> seen_;
  BrokenNames broken_;  // components of unknown types
};

}  // namespace

const Component* Deployment::find(Symbol component) const {
  if (numbered_ > components.size()) number_.clear(), numbered_ = 0;
  for (; numbered_ < components.size(); ++numbered_)
    number_.emplace(components[numbered_].name, static_cast<u32>(numbered_));
  auto it = number_.find(component);
  return it == number_.end() ? nullptr : &components[it->second];
}

ComponentKind describe_kind(Symbol name, const Value& tree, Pos at) {
  ComponentKind k;
  k.name = name;
  k.at = at;
  k.tree = tree;
  auto list = [&](std::string_view field) {
    std::vector<Symbol> out;
    const Entry* e = tree.find(field);
    if (!e) return out;
    if (e->value.is(Kind::kString)) out.push_back(Symbol(e->value.text()));
    if (e->value.is(Kind::kList))
      for (const Value& v : e->value.items())
        if (v.is(Kind::kString)) out.push_back(Symbol(v.text()));
    return out;
  };
  auto places = list("places"), goal = list("goal"), removed = list("removed"), initial = list("initial");
  k.hold = list("hold");
  k.rest = list("rest");
  k.gate = list("gate");
  k.removed = !removed.empty() ? removed[0] : !initial.empty() ? initial[0] : places.empty() ? Symbol() : places[0];
  k.goal = !goal.empty() ? goal[0] : places.empty() ? Symbol() : places.back();
  if (const Value* p = Reader::find(tree, {"provide", "provides"}); p && p->is(Kind::kMap) && p->size() > 0)
    k.service = p->entries()[0].key;
  if (const Entry* e = tree.find("change")) k.change = e->value;
  if (const Entry* e = tree.find("outputs")) k.outputs = e->value;
  return k;
}

bool Invariant::asks_for(std::string_view component) const {
  return std::any_of(groups.begin(), groups.end(), [&](Symbol g) { return component.starts_with(g.text()); });
}

std::string Invariant::text() const {
  std::vector<std::string_view> shown;
  constexpr std::size_t kMost = 8;  // who reads on?
  for (Symbol s : of)
    if (of.size() <= kMost || shown.size() < 3) shown.push_back(s.text());
  std::string all = of.size() > shown.size() ? fmt::format(", … ({} in all)", of.size()) : "";
  return fmt::format("at {} {} of {}{} {}", kind == Kind::kAtLeast ? "least" : "most", count, fmt::join(shown, ", "),
                     all, port.empty() ? "up" : fmt::format("providing {}", port.text()));
}

bool is_deployment(const Value& root) { return root.is(Kind::kMap) && root.find("components") != nullptr; }

std::optional<Deployment> read_deployment(Session& session, const Value& root, const Value& library,
                                          const Completion& complete) {
  keep_secrets(root, *session.sources);
  return DeploymentReader(session, library, complete).read(root);
}

}  // namespace tutti::model
