#include "model/deployment_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <set>

namespace tutti::model {
namespace {

constexpr std::array<std::string_view, 10> kHostKeys{"ssh",     "port",    "user",      "identity", "config",
                                                     "options", "address", "directory", "local",    "doc"};
constexpr std::array<std::string_view, 5> kSettingKeys{"is", "required", "default", "secret", "doc"};
constexpr std::array<std::string_view, 10> kSettingKinds{"any",  "string", "int", "integer", "number",
                                                         "bool", "list",   "map", "port",    "seconds"};

bool is_text(const Value& v) { return v.is(Kind::kString) && !v.text().empty(); }

// Some languages have nothing but text.
bool is_port(const Value& v) {
  i64 number = v.fits_i64() ? v.as_i64() : 0;
  if (v.is(Kind::kString)) {
    std::string_view text = v.text();
    auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (wrong != std::errc{} || end != text.data() + text.size()) return false;
  }
  return number > 0 && number < 65536;
}

void check_kind_words(Reader& reader, std::string_view type, const Value& v) {
  for (auto& word : reader.names(v, "a kind of value"))
    if (std::find(kSettingKinds.begin(), kSettingKinds.end(), word.name.text()) == kSettingKinds.end())
      reader.error("DEPLOY-TYPE", v, fmt::format("type `{}`: there is no kind of value `{}`", type, word.name.text()))
          .note(fmt::format("there are {}", fmt::join(kSettingKinds, ", ")))
          .did_you_mean(nearest(word.name.text(), kSettingKinds));
}

// Whether a component of this kind can come to provide the port without anybody whom it needs: it then waits for nobody
// in a circle. Where its life cycle is not as simple as from one place to another, nobody knows, and it may.
bool alone(const ComponentKind& kind, Symbol port) {
  const Value* provides = Reader::find(kind.tree, {"provide", "provides"});
  const Entry* given = provides && provides->is(Kind::kMap) ? provides->find(port) : nullptr;
  const Entry *initial = kind.tree.find("initial"), *transitions = kind.tree.find("transitions");
  if (!given || !given->value.is(Kind::kList) || !initial || !initial->value.is(Kind::kString) || !transitions ||
      !transitions->value.is(Kind::kMap))
    return true;
  auto waits = [&](std::string_view place) {
    auto is = [&](Symbol s) { return s.text() == place; };
    return std::any_of(kind.hold.begin(), kind.hold.end(), is) || std::any_of(kind.gate.begin(), kind.gate.end(), is);
  };
  std::set<std::string_view> reached{initial->value.text()};
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const Entry& t : transitions->value.entries()) {
      const Entry *from = t.value.find("from"), *to = t.value.find("to");
      if (!from || !to || !from->value.is(Kind::kString) || !to->value.is(Kind::kString)) return true;
      if (reached.count(from->value.text()) && !waits(to->value.text())) reached.insert(to->value.text());
    }
  }
  auto places = given->value.items();
  return std::any_of(places.begin(), places.end(),
                     [&](const Value& p) { return !p.is(Kind::kString) || reached.count(p.text()); });
}

}  // namespace

void check_host(Reader& reader, const Entry& host) {
  std::string what = fmt::format("host `{}`", host.key.text());
  const Value& v = host.value;
  if (v.is(Kind::kString)) {
    if (v.text().empty()) reader.error("DEPLOY-HOST", v, what + " is empty: it is where ssh leads, or `local`");
    return;
  }
  if (!v.is(Kind::kMap)) {
    reader.error("DEPLOY-HOST", v,
                 fmt::format("{} must be a destination of ssh, `local` or a map, not {}", what, kind_word(v.kind())));
    return;
  }
  reader.check_keys(v, kHostKeys, what);
  for (const char* key : {"ssh", "user", "identity", "config", "address", "directory"})
    if (const Entry* e = v.find(key); e && !is_text(e->value))
      reader.error("DEPLOY-HOST", e->value, fmt::format("`{}` of {} must be a text", key, what));
  if (const Entry* e = v.find("directory"); e && is_text(e->value) && !e->value.text().starts_with('/'))
    reader.error("DEPLOY-HOST", e->value, fmt::format("`directory` of {} must be a full path", what));
  if (const Entry* e = v.find("port"); e && !is_port(e->value))
    reader.error("DEPLOY-HOST", e->value, fmt::format("`port` of {} must be a number from 1 to 65535", what));
  const Entry* options = v.find("options");
  if (!options) return;
  auto wrong = [&](const Value& at) {
    reader.error("DEPLOY-HOST", at,
                 fmt::format("`options` of {} are those of ssh_config: a map, or a list of texts KEY=VALUE", what));
  };
  if (options->value.is(Kind::kMap)) {
    for (const Entry& e : options->value.entries())
      if (e.value.is(Kind::kMap) || e.value.is(Kind::kList)) wrong(e.value);
  } else if (options->value.is(Kind::kList)) {
    for (const Value& o : options->value.items())
      if (!is_text(o) || o.text().find_first_of("= ") == std::string_view::npos) wrong(o);
  } else {
    wrong(options->value);
  }
}

