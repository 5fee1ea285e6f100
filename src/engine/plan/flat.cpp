#include <fmt/format.h>

#include <algorithm>

#include "engine/plan/plan.h"
#include "model/program.h"
#include "model/read.h"

namespace tutti::engine {
namespace {

using model::kNone;

struct Broken {};

const Value& get(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  if (!e) throw Broken{};
  return e->value;
}
u32 number(const Value& v) {
  if (!v.fits_i64() || v.as_i64() < 0) throw Broken{};
  return static_cast<u32>(v.as_i64());
}
Symbol name(const Value& v) {
  if (!v.is(Kind::kString)) throw Broken{};
  return Symbol(v.text());
}

// The engine's view of an instance: its type and where it stands in it.
model::Instance instance_of(const PlannedInstance& planned, const model::System& s) {
  model::Instance i;
  i.name = Symbol(planned.name);
  i.type = s.find_type(Symbol(planned.type));
  if (i.type == kNone) throw Broken{};
  i.host = planned.host;
  i.present = planned.present;
  const model::ComponentType& type = *s.types[i.type];
  for (Symbol element : planned.marking) {
    i.marking.push_back(type.find_element(element.text()));
    if (i.marking.back() == kNone) throw Broken{};
  }
  std::sort(i.marking.begin(), i.marking.end());
  return i;
}

}  // namespace

std::optional<PlannedSystem> build_system(Session& session, const Value& flat) {
  std::size_t before = session.diagnostics.errors();
  PlannedSystem out;
  model::System& s = out.system;
  try {
    s.types = model::read_types(session, get(flat, "types"));
    if (session.diagnostics.errors() != before) return std::nullopt;
    for (const Value& v : get(flat, "instances").items()) {
      for (auto key : {"name", "type", "component", "kind", "host", "places", "present"}) get(v, key);
      PlannedInstance& planned = out.instances.emplace_back(read_planned(v));
      if (planned.marking.size() != get(v, "places").size()) throw Broken{};
      s.instances.push_back(instance_of(planned, s));
      if (planned.present) s.assembly = static_cast<u32>(s.instances.size());
      out.component_of.push_back(planned.component);
    }
    for (auto& planned : out.instances)
      for (auto& need : planned.needs)
        if (need.instance != kNone && need.instance >= s.instances.size()) throw Broken{};
    auto port = [&](u32 instance, const Value& v) {
      if (instance >= s.instances.size()) throw Broken{};
      u32 p = s.type_of(instance).find_port(name(v));
      if (p == kNone) throw Broken{};
      return p;
    };
    for (const Value& v : get(flat, "links").items()) {
      auto w = v.items();
      if (w.size() != 4) throw Broken{};
      s.links.push_back({number(w[0]), port(number(w[0]), w[1]), number(w[2]), port(number(w[2]), w[3])});
    }
    std::vector<u32> pushed(s.instances.size(), 0);
    for (const Value& v : get(flat, "program").items()) {
      auto w = v.items();
      model::Instruction i;
      if (w.empty()) throw Broken{};
      auto op = model::op_named(w[0].text());
      if (!op) throw Broken{};
      i.op = *op;
      if (w.size() > 1) {
        i.instance = number(w[1]);
        if (i.instance >= s.instances.size()) throw Broken{};
      }
      if (i.op == model::Op::kCon || i.op == model::Op::kDcon) {
        if (w.size() != 5) throw Broken{};
        i.port = port(i.instance, w[2]);
        i.provider = number(w[3]);
        i.provide = port(i.provider, w[4]);
      }
      if (i.op == model::Op::kPush) {
        i.behaviour = s.type_of(i.instance).find_behaviour(name(w[2]));
        if (i.behaviour == kNone) throw Broken{};
        ++pushed[i.instance];
      }
      if (i.op == model::Op::kWait) i.upto = pushed[i.instance];
      s.program.push_back(i);
    }
    if (const Entry* e = flat.find("invariants"))
      for (const Value& v : e->value.items()) {
        model::Invariant i;
        i.kind = get(v, "at_least").as_bool() ? model::Invariant::Kind::kAtLeast : model::Invariant::Kind::kAtMost;
        i.count = number(get(v, "count"));
        i.port = name(get(v, "port"));
        for (const Value& c : get(v, "of").items()) i.of.push_back(name(c));
        out.invariants.push_back(std::move(i));
        const Entry* cannot = v.find("cannot");
        out.cannot.emplace_back(cannot ? cannot->value.text() : "");
      }
  } catch (const Broken&) {
    session.diagnostics.error("PLAN-BROKEN", {}, "the plan is damaged or of another version");
    return std::nullopt;
  }
  return out;
}

}  // namespace tutti::engine
