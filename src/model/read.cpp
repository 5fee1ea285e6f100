#include "model/read.h"

#include <fmt/format.h>

#include <array>
#include <unordered_set>

#include "model/program.h"
#include "model/reader.h"

namespace tutti::model {

namespace {

class SystemReader : public Reader {
 public:
  SystemReader(Session& session, const ReadOptions& options) : Reader(session), options_(options) {}

  std::optional<System> read(const Value& root) {
    std::size_t before = session_.diagnostics.errors();
    if (!wants(root, Kind::kMap, "a system")) return std::nullopt;
    const Value* types = find(root, {"types"});
    if (!types) {
      error("MODEL-MISSING", root, "there is no `types`")
          .note(find(root, {"components"}) ? "a system of `components` is planned: `tutti plan`, `tutti apply`"
                                           : "a system is {types, assembly: {instances, links}, program, durations}");
      return std::nullopt;
    }
    system_.types = read_types(session_, *types);
    if (session_.diagnostics.errors() != before) return std::nullopt;
    for (u32 i = 0; i < system_.types.size(); ++i) types_.emplace(system_.types[i]->name, i);
    read_parameters(root);
    if (const Value* a = find(root, {"assembly"}); a && wants(*a, Kind::kMap, "`assembly`")) {
      constexpr std::array<std::string_view, 4> kKeys{"instances", "links", "doc", "generation"};
      check_keys(*a, kKeys, "`assembly`");
      if (const Value* v = find(*a, {"instances"}); v && wants(*v, Kind::kMap, "`instances`"))
        for (const Entry& e : v->entries()) read_instance(e);
      system_.assembly = static_cast<u32>(system_.instances.size());
      if (const Value* v = find(*a, {"links"}); v && wants(*v, Kind::kList, "`links`"))
        for (const Value& link : v->items()) read_link(link);
    }
    if (session_.diagnostics.errors() != before) return std::nullopt;
    read_programs(root);
    if (session_.diagnostics.errors() != before) return std::nullopt;
    for (u32 i = 0; i < system_.instances.size(); ++i) by_name_[system_.instances[i].name].push_back(i);
    for_instances(root, "hosts", [&](const Entry& e) {
      if (auto host = name(e.value, "a host"))
        for (u32 i : by_name_[e.key]) system_.instances[i].host = host->name;
    });
    for_instances(root, "with", [&](const Entry& e) {
      for (u32 i : by_name_[e.key]) system_.instances[i].with = e.value;
    });
    for_instances(root, "durations", [&](const Entry& e) { read_durations(e); });
    if (session_.diagnostics.errors() != before) return std::nullopt;
    return std::move(system_);
  }

 private:
  // What is said of instances (or types) by their names. Of what is not there it is told and no error: one file of
  // measurements may serve many programs.
  void for_instances(const Value& root, std::string_view key, const std::function<void(const Entry&)>& read) {
    const Value* v = find(root, {key});
    if (!v || !wants(*v, Kind::kMap, fmt::format("`{}`", key))) return;
    for (const Entry& e : v->entries()) {
      if (by_name_.count(e.key) || types_.count(e.key)) {
        read(e);
        continue;
      }
      std::vector<Symbol> known;
      for (auto& i : system_.instances) known.push_back(i.name);
      session_.diagnostics
          .warning("MODEL-UNKNOWN-NAME", at(e.value), fmt::format("`{}`: there is no instance `{}`", key, e.key.text()))
          .did_you_mean(nearest(e.key, known).text());
    }
  }

  void read_parameters(const Value& root) {
    if (const Value* v = find(root, {"parameters"}); v && wants(*v, Kind::kMap, "`parameters`"))
      for (const Entry& e : v->entries())
        if (e.value.fits_i64()) parameters_[std::string(e.key.text())] = e.value.as_i64();
    for (const auto& [k, n] : options_.parameters) parameters_[k] = n;
  }

  u32 type_named(const Named& n) {
    if (auto it = types_.find(n.name); it != types_.end()) return it->second;
    std::vector<Symbol> known;
    for (const auto& t : system_.types) known.push_back(t->name);
    session_.diagnostics
        .error("MODEL-UNKNOWN-TYPE", n.at, fmt::format("there is no component type `{}`", n.name.text()))
        .did_you_mean(nearest(n.name, known).text());
    return kNone;
  }

