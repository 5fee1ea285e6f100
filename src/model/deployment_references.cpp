#include "model/deployment_references.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "model/reader.h"
#include "model/template.h"

namespace tutti::model {
namespace {

class References : public Reader {
 public:
  References(Session& session, Deployment& deployment, const BrokenNames& broken = {})
      : Reader(session), out_(deployment), broken_(broken), builder_(session.arena) {}

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

 private:
  Deployment& out_;
  BrokenNames broken_;
  TreeBuilder builder_;
};

}  // namespace

void check_action_references(Session& session, Deployment& deployment, const BrokenNames& broken) {
  References(session, deployment, broken).check_actions();
}

bool check_references(Session& session, Deployment& deployment, const BrokenNames& broken) {
  return References(session, deployment, broken).check_references();
}

void settle_configs(Session& session, Deployment& deployment) { References(session, deployment).settle_configs(); }

void imply_needs(Session& session, Deployment& deployment) { References(session, deployment).imply_needs(); }

}  // namespace tutti::model