void check_settings(Reader& reader, std::string_view type, const Value& own, const Value& whole) {
  if (const Entry* config = own.find("config"); config && reader.wants(config->value, Kind::kMap, "`config` of a type"))
    for (const Entry& e : config->value.entries()) {
      if (!e.value.is(Kind::kMap)) {
        check_kind_words(reader, type, e.value);
        continue;
      }
      reader.check_keys(e.value, kSettingKeys, fmt::format("setting `{}` of type `{}`", e.key.text(), type));
      if (const Entry* is = e.value.find("is")) check_kind_words(reader, type, is->value);
    }
  const Entry* change = own.find("change");
  if (!change || !reader.wants(change->value, Kind::kMap, "`change` of a type")) return;
  std::vector<std::string_view> settings{"*"}, behaviours;
  const Entry* config = whole.find("config");
  if (config && config->value.is(Kind::kMap))
    for (const Entry& e : config->value.entries()) settings.push_back(e.key.text());
  bool open = !config || std::find(settings.begin(), settings.end(), "...") != settings.end();
  if (const Value* all = Reader::find(whole, {"behaviours", "behaviors"}); all && all->is(Kind::kMap))
    for (const Entry& e : all->entries()) behaviours.push_back(e.key.text());
  auto check_setting = [&](const Entry& e) {
    if (!open && std::find(settings.begin(), settings.end(), e.key.text()) == settings.end())
      reader.error("DEPLOY-TYPE", e.value, fmt::format("type `{}` has no setting `{}` to change", type, e.key.text()))
          .did_you_mean(nearest(e.key.text(), settings));
  };
  auto check_rule = [&](Symbol setting, const Value& rule) {
    if (rule.is(Kind::kString) && rule.text() == "replace") return;
    if (!rule.is(Kind::kList)) {
      reader.error("DEPLOY-TYPE", rule,
                   fmt::format("a change of `{}` is `replace` or a list of behaviours", setting.text()));
      return;
    }
    for (auto& b : reader.names(rule, "a behaviour"))
      if (std::find(behaviours.begin(), behaviours.end(), b.name.text()) == behaviours.end())
        reader.error("DEPLOY-TYPE", rule, fmt::format("type `{}` has no behaviour `{}`", type, b.name.text()))
            .did_you_mean(nearest(b.name.text(), behaviours));
  };
  for (const Entry& e : change->value.entries()) {
    check_setting(e);
    if (!e.value.is(Kind::kMap)) {
      check_rule(e.key, e.value);
      continue;
    }
    for (const Entry& by : e.value.entries()) {
      check_setting(by);
      check_rule(e.key, by.value);
    }
  }
}

void check_former_names(Session& session, const Deployment& deployment) {
  std::map<std::string_view, const Component*> taken;
  for (const Component& c : deployment.components) {
    if (c.was.empty()) continue;
    if (deployment.find(Symbol(c.was)))
      session.diagnostics
          .error("DEPLOY-WAS", c.was_at,
                 fmt::format("`{}` cannot have been `{}`, which is a component of its own", c.name.text(), c.was))
          .suggest("without `was`, where that is done");
    else if (auto [other, first] = taken.emplace(c.was, &c); !first)
      session.diagnostics
          .error(
              "DEPLOY-WAS", c.was_at,
              fmt::format("`{}` and `{}` cannot both have been `{}`", other->second->name.text(), c.name.text(), c.was))
          .relate(other->second->was_at, "the other one");
  }
}

void check_absent(Session& session, const Deployment& deployment) {
  auto gone = [&](const Component& c) {
    const ComponentKind& kind = deployment.kinds.at(std::string(c.type.text()));
    return c.state == kind.removed && kind.removed != kind.goal;
  };
  for (const Component& c : deployment.components)
    for (const Need& n : c.needs)
      if (const Component* other = deployment.find(n.provider); other && gone(*other) && !gone(c))
        session.diagnostics.error(
            "DEPLOY-ABSENT", n.at,
            fmt::format("`{}` needs `{}`, which is wanted {}", c.name.text(), n.provider.text(), other->state.text()));
}

void check_circles(Session& session, const Deployment& deployment) {
  std::map<Symbol, const Component*> named;
  for (const Component& c : deployment.components) named[c.name] = &c;
  std::map<const Component*, int> state;
  std::vector<const Component*> path;
  std::function<void(const Component&)> visit = [&](const Component& c) {
    state[&c] = 1;
    path.push_back(&c);
    for (const Need& n : c.needs) {
      auto to = named.find(n.provider);
      if (to == named.end() || alone(deployment.kinds.at(std::string(to->second->type.text())), n.provide)) continue;
      if (state[to->second] == 0) visit(*to->second);
      if (state[to->second] != 1) continue;
      std::vector<std::string_view> names;
      for (auto at = std::find(path.begin(), path.end(), to->second); at != path.end(); ++at)
        names.push_back((*at)->name.text());
      names.push_back(n.provider.text());
      session.diagnostics
          .error("DEPLOY-CIRCLE", n.at,
                 fmt::format("none of {} can ever come up: each needs the next", fmt::join(names, ", ")))
          .note("`uses` and `after` must not lead back to where they began");
    }
    path.pop_back();
    state[&c] = 2;
  };
  for (const Component& c : deployment.components)
    if (state[&c] == 0) visit(c);
}

}  // namespace tutti::model
