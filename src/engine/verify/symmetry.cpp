#include "engine/verify/symmetry.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti::engine {

using model::ComponentType;
using model::Instruction;
using model::Op;

namespace {

// Can anything of the instance's end in more than one way?
bool has_choice(const Rules& rules, u32 i) {
  const ComponentType& t = rules.system().type_of(i);
  for (const Rules::Push& p : rules.pushes(i))
    for (u32 k : t.behaviours[p.behaviour].transitions)
      if (t.transitions[k].outcomes > 1) return true;
  for (u32 e : rules.system().instances[i].marking)
    if (t.is_transition(e) && t.transitions[t.element_transition(e)].outcomes > 1) return true;
  return false;
}

}  // namespace

Symmetry::Symmetry(const Rules& rules, const std::vector<Property>& properties) : rules_(rules) {
  const model::System& system = rules.system();
  u32 n = static_cast<u32>(system.instances.size());
  bool choices = rules.options().failures != 0 || !properties.empty();
  for (u32 i = 0; i < n && !choices; ++i) choices = has_choice(rules, i);
  if (!choices) return;

  roles_.resize(n);
  alone_.assign(n, false);
  read_roles(properties);
  about_.resize(n);
  for (u32 k = 0; k < system.program.size(); ++k) {
    const Instruction& in = system.program[k];
    if (in.instance != kNone) about_[in.instance].push_back(k);
    if (in.op == Op::kDel) alone_[in.instance] = true;
  }
  base_.assign(n, kNone);
  std::map<std::vector<u32>, u32> numbers;
  std::vector<u32> sizes;
  for (u32 i = 0; i < n; ++i) {
    if (alone_[i] || !rules.links_as_provider(i).empty()) continue;
    const model::Instance& x = system.instances[i];
    std::vector<u32> key{x.type, x.present, static_cast<u32>(x.marking.size())};
    key.insert(key.end(), x.marking.begin(), x.marking.end());
    key.insert(key.end(), roles_[i].begin(), roles_[i].end());
    base_[i] = numbers.emplace(std::move(key), static_cast<u32>(numbers.size())).first->second;
    sizes.resize(numbers.size());
    any_ = ++sizes[base_[i]] > 1 || any_;
  }
  if (!any_) return;

  u32 segment = 0;
  auto run_of = [&](u32 k) {  // 1: pushes that may come earlier, 2: waits, 0: neither
    const Instruction& in = system.program[k];
    if (in.op == Op::kWait && in.behaviour == kNone) return 2;
    return in.op == Op::kPush && rules.links_as_provider(in.instance).empty() && !alone_[in.instance] ? 1 : 0;
  };
  for (u32 k = 0; k < system.program.size(); ++k) {
    if (k && (run_of(k) == 0 || run_of(k) != run_of(k - 1))) ++segment;
    segment_.push_back(segment);
  }
  at_.resize(system.program.size() + 1);
}

// Where a property speaks of an instance: two that it mentions at the same unordered places may be exchanged in it.
void Symmetry::role_in(const Expr& e, std::vector<u32>& path) {
  bool unordered = e.kind == Expr::Kind::kCount || e.kind == Expr::Kind::kAnd || e.kind == Expr::Kind::kOr;
  for (u32 k = 0; k < e.parts.size(); ++k) {
    const Expr& part = e.parts[k];
    bool together = unordered && part.kind == Expr::Kind::kAtom;
    path.push_back(together ? kNone : k);
    if (part.kind == Expr::Kind::kAtom) {
      std::vector<u32>& role = roles_[part.atom.instance];
      role.push_back(static_cast<u32>(path.size()));
      role.insert(role.end(), path.begin(), path.end());
      role.push_back(static_cast<u32>(part.atom.kind));
      role.push_back(part.atom.index);
      if (!together || part.atom.kind == Atom::Kind::kIdle) alone_[part.atom.instance] = true;
    } else {
      role_in(part, path);
    }
    path.pop_back();
  }
}

void Symmetry::read_roles(const std::vector<Property>& properties) {
  for (u32 k = 0; k < properties.size(); ++k) {
    const Property& p = properties[k];
    std::vector<u32> path{k};
    Expr top;  // so that an atom alone has a place too
    top.kind = Expr::Kind::kNot;
    top.parts.push_back(p.expr);
    role_in(top, path);
    for (const EventPattern* e : {&p.a, &p.b, &p.c}) {
      std::vector<std::pair<u32, u32>> what = e->what;
      std::sort(what.begin(), what.end());
      for (const auto& [i, x] : what) {
        roles_[i].push_back(static_cast<u32>(e - &p.a));
        roles_[i].insert(roles_[i].end(), {k, x});
      }
    }
  }
}

const Symmetry::Classes& Symmetry::classes_at(u32 pc) {
  auto& slot = at_[pc];
  if (slot) return *slot;
  slot = std::make_unique<Classes>();
  const model::System& system = rules_.system();
  std::map<std::vector<u32>, std::vector<u32>> found;
  std::vector<u32> key;
  for (u32 i = 0; i < base_.size(); ++i) {
    if (base_[i] == kNone || !rules_.present_at(i, pc)) continue;
    key.assign({base_[i]});
    u32 pushed = rules_.pushed_at(i, pc);
    for (u32 k = 0; k < pushed; ++k) key.push_back(rules_.pushes(i)[k].behaviour);
    bool ok = true;
    for (u32 k : rules_.links_as_user(i)) {
      const Rules::LinkSpan& l = rules_.link(k);
      if (l.to != kNone && l.to < pc) continue;  // gone
      if (l.from > pc || l.to != kNone) ok = false;
      key.insert(key.end(), {kNone, l.use, l.provider, l.provide});
    }
    key.push_back(kNone);
    auto next = std::lower_bound(about_[i].begin(), about_[i].end(), pc);
    for (; ok && next != about_[i].end(); ++next) {
      const Instruction& in = system.program[*next];
      if (in.op != Op::kPush && (in.op != Op::kWait || in.behaviour != kNone)) ok = false;
      key.insert(key.end(), {segment_[*next], static_cast<u32>(in.op), in.behaviour, in.upto});
    }
    if (ok) found[key].push_back(i);
  }
  for (auto& [k, members] : found)
    if (members.size() > 1) slot->push_back(std::move(members));
  return *slot;
}

void Symmetry::sort(u64* s, std::vector<u32>* from) {
  if (from) {
    from->resize(rules_.system().instances.size());
    std::iota(from->begin(), from->end(), 0);
  }
  if (!any_) return;
  for (const std::vector<u32>& members : classes_at(rules_.pc(s))) {
    if (held_.size() < members.size()) held_.resize(members.size());
    order_.resize(members.size());
    bool sorted = true;
    for (u32 k = 0; k < members.size(); ++k) {
      rules_.take(s, members[k], held_[k]);
      order_[k] = k;
      sorted = sorted && (k == 0 || held_[k - 1] <= held_[k]);
    }
    if (sorted) continue;
    std::stable_sort(order_.begin(), order_.end(), [&](u32 a, u32 b) { return held_[a] < held_[b]; });
    for (u32 k = 0; k < members.size(); ++k) {
      rules_.put(s, members[k], held_[order_[k]]);
      if (from) (*from)[members[k]] = members[order_[k]];
    }
  }
}

}  // namespace tutti::engine
