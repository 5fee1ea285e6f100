#include "model/component_model.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <vector>

#include "model/reader.h"
#include "tree/secret_mark.h"

namespace tutti::model {
namespace {

constexpr std::array<std::string_view, 4> kOperations{"deploy", "start", "stop", "undeploy"};
constexpr std::array<std::string_view, 3> kPolicies{"Sequential", "ReverseSequential", "Parallel"};
// What the model or tutti means by these; everything else a component has is its configuration.
constexpr std::array<std::string_view, 7> kOfComponent{"uses", "after", "host", "state", "protect", "secret", "was"};
constexpr std::array<std::string_view, 5> kOfSystem{"system", "types", "hosts", "host", "invariants"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& words, std::string_view word) {
  for (auto w : words)
    if (w == word) return true;
  return false;
}

const Value* class_of(const Value& v) { return v.is(Kind::kMap) ? Reader::find(v, {"ClassName", "sfClass"}) : nullptr; }

bool shown(const Entry& e) {
  return e.field != Field::kHidden && e.field != Field::kOptional && e.field != Field::kDefinition;
}

// SmartFrog's own compound is one too.
std::string_view class_name(std::string_view text) {
  return text.ends_with(".CompoundImpl") || text.ends_with(".Compound") ? "Compound" : text;
}

using Keys = std::vector<std::string>;

class Translator : public Reader {
 public:
  explicit Translator(Session& session) : Reader(session), builder_(session.arena) {}

  Value translate(const Value& root) {
    root_ = root;
    MapDraft out;
    for (std::string_view key : kOfSystem)
      if (const Entry* e = root.find(key)) out.set(e->key, e->value);
    if (class_of(root)) {
      component(root, {});
    } else {
      for (const Entry& e : root.entries()) {
        if (among(kOfSystem, e.key.text()) || !shown(e) || !class_of(e.value)) continue;
        component(e.value, {std::string(e.key.text())});
      }
    }
    for (auto& c : components_) refer(*c);
    MapDraft components;
    for (auto& c : components_) components.set(Symbol(c->name), finished(*c));
    out.set(Symbol("components"), components.build(builder_, root.origin()));
    MapDraft types = types_;
    if (const Entry* own = root.find("types"); own && own->value.is(Kind::kMap))
      for (const Entry& e : own->value.entries()) types.set(e.key, e.value, e.field);
    out.set(Symbol("types"), types.build(builder_));
    return out.build(builder_, root.origin());
  }

 private:
  struct Node {
    std::string name;
    Keys path;  // in the tree
    const Value* value = nullptr;
    Value draft_type;
    MapDraft draft, config;
    std::vector<Value> orders;
    std::vector<Node*> children;
  };

  static std::string joined(const Keys& path) {
    std::string out;
    for (auto& p : path) out += (out.empty() ? "" : ".") + p;
    return out.empty() ? "root" : out;
  }

  static bool is_component(const Value& v) { return class_of(v) != nullptr; }

  Node* component(const Value& v, Keys path) {
    Budget::Level level(session_.budget);
    const Value& named = *class_of(v);
    if (!named.is(Kind::kString) || named.text().empty()) {
      error("COMPONENT-CLASS", named.is(Kind::kNull) ? v : named,
            fmt::format("the ClassName of `{}` must be the name of a type", joined(path)))
          .suggest("a type that ships with tutti, such as process, or one of your `types`");
      return nullptr;
    }
    components_.push_back(std::make_unique<Node>());
    Node& self = *components_.back();
    self.name = joined(path);
    self.path = path;
    self.value = &v;
    std::string_view type = class_name(named.text());
    bool compound = type == "Compound";
    for (const Entry& e : v.entries()) compound = compound || (shown(e) && is_component(e.value));
    for (const Entry& e : v.entries()) {
      std::string_view key = e.key.text();
      if (!shown(e) || key == "ClassName" || key == "sfClass" || (compound && among(kOperations, key))) continue;
      if (key == "sfProcessHost") {
        self.draft.set(Symbol("host"), e.value);
      } else if (among(kOfComponent, key) || (path.empty() && among(kOfSystem, key))) {
        if (!path.empty() || !among(kOfSystem, key)) self.draft.set(e.key, e.value);
      } else if (is_component(e.value)) {
        Keys below = path;
        below.emplace_back(key);
        if (Node* child = component(e.value, std::move(below))) self.children.push_back(child);
      } else {
        self.config.set(e.key, e.value);
      }
    }
    // The type: the class's own with the operations apart.
    std::string life = fmt::format("{} {}", type, compound ? "compound" : "component");
    std::vector<Entry> kind{{Symbol("component_of"), Field::kPlain, builder_.string(type, named.origin())},
                            {Symbol("children"), Field::kPlain, Value::boolean(compound)}};
    types_.set(Symbol(life), builder_.map(kind, named.origin()));
    self.draft_type = builder_.string(life, named.origin());
    if (compound) policies(v, self);
    return &self;
  }

