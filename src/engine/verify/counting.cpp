#include "engine/verify/counting.h"

#include <algorithm>

namespace tutti::engine {
namespace {

using model::ComponentType;
using model::Instruction;
using model::Op;

using Elements = std::vector<bool>;

// Where the tokens of one instance may be.
struct Whereabouts {
  bool present = false;
  u32 pushed = 0;
  Elements now;    // since the program last waited for it
  Elements after;  // once it has done all that was pushed: places
  std::vector<const Atom*> atoms;
  i64 surely = 0, perhaps = 0;  // of these
};

// All elements that behaviour b may mark, from tokens in `from`; and the places where it may leave them.
void follow(const ComponentType& t, u32 b, const Elements& from, Elements& passed, Elements& ends) {
  std::vector<u32> todo;
  Elements seen(t.elements);
  ends.assign(t.elements, false);
  auto mark = [&](u32 e) {
    if (seen[e]) return;
    seen[e] = true;
    passed[e] = true;
    if (t.is_place(e)) todo.push_back(e);
  };
  auto arrive = [&](const model::Outcome& o) {
    mark(o.ending);
    mark(t.place_element(t.stations[o.station].place));
  };
  auto run = [&](u32 k) {
    mark(t.transition_element(k));
    for (const model::Outcome& o : t.outcomes_of(t.transitions[k])) arrive(o);
  };
  for (u32 e = 0; e < t.elements; ++e) {
    if (!from[e]) continue;
    if (t.is_place(e))
      mark(e);
    else if (model::HalfWay h = t.half_way(e); h.ended)
      arrive(*h.ended);
    else
      run(h.transition);
  }
  while (!todo.empty()) {
    u32 place = todo.back();
    todo.pop_back();
    auto out = t.out(place, b);
    if (out.empty()) ends[place] = true;
    for (u32 k : out) run(k);
  }
}

class Counting {
 public:
  Counting(const model::System& system, const Expr& count)
      : system_(system), count_(count), at_(system.instances.size()) {
    for (const Expr& part : count.parts) at_[part.atom.instance].atoms.push_back(&part.atom);
    for (u32 i = 0; i < at_.size(); ++i)
      if (system.instances[i].present) appear(i);
  }

  // Holds at every point of the program, for all that is possible there.
  bool throughout() {
    if (!holds()) return false;
    for (const Instruction& in : system_.program) {
      pass(in);
      if (!holds()) return false;
    }
    return true;
  }

 private:
  void appear(u32 i) {
    const ComponentType& t = system_.type_of(i);
    Whereabouts& w = at_[i];
    w.present = true;
    w.now.assign(t.elements, false);
    for (u32 e : system_.instances[i].marking) w.now[e] = true;
    w.after = w.now;
    count(i);
  }

  void pass(const Instruction& in) {
    switch (in.op) {
      case Op::kAdd: appear(in.instance); break;
      case Op::kDel:
        at_[in.instance].present = false;
        count(in.instance);
        break;
      case Op::kPush: {
        Whereabouts& w = at_[in.instance];
        Elements ends;
        follow(system_.type_of(in.instance), in.behaviour, w.after, w.now, ends);
        w.after = std::move(ends);
        ++w.pushed;
        count(in.instance);
        break;
      }
      case Op::kWait:
        if (in.upto >= at_[in.instance].pushed) settle(in.instance);
        break;
      case Op::kWaitAll:
        for (u32 i = 0; i < at_.size(); ++i) settle(i);
        break;
      case Op::kCon:
      case Op::kDcon: break;
    }
  }

  void settle(u32 i) {
    at_[i].now = at_[i].after;
    count(i);
  }

  // What is known of an instance has changed: so may have how many there are.
  void count(u32 i) {
    Whereabouts& w = at_[i];
    surely_ -= w.surely, perhaps_ -= w.perhaps;
    w.surely = w.perhaps = 0;
    const ComponentType& t = system_.type_of(i);
    for (const Atom* a : w.atoms) {
      bool in = false, out = false;
      for (u32 e = 0; w.present && e < w.now.size(); ++e) {
        if (!w.now[e]) continue;
        bool has = a->kind == Atom::Kind::kPlace ? e == a->index : t.group.test(a->index, e);
        (has ? in : out) = true;
      }
      w.surely += in && !out;
      w.perhaps += in;
    }
    surely_ += w.surely, perhaps_ += w.perhaps;
  }

  bool holds() const {
    switch (count_.compare) {
      case Expr::Compare::kLess: return perhaps_ < count_.number;
      case Expr::Compare::kLessEqual: return perhaps_ <= count_.number;
      case Expr::Compare::kEqual: return surely_ == count_.number && perhaps_ == count_.number;
      case Expr::Compare::kNotEqual: return perhaps_ < count_.number || surely_ > count_.number;
      case Expr::Compare::kGreaterEqual: return surely_ >= count_.number;
      case Expr::Compare::kGreater: return surely_ > count_.number;
    }
    return false;
  }

  const model::System& system_;
  const Expr& count_;
  std::vector<Whereabouts> at_;
  i64 surely_ = 0, perhaps_ = 0;
};

}  // namespace

bool kept_by_counting(const model::System& system, const Property& property) {
  const Expr& e = property.expr;
  if (property.kind != Property::Kind::kAlways || e.kind != Expr::Kind::kCount) return false;
  bool plain = std::all_of(e.parts.begin(), e.parts.end(), [](const Expr& part) {
    return part.kind == Expr::Kind::kAtom &&
           (part.atom.kind == Atom::Kind::kPlace || part.atom.kind == Atom::Kind::kPort);
  });
  return plain && Counting(system, e).throughout();
}

}  // namespace tutti::engine
