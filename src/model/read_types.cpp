#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "model/read.h"
#include "model/reader.h"

namespace tutti::model {

std::optional<double> Reader::number(const Value& v, std::string_view what) {
  if (v.is(Kind::kInt) || v.is(Kind::kDecimal)) return std::strtod(v.number_text().c_str(), nullptr);
  if (v.is(Kind::kString)) {
    std::string text(v.text());
    char* end = nullptr;
    double d = std::strtod(text.c_str(), &end);
    std::string_view unit(end);
    if (end != text.c_str()) {
      if (unit.empty() || unit == "s") return d;
      if (unit == "ms") return d / 1e3;
      if (unit == "us") return d / 1e6;
      if (unit == "m" || unit == "min") return d * 60;
      if (unit == "h") return d * 3600;
    }
  }
  error("MODEL-NUMBER", v, fmt::format("{} must be a number or a time such as \"150ms\"", what));
  return std::nullopt;
}

Pos Reader::key_at(const Entry& e) const {
  Pos value = at(e.value);
  const Source* source = value ? session_.sources->find(value) : nullptr;
  if (!source) return value;
  std::string_view before = std::string_view(source->text).substr(0, source->offset(value));
  std::size_t key = before.rfind(e.key.text());
  if (key == std::string_view::npos) return value;
  std::string_view between = before.substr(key + e.key.text().size());
  bool follows = between.find_first_not_of(":=\"' \t\r\n{") == std::string_view::npos;
  return follows && between.find('\n') != std::string_view::npos ? source->pos(key) : value;
}

void Reader::check_keys(const Value& map, std::span<const std::string_view> known, std::string_view what) {
  for (const Entry& e : map.entries()) {
    if (e.field != Field::kPlain || std::find(known.begin(), known.end(), e.key.text()) != known.end()) continue;
    session_.diagnostics.error("MODEL-UNKNOWN-KEY", key_at(e), fmt::format("{} has no `{}`", what, e.key.text()))
        .did_you_mean(nearest(e.key.text(), known));
  }
}

namespace {

constexpr std::array<std::string_view, 14> kTypeKeys{
    "type",       "places", "initial", "initial_place", "stations", "transitions", "behaviors",
    "behaviours", "groups", "use",     "uses",          "provide",  "provides",    "doc"};
// Of a transition: what the engine itself reads. Everything else is the action's own.
constexpr std::array<std::string_view, 17> kNetKeys{
    "src",   "from",    "source",     "dst",     "to",         "destinations", "behavior", "behaviour", "duration",
    "retry", "timeout", "idempotent", "on_fail", "on_failure", "alike",        "doc",      "again"};

// What an action may say: of commands, of resources, of catalogs.
constexpr std::array<std::string_view, 9> kActionKeys{"run",   "env", "cwd",      "stdin", "check",
                                                      "sleep", "do",  "resource", "name"};

class TypeReader : public Reader {
 public:
  using Reader::Reader;

  std::optional<TypeSource> read(Symbol name_, const Value& v) {
    if (!wants(v, Kind::kMap, fmt::format("component type `{}`", name_.text()))) return std::nullopt;
    TypeSource t;
    t.name = {name_, at(v)};
    std::string what = fmt::format("component type `{}`", name_.text());
    check_keys(v, kTypeKeys, what);
    if (const Value* p = find(v, {"places"})) {
      t.places = names(*p, "a place");
    } else {
      error("MODEL-MISSING", v, fmt::format("{} has no `places`", what));
    }
    if (const Value* p = find(v, {"initial", "initial_place"}))
      t.initial = names(*p, "the initial place");
    else if (!t.places.empty())
      t.initial = {t.places[0]};
    if (const Value* s = find(v, {"stations"}); s && wants(*s, Kind::kMap, "`stations`"))
      for (const Entry& e : s->entries())
        if (auto place = name(e.value, "a station's place")) t.stations.push_back({{e.key, at(e.value)}, *place});
    read_behaviours(v, t);
    if (const Value* s = find(v, {"transitions"}); s && wants(*s, Kind::kMap, "`transitions`"))
      for (const Entry& e : s->entries()) read_transition(e, t);
    const Value* groups = find(v, {"groups"});
    read_ports(find(v, {"use", "uses"}), groups, t.uses);
    read_ports(find(v, {"provide", "provides"}), groups, t.provides);
    return t;  // also where something was wrong: what else is wrong is said at once
  }