  void order(Node& who, std::string_view place, const Node& whom, std::string_view port) {
    std::vector<Entry> one{{Symbol("at"), Field::kPlain, builder_.string(place)},
                           {Symbol("after"), Field::kPlain, builder_.string(whom.name + "." + std::string(port))}};
    who.orders.push_back(builder_.map(one, who.value->origin()));
  }

  void policies(const Value& v, Node& self) {
    static const std::map<std::string_view, std::pair<std::string_view, std::string_view>> kPorts = {
        {"deploy", {"deploying", "deployed"}},
        {"start", {"starting", "started"}},
        {"stop", {"stopping", "stopped"}},
        {"undeploy", {"undeploying", "undeployed"}}};
    for (auto op : kOperations) {
      bool down = op == "stop" || op == "undeploy";
      std::string_view policy = down ? "ReverseSequential" : "Sequential";
      if (const Entry* e = v.find(op)) {
        if (!e->value.is(Kind::kString) || !among(kPolicies, e->value.text())) {
          std::string given = e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
          error("COMPONENT-POLICY", e->value,
                fmt::format("the policy `{}` of `{}` must be Sequential, ReverseSequential or Parallel", op, self.name))
              .did_you_mean(nearest(given, std::vector<std::string_view>(kPolicies.begin(), kPolicies.end())));
          continue;
        }
        policy = e->value.text();
      }
      auto [begun, done] = kPorts.at(op);
      std::string gate = std::string(op) + "-gate", all = std::string(op) + "-all";
      for (std::size_t i = 0; i < self.children.size(); ++i) {
        Node& child = *self.children[i];
        order(child, gate, self, begun);
        order(self, all, child, done);
        if (policy == "Sequential" && i > 0) order(child, gate, *self.children[i - 1], done);
        if (policy == "ReverseSequential" && i + 1 < self.children.size())
          order(child, gate, *self.children[i + 1], done);
      }
    }
  }

  // ---- what is known only at run time

  // The steps of a reference from the root: CDL's "a/b/c", or SmartFrog's "PARENT:b:c", seen from the map at `from`.
  std::optional<Keys> target(std::string_view text, Keys from) const {
    if (text.starts_with("LAZY ")) text.remove_prefix(5);
    Keys steps;
    bool slashes = text.find('/') != std::string_view::npos;
    for (std::size_t at = 0; at <= text.size();) {
      std::size_t end = text.find(slashes ? '/' : ':', at);
      if (end == std::string_view::npos) end = text.size();
      if (end > at) steps.emplace_back(text.substr(at, end - at));
      at = end + 1;
    }
    if (slashes || steps.empty()) return steps;
    std::size_t i = 0;
    if (steps[0] == "ROOT") {
      from.clear();
      i = steps.size() > 1 && steps[1] == "sfConfig" ? 2 : 1;
    } else if (steps[0] == "PARENT" || steps[0] == "THIS") {
      for (; i < steps.size() && (steps[i] == "PARENT" || steps[i] == "THIS"); ++i)
        if (steps[i] == "PARENT") {
          if (from.empty()) return std::nullopt;
          from.pop_back();
        }
    } else {
      if (steps[0].starts_with("ATTRIB ")) steps[0] = steps[0].substr(7);
      for (;; from.pop_back()) {  // the nearest map outwards that has the first name
        const Value* map = at_keys(from);
        if (map && map->is(Kind::kMap) && map->find(steps[0])) break;
        if (from.empty()) return std::nullopt;
      }
    }
    from.insert(from.end(), steps.begin() + static_cast<std::ptrdiff_t>(i), steps.end());
    return from;
  }

  const Value* at_keys(const Keys& keys) const {
    const Value* v = &root_;
    for (auto& k : keys) {
      const Entry* e = v->is(Kind::kMap) ? v->find(k) : nullptr;
      if (!e) return nullptr;
      v = &e->value;
    }
    return v;
  }

  // The component that a path goes through last, and what is left of the path.
  std::pair<const Node*, std::string> owner(const Keys& path) const {
    const Node* best = nullptr;
    for (auto& c : components_)
      if (c->path.size() < path.size() && std::equal(c->path.begin(), c->path.end(), path.begin()) &&
          (!best || best->path.size() < c->path.size()))
        best = c.get();
    std::string rest;
    if (best)
      for (std::size_t i = best->path.size(); i < path.size(); ++i) rest += (rest.empty() ? "" : ".") + path[i];
    return {best, rest};
  }

  static std::string_view open_reference(const Value& v) {
    if (v.is(Kind::kLazy) || v.is(Kind::kReference)) return v.text();
    if (v.is(Kind::kMap) && v.size() == 1)
      if (const Entry* e = v.find("$REF"); e && e->value.is(Kind::kString)) return e->value.text();
    return {};
  }

