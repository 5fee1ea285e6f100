#include "lang/cue/reference/closures.h"

#include <algorithm>
#include <map>
#include <set>

namespace tutti::cue::kcue {

namespace {

// Operands within operands: a projection that is still not decided at this depth feeds itself.
constexpr int kMostOperands = 10;

struct Place;

// The places whose fields the references of a term can name, innermost first; nullptr for one that none of them does.
// What differs only in such is the same.
struct Scopes {
  const Scopes* outer;
  Place* place;
};

struct Closure {
  const Term* term;
  const Scopes* scopes;  // around the place it is at
  auto operator<=>(const Closure&) const = default;
};

enum class Lack : u8 { kNothing, kPerhaps, kSomething };

struct Place {
  Place* parent;  // nullptr for the program and for operands
  int depth = 0;
  int operands = 0;  // how many operands it lies in
  bool present = false, visible = false, wanted = false, queued = false;
  bool undecided = false;
  Lack lack = Lack::kNothing;
  std::string value = "_";
  std::vector<Closure> closures;
  std::set<Closure> known;
  std::size_t done = 0;
  std::set<Place*> receivers;
  std::map<std::string, Place*> fields;
  std::vector<std::pair<Place*, std::string>> projections;  // operand and label
};

struct GivenUp {};

// A closure at a place, and those that brought it there.
using At = std::pair<Place*, Closure>;
using Causes = std::map<At, std::set<At>>;

class Closures {
 public:
  Closures(int most_depth, std::size_t most, bool keep_causes)
      : most_depth_(most_depth), room_(most), keep_causes_(keep_causes) {}

  // Whether something was projected from a constant: then it matters where that came from.
  bool meets_constants() const { return meets_constants_; }

  Decided run(const TermPtr& program) {
    Place* root = make(nullptr, 0, 0);
    try {
      add(root, {program.get(), nullptr}, {});
      show_place(root);
      while (!queue_.empty()) {
        Place* p = queue_.back();
        queue_.pop_back();
        p->queued = false;
        while (p->done < p->closures.size()) take(p, p->closures[p->done++]);
      }
    } catch (const GivenUp&) {
      return {End::kUnknown, "~"};
    }
    settle();
    for (Place* p : cut_)
      if (!hide(p)) return {End::kEndless, "~"};
    return {End::kFixPoint, text(root)};
  }

 private:
  Place* make(Place* parent, int depth, int operands) {
    places_.push_back(std::make_unique<Place>());
    Place* p = places_.back().get();
    p->parent = parent;
    p->depth = depth;
    p->operands = operands;
    return p;
  }

  Place* child(Place* p, const std::string& label) {
    Place*& c = p->fields[label];
    if (!c) c = make(p, p->depth + 1, p->operands);
    return c;
  }

  // Of the scopes around a term: bit k for the k-th outwards when a reference leads there.
  u64 used(const Term* t) {
    if (auto it = used_.find(t); it != used_.end()) return it->second;
    u64 out = 0;
    if (t->kind == TermKind::kRef && t->depth > 0) out = u64{1} << (t->depth - 1);
    if (t->inner) out = used(t->inner.get()) >> 1;
    for (auto& x : t->all) out |= used(x.get());
    return used_[t] = out;
  }

  const Scopes* trimmed(u64 mask, const Scopes* s) {
    if (!mask) return nullptr;
    return inside(trimmed(mask >> 1, s->outer), mask & 1 ? s->place : nullptr);
  }

  const Scopes* inside(const Scopes* outer, Place* p) {
    auto& s = scopes_[{outer, p}];
    if (!s) s = std::make_unique<Scopes>(Scopes{outer, p});
    return s.get();
  }

  void want(Place* p) {
    for (; p && !p->wanted; p = p->parent) {
      p->wanted = true;
      enqueue(p);
    }
  }

  void enqueue(Place* p) {
    if (p->queued) return;
    p->queued = true;
    queue_.push_back(p);
  }

  void show_place(Place* p) {
    if (p->visible) return;
    if (p->depth > most_depth_) {
      cut_.push_back(p);
      return;
    }
    p->visible = true;
    want(p);
    for (auto& [label, c] : p->fields)
      if (c->present) show_place(c);
  }

  void add(Place* p, Closure c, const At& cause) {
    c.scopes = trimmed(used(c.term), c.scopes);
    if (keep_causes_) causes_[{p, c}].insert(cause);
    if (!p->known.insert(c).second) return;
    if (room_-- == 0) throw GivenUp{};
    p->closures.push_back(c);
    if (p->wanted) enqueue(p);
    for (Place* r : p->receivers) add(r, c, {p, c});
  }

  // What is at `from`, now or later, is at `to` as well.
  void include(Place* to, Place* from) {
    want(from);
    if (to == from || !from->receivers.insert(to).second) return;
    for (std::size_t i = 0; i < from->closures.size(); ++i) add(to, from->closures[i], {from, from->closures[i]});
  }

