#include <algorithm>
#include <unordered_set>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/scalar.h"

// What the rules of cycle.cpp take for a cycle may still come to an end: a reference that accumulates the same once
// more. And a field may be looked for before a reference has brought it. So where such a thing was met the whole value
// is made a second time, in the plain way of the published core of the language: all references are followed first,
// each conjunct being taken once at each place, and what is selected is taken from a field that need not be there yet,
// until nothing is new any more. Only then are values made of the conjuncts. A value that gets deeper and deeper has no
// end.
namespace tutti::cue {

namespace {

constexpr i32 kDeepest = 40;          // in fields within fields
constexpr int kDeepestHidden = 2000;  // in what is only selected from
constexpr int kMostWithin = 10;       // operands within operands: what comes through more of them feeds itself
constexpr u64 kStepsToUnfold = 300'000;

constexpr u64 kManyCyclic = 5000;  // conjuncts: few programs have so many, and those that do mostly have no end

struct GivenUp {
  const Vertex* too_deep = nullptr;  // what got deeper and deeper, if something did
};
struct TooCyclic {};

}  // namespace

// Follows the references of a value to their fix point.
class Unfolding {
 public:
  // What is missing from a literal is told at once, or else by evaluating it in the usual way, which has better words
  // but may go round.
  Unfolding(Context& c, bool at_once) : ctx_(c), at_once_(at_once), until_(c.budget.steps() + kStepsToUnfold) {}

  void run(Vertex* root) {
    do {
      changed_ = false;
      endless_.clear();
      visible(root, 0);
      for (std::size_t i = 0; i < wanted_.size(); ++i) take_in(wanted_[i]);
    } while (changed_);
    find_wrong_literals();
    for (auto& f : followed_) settle(f);
    for (Vertex* v : endless_) {
      v->state->report_cycle();
      v->status = Status::kFinalized;
    }
  }

 private:
  struct Followed {
    Task* task;
    Vertex* arc;
    Vertex* operand;  // it was selected from
    bool in_literal;  // which is a literal, or a part of one
  };

  void look() {
    ctx_.budget.step();
    if (ctx_.budget.steps() > until_) throw GivenUp{};
  }

  void visible(Vertex* v, i32 depth) {
    look();
    Level level(ctx_);
    if (depth > kDeepest) throw GivenUp{v};
    if (v->base && v->base->type == NodeType::kVertex) return;
    take_in(v);
    if (holds_what_it_lies_in(v)) {
      endless_.push_back(v);
      return;
    }
    for (u32 i = 0; i < v->arcs.size(); ++i)
      if (v->arcs[i]->arc_type == ArcType::kMember) visible(v->arcs[i], depth + 1);
  }

  // All that an ancestor has it has as well, and so another one of itself, and so on.
  static bool holds_what_it_lies_in(const Vertex* v) {
    return v->state && std::any_of(v->state->arc_map.begin(), v->state->arc_map.end(),
                                   [&](const Vertex* of) { return v != of && lies_within(v, of); });
  }

  // What is selected from is looked at, and what it lies in, but not all that lies beside it.
  void want(Vertex* v) {
    for (; v && known_.insert(v).second; v = v->parent) {
      wanted_.push_back(v);
      changed_ = true;
    }
  }

  void take_in(Vertex* v) {
    State* n = ctx_.state(v);
    if (!n) return;
    for (std::size_t i = 0; i < n->tasks.size(); ++i) {
      Task* t = n->tasks[i];
      if (t->run != TaskKind::kResolver) throw GivenUp{};
      if (t->state == TaskState::kReady && seen_.insert(t).second) follow(t);
    }
  }

  void follow(Task* t) {
    look();
    changed_ = true;
    ArcScope at(ctx_, t->node->node);
    EvalScope scope(ctx_, Conjunct{t->env, t->x, t->id});
    Vertex* operand = nullptr;
    Vertex* arc = target(t->x, &operand);
    if (!arc) throw GivenUp{};
    if (arc == ctx_.empty_node) return done(t);
    followed_.push_back({t, arc, operand, in_literal(operand)});
    t->node->schedule_vertex({t->env, t->x, ctx_.ci}, arc, ctx_.ci);
  }

