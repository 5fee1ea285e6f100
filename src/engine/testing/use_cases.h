#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/system.h"

// The four synthetic use cases of the Concerto paper's evaluation: n dependencies, and a server that uses all of them.
// With their durations, and the closed formulas of its Table 2 for the three execution models.
namespace tutti::engine {

struct UseCase {
  u32 n = 1;
  std::vector<double> di, dr, du, sc, ss, sp;
  double sa = 0, sr = 0;

  enum class Kind : u8 { kDeployDeps, kUpdateNoServer, kDeployServer, kUpdateWithServer };

  static double most(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
  static double sum(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
  template <class F>
  double most_of(F f) const {
    double m = 0;
    for (u32 i = 0; i < n; ++i) m = std::max(m, f(i));
    return m;
  }

  double concerto(Kind k) const {
    switch (k) {
      case Kind::kDeployDeps: return most_of([&](u32 i) { return di[i] + dr[i]; });
      case Kind::kUpdateNoServer: return most_of([&](u32 i) { return du[i] + dr[i]; });
      case Kind::kDeployServer: return sa + most(sc) + sr;
      case Kind::kUpdateWithServer:
        return std::max(most_of([&](u32 i) { return du[i] + ss[i] + dr[i]; }),
                        sr + most_of([&](u32 i) { return ss[i] + sp[i]; }));
    }
    return 0;
  }
  double aeolus(Kind k) const {
    switch (k) {
      case Kind::kDeployServer: return sa + sum(sc) + sr;
      case Kind::kUpdateWithServer:
        return std::max(
            most_of([&](u32 i) { return du[i] + std::accumulate(ss.begin(), ss.begin() + i + 1, 0.0) + dr[i]; }),
            sr + sum(ss) + sum(sp));
      default: return concerto(k);
    }
  }
  double ansible(Kind k) const {
    switch (k) {
      case Kind::kDeployDeps: return most(di) + most(dr);
      case Kind::kUpdateNoServer: return sum(du) + most(dr);
      case Kind::kDeployServer: return sa + sum(sc) + sr;
      case Kind::kUpdateWithServer: return sum(du) + sum(ss) + sum(sp) + most(dr) + sr;
    }
    return 0;
  }

  model::System system(Kind kind) const {
    using namespace model;
    auto name = [](std::string_view s) { return Named{Symbol(s), {}}; };
    auto add = [](System& s, const TypeSource& t) {
      Diagnostics quiet;
      s.types.push_back(std::make_unique<ComponentType>(*compile(t, quiet)));
    };
    auto transition = [&](std::string_view t, std::string_view from, std::string_view to, bool alike = true) {
      TransitionSource x{name(t), name(from), {name(to)}, {}, {}};
      x.action.alike = alike;
      return x;
    };
    System s;
    TypeSource dep;
    dep.name = name("Dependency");
    dep.places = {name("uninstalled"), name("installed"), name("running")};
    dep.initial = {name("uninstalled")};
    dep.transitions = {transition("di", "uninstalled", "installed"), transition("dr", "installed", "running"),
                       transition("du", "running", "installed", false)};
    dep.behaviours = {{name("install"), {name("di"), name("dr")}}, {name("update"), {name("du")}}};
    dep.provides = {{name("config"), {name("installed"), name("running")}, {}},
                    {name("service"), {name("running")}, {}}};
    add(s, dep);
    bool with_server = kind == Kind::kDeployServer || kind == Kind::kUpdateWithServer;
    if (with_server) {
      TypeSource t;
      t.name = name("Server");
      t.places = {name("undeployed"), name("allocated"), name("configured"), name("running")};
      t.initial = {name("undeployed")};
      t.transitions = {transition("sa", "undeployed", "allocated"), transition("sr", "configured", "running")};
      BehaviourSource deploy{name("deploy"), {name("sa"), name("sr")}}, suspend{name("suspend"), {}};
      std::vector<Named> suspended;
      for (u32 i = 0; i < n; ++i) suspended.push_back(name(fmt::format("s{}", i)));
      for (u32 i = 0; i < n; ++i) {
        std::string conf = fmt::format("sconf{}", i), c = fmt::format("sc{}", i), j = fmt::format("sj{}", i),
                    x = fmt::format("ss{}", i), p = fmt::format("sp{}", i);
        t.places.push_back(name(conf));
        t.places.push_back(suspended[i]);
        t.transitions.push_back(transition(c, "allocated", conf));
        t.transitions.push_back(transition(j, conf, "configured"));
        t.transitions.push_back(transition(x, "running", suspended[i].name.text()));
        t.transitions.push_back(transition(p, suspended[i].name.text(), "configured"));
        deploy.transitions.push_back(name(c));
        deploy.transitions.push_back(name(j));
        suspend.transitions.push_back(name(x));
        suspend.transitions.push_back(name(p));
        PortSource config{name(fmt::format("config{}", i)), {name(conf), name("configured"), name("running")}, {}};
        config.places.insert(config.places.end(), suspended.begin(), suspended.end());
        t.uses.push_back(config);
        t.uses.push_back({name(fmt::format("service{}", i)), {name("running"), suspended[i]}, {}});
      }
      t.behaviours = {deploy, suspend};
      add(s, t);
    }
    bool fresh = kind == Kind::kDeployDeps;
    for (u32 i = 0; i < n; ++i) {
      Instance x;
      x.name = Symbol(fmt::format("dep{}", i));
      x.marking = {fresh ? 0u : 2u};
      x.present = !fresh;
      s.instances.push_back(x);
      s.durations[i] = {Duration::fixed(di[i]), Duration::fixed(dr[i]), Duration::fixed(du[i])};
    }
    auto put = [&](Op op, u32 i, u32 behaviour = kNone) {
      Instruction in;
      in.op = op;
      in.instance = i;
      in.behaviour = behaviour;
      s.program.push_back(in);
    };
    u32 server = n;
    if (with_server) {
      Instance x;
      x.name = Symbol("server");
      x.type = 1;
      x.marking = {kind == Kind::kDeployServer ? 0u : 3u};
      x.present = kind == Kind::kUpdateWithServer;
      s.instances.push_back(x);
      std::vector<Duration>& d = s.durations[server];
      d = {Duration::fixed(sa), Duration::fixed(sr)};
      for (u32 i = 0; i < n; ++i)
        for (double v : {sc[i], 0.0, ss[i], sp[i]}) d.push_back(Duration::fixed(v));
    }
    auto pairs = [&](auto&& f) {
      const ComponentType& dependency = *s.types[0];
      for (u32 i = 0; i < n; ++i) {
        f(2 * i, i, dependency.find_port(Symbol("config")));
        f(2 * i + 1, i, dependency.find_port(Symbol("service")));
      }
    };
    switch (kind) {
      case Kind::kDeployDeps:
        for (u32 i = 0; i < n; ++i) put(Op::kAdd, i), put(Op::kPush, i, 0);
        break;
      case Kind::kUpdateNoServer:
        for (u32 i = 0; i < n; ++i) put(Op::kPush, i, 1), put(Op::kPush, i, 0);
        break;
      case Kind::kDeployServer:
        put(Op::kAdd, server);
        pairs([&](u32 use, u32 i, u32 provide) {
          put(Op::kCon, server);
          s.program.back().port = use, s.program.back().provider = i, s.program.back().provide = provide;
        });
        put(Op::kPush, server, 0);
        break;
      case Kind::kUpdateWithServer:
        pairs([&](u32 use, u32 i, u32 provide) { s.links.push_back({server, use, i, provide}); });
        for (u32 i = 0; i < n; ++i) put(Op::kPush, i, 1), put(Op::kPush, i, 0);
        put(Op::kPush, server, 1);
        put(Op::kPush, server, 0);
        break;
    }
    s.assembly = fresh ? 0 : n;
    return s;
  }
};

}  // namespace tutti::engine