  void read_instance(const Entry& e) {
    Instance n;
    n.name = e.key;
    n.at = at(e.value);
    n.present = true;
    const Value* type = &e.value;
    if (e.value.is(Kind::kMap)) {
      constexpr std::array<std::string_view, 8> kKeys{"type", "places", "place",   "marking",
                                                      "host", "with",   "outputs", "doc"};
      check_keys(e.value, kKeys, fmt::format("instance `{}`", e.key.text()));
      type = find(e.value, {"type"});
      if (!type) {
        error("MODEL-MISSING", e.value, fmt::format("instance `{}` has no `type`", e.key.text()));
        return;
      }
    }
    auto t = name(*type, "a component type");
    if (!t || (n.type = type_named(*t)) == kNone) return;
    const ComponentType& ct = *system_.types[n.type];
    n.marking = ct.initial;
    if (const Value* p = e.value.is(Kind::kMap) ? find(e.value, {"places", "place", "marking"}) : nullptr) {
      n.marking.clear();
      for (const Named& place : names(*p, "a place")) {
        u32 k = ct.find_element(place.name.text());
        if (k == kNone) {
          std::vector<Symbol> known;
          for (const Named& x : ct.places) known.push_back(x.name);
          session_.diagnostics
              .error("MODEL-UNKNOWN-NAME", place.at,
                     fmt::format("component type `{}` has no place `{}`", ct.name.text(), place.name.text()))
              .did_you_mean(nearest(place.name, known).text());
        } else {
          n.marking.push_back(k);
        }
      }
      std::sort(n.marking.begin(), n.marking.end());
      if (n.marking.empty()) error("MODEL-NO-TOKEN", *p, fmt::format("instance `{}` is in no place", e.key.text()));
    }
    if (const Value* h = e.value.is(Kind::kMap) ? find(e.value, {"host"}) : nullptr)
      if (auto host = name(*h, "a host")) n.host = host->name;
    if (const Value* w = e.value.is(Kind::kMap) ? find(e.value, {"with"}) : nullptr) n.with = *w;
    if (const Value* o = e.value.is(Kind::kMap) ? find(e.value, {"outputs"}) : nullptr;
        o && wants(*o, Kind::kMap, "`outputs`"))
      n.outputs = *o;
    instances_.emplace(n.name, static_cast<u32>(system_.instances.size()));
    system_.instances.push_back(std::move(n));
  }

  bool link_end(const Named& inst, const Named& port, u32& i, u32& p) {
    auto it = instances_.find(inst.name);
    if (it == instances_.end()) {
      std::vector<Symbol> known;
      for (const Instance& x : system_.instances) known.push_back(x.name);
      session_.diagnostics
          .error("MODEL-UNKNOWN-NAME", inst.at, fmt::format("there is no instance `{}`", inst.name.text()))
          .did_you_mean(nearest(inst.name, known).text());
      return false;
    }
    i = it->second;
    const ComponentType& t = system_.type_of(i);
    if ((p = t.find_port(port.name)) != kNone) return true;
    std::vector<Symbol> known;
    for (const Port& x : t.ports) known.push_back(x.name);
    session_.diagnostics
        .error("MODEL-UNKNOWN-PORT", port.at,
               fmt::format("`{}` ({}) has no port `{}`", inst.name.text(), t.name.text(), port.name.text()))
        .did_you_mean(nearest(port.name, known).text());
    return false;
  }