  // What a reference leads to, there or not; nullptr where more than names of fields is involved.
  Vertex* target(Node* x, Vertex** operand) {
    Vertex* n;
    Label l;
    if (x->type == NodeType::kFieldRef) {
      n = ctx_.rel_node(to<FieldRef>(x)->up);
      l = to<FieldRef>(x)->label;
    } else if (x->type == NodeType::kSelector) {
      Node* of = to<Selector>(x)->x;
      Vertex* before = nullptr;
      n = of->type == NodeType::kStruct ? literal(to<StructLit>(of)) : target(of, &before);
      if (!n || n == ctx_.empty_node) return n;
      *operand = n;
      l = to<Selector>(x)->label;
    } else {
      return nullptr;
    }
    n = n->deref_value();
    want(n);
    State* s = ctx_.state(n);
    Vertex* arc = n->find_raw(l);
    if (arc || !s) return arc;
    return s->get_arc(l, ArcType::kPending);
  }

  Vertex* literal(StructLit* x) {
    auto& made = operands_[x];
    for (auto& [env, v] : made)
      if (ctx_.same_scopes(env, ctx_.e, ctx_.scopes_of(x))) return v;
    const Vertex* in = ctx_.vertex;
    while (in->parent) in = in->parent;
    auto outer = within_.find(in);
    int within = outer == within_.end() ? 1 : outer->second + 1;
    if (within > kMostWithin) return ctx_.empty_node;
    Conjunct c{ctx_.e, x, ctx_.ci};
    Vertex* v = ctx_.inline_vertex(nullptr, &c);
    within_[v] = within;
    made.push_back({ctx_.e, v});
    return v;
  }

  bool in_literal(const Vertex* v) const {
    for (int depth = 0; v && v->parent; v = v->parent)
      if (++depth > kDeepestHidden) throw GivenUp{};
    return within_.contains(v);
  }

  // A literal is looked into without being evaluated. What is selected in it from a plain value makes it wrong all the
  // same, and so what is selected from it; but not when the value is there only because of the literal.
  void find_wrong_literals() {
    for (bool more = true; more;) {
      more = false;
      for (auto& f : followed_) {
        Vertex* at = f.task->node->node;
        if (!f.operand || wrong_.contains(at)) continue;
        auto from = wrong_.find(f.operand);
        std::unordered_set<const Vertex*> asked;
        bool plain = f.operand->state && f.operand->state->scalar && in_literal(at);
        if (from == wrong_.end() && !(plain && is_plain_without(at, f.operand, asked))) continue;
        Bottom* error = from == wrong_.end() ? not_a_struct(f) : from->second;
        wrong_[at] = error;
        f.task->node->add_bottom(error);
        done(f.task);
        more = true;
      }
    }
  }

  Bottom* not_a_struct(const Followed& f) {
    ArcScope at(ctx_, f.task->node->node);
    EvalScope scope(ctx_, Conjunct{f.task->env, f.task->x, f.task->id});
    const Node* of = to<Selector>(f.task->x)->x;
    ctx_.add_errf(Code::kEval, of->pos, "invalid operand {} (found {}, want list or struct)", of,
                  ctx_.kinds(f.operand->state->scalar));
    return scope.pop();
  }

  // Whether a vertex has a plain value that does not come from what lies in `from`.
  bool is_plain_without(const Vertex* from, const Vertex* v, std::unordered_set<const Vertex*>& asked) const {
    if (lies_within(v, from) || !asked.insert(v).second) return false;
    for (auto& c : v->conjuncts)
      if (is_scalar(expression_of(c.x))) return true;
    return std::ranges::any_of(
        followed_, [&](const Followed& f) { return f.task->node->node == v && is_plain_without(from, f.arc, asked); });
  }

  // A reference that has found its field is done. The others are evaluated in the usual way, which says what is wrong.
  void settle(const Followed& f) {
    if (f.task->state != TaskState::kReady) return;
    if (const State* s = f.operand ? f.operand->state.get() : nullptr; s && (s->scalar || s->errs)) return;
    if (f.arc->arc_type != ArcType::kMember) {
      if (!at_once_ || !f.in_literal) return;
      ArcScope at(ctx_, f.task->node->node);
      EvalScope scope(ctx_, Conjunct{f.task->env, f.task->x, f.task->id});
      ctx_.index_error(f.operand, f.task->x->pos, f.arc->label);
      f.task->node->add_bottom(scope.pop());
    }
    done(f.task);
  }

  static void done(Task* t) {
    t->state = TaskState::kSuccess;
    Cond c = t->completes;
    t->completes = 0;
    t->node->decrement(c);
  }

  struct Operand {
    Environment* env;
    Vertex* value;
  };