  // What a reference stands for in tutti's own words: `${component.output}`. nullopt: the component itself will say it.
  std::optional<std::string> placeholder(Node& self, const Value& v, std::string_view text, const Keys& map,
                                         std::string_view key) {
    auto to = target(text, map);
    Keys own = map;
    own.emplace_back(key);
    if (!to || *to == own) return std::nullopt;
    auto [component, rest] = owner(*to);
    if (!component) {
      error("COMPONENT-REFERENCE", v,
            fmt::format("`{}` of `{}` refers to `{}`, which belongs to no component", key, self.name, text));
      return std::nullopt;
    }
    // It is known once that component is deployed.
    if (component != &self && !encloses(*component, self)) order(self, "deploy-gate", *component, "deployed");
    return fmt::format("${{{}.{}}}", component->name, rest);
  }

  // The arguments of an open CDL expression `concat('http://', web/host, ...)`: texts in quotes, and paths. Empty when
  // it is anything else.
  static std::vector<std::string_view> joined(std::string_view text) {
    constexpr std::string_view kConcat = "concat(";
    if (!text.starts_with(kConcat) || !text.ends_with(")")) return {};
    text = text.substr(kConcat.size(), text.size() - kConcat.size() - 1);
    std::vector<std::string_view> parts;
    while (true) {
      while (text.starts_with(' ')) text.remove_prefix(1);
      bool quoted = text.starts_with('\'') || text.starts_with('"');
      std::size_t end = quoted ? text.find(text[0], 1) : text.find_first_of("'\"()*+=<>|!, ");
      if (quoted && end != std::string_view::npos) ++end;
      parts.push_back(text.substr(0, end));
      text = end == std::string_view::npos ? "" : text.substr(end);
      if (text.empty()) return parts;
      if (!text.starts_with(',')) return {};
      text.remove_prefix(1);
    }
  }

  // Texts joined end to end are made when their values are known; of other expressions the program can make nothing.
  std::optional<Value> open_expression(Node& self, const Value& v, const Keys& map, std::string_view key) {
    std::vector<std::string_view> parts = joined(v.text());
    if (parts.empty()) {
      error("COMPONENT-EXPRESSION", v,
            fmt::format("`{}` of `{}` is to be computed when the system runs: {}", key, self.name, v.text()))
          .note("of expressions with open values only concat() of texts and references can be deployed");
      return std::nullopt;
    }
    std::string out;
    for (std::string_view part : parts) {
      if (part.starts_with('\'') || part.starts_with('"')) {
        std::string_view words = part.substr(1, part.size() - 2);
        for (std::size_t i = 0; i < words.size(); ++i) {
          if (words.substr(i).starts_with("${")) out += '$';  // it is a plain one
          out += words[i];
        }
      } else if (auto words = placeholder(self, v, part, map, key)) {
        out += *words;
      }
    }
    return builder_.string(out, v.origin());
  }

  // A value with its open references in tutti's own words. nullopt: the component itself will say what it is.
  std::optional<Value> closed(Node& self, const Value& v, const Keys& map, std::string_view key) {
    if (std::string_view text = open_reference(v); !text.empty()) {
      if (v.is(Kind::kLazy) && text.find('(') != std::string_view::npos) return open_expression(self, v, map, key);
      auto words = placeholder(self, v, text, map, key);
      return words ? std::optional(builder_.string(*words, v.origin())) : std::nullopt;
    }
    if (v.is(Kind::kOpen)) return std::nullopt;  // to be defined: by the component, when it runs
    if (v.is(Kind::kMap)) {
      Budget::Level level(session_.budget);
      Keys inside = map;
      inside.emplace_back(key);
      MapDraft m;
      for (const Entry& e : v.entries())
        if (auto c = closed(self, e.value, inside, e.key.text())) m.set(e.key, *c, e.field);
      Value now = m.build(builder_, v.origin());
      return secret_like(now, v);
    }
    return v;
  }

  static bool encloses(const Node& outer, const Node& inner) {
    return outer.path.size() < inner.path.size() &&
           std::equal(outer.path.begin(), outer.path.end(), inner.path.begin());
  }

  void refer(Node& self) {
    MapDraft config;
    for (const Entry& e : self.config.entries())
      if (auto v = closed(self, e.value, self.path, e.key.text())) config.set(e.key, *v, e.field);
    self.config = config;
  }

  Value finished(Node& self) {
    MapDraft m;
    m.set(Symbol("type"), self.draft_type);
    for (const Entry& e : self.draft.entries()) m.set(e.key, e.value);
    m.set(Symbol("config"), self.config.build(builder_, self.value->origin()));
    if (!self.orders.empty()) m.set(Symbol("order"), builder_.list(self.orders));
    return m.build(builder_, self.value->origin());
  }

  TreeBuilder builder_;
  Value root_;
  MapDraft types_;
  std::vector<std::unique_ptr<Node>> components_;  // parents before children, in the order written
};

}  // namespace

bool is_component_model(const Value& root) {
  if (!root.is(Kind::kMap) || root.find("components")) return false;
  if (class_of(root)) return true;
  for (const Entry& e : root.entries())
    if (shown(e) && class_of(e.value)) return true;
  return false;
}

Value system_of_components(Session& session, const Value& root) { return Translator(session).translate(root); }

}  // namespace tutti::model
