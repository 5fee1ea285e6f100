#include "model/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "model/component_model.h"
#include "model/deployment_check.h"
#include "model/read.h"
#include "model/reader.h"
#include "model/template.h"
#include "tree/layer.h"
#include "tree/secret.h"

namespace tutti::model {
namespace {

constexpr std::array<std::string_view, 9> kSystemKeys{"system", "types", "components", "hosts",   "invariants",
                                                      "host",   "doc",   "name",       "defaults"};
// Of a type: its life cycle, and what is needed to change a running one.
constexpr std::array<std::string_view, 24> kTypeKeys{
    "places", "initial", "initial_place", "stations",   "transitions", "behaviors", "behaviours",   "groups",
    "use",    "uses",    "provide",       "provides",   "config",      "goal",      "removed",      "hold",
    "rest",   "gate",    "change",        "operations", "outputs",     "extends",   "component_of", "doc"};
constexpr std::array<std::string_view, 12> kComponentKeys{"type",  "host",    "config", "state", "uses", "after",
                                                          "order", "protect", "secret", "doc",   "name", "was"};

struct KindName {
  std::string_view word;
  Kind kind;
};
constexpr KindName kKinds[] = {{"string", Kind::kString},  {"int", Kind::kInt},   {"integer", Kind::kInt},
                               {"number", Kind::kDecimal}, {"bool", Kind::kBool}, {"list", Kind::kList},
                               {"map", Kind::kMap},        {"port", Kind::kInt},  {"seconds", Kind::kDecimal}};

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
    if (const Value* t = find(root, {"types"}); t && wants(*t, Kind::kMap, "`types`")) types_ = *t;
    check_types();
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
    if (resolved) check_actions();
    if (check_references()) {
      settle_configs();
      imply_needs();
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
    const ComponentKind* kind = kind_named(*type);
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
    c.config = check_config(*kind, config ? *config : builder_.map({}, v.origin()), what, v);
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

  // ---- references

  // What a placeholder in the configuration of a component means.
  struct Reference {
    enum class Kind : u8 { kOwn, kSetting, kOutput, kHost, kNobody, kNothing, kUnset } kind = Kind::kNobody;
    const Component* to = nullptr;  // a component that it names itself, and not by a port
    std::string key;
  };

  Reference reference(const Component& c, std::string_view path) const {
    constexpr std::array<std::string_view, 4> kPrefixes{"old.", "tried.", "self.", "hosts."};
    if (is_own_word(path) ||
        std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](auto p) { return path.starts_with(p); }))
      return {Reference::Kind::kOwn, nullptr, ""};
    if (path.starts_with("config.")) {
      std::string_view key = path.substr(7);
      const Entry* top = c.config.find(key.substr(0, key.find('.')));
      bool there = at_path(c.config, key) || (top && has_placeholders(top->value));
      return {there ? Reference::Kind::kOwn : Reference::Kind::kUnset, nullptr, std::string(key)};
    }
    if (path.starts_with("uses.")) path.remove_prefix(5);
    Reference r;
    for (auto& n : c.needs)
      if (std::string_view port = n.port.text();
          path.size() > port.size() && path.starts_with(port) && path[port.size()] == '.') {
        r.to = out_.find(n.provider);
        r.key = path.substr(port.size() + 1);
        r.kind = !r.to || of_other(*r.to, r.key) != Reference::Kind::kNothing ? Reference::Kind::kOwn
                                                                              : Reference::Kind::kNothing;
        if (r.kind == Reference::Kind::kOwn) return r;
      }
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path[i] != '.' && path[i] != ':') continue;
      const Component* o = out_.find(Symbol(path.substr(0, i)));
      if (!o) continue;
      r.to = o;
      r.key = path.substr(i + 1);
      r.kind = of_other(*o, r.key);
      if (r.kind != Reference::Kind::kNothing) return r;
    }
    return r;
  }

  Reference::Kind of_other(const Component& o, std::string_view key) const {
    return at_path(o.config, key)              ? Reference::Kind::kSetting
           : key == "host" || key == "address" ? Reference::Kind::kHost
           : gives(kind_of(o), Symbol(key))    ? Reference::Kind::kOutput
                                               : Reference::Kind::kNothing;
  }

  const ComponentKind& kind_of(const Component& c) const { return out_.kinds.at(std::string(c.type.text())); }

  // Whether a component of this kind may have such an output: one that its type lists, or, where it lists none,
  // anything that one of its commands may print.
  static bool gives(const ComponentKind& kind, Symbol key) {
    if (kind.outputs.is(Kind::kMap)) return kind.outputs.find(key) != nullptr;
    const Entry* transitions = kind.tree.find("transitions");
    return transitions && runs_commands(transitions->value);
  }
  static bool runs_commands(const Value& v) {
    if (v.is(Kind::kList))
      return std::any_of(v.items().begin(), v.items().end(), [](const Value& i) { return runs_commands(i); });
    if (!v.is(Kind::kMap)) return false;
    return std::any_of(v.entries().begin(), v.entries().end(), [](const Entry& e) {
      return e.key.text() == "exec" || e.key.text() == "run" || e.key.text() == "resource" || runs_commands(e.value);
    });
  }

  // Every reference leads somewhere, and none back to where it came from.
  bool check_references() {
    std::size_t before = session_.diagnostics.errors();
    using Setting = std::pair<const Component*, std::string>;  // by its key at the top
    std::map<Setting, std::vector<Setting>> edges;
    std::map<Setting, const Value*> where;
    for (auto& c : out_.components) {
      if (!has_placeholders(c.config)) continue;
      for (const Entry& e : c.config.entries()) {
        if (!check_finished(e.value)) continue;
        Setting from{&c, std::string(e.key.text())};
        where[from] = &e.value;
        auto missing = missing_in(
            e.value,
            [&](std::string_view path) -> std::optional<Value> {
              Reference r = reference(c, path);
              if (r.kind == Reference::Kind::kSetting) edges[from].emplace_back(r.to, r.key.substr(0, r.key.find('.')));
              if (path.starts_with("config."))
                edges[from].emplace_back(&c, std::string(path.substr(7, path.find('.', 7) - 7)));
              if (r.kind == Reference::Kind::kNobody || r.kind == Reference::Kind::kNothing ||
                  r.kind == Reference::Kind::kUnset)
                return std::nullopt;
              return Value::string("?");
            },
            builder_);
        for (auto& path : missing) unknown_reference(c, path, e.value);
      }
    }
    std::map<Setting, int> state;
    std::function<void(const Setting&)> visit = [&](const Setting& s) {
      state[s] = 1;
      for (const Setting& to : edges[s]) {
        if (state[to] == 0) visit(to);
        if (state[to] == 1 && where.count(to))
          error("DEPLOY-REFERENCE-CYCLE", *where.at(s),
                fmt::format("`{}.{}` and `{}.{}` refer to each other in a circle", s.first->name.text(), s.second,
                            to.first->name.text(), to.second));
      }
      state[s] = 2;
    };
    for (auto& [s, unused] : where)
      if (state[s] == 0) visit(s);
    return session_.diagnostics.errors() == before;
  }

  // Every `${` has its `}`, and something in it.
  bool check_finished(const Value& v, const Value* whole = nullptr) {
    if (v.is(Kind::kList)) return std::ranges::all_of(v.items(), [&](const Value& i) { return check_finished(i); });
    if (v.is(Kind::kMap))
      return std::ranges::all_of(v.entries(), [&](const Entry& e) {
        return check_finished(Value::string(e.key.text()), &e.value) && check_finished(e.value);
      });
    auto flaw = v.is(Kind::kString) ? unfinished_in(v.text()) : std::nullopt;
    if (!flaw) return true;
    session_.diagnostics
        .error("DEPLOY-REFERENCE", whole ? at(*whole) : place_at(v, flaw->at),
               flaw->empty ? "there is nothing in `${...}`" : "`${` has no `}`")
        .note("`$${` is a plain `${`");
    return false;
  }

  // What the actions of a type refer to, beside the configuration of their component: said once for each place.
  void check_actions() {
    std::set<std::pair<Pos, std::string>> said;
    for (auto& c : out_.components) {
      const Entry* transitions = kind_of(c).tree.find("transitions");
      if (!transitions || !transitions->value.is(Kind::kMap)) continue;
      for (const Entry& t : transitions->value.entries())
        for (const char* what : {"do", "run"})
          if (const Entry* e = t.value.is(Kind::kMap) ? t.value.find(what) : nullptr) check_texts(c, e->value, said);
    }
  }

  void check_texts(const Component& c, const Value& v, std::set<std::pair<Pos, std::string>>& said) {
    if (v.is(Kind::kList))
      for (const Value& item : v.items()) check_texts(c, item, said);
    if (v.is(Kind::kMap))
      for (const Entry& e : v.entries()) check_texts(c, e.value, said);
    if (!v.is(Kind::kString) || !has_placeholders(v)) return;
    if (auto flaw = unfinished_in(v.text())) {
      if (said.insert({at(v), "${"}).second) check_finished(v);
      return;
    }
    auto known = [&](std::string_view path) -> std::optional<Value> {
      for (std::string_view own : {"config.", "old.", "tried."})
        if (path.starts_with(own) && !may_have(kind_of(c), path.substr(own.size()))) return std::nullopt;
      bool open = path.starts_with("config.") || path.starts_with("uses.");  // a port may be there or not
      Reference::Kind kind = open ? Reference::Kind::kOwn : reference(c, path).kind;
      if (kind == Reference::Kind::kNobody || kind == Reference::Kind::kNothing) return std::nullopt;
      return Value::string("?");
    };
    for (auto& path : missing_in(v, known, builder_)) {
      if (!said.insert({at(v), path}).second) continue;
      session_.diagnostics
          .error("DEPLOY-REFERENCE", place_in(v, path),
                 fmt::format("`${{{}}}` in an action of type `{}` refers to nothing{}", path, c.type.text(),
                             path.starts_with("config.") || path.starts_with("old.") || path.starts_with("tried.")
                                 ? ": it has no such setting"
                                 : fmt::format(" that `{}` could mean", c.name.text())))
          .note("`$${` is a plain `${`, and `${a.b|words}` gives the words where there is no value");
    }
  }

  // Whether a component of this kind may have such a setting.
  static bool may_have(const ComponentKind& kind, std::string_view path) {
    const Entry* description = kind.tree.find("config");
    if (!description || !description->value.is(Kind::kMap)) return true;
    return description->value.find("...") || description->value.find(path.substr(0, path.find('.')));
  }

  // Where a text that was taken from a file as it is (a template) refers to a path; else where the value is.
  Pos place_in(const Value& v, std::string_view path) const {
    return place_at(v, v.is(Kind::kString) ? find_reference(v.text(), path) : std::string_view::npos);
  }
  Pos place_at(const Value& v, std::size_t offset) const {
    Pos begin = at(v);
    const Source* source = v.is(Kind::kString) ? session_.sources->find(begin) : nullptr;
    bool whole = source && source->text == v.text();
    return !whole || offset == std::string_view::npos ? begin : source->pos(offset);
  }

  void unknown_reference(const Component& c, const std::string& path, const Value& where) {
    Reference r = reference(c, path);
    for (auto name : broken_)  // its own trouble was reported
      if (path.starts_with(std::string(name) + ".")) return;
    std::vector<std::string_view> known, own;
    for (auto& o : out_.components) known.push_back(o.name.text());
    for (const Entry& e : c.config.entries()) own.push_back(e.key.text());
    Pos place = place_in(where, path);
    if (r.kind == Reference::Kind::kUnset)
      session_.diagnostics
          .error("DEPLOY-REFERENCE", place,
                 fmt::format("`${{{}}}`: `{}` ({}) has no such setting here", path, c.name.text(), c.type.text()))
          .did_you_mean(nearest(r.key.substr(0, r.key.find('.')), own));
    else if (r.kind == Reference::Kind::kNothing)
      session_.diagnostics.error("DEPLOY-REFERENCE", place,
                                 fmt::format("`${{{}}}`: `{}` ({}) has no setting and gives no output `{}`", path,
                                             r.to->name.text(), r.to->type.text(), r.key));
    else
      session_.diagnostics.error("DEPLOY-REFERENCE", place, fmt::format("`${{{}}}` refers to nothing", path))
          .did_you_mean(nearest(path.substr(0, path.find('.')), known))
          .note("`$${` is a plain `${`, and `${a.b|words}` gives the words where there is no value");
  }

  // Whoever refers to what another gives when it runs comes after it. (In the component model orders say so.)
  void imply_needs() {
    for (auto& c : out_.components) {
      if (!c.orders.empty() || !has_placeholders(c.config) || kind_of(c).gate.empty()) continue;
      std::vector<std::pair<const Component*, Pos>> others;
      for (const Entry& e : c.config.entries())
        expand(
            e.value,
            [&](std::string_view path) -> std::optional<Value> {
              Reference r = reference(c, path);
              if (r.kind == Reference::Kind::kOutput || r.kind == Reference::Kind::kSetting)
                others.emplace_back(r.to, at(e.value));
              return Value::string("?");
            },
            builder_);
      for (auto& [o, where] : others) {
        const ComponentKind& kind = kind_of(*o);
        if (o == &c || kind.service.empty() || o->state != kind.goal || !o->orders.empty() ||
            std::any_of(c.needs.begin(), c.needs.end(), [&](auto& n) { return n.provider == o->name; }))
          continue;
        if (needs(*o, c.name)) {
          session_.diagnostics.error(
              "DEPLOY-REFERENCE-CYCLE", where,
              fmt::format("`{}` refers to what `{}` gives, which comes after it", c.name.text(), o->name.text()));
          continue;
        }
        std::size_t afters = 0;
        for (auto& n : c.needs) afters += !n.hold;
        c.needs.push_back({Symbol(fmt::format("after{}", afters + 1)), o->name, kind.service, false, where});
      }
    }
  }

  // Whether a component needs another, directly or through others.
  bool needs(const Component& c, Symbol other) const {
    std::set<Symbol> seen;
    std::vector<const Component*> todo{&c};
    while (!todo.empty()) {
      const Component* at = todo.back();
      todo.pop_back();
      if (!seen.insert(at->name).second) continue;
      for (auto& n : at->needs) {
        if (n.provider == other) return true;
        if (const Component* p = out_.find(n.provider)) todo.push_back(p);
      }
    }
    return false;
  }

  // Settings that refer to others' settings are put in now, so that a change there is a change here. What only a run
  // can tell (outputs, addresses) stays open.
  void settle_configs() {
    for (u32 round = 0; round < 10; ++round) {
      bool changed = false;
      for (auto& c : out_.components) {
        if (!has_placeholders(c.config)) continue;
        auto lookup = [&](std::string_view path) -> std::optional<Value> {
          auto known = [&](const Component& o, std::string_view key) -> std::optional<Value> {
            auto v = at_path(o.config, key);
            if (!v || has_placeholders(*v)) return std::nullopt;
            return v;
          };
          if (path.substr(0, 7) == "config.") return known(c, path.substr(7));
          std::string_view p = path.substr(0, 5) == "uses." ? path.substr(5) : path;
          for (auto& n : c.needs)
            if (std::string_view port = n.port.text();
                p.size() > port.size() && p.substr(0, port.size()) == port && p[port.size()] == '.')
              if (const Component* o = out_.find(n.provider)) return known(*o, p.substr(port.size() + 1));
          for (std::size_t i = 0; i < p.size(); ++i)
            if (p[i] == '.')
              if (const Component* o = out_.find(Symbol(p.substr(0, i))))
                if (auto v = known(*o, p.substr(i + 1))) return v;
          return std::nullopt;
        };
        Value now = expand_known(c.config, lookup, builder_);
        if (!equal(now, c.config)) changed = true;
        c.config = now;
      }
      if (!changed) return;
    }
  }

  // ---- types

  // All that the user wrote, whether anybody uses it or not.
  void check_types() {
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

  // A type with all that it extends. What is wrong with one of the user's is said once.
  std::optional<Value> whole_type(const Named& n) {
    if (auto it = types_read_.find(n.name); it != types_read_.end()) return it->second;
    std::vector<Symbol> chain;
    auto tree = type_tree(n.name, n.at, chain);
    if (types_.is(Kind::kMap) && types_.find(n.name)) types_read_[n.name] = tree;
    return tree;
  }

  const ComponentKind* kind_named(const Named& n) {
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

  std::optional<Value> type_tree(Symbol n, Pos wanted_at, std::vector<Symbol>& chain) {
    const Entry* own = types_.is(Kind::kMap) ? types_.find(n) : nullptr;
    if (!own && types_.is(Kind::kMap)) own = types_.find("#" + std::string(n.text()));
    const Entry* shipped = library_.find(n);
    const Entry* e = own ? own : shipped;
    // A user's type may extend the library's of the same name.
    if (std::count(chain.begin(), chain.end(), n) == 1 && shipped) e = shipped;
    if (!e) {
      std::vector<std::string_view> known;
      for (const Value* m : {static_cast<const Value*>(&types_), &library_})
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

  // A type of the CDDLM component model: another type with its operations apart.
  std::optional<Value> component_tree(const Value& type, const Value& of, std::vector<Symbol>& chain) {
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

  // ---- configuration against the type's own description of it

  static bool fits(const Value& v, std::string_view word) {
    if (word == "any" || v.is(Kind::kLazy) || v.is(Kind::kReference)) return true;
    if (v.is(Kind::kString) && v.text().find("${") != std::string_view::npos) return true;  // known when it runs
    for (auto& k : kKinds)
      if (k.word == word) return (v.is(k.kind) || (k.kind == Kind::kDecimal && v.is(Kind::kInt))) && can_be(v, word);
    return true;
  }
  static bool can_be(const Value& number, std::string_view word) {
    if (word == "port") return number.fits_i64() && number.as_i64() > 0 && number.as_i64() < 65536;
    return word != "seconds" || !number.number_text().starts_with('-');
  }
  static std::string_view kind_words(std::string_view word) {
    return word == "port" ? "a port (1 to 65535)" : word == "seconds" ? "a number that is not below 0" : word;
  }

  // Some languages have nothing but text (XML): what reads as a number or a truth is one where that is wanted.
  static Value from_text(const Value& v) {
    if (!v.is(Kind::kString)) return v;
    std::string_view t = v.text();
    if (t == "true" || t == "false") return Value::boolean(t == "true", v.origin());
    std::size_t digits = t.substr(0, 1) == "-" ? 1 : 0;
    if (t.size() > digits && t.find_first_not_of("0123456789.", digits) == std::string_view::npos &&
        t.find('.') == t.rfind('.') && t.back() != '.' && t[digits] != '.')
      return Value::number(t, v.origin());
    return v;
  }

  Value check_config(const ComponentKind& kind, const Value& config, const std::string& what, const Value& where) {
    const Entry* description = kind.tree.find("config");
    if (!description || !description->value.is(Kind::kMap)) return config;
    const Value& fields = description->value;
    bool open = false;
    std::vector<std::string_view> known;
    for (const Entry& f : fields.entries()) {
      if (f.key.text() == "...") open = true;
      known.push_back(f.key.text());
    }
    MapDraft draft;
    for (const Entry& e : config.entries()) {
      if (e.field == Field::kHidden || e.field == Field::kDefinition || e.field == Field::kOptional) continue;
      const Entry* f = fields.find(e.key);
      if (!f) {
        if (!open)
          error("DEPLOY-UNKNOWN-CONFIG", e.value,
                fmt::format("{} ({}) has no setting `{}`", what, kind.name.text(), e.key.text()))
              .did_you_mean(nearest(e.key.text(), known));
        draft.set(e.key, e.value);
        continue;
      }
      const Value* is = f->value.is(Kind::kMap) ? find(f->value, {"is"}) : &f->value;
      const Entry* declared = f->value.is(Kind::kMap) ? f->value.find("secret") : nullptr;
      bool secret = declared && declared->value.is(Kind::kBool) && declared->value.as_bool();
      if (secret) keep_secrets(e.value.as_secret(), *session_.sources);
      Value given = e.value;
      if (is && !e.value.is(Kind::kNull)) {
        auto words = names(*is, "a kind of value");
        auto any = [&](const Value& v) {
          return std::any_of(words.begin(), words.end(), [&](auto& w) { return fits(v, w.name.text()); });
        };
        if (!words.empty() && !any(given)) given = from_text(given);
        if (!words.empty() && !any(given)) {
          std::string wanted;
          for (auto& w : words) wanted += (wanted.empty() ? "" : " or ") + std::string(kind_words(w.name.text()));
          bool number = e.value.is(Kind::kInt) || e.value.is(Kind::kDecimal);
          Diagnostic& d =
              error("DEPLOY-CONFIG-KIND", e.value,
                    fmt::format("`{}` of {} must be {}, not {}", e.key.text(), what, wanted,
                                number && !e.value.secret() ? e.value.number_text() : kind_word(e.value.kind())));
          bool text = std::any_of(words.begin(), words.end(), [](auto& w) { return w.name.text() == "string"; });
          if (number && text) d.suggest("write it in quotes, as a text");
        }
      }
      draft.set(e.key, secret ? given.as_secret() : given);
    }
    for (const Entry& f : fields.entries()) {
      const Value* given = draft.find(f.key);  // an empty `command:` of YAML says nothing
      if (!f.value.is(Kind::kMap) || (given && !given->is(Kind::kNull))) continue;
      if (const Entry* d = f.value.find("default"))
        draft.set(f.key, d->value);
      else if (const Entry* r = f.value.find("required"); r && r->value.is(Kind::kBool) && r->value.as_bool())
        error("DEPLOY-CONFIG-MISSING", where,
              fmt::format("{} ({}) needs `{}` in its config", what, kind.name.text(), f.key.text()));
    }
    return draft.build(builder_, config.origin());
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
  Value types_;
  Symbol host_;
  Deployment out_;
  std::set<Symbol> seen_;
  std::map<Symbol, std::optional<Value>> types_read_;  // those of the user's
  std::set<Symbol> keys_checked_;                      // of the types
  std::vector<std::string_view> broken_;               // components of unknown types
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