  Context& ctx_;
  bool at_once_;
  u64 until_;
  bool changed_ = false;
  std::vector<Vertex*> wanted_;
  std::unordered_set<const Vertex*> known_;
  std::unordered_set<const Task*> seen_;
  std::vector<Followed> followed_;
  std::vector<Vertex*> endless_;  // those that hold what they lie in: the first on each way down
  std::unordered_map<const StructLit*, std::vector<Operand>> operands_;
  std::unordered_map<const Vertex*, Bottom*> wrong_;  // literals and what is selected from them
  std::unordered_map<const Vertex*, int> within_;     // how many operands each of them lies in
};

namespace {

// Whether a program is of the core: fields, references, selections, conjunctions and plain values.
bool of_core(Context& ctx, const Node* x) {
  Level level(ctx);
  switch (x->type) {
    case NodeType::kFieldRef: return to<FieldRef>(x)->label.is_string() && !to<FieldRef>(x)->optional;
    case NodeType::kSelector:
      return to<Selector>(x)->label.is_string() && !to<Selector>(x)->optional && of_core(ctx, to<Selector>(x)->x);
    case NodeType::kBinary:
      return to<Binary>(x)->op == Op::kAnd && of_core(ctx, to<Binary>(x)->x) && of_core(ctx, to<Binary>(x)->y);
    case NodeType::kField:
      return to<Field>(x)->arc == ArcType::kMember && to<Field>(x)->label.is_string() &&
             of_core(ctx, to<Field>(x)->value);
    case NodeType::kStruct: {
      auto& decls = to<StructLit>(x)->decls;
      return std::all_of(decls.begin(), decls.end(), [&](const Node* d) { return of_core(ctx, d); });
    }
    case NodeType::kBottom:
    case NodeType::kTop:
    case NodeType::kBasicType: return true;
    default: return is_scalar(x);
  }
}

bool of_core(Context& ctx, const Vertex* v) {
  return !v->conjuncts.empty() && std::all_of(v->conjuncts.begin(), v->conjuncts.end(),
                                              [&](const KeptConjunct& c) { return of_core(ctx, expression_of(c.x)); });
}

}  // namespace

// As it was before anything of it was evaluated.
void Context::start_again(Vertex* v) {
  reclaim_all(v);
  Vertex fresh;
  fresh.label = v->label;
  fresh.conjuncts = v->conjuncts;
  fresh.is_dynamic = v->is_dynamic;
  fresh.non_rooted = v->non_rooted;
  fresh.anonymous = v->anonymous;
  *v = fresh;
  operands_.clear();
  leads_nowhere_.clear();
  stack.clear();
  blocking.clear();
  free_scope.clear();
  overlays.clear();
  errs = nullptr;
  cyclic_conjuncts = 0;
}

void Context::finalize(Vertex* v) {
  Restore<Bottom*> saved(errs, nullptr);
  // What has a state already was prepared by somebody (`unify_values`), and could not be started again.
  bool outermost = levels == 0 && !v->parent && !v->state && v->status == Status::kUnprocessed && !unfolding;
  if (!outermost) {
    unify(v, kWholeValue);
    return;
  }
  u64 before = doubts, met = met_again, first = budget.steps();
  bool too_cyclic = false;
  try {
    Restore<const Vertex*> left_to_unfolding(may_unfold_, v);
    unify(v, kWholeValue);
  } catch (const TooCyclic&) {
    too_cyclic = true;
  } catch (const LimitError& limit) {
    if (limit.code() != "LIMIT-DEPTH" || !of_core(*this, v)) throw;
    too_cyclic = true;
  }
  if (!too_cyclic && (doubts == before || !of_core(*this, v))) {
    if (met_again != met) take_any_order(v);
    return;
  }
  if (!too_cyclic && budget.steps() - first > kStepsToUnfold) return;
  bool wrong = v->bottom() && !v->bottom()->incomplete();
  for (bool at_once : {false, true}) try {
      start_again(v);
      Restore<bool> now(unfolding, true);
      Unfolding(*this, at_once).run(v);
      unify(v, kWholeValue);
      return;
    } catch (const GivenUp& g) {
      if (!g.too_deep || (!too_cyclic && wrong)) break;
      // told of the outermost field
      const Vertex* in = g.too_deep;
      while (in->parent && in->parent != v) in = in->parent;
      std::vector<Label> path{in->label};
      Error* cyclic = error_at({}, "structural cycle");
      cyclic->path = store.keep(path);
      start_again(v);
      v->base = store.make<Bottom>(Code::kStructuralCycle, cyclic, v);
      v->status = Status::kFinalized;
      return;
    } catch (const LimitError& limit) {
      if (limit.code() != "LIMIT-DEPTH") throw;
    }
  start_again(v);
  unify(v, kWholeValue);
}

void Context::count_cyclic() {
  ++cyclic_conjuncts;
  if (cyclic_conjuncts < kManyCyclic || !may_unfold_) return;
  if (of_core(*this, may_unfold_)) throw TooCyclic{};
  may_unfold_ = nullptr;
}

}  // namespace tutti::cue
