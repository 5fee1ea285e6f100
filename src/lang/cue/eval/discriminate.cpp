#include <algorithm>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/scalar.h"

// Disjunctions decided without trying: arms that contradict a value already known, and disjunctions of plain values.
// Copying a vertex for an arm costs as much as the vertex; a look at the arm costs nearly nothing.
namespace tutti::cue {

bool same_scalar(const Node* a, const Node* b) {
  if (a->type != b->type) return false;
  switch (a->type) {
    case NodeType::kNull: return true;
    case NodeType::kBool: return to<Bool>(a)->value == to<Bool>(b)->value;
    case NodeType::kNum: return to<Num>(a)->kind == to<Num>(b)->kind && to<Num>(a)->value == to<Num>(b)->value;
    case NodeType::kString: return to<String>(a)->text == to<String>(b)->text;
    case NodeType::kBytes: return to<Bytes>(a)->text == to<Bytes>(b)->text;
    default: return false;
  }
}

namespace {

bool within(const Vertex* v, const Vertex* ancestor) {
  for (; v; v = v->parent)
    if (v == ancestor) return true;
  return false;
}

// The same for a value that is known: x is written literally and no reference.
bool contradicts(Context& ctx, const Node* value, const Node* x) {
  if (is_scalar(x)) return !same_scalar(value, x);
  if (x->type == NodeType::kBasicType) return !(ctx.kinds(value) & to<BasicType>(x)->kind);
  return std::ranges::any_of(to<StructLit>(x)->decls, [](const Node* d) {
    return d->type == NodeType::kField && to<Field>(d)->label.is_string() && to<Field>(d)->arc == ArcType::kMember;
  });
}

}  // namespace

// Whether unifying x with what is known here must fail. Only what is written literally is looked at, through at most
// `follow` references; "no" means "not without trying".
bool State::impossible(Environment* env, Node* x, int follow) {
  x = expression_of(x);
  if (is_scalar(x)) {
    if (scalar) return is_scalar(scalar) && !same_scalar(scalar, x);
    return !(kind & ctx.kinds(x));
  }
  switch (x->type) {
    case NodeType::kBasicType: return !(kind & to<BasicType>(x)->kind);
    case NodeType::kBinary: {
      auto* b = to<Binary>(x);
      return b->op == Op::kAnd && (impossible(env, b->x, follow) || impossible(env, b->y, follow));
    }
    case NodeType::kDisjunctionExpr:
      for (auto& d : to<DisjunctionExpr>(x)->values)
        if (!impossible(env, d.value, follow)) return false;
      return true;
    case NodeType::kStruct: {
      auto* s = to<StructLit>(x);
      for (Node* decl : s->decls) {
        if (decl->type != NodeType::kField) continue;
        auto* f = to<Field>(decl);
        if (!f->label.is_string()) continue;
        if (f->arc == ArcType::kMember && !(kind & kStructKind)) return true;
        Node* v = f->value;
        if (!is_scalar(v) && v->type != NodeType::kBasicType && v->type != NodeType::kStruct) continue;
        Vertex* arc = node->find_raw(f->label);
        if (!arc || (arc->arc_type != ArcType::kMember && f->arc != ArcType::kMember)) continue;
        if (arc->arc_type > ArcType::kOptional) continue;
        if (Node* value = arc->only_value(); value && contradicts(ctx, value, v)) return true;
        if (State* a = arc->state; a && a->initialized && a->impossible(env, v, 0)) return true;
      }
      return false;
    }
    case NodeType::kFieldRef: {
      if (follow == 0) return false;
      auto* r = to<FieldRef>(x);
      for (u32 n = r->up; n > 0 && env; --n) env = env->up;
      if (!env || !env->vertex) return false;
      Vertex* target = ctx.env_vertex(env)->find_raw(r->label);
      if (!target || target->arc_type != ArcType::kMember || within(node, target)) return false;
      if (deref(target) == deref(node)) return false;
      for (auto& c : target->conjuncts)
        if (impossible(c.env, c.x, follow - 1)) return true;
      return false;
    }
    default: return false;
  }
}

// A vertex without fields whose value is known: an arm that is just this value, or a type of it, adds nothing, and any
// other either comes to the same or fails. One whose value is open and whose only disjunction is of plain values: the
// disjunction is the value.
bool State::settle(const std::vector<PendingDisjunction>& all) {
  if (node->is_disjunct || !node->arcs.empty() || node->patterns() || errs || has_ancestor_cycle || has_any_cyclic)
    return false;
  for (Task* t : tasks)
    if (t->run != TaskKind::kDisjunctions && t->state < TaskState::kSuccess) return false;
  auto plain = [](const Node* n) { return is_scalar(n) || n->type == NodeType::kBasicType; };
  if (scalar) {
    if (!is_scalar(scalar)) return false;
    for (auto& d : all) {
      bool one = false;
      for (auto& arm : d.arms) {
        const Node* x = arm.expr;
        if (is_scalar(x))
          one |= same_scalar(scalar, x);
        else if (x->type == NodeType::kBasicType)
          one |= (ctx.kinds(scalar) & to<BasicType>(x)->kind) != 0;
      }
      if (!one) return false;
    }
    return true;
  }
  if (all.size() != 1 || lower || upper || !checks.empty() || default_attempt || a_struct) return false;
  const auto& arms = all[0].arms;
  if (arms.size() < 2) return false;
  constexpr std::size_t kFew = 64;  // in an enumeration of more texts their hashes tell them apart
  std::unordered_set<std::string_view> texts;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Node* x = arms[i].expr;
    if (!plain(x)) return false;
    Kinds k = ctx.kinds(x);
    if ((k & kind) != k) return false;
    if (arms.size() > kFew) {
      if (x->type != NodeType::kString || !texts.insert(to<String>(x)->text).second) return false;
      continue;
    }
    for (std::size_t j = 0; j < i; ++j) {
      const Node* y = arms[j].expr;
      if (is_scalar(x) ? same_scalar(x, y) : x->type == y->type && k == ctx.kinds(y)) return false;
    }
  }
  settled = make_disjunction(ctx.store, arms);
  if (settled->defaults == 1) signal(kScalarKnown | kValueKnown);
  return true;
}

}  // namespace tutti::cue