  void read_link(const Value& v) {
    std::vector<Named> n;
    auto end = [&](std::string_view side) {  // "instance.port"
      while (!side.empty() && side.front() == ' ') side.remove_prefix(1);
      while (!side.empty() && side.back() == ' ') side.remove_suffix(1);
      auto dot = side.rfind('.');
      if (dot == std::string_view::npos) return;
      n.push_back({Symbol(side.substr(0, dot)), at(v)});
      n.push_back({Symbol(side.substr(dot + 1)), at(v)});
    };
    if (v.is(Kind::kString)) {  // "user.port -> provider.port"
      std::string_view text = v.text(), user = text.substr(0, text.find("->"));
      end(user);
      if (user.size() < text.size()) end(text.substr(user.size() + 2));
    } else if (wants(v, Kind::kList, "a link")) {
      n = names(v, "a name");
      if (n.size() == 2) {  // [user.port, provider.port]
        std::vector<Named> sides = std::move(n);
        n.clear();
        for (const Named& side : sides) end(side.name.text());
      }
    } else {
      return;
    }
    if (n.size() != 4) {
      error("MODEL-LINK", v, "a link is [user.port, provider.port] or [user, port, provider, port]");
      return;
    }
    Link l;
    if (!link_end(n[0], n[1], l.user, l.use) || !link_end(n[2], n[3], l.provider, l.provide)) return;
    bool up = system_.type_of(l.user).ports[l.use].provide, pp = system_.type_of(l.provider).ports[l.provide].provide;
    if (up == pp) {
      error("MODEL-PORT-KINDS", v,
            fmt::format("`{}` and `{}` are both {} ports", system_.port_text(l.user, l.use),
                        system_.port_text(l.provider, l.provide), up ? "provide" : "use"));
      return;
    }
    if (up) std::swap(l.user, l.provider), std::swap(l.use, l.provide);
    if (l.user == l.provider) {
      error("MODEL-SELF-LINK", v,
            fmt::format("`{}` cannot be linked to itself", system_.instances[l.user].name.text()));
      return;
    }
    if (!linked_.insert(u64{l.user} << 32 | l.use).second) {
      error("MODEL-LINKED-TWICE", v, fmt::format("use port `{}` is linked twice", system_.port_text(l.user, l.use)));
      return;
    }
    system_.links.push_back(l);
  }

  void read_programs(const Value& root) {
    Programs programs;
    std::string main = options_.program.empty() ? "program" : options_.program;
    if (const Value* v = find(root, {"programs"}); v && wants(*v, Kind::kMap, "`programs`"))
      for (const Entry& e : v->entries()) read_program(session_, e.value, std::string(e.key.text()), programs);
    if (options_.text) {
      programs.erase(main);
      parse_program(session_, *options_.text, main, programs);
    } else if (const Value* v = find(root, {"program"})) {
      read_program(session_, *v, "program", programs);
    }
    if (!programs.count(main)) {
      if (!options_.program.empty())
        session_.diagnostics.error("PROGRAM-UNKNOWN-PROGRAM", {}, fmt::format("there is no program `{}`", main));
      return;
    }
    if (session_.diagnostics.ok()) unroll(session_, programs, main, parameters_, system_);
  }

  void read_durations(const Entry& e) {
    if (!wants(e.value, Kind::kMap, fmt::format("durations of `{}`", e.key.text()))) return;
    auto set = [&](const ComponentType& type, auto&& store) {
      for (const Entry& d : e.value.entries()) {
        u32 k = type.find_declared(d.key);
        if (k == kNone) {
          session_.diagnostics.error(
              "MODEL-UNKNOWN-NAME", at(d.value),
              fmt::format("component type `{}` has no transition `{}`", type.name.text(), d.key.text()));
          continue;
        }
        if (auto duration = read_duration(session_, d.value)) store(k, *duration);
      }
    };
    if (auto it = by_name_.find(e.key); it != by_name_.end() && !it->second.empty()) {
      for (u32 i : it->second) {
        const ComponentType& type = system_.type_of(i);
        auto& list = system_.durations[i];
        if (list.empty())
          for (const Action& a : type.actions) list.push_back(a.duration);
        set(type, [&](u32 k, const Duration& d) { list[k] = d; });
      }
    } else if (auto t = types_.find(e.key); t != types_.end()) {
      ComponentType& type = *system_.types[t->second];
      set(type, [&](u32 k, const Duration& d) { type.actions[k].duration = d; });
    }
  }

  const ReadOptions& options_;
  System system_;
  std::unordered_map<Symbol, u32> types_, instances_;
  std::unordered_map<Symbol, std::vector<u32>> by_name_;
  std::unordered_set<u64> linked_;
  std::map<std::string, i64> parameters_;
};

// The tree form of a program.
class ProgramReader : public Reader {
 public:
  ProgramReader(Session& session, const std::string& main, Programs& programs)
      : Reader(session), main_(main), programs_(programs) {}