  void take(Place* p, Closure c) {
    const Term& t = *c.term;
    switch (t.kind) {
      case TermKind::kConst: p->value = meet(p->value, t.text); break;
      case TermKind::kAll:
        for (auto& x : t.all) add(p, {x.get(), c.scopes}, {p, c});
        break;
      case TermKind::kField: {
        Place* f = child(p, t.text);
        f->present = true;
        add(f, {t.inner.get(), inside(c.scopes, p)}, {p, c});
        if (p->visible) show_place(f);
        break;
      }
      case TermKind::kRef: {
        Place* scope = p;
        const Scopes* s = c.scopes;
        for (int i = 0; i < t.depth; ++i, s = s->outer) scope = s->place;
        include(p, child(scope, t.text));
        break;
      }
      case TermKind::kProject: {
        Closure inner{t.inner.get(), trimmed(used(t.inner.get()), inside(c.scopes, p))};
        Place*& operand = operands_[inner];
        if (!operand) {
          if (p->operands >= kMostOperands) {
            p->undecided = true;
            operands_.erase(inner);
            break;
          }
          operand = make(nullptr, 0, p->operands + 1);
          add(operand, inner, {p, c});
        }
        p->projections.emplace_back(operand, t.text);
        include(p, child(operand, t.text));
        break;
      }
    }
  }

  static bool lies_in(const Place* p, const Place* outer) {
    while (p && p != outer) p = p->parent;
    return p;
  }

  // Whether a closure would be where it is without what is at p and in it.
  bool comes_without(const Place* p, const At& at, std::set<At>& seen) {
    if (!at.first) return true;  // the program
    if (lies_in(at.first, p) || !seen.insert(at).second) return false;
    auto& causes = causes_[at];
    return std::any_of(causes.begin(), causes.end(), [&](const At& c) { return comes_without(p, c, seen); });
  }

  // The published rules stop at the projection of a constant; the language makes it an error. Of a constant that is
  // there only because of the place that projects from it the rules are followed: the projection stays.
  bool wrong(const Place* p, const Place* operand) {
    if (operand->value == "_") return false;
    meets_constants_ = true;
    if (!keep_causes_ || operand->value == "_|_") return true;
    std::set<At> seen;
    return std::any_of(operand->closures.begin(), operand->closures.end(), [&](const Closure& c) {
      return c.term->kind == TermKind::kConst && c.term->text != "_" &&
             comes_without(p, {const_cast<Place*>(operand), c}, seen);
    });
  }

  // What each place has come to: its constant, and whether a projection at it, or at one its operands come from, found
  // nothing.
  void settle() {
    for (auto& p : places_) {
      for (auto& [label, c] : p->fields)
        if (c->present && p->value != "_") p->value = "_|_";
      for (auto& [operand, label] : p->projections)
        if (!operand->fields[label]->present) p->lack = Lack::kSomething;
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (auto& p : places_)
        for (auto& [operand, label] : p->projections) {
          if (p->value != "_|_" && wrong(p.get(), operand)) {
            p->value = "_|_";
            changed = true;
          }
          if (operand->lack != Lack::kNothing && p->lack == Lack::kNothing) {
            p->lack = Lack::kPerhaps;
            changed = true;
          }
        }
    }
  }

  // What lies within an error is not seen, and within what lacks something perhaps not.
  bool hide(Place* p) {
    while ((p = p->parent)) {
      if (p->value == "_|_") return true;
      if (p->lack == Lack::kNothing) continue;
      p->undecided = true;
      return true;
    }
    return false;
  }

  std::string text(Place* p) {
    if (p->value == "_|_") return "!";
    std::string out = p->lack == Lack::kNothing ? "" : p->lack == Lack::kPerhaps ? "%" : "?";
    for (auto& [operand, label] : p->projections)
      if (operand->undecided) p->undecided = true;
    if (p->undecided) return out + "~";
    std::string fields;
    for (auto& [label, c] : p->fields)
      if (c->present) fields += (fields.empty() ? "" : ",") + label + ":" + text(c);
    return out + (fields.empty() ? p->value : "{" + fields + "}");
  }

  int most_depth_;
  std::size_t room_;
  bool keep_causes_, meets_constants_ = false;
  Causes causes_;
  std::vector<Place*> cut_;  // those that would be visible but lie too deep
  std::vector<std::unique_ptr<Place>> places_;
  std::map<std::pair<const Scopes*, Place*>, std::unique_ptr<Scopes>> scopes_;
  std::map<const Term*, u64> used_;
  std::map<Closure, Place*> operands_;
  std::vector<Place*> queue_;
};

}  // namespace

namespace {
Decided run_to_depth(const TermPtr& program, int depth, std::size_t most) {
  Closures first(depth, most, false);
  Decided out = first.run(program);
  return first.meets_constants() ? Closures(depth, most, true).run(program) : out;
}
}  // namespace

// How deep fields lie in a program as it is written.
static int height(const Term& t) {
  int most = t.inner ? height(*t.inner) + (t.kind == TermKind::kField) : 0;
  for (auto& x : t.all) most = std::max(most, height(*x));
  return most;
}

Decided run_closures(const TermPtr& program, int most_depth, std::size_t most_closures) {
  // A few levels are enough for most programs; a structure without end fills any number of them, and soon all the room.
  // A program that is deep itself may end below what was looked at: nothing is known of it then.
  const int least = 2 * height(*program);
  int looked_at = most_depth / 4;
  Decided out = run_to_depth(program, looked_at, most_closures);
  for (int depth : {most_depth / 2, most_depth}) {
    if (out.end != End::kEndless) break;
    Decided more = run_to_depth(program, depth, most_closures);
    if (more.end == End::kUnknown) break;
    out = more;
    looked_at = depth;
  }
  if (out.end == End::kEndless && looked_at < least) return {End::kUnknown, "~"};
  return out;
}

}  // namespace tutti::cue::kcue
