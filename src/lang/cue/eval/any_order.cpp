#include <algorithm>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/print.h"

// Unification is commutative, but a reference that leads to what is being evaluated finds of it what is known by then,
// and that depends on which line was evaluated first. So where that happened the value is made a second time in an
// order that does not depend on the order of lines. If both are the same, or both are in error, all is well; otherwise
// the second is the value, whichever order the lines have.
namespace tutti::cue {

namespace {

// When so many steps are taken nothing is evaluated again: a third of those that one call may take, so that the second
// evaluation does not meet the limit. Known real packages take less than a hundredth of that.
constexpr u64 kMostSteps = 20'000'000;

// What a value says, as a number, without the order of fields and of disjuncts.
class Meaning {
 public:
  u64 of(Vertex* v) {
    v = v->deref_value();
    if (Bottom* b = v->bottom(); b && !(b->child_error && b->node == v)) {
      failed = true;
      return 1;
    }
    if (v->is_list()) {
      u64 h = to<ListMarker>(v->base)->open ? 2 : 3;
      for (Vertex* a : v->arcs) h = mixed(h, of(a));
      return h;
    }
    if (v->base && v->base->type != NodeType::kStructMarker && v->base->type != NodeType::kBottom)
      return value(v->base);
    u64 h = 4;
    for (Vertex* a : v->arcs)
      if (!a->label.is_let() && a->arc_type == ArcType::kMember) h += mixed(a->label.bits(), of(a));
    return h;
  }

  bool failed = false;

 private:
  static u64 mixed(u64 a, u64 b) {
    return (a ^ (a >> 29)) * 0x9e3779b97f4a7c15u + (b ^ (b >> 31)) * 0xbf58476d1ce4e5b9u;
  }

  u64 value(Node* n) {
    if (n->type == NodeType::kVertex) return of(to<Vertex>(n));
    if (n->type == NodeType::kConjunction) return set(to<Conjunction>(n)->values, 0);
    if (n->type == NodeType::kDisjunction) return set(to<Disjunction>(n)->values, to<Disjunction>(n)->defaults);
    return std::hash<std::string>()(compact(n));
  }

  u64 set(std::span<Node*> values, std::size_t defaults) {
    std::vector<u64> all;
    for (std::size_t i = 0; i < values.size(); ++i) all.push_back(mixed(i < defaults, value(values[i])));
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    u64 h = 5;
    for (u64 x : all) h = mixed(h, x);
    return h;
  }
};

}  // namespace

void Context::take_any_order(Vertex* v) try {
  if (budget.steps() > kMostSteps) return;
  Meaning first, second;
  u64 meant = first.of(v);
  Restore<bool> now(by_name, true);
  Vertex* other = new_vertex();
  other->label = v->label;
  for (const KeptConjunct& c : v->conjuncts) other->conjuncts.push(arena, c);
  unify(other, kWholeValue);
  bool same = second.of(other) == meant || (first.failed && second.failed);
  reclaim_all(other);
  if (same) return;
  start_again(v);
  unify(v, kWholeValue);
} catch (const LimitError&) {
  stack.clear();
  blocking.clear();
}

}  // namespace tutti::cue