  void read(const Value& v, std::vector<Statement>& to) {
    Budget::Level nesting(session_.budget);
    if (v.is(Kind::kString)) return text(v, to);
    if (!wants(v, Kind::kList, "a program")) return;
    for (const Value& item : v.items()) statement(item, to);
  }

 private:
  void text(const Value& v, std::vector<Statement>& to) {
    std::string where = session_.sources->show(at(v));
    auto source = session_.sources->add(where.empty() ? "program" : "program at " + where, std::string(v.text()));
    if (!source) {
      error("PROGRAM-TEXT", v, source.error().message);
      return;
    }
    Programs inner;
    if (!parse_program(session_, **source, main_, inner)) return;
    for (auto& [name_, statements] : inner) {
      if (name_ == main_)
        to.insert(to.end(), statements.begin(), statements.end());
      else
        programs_[name_] = std::move(statements);
    }
  }

  Word word(const Value& v) {
    auto n = name(v, "an argument");
    return n ? Word{std::string(n->name.text()), n->at} : Word{};
  }

  void instruction(const Value& v, std::string_view op, std::span<const Value> arguments, std::vector<Statement>& to) {
    Statement s;
    s.at = at(v);
    if (op == "call") {
      s.kind = Statement::Kind::kCall;
    } else if (auto known = op_named(op)) {
      s.op = *known;
    } else {
      constexpr std::array<std::string_view, 9> kNames{"add",  "del",      "con",  "dcon", "pushB",
                                                       "wait", "wait_all", "call", "for"};
      error("PROGRAM-UNKNOWN-INSTRUCTION", v, fmt::format("no instruction is called `{}`", op))
          .did_you_mean(nearest(op, kNames));
      return;
    }
    for (const Value& a : arguments) s.words.push_back(word(a));
    to.push_back(std::move(s));
  }

  void statement(const Value& v, std::vector<Statement>& to) {
    if (v.is(Kind::kString)) return text(v, to);
    if (v.is(Kind::kList)) {
      if (v.size() == 0 || !v.items()[0].is(Kind::kString)) {
        error("PROGRAM-SYNTAX", v, "an instruction is [\"pushB\", instance, behaviour] and so on");
        return;
      }
      return instruction(v, v.items()[0].text(), v.items().subspan(1), to);
    }
    if (!wants(v, Kind::kMap, "an instruction")) return;
    if (const Value* variable = find(v, {"for"})) {
      const Value *in = find(v, {"in"}), *body = find(v, {"do"});
      auto n = name(*variable, "a loop's variable");
      if (!n || !in || !body) {
        error("PROGRAM-SYNTAX", v, "a loop is {for: name, in: [first, last], do: [...]}");
        return;
      }
      Statement s;
      s.kind = Statement::Kind::kFor;
      s.at = at(v);
      s.variable = n->name.text();
      if (!wants(*in, Kind::kList, "`in`")) return;
      for (const Value& x : in->items()) s.words.push_back(word(x));
      s.range = s.words.size() == 2;
      read(*body, s.body);
      to.push_back(std::move(s));
      return;
    }
    if (v.size() != 1) {
      error("PROGRAM-SYNTAX", v, "an instruction as a map has one key, its name");
      return;
    }
    const Entry& e = v.entries()[0];
    std::vector<Value> one{e.value};
    instruction(v, e.key.text(),
                e.value.is(Kind::kList)   ? e.value.items()
                : e.value.is(Kind::kNull) ? std::span<const Value>{}
                                          : std::span<const Value>(one),
                to);
  }

  const std::string& main_;
  Programs& programs_;
};

}  // namespace

bool read_program(Session& session, const Value& value, const std::string& main, Programs& programs) {
  std::size_t before = session.diagnostics.errors();
  std::vector<Statement> statements;
  ProgramReader(session, main, programs).read(value, statements);
  programs[main] = std::move(statements);
  return session.diagnostics.errors() == before;
}

std::optional<System> read_system(Session& session, const Value& root, const ReadOptions& options) {
  return SystemReader(session, options).read(root);
}

}  // namespace tutti::model