 private:
  void read_behaviours(const Value& v, TypeSource& t) {
    const Value* b = find(v, {"behaviors", "behaviours"});
    if (!b) return;
    if (b->is(Kind::kList)) {  // as in Listing 1: only the names, each transition says where it belongs
      for (const Named& n : names(*b, "a behaviour")) t.behaviours.push_back({n, {}});
      return;
    }
    if (!wants(*b, Kind::kMap, "`behaviours`")) return;
    for (const Entry& e : b->entries()) t.behaviours.push_back({{e.key, at(e.value)}, names(e.value, "a transition")});
  }

  void join(TypeSource& t, const Named& behaviour, const Named& transition) {
    for (BehaviourSource& b : t.behaviours)
      if (b.name.name == behaviour.name) {
        b.transitions.push_back(transition);
        return;
      }
    t.behaviours.push_back({behaviour, {transition}});
  }

  void read_transition(const Entry& e, TypeSource& t) {
    TransitionSource s;
    s.name = {e.key, at(e.value)};
    const Value& v = e.value;
    std::string what = fmt::format("transition `{}`", e.key.text());
    if (v.is(Kind::kList)) {  // [source, destination, behaviour]
      if (v.size() < 2 || v.size() > 3) {
        error("MODEL-TRANSITION", v, fmt::format("{} is written [source, destination, behaviour]", what));
        return;
      }
      if (auto n = name(v.items()[0], "a source")) s.source = *n;
      s.destinations = names(v.items()[1], "a destination");
      if (v.size() == 3)
        for (const Named& b : names(v.items()[2], "a behaviour")) join(t, b, s.name);
      t.transitions.push_back(std::move(s));
      return;
    }
    if (!wants(v, Kind::kMap, what)) return;
    const Value* from = find(v, {"src", "from", "source"});
    const Value* to = find(v, {"dst", "to", "destinations"});
    if (!from || !to) {
      std::vector<std::string_view> others;
      for (auto& other : t.transitions) others.push_back(other.name.name.text());
      error("MODEL-MISSING", v, fmt::format("{} has no `{}`", what, from ? "to" : "from"))
          .did_you_mean(nearest(e.key.text(), others));
      return;
    }
    if (auto n = name(*from, "a source")) s.source = *n;
    s.destinations = names(*to, "a destination");
    if (const Value* b = find(v, {"behavior", "behaviour"}))
      for (const Named& n : names(*b, "a behaviour")) join(t, n, s.name);
    if (const Value* f = find(v, {"on_fail", "on_failure"})) s.on_failure = name(*f, "`on_fail`");
    read_action(v, s.action);
    t.transitions.push_back(std::move(s));
  }

  void read_action(const Value& v, Action& a) {
    std::vector<std::string_view> known(kNetKeys.begin(), kNetKeys.end());
    known.insert(known.end(), kActionKeys.begin(), kActionKeys.end());
    check_keys(v, known, "a transition");
    for (const Entry& e : v.entries())
      if (e.field == Field::kPlain && std::find(kNetKeys.begin(), kNetKeys.end(), e.key.text()) == kNetKeys.end())
        a.what = v;
    if (const Value* d = find(v, {"duration"}))
      if (auto duration = read_duration(session_, *d)) a.duration = *duration;
    if (const Value* x = find(v, {"timeout"}))
      if (auto n = number(*x, "`timeout`")) a.timeout = *n;
    if (const Value* x = find(v, {"idempotent"}); x && wants(*x, Kind::kBool, "`idempotent`"))
      a.idempotent = x->as_bool();
    if (const Value* x = find(v, {"alike"}); x && wants(*x, Kind::kBool, "`alike`")) a.alike = x->as_bool();
    const Value* r = find(v, {"retry"});
    if (!r) return;
    auto times = [&](const Value& x) {
      if (x.fits_i64() && x.as_i64() >= 0 && x.as_i64() < 1'000'000)
        a.retry.times = static_cast<u32>(x.as_i64());
      else
        error("MODEL-NUMBER", x, "`retry` must be how many times to try again, or a map with `times`");
    };
    if (!r->is(Kind::kMap)) return times(*r);
    constexpr std::array<std::string_view, 5> kKeys{"times", "delay", "backoff", "factor", "most"};
    check_keys(*r, kKeys, "`retry`");
    if (const Value* x = find(*r, {"times"})) times(*x);
    if (const Value* x = find(*r, {"delay", "backoff"}))
      if (auto n = number(*x, "`delay`")) a.retry.delay = *n;
    if (const Value* x = find(*r, {"factor"}))
      if (auto n = number(*x, "`factor`")) a.retry.factor = *n;
    if (const Value* x = find(*r, {"most"}))
      if (auto n = number(*x, "`most`")) a.retry.most = *n;
  }

