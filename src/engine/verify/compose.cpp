#include "engine/verify/compose.h"

#include <algorithm>
#include <set>

namespace tutti::engine {

using model::ComponentType;
using model::Instruction;
using model::Link;
using model::Op;
using model::System;

Composition::Composition(const System& system) : system_(system) {
  u32 n = static_cast<u32>(system.instances.size());
  by_.resize(n);
  about_.resize(n);
  seen_.resize(n);
  links_.resize(n);
  for (const Link& l : system.links) links_[l.user].push_back(l);
  std::vector<bool> deleted(n);
  std::vector<std::vector<bool>> pushed(n);  // behaviours that the program asks for
  std::vector<Link> links = system.links;
  for (u32 k = 0; k < system.program.size(); ++k) {
    const Instruction& in = system.program[k];
    if (in.op == Op::kWaitAll) {
      wait_alls_.push_back(k);
      continue;
    }
    about_[in.instance].push_back(k);
    if (in.op == Op::kDel) deleted[in.instance] = true;
    if (in.op == Op::kCon) links.push_back({in.instance, in.port, in.provider, in.provide});
    if (in.op == Op::kPush) {
      pushed[in.instance].resize(system.type_of(in.instance).behaviours.size());
      pushed[in.instance][in.behaviour] = true;
    }
  }
  auto leaves = [&](u32 i, u32 port) {
    const ComponentType& t = system.type_of(i);
    for (u32 b = 0; b < pushed[i].size(); ++b) {
      if (!pushed[i][b]) continue;
      const u64* row = t.exits.row(b * t.ports.size() + port);
      if (std::any_of(row, row + t.exits.words(), [](u64 w) { return w != 0; })) return true;
    }
    return false;
  };
  for (const Link& l : links) {
    by_[l.user].push_back(l.provider);
    const ComponentType& user = system.type_of(l.user);
    const model::Marking& at = system.instances[l.user].marking;
    bool early = std::any_of(at.begin(), at.end(), [&](u32 e) { return user.group.test(l.use, e); });
    if (early || deleted[l.provider] || leaves(l.provider, l.provide)) by_[l.provider].push_back(l.user);
  }
}

std::vector<u32> Composition::closed(std::vector<u32> todo) const {
  ++round_;
  std::vector<u32> members;
  while (!todo.empty()) {
    u32 i = todo.back();
    todo.pop_back();
    if (seen_[i] == round_) continue;
    seen_[i] = round_;
    members.push_back(i);
    todo.insert(todo.end(), by_[i].begin(), by_[i].end());
  }
  std::sort(members.begin(), members.end());
  return members;
}

std::vector<u32> Composition::around(const Property& property) const {
  std::vector<u32> of;
  std::vector<Atom> atoms;
  atoms_of(property.expr, atoms);
  for (const Atom& a : atoms) of.push_back(a.instance);
  for (const EventPattern* e : {&property.a, &property.b, &property.c})
    for (const auto& [i, x] : e->what) of.push_back(i);
  return closed(std::move(of));
}

std::vector<std::vector<u32>> Composition::parts(u64 most_work) const {
  u32 n = static_cast<u32>(system_.instances.size());
  // Whoever influences nobody outside what influences it is the end of a part: of a loop, any of its members. Taken in
  // turn, an instance that an earlier part holds needs no part of its own.
  std::vector<bool> influences(n);
  for (u32 i = 0; i < n; ++i)
    for (u32 j : by_[i])
      if (j != i) influences[j] = true;
  std::vector<std::vector<u32>> kinds;
  std::set<std::vector<u32>> known;
  std::vector<bool> covered(n);
  std::vector<u32> number(n), positions, key;
  u64 work = 0;
  for (int ends : {1, 0})
    for (u32 i = 0; i < n; ++i) {
      if (covered[i] || (ends && influences[i])) continue;
      std::vector<u32> members = closed({i});
      if (members.size() == n) return {};
      positions = wait_alls_;
      for (u32 k = 0; k < members.size(); ++k) {
        covered[members[k]] = true;
        number[members[k]] = k;
        positions.insert(positions.end(), about_[members[k]].begin(), about_[members[k]].end());
      }
      if ((work += positions.size() + members.size()) > most_work) return {};
      std::sort(positions.begin(), positions.end());
      key.clear();
      for (u32 m : members) {
        const model::Instance& x = system_.instances[m];
        key.insert(key.end(), {x.type, x.present, static_cast<u32>(x.marking.size())});
        key.insert(key.end(), x.marking.begin(), x.marking.end());
      }
      for (u32 m : members)
        for (const Link& l : links_[m]) key.insert(key.end(), {kNone, number[m], l.use, number[l.provider], l.provide});
      key.push_back(kNone);
      for (u32 k : positions) {
        const Instruction& in = system_.program[k];
        auto of = [&](u32 x) { return x == kNone ? kNone : number[x]; };
        key.insert(key.end(), {static_cast<u32>(in.op), of(in.instance), in.port, of(in.provider), in.provide,
                               in.behaviour, in.upto});
      }
      if (known.insert(key).second) kinds.push_back(std::move(members));
    }
  return kinds;
}

System cut(const System& system, const std::vector<u32>& members) {
  System part;
  part.types = system.types;
  std::vector<u32> number(system.instances.size(), kNone);
  for (u32 k = 0; k < members.size(); ++k) {
    number[members[k]] = k;
    part.instances.push_back(system.instances[members[k]]);
    if (members[k] < system.assembly) ++part.assembly;
  }
  auto inside = [&](u32 i) { return i == kNone || number[i] != kNone; };
  for (const Link& l : system.links)
    if (inside(l.user) && inside(l.provider))
      part.links.push_back({number[l.user], l.use, number[l.provider], l.provide});
  for (Instruction in : system.program) {
    if (!inside(in.instance) || !inside(in.provider)) continue;
    if (in.instance != kNone) in.instance = number[in.instance];
    if (in.provider != kNone) in.provider = number[in.provider];
    part.program.push_back(in);
  }
  return part;
}

namespace {

void renumber(Expr& e, const std::vector<u32>& members) {
  auto of = [&](u32 i) {
    return static_cast<u32>(std::lower_bound(members.begin(), members.end(), i) - members.begin());
  };
  if (e.kind == Expr::Kind::kAtom) e.atom.instance = of(e.atom.instance);
  for (Expr& x : e.parts) renumber(x, members);
}

}  // namespace

Property cut(const Property& property, const std::vector<u32>& members) {
  Property p = property;
  renumber(p.expr, members);
  for (EventPattern* e : {&p.a, &p.b, &p.c})
    for (auto& [i, x] : e->what)
      i = static_cast<u32>(std::lower_bound(members.begin(), members.end(), i) - members.begin());
  return p;
}

}  // namespace tutti::engine