  void read_ports(const Value* v, const Value* groups, std::vector<PortSource>& ports) {
    if (!v || !wants(*v, Kind::kMap, "a list of ports")) return;
    for (const Entry& e : v->entries()) {
      PortSource p;
      p.name = {e.key, at(e.value)};
      const Value* where = &e.value;
      if (where->is(Kind::kMap)) {
        constexpr std::array<std::string_view, 4> kKeys{"places", "group", "data", "doc"};
        check_keys(*where, kKeys, fmt::format("port `{}`", e.key.text()));
        if (const Value* d = find(*where, {"data"})) p.data = *d;
        const Value* inner = find(*where, {"places", "group"});
        if (!inner) {
          error("MODEL-MISSING", e.value, fmt::format("port `{}` has no `places`", e.key.text()));
          continue;
        }
        where = inner;
      }
      if (where->is(Kind::kString) && groups)  // a group by its name
        if (const Entry* g = groups->find(where->text())) where = &g->value;
      p.places = names(*where, "a place");
      ports.push_back(std::move(p));
    }
  }
};

}  // namespace

std::optional<Duration> read_duration(Session& session, const Value& v) {
  Reader r(session);
  if (!v.is(Kind::kMap)) {
    auto n = r.number(v, "a duration");
    if (!n) return std::nullopt;
    if (*n < 0) r.error("MODEL-NUMBER", v, "a duration cannot be negative");
    return Duration::fixed(*n);
  }
  constexpr std::array<std::string_view, 6> kKeys{"mean", "sd", "min", "max", "exponential", "fixed"};
  r.check_keys(v, kKeys, "a duration");
  auto get = [&](std::string_view k) -> std::optional<double> {
    const Entry* e = v.find(k);
    auto n = e ? r.number(e->value, k) : std::nullopt;
    if (n && *n < 0) r.error("MODEL-NUMBER", e->value, fmt::format("`{}` of a duration cannot be negative", k));
    return n;
  };
  if (auto m = get("mean")) return Duration{Duration::Law::kNormal, *m, get("sd").value_or(0)};
  if (auto m = get("min")) return Duration{Duration::Law::kUniform, *m, get("max").value_or(*m)};
  if (auto m = get("exponential")) return Duration{Duration::Law::kExponential, *m, 0};
  if (auto m = get("fixed")) return Duration::fixed(*m);
  r.error("MODEL-DURATION", v, "a duration is a number, {mean, sd}, {min, max} or {exponential}");
  return std::nullopt;
}

std::vector<std::shared_ptr<ComponentType>> read_types(Session& session, const Value& types) {
  std::vector<std::shared_ptr<ComponentType>> out;
  TypeReader reader(session);
  if (!reader.wants(types, Kind::kMap, "`types`")) return out;
  for (const Entry& e : types.entries()) {
    if (e.field == Field::kHidden || e.field == Field::kOptional) continue;
    std::string_view name = e.key.text();
    if (e.field == Field::kDefinition && name.starts_with("#")) name.remove_prefix(1);
    auto source = reader.read(Symbol(name), e.value);
    if (!source) continue;
    if (auto type = compile(*source, session.diagnostics))
      out.push_back(std::make_unique<ComponentType>(std::move(*type)));
  }
  return out;
}

}  // namespace tutti::model
