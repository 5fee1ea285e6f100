#include <algorithm>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/predeclared.h"
#include "lang/cue/eval/print.h"

// Taking in conjuncts: literals at once, everything that must be evaluated as a task.
namespace tutti::cue {

State* Context::bare_state(Vertex* v) {
  if (v->status == Status::kFinalized) return nullptr;
  if (!v->state) {
    State* n = new_state(v);
    v->state = n;
    if (v->parent && v->parent->state) {
      n->depth = v->parent->state->depth + 1;
      n->block_on(kAncestorsDone);
    }
    n->block_on(kScalarKnown | kArcTypeKnown);
    n->has_non_cyclic = v->has_plain_part;
    begin(v);
  }
  return v->state;
}

void Context::begin(Vertex* v) {
  if (v->begun) return;
  v->begun = true;
  if (v->label.is_def() || (v->parent && v->parent->closed_recursive)) v->closed_recursive = true;
}

State* Context::state(Vertex* v) {
  State* s = bare_state(v);
  if (s && !s->initialized) s->schedule_conjuncts();
  return s;
}

void State::schedule_conjuncts() {
  initialized = true;
  node->base = ctx.cycle;
  ArcScope arc(ctx, node);
  if (ctx.by_name && node->conjuncts.size() > 1)
    std::ranges::stable_sort(node->conjuncts, {}, [](const KeptConjunct& c) { return compact(expression_of(c.x)); });
  for (u32 i = 0; i < node->conjuncts.size(); ++i) {
    Conjunct c = node->conjuncts[i];
    CloseInfo id = c.ci;
    if (ctx.ci.is_cyclic()) {
      id.cycle = ctx.ci.cycle;
      id.refs = ctx.ci.refs;
    }
    schedule_conjunct(c, id);
  }
}

namespace {

// Whether evaluating may follow a reference.
bool has_reference(const Node* x) {
  if (x->is_reference()) return true;
  if (x->is_value()) return false;
  switch (x->type) {
    case NodeType::kBinary: return has_reference(to<Binary>(x)->x) || has_reference(to<Binary>(x)->y);
    case NodeType::kUnary: return has_reference(to<Unary>(x)->x);
    case NodeType::kCall:
      for (Node* a : to<Call>(x)->args)
        if (has_reference(a)) return true;
      return false;
    case NodeType::kList:
      for (Node* e : to<ListLit>(x)->elems)
        if (e->is_expr() && has_reference(e)) return true;
      return false;
    default: return true;
  }
}

bool refers_to_definition(const Node* x) {
  switch (x->type) {
    case NodeType::kFieldRef: return to<FieldRef>(x)->label.is_def();
    case NodeType::kSelector: return to<Selector>(x)->label.is_def() || refers_to_definition(to<Selector>(x)->x);
    case NodeType::kIndex: return refers_to_definition(to<Index>(x)->x);
    default: return false;
  }
}

}  // namespace

// On a cycle the same reference comes by again and again; once is enough.
bool State::followed_already(Environment* env, Node* ref, const CloseInfo& id) {
  if (!id.is_cyclic() && !ctx.unfolding) return false;
  ctx.budget.step(1 + tasks.size() / kLookedAtInAStep);
  for (Task* t : tasks)
    if (t->x == ref && t->run == TaskKind::kResolver && (t->id.is_cyclic() || ctx.unfolding) &&
        ctx.same_conjunct({env, ref, {}}, {t->env, t->x, {}})) {
      if (id.def != t->id.def) add_replacement({id.def, t->id.def});
      return true;
    }
  return false;
}

void State::schedule_conjunct(Conjunct c, CloseInfo id) {
  if (c.ci.from_def) node->closed_recursive = true;
  Environment* env = c.env;
  mark_non_cyclic(id);
  Node* x = expression_of(c.x);
  if (id.is_cyclic()) ctx.count_cyclic();
  ctx.budget.step(id.is_cyclic() ? 64 : 1);
  switch (x->type) {
    case NodeType::kVertex: {
      auto* v = to<Vertex>(x);
      if (v->is_data_value()) {
        unshare();
        insert_value(env, v, id);
      } else {
        if (v->closed_once) {
          node->closed_once = true;
          id = add_resolver(v, v, id, false);
        }
        schedule_vertex(c, v, id);
      }
      return;
    }
    case NodeType::kOpen:
      c.x = to<Open>(x)->x;
      c.ci.opened = true;
      id.opened = true;
      schedule_conjunct(c, id);
      return;
    case NodeType::kBinary: {
      auto* b = to<Binary>(x);
      if (b->op == Op::kAnd) {
        CloseInfo inner = id;
        if (inner.opened) {
          inner.opened = false;
          inner.conjunct_opened = true;
          inner.from_embed = true;
          inner = new_req(x, inner, DefKind::kEmbedding);
        }
        schedule_conjunct({env, b->x, inner}, inner);
        schedule_conjunct({env, b->y, inner}, inner);
        return;
      }
      unshare();
      schedule_task(TaskKind::kExpr, env, x, id);
      return;
    }
    case NodeType::kStruct:
      unshare();
      schedule_struct(env, to<StructLit>(x), id);
      return;
    case NodeType::kList: {
      unshare();
      update_cyclic(id);
      Environment* child = ctx.new_env(env, node);
      update_kind(kListKind, x, id);
      schedule_task(TaskKind::kListLit, child, x, id);
      return;
    }
    case NodeType::kDisjunctionExpr: {
      unshare();
      CloseInfo ci = id;
      set_optional(ci);
      auto* d = to<DisjunctionExpr>(x);
      PendingDisjunction p{env, ci, x, {}};
      p.arms.reserve(d->values.size());
      for (auto& v : d->values)
        p.arms.push_back({v.value, nullptr,
                          !d->has_defaults ? Default::kMaybe
                          : v.marked       ? Default::kIs
                                           : Default::kNot});
      schedule_disjunction(std::move(p));
      update_info(kTopKind, ci, 0);
      return;
    }
    case NodeType::kComprehension: schedule_task(TaskKind::kComprehension, env, x, id); return;
    default: break;
  }
  if (x->is_value()) {
    insert_value(env, x, id);
  } else if (x->is_reference()) {
    if (!followed_already(env, x, id)) schedule_task(TaskKind::kResolver, env, x, id);
  } else {
    unshare();
    // a call that could go round for ever waits for something that is not cyclic
    if (x->type == NodeType::kCall && id.is_cyclic() && !has_non_cycle && !has_non_cyclic) {
      for (Node* a : to<Call>(x)->args)
        if (has_reference(a)) {
          has_ancestor_cycle = true;
          cyclic.push_back({c, nullptr});
          return;
        }
    }
    schedule_task(TaskKind::kExpr, env, x, id);
  }
}

void State::schedule_struct(Environment* env, StructLit* s, CloseInfo ci) {
  update_cyclic(ci);
  update_info(kStructKind, ci, kHasStruct);
  // Here unification takes place: the fields get a scope that is this vertex, whatever it was written in.
  Environment* child = ctx.new_env(env, node);
  has_struct = true;
  u32 comp = env ? env->comp_id : 0;
  node->make_rare(ctx.arena).structs.push(ctx.arena, {Ref(s), comp, !ci.refs});
  bool has_embed = s->has_embedding;
  bool has_ellipsis = false, known_struct = false;
  if (has_embed) ci = split_struct(s, ci);
  for (Node* d : s->decls) {
    switch (d->type) {
      case NodeType::kField: {
        auto* f = to<Field>(d);
        if (!known_struct && f->label.is_string() && f->arc == ArcType::kMember) {
          known_struct = a_struct = true;
          update_kind(kStructKind, s, ci);
        }
        CloseInfo id = sub_field(ci);
        if (f->arc != ArcType::kMember) set_optional(id);
        insert_arc(f->label, f->arc, {child, f, id}, id, true);
        break;
      }
      case NodeType::kLetField: {
        CloseInfo id = sub_field(ci);
        insert_arc(to<LetField>(d)->label, ArcType::kMember, {child, d, id}, id, true);
        break;
      }
      case NodeType::kComprehension: {
        CloseInfo id = inject_embed(d, s->explicit_open, ci);
        schedule_task(TaskKind::kComprehension, child, d, id);
        break;
      }
      case NodeType::kEllipsis: has_ellipsis = true; break;
      case NodeType::kDynamicField: {
        CloseInfo id = sub_field(ci);
        if (to<DynamicField>(d)->arc == ArcType::kMember) {
          a_struct = true;
          update_kind(kStructKind, s, id);
        }
        schedule_task(TaskKind::kDynamic, child, d, id);
        break;
      }
      case NodeType::kPattern: {
        CloseInfo id = sub_field(ci);
        set_optional(id);
        schedule_task(TaskKind::kPattern, child, d, id);
        break;
      }
      default: {
        CloseInfo id = inject_embed(d, s->explicit_open, ci);
        schedule_conjunct({child, d, id}, id);
      }
    }
  }
  if (has_ellipsis) {
    node->has_ellipsis = true;
    update_info(kTopKind, ci, kHasEllipsis);
  }
  if (!has_embed && !known_struct) {
    a_struct = true;
    update_kind(kStructKind, s, ci);
  }
}

void State::set_embed_closedness(Vertex* arc) {
  if (arc->closed_recursive)
    embed_closedness = EmbedClosed::kRecursive;
  else if (arc->closed_once && embed_closedness == EmbedClosed::kNone)
    embed_closedness = EmbedClosed::kOnce;
}

// A definition that is no more than `_` closes nothing; `{_}` is more, though its value is the same.
bool Vertex::says_nothing() const {
  if (status == Status::kFinalized && base && base->type == NodeType::kBasicType)
    return to<BasicType>(base)->kind == kTopKind && structs().empty();
  auto top = [](const KeptConjunct& c) { return expression_of(c.x)->type == NodeType::kTop; };
  return !conjuncts.empty() && std::all_of(conjuncts.begin(), conjuncts.end(), top);
}

bool Vertex::told_where_used() const {
  auto told = [](const KeptConjunct& c) { return c.x->type == NodeType::kField && to<Field>(c.x)->told_where_used; };
  return label.is_def() && !conjuncts.empty() && std::all_of(conjuncts.begin(), conjuncts.end(), told);
}

// Adds the conjuncts of another vertex, and those it may still get.
void State::schedule_vertex(Conjunct c, Vertex* arc, CloseInfo ci) {
  if (!arc->closed_recursive && !arc->closed_once && ci.embed != 0) ci.from_def = false;
  if (c.ci.opened || c.ci.conjunct_opened) set_embed_closedness(arc);
  if (deref(node) == deref(arc)) {
    if (is_shared) add_shared(ci);
    return;
  }
  if (share_if_possible(c, arc, ci)) {
    ctx.state(arc);
    return;
  }
  bool definition = refers_to_definition(expression_of(c.x)) || arc->label.is_def() || ci.top_def;
  if (definition && !arc->says_nothing()) {
    if (c.ci.opened || c.ci.conjunct_opened) embed_closedness = EmbedClosed::kRecursive;
    is_def = true;
    ci.from_def = true;
    ci.top_def = false;
    ci = add_resolver(c.x, arc, ci, false);
  } else {
    ci = add_resolver(c.x, arc, ci, true);
  }
  // unification is idempotent: once is enough
  if (find_first(arc_map, arc_index, Region::place(arc), [](Vertex* v) { return Region::place(v); })) return;
  arc_map.push_back(arc);
  if (arc->parent && (ctx.unfolding || !node->non_rooted || node->is_dynamic)) {
    State* p = ctx.state(arc->parent);
    State* s = ctx.bare_state(arc);
    if (p && s && (ctx.unfolding || !p->meets(kAncestorsDone | kFieldConjunctsKnown))) s->add_notify(node, ci);
  }
  for (u32 i = 0; i < arc->conjuncts.size(); ++i) {
    Conjunct x = arc->conjuncts[i];
    schedule_conjunct(x, ci);
  }
  if (ctx.bare_state(arc)) to_complete = true;
}

void State::add_notify(Vertex* v, const CloseInfo& ci) {
  if (node->deref_value()->status == Status::kFinalized) return;
  if (initialized && meets(kAncestorsDone) && !ctx.unfolding) return;
  for (auto& r : notify)
    if (r.v == v) return;
  notify.push_back({v, ci});
}

bool State::update_kind(Kinds k, Node* v, const CloseInfo& id) {
  update_info(k, id, 0);
  Kinds both = kind & k;
  if (kind == kBottomKind || k == kBottomKind) return false;
  if (both == kBottomKind) {
    if (kind_expr)
      report_conflict(kind_expr, v, kind, k, kind_id, id.def);
    else
      add_error(ctx.error_at(ctx.src, "conflicting value {} (mismatched types {} and {})", static_cast<const Node*>(v),
                             kind, k));
  }
  if (kind != both || !kind_expr) kind_expr = v;
  kind = both;
  kind_id = id.def;
  return both != kBottomKind;
}

void State::insert_value(Environment* env, Node* v, CloseInfo id) {
  switch (v->type) {
    case NodeType::kVertex: {
      auto* x = to<Vertex>(v);
      auto from_disjunction = [&] {
        if (x->base && x->base->type == NodeType::kDisjunction) return true;
        for (Vertex* w = x;;) {
          if (w->is_disjunct) return true;
          if (!w->base || w->base->type != NodeType::kVertex) return false;
          w = to<Vertex>(w->base);
        }
      };
      if (x->closed_once) {
        node->closed_once = true;
        if (!from_disjunction()) id = add_resolver(v, x, id, false);
      } else if (x->closed_recursive) {
        node->closed_recursive = true;
        if (!from_disjunction()) id = add_resolver(v, x, id, false);
      }
      if (x->base && x->base->type == NodeType::kStructMarker) {
        a_struct = true;
        update_kind(kStructKind, x, id);
      }
      if (!x->is_data_value()) {
        update_cyclic(id);
        schedule_vertex({env, x, id}, x, id);
        return;
      }
      if (!x->base) return;
      if (x->base->type == NodeType::kListMarker) {
        update_cyclic(id);
        // the environment only makes the task save and restore what is evaluated now
        schedule_task(TaskKind::kListVertex, env, x, id);
      } else if (x->base->type == NodeType::kStructMarker) {
        for (u32 i = 0; i < x->arcs.size(); ++i) {
          Vertex* a = x->arcs[i];
          if (a->arc_type != ArcType::kMember) continue;
          insert_arc(a->label, a->arc_type, {nullptr, a, id}, id, true);
        }
        for (auto& s : x->structs()) node->make_rare(ctx.arena).structs.push(ctx.arena, s);
      } else {
        insert_value(env, x->base, id);
      }
      return;
    }
    case NodeType::kBottom:
      unshare();
      if (v == no_sharing_node()) return;
      add_bottom(to<Bottom>(v));
      return;
    case NodeType::kBuiltin:
      unshare();
      if (to<Builtin>(v)->is_bare_validator()) {
        auto* check = ctx.store.make<Validator>(nullptr, to<Builtin>(v), std::span<Node*>{});
        check->pos = ctx.src;  // a function is nowhere; what names it is
        insert_value(env, check, id);
        return;
      }
      break;
    default: break;
  }

  if (!update_kind(ctx.kinds(v), v, id)) return;

  switch (v->type) {
    case NodeType::kDisjunction: {
      update_cyclic(id);
      unshare();
      CloseInfo ci = id;
      set_optional(ci);
      auto* d = to<Disjunction>(v);
      PendingDisjunction p{env, ci, v, {}};
      for (std::size_t i = 0; i < d->values.size(); ++i)
        p.arms.push_back({d->values[i], nullptr,
                          !d->has_defaults  ? Default::kMaybe
                          : i < d->defaults ? Default::kIs
                                            : Default::kNot});
      schedule_disjunction(std::move(p));
      break;
    }
    case NodeType::kConjunction:
      for (Node* x : to<Conjunction>(v)->values) insert_value(env, x, id);
      break;
    case NodeType::kTop:
      update_cyclic(id);
      has_top = true;
      update_info(kTopKind, id, kHasTop);
      break;
    case NodeType::kBasicType:
      unshare();
      update_cyclic(id);
      if (to<BasicType>(v)->kind != kTopKind) update_info(kTopKind, id, kHasTop);
      break;
    case NodeType::kBound: {
      unshare();
      update_cyclic(id);
      auto* x = to<Bound>(v);
      switch (x->op) {
        case Op::kLt:
        case Op::kLe:
        case Op::kGt:
        case Op::kGe: {
          Bound*& bound = x->op == Op::kGt || x->op == Op::kGe ? lower : upper;
          if (bound) {
            if (Node* u = ctx.simplify_bounds(kind, x, bound)) {
              bound = nullptr;
              insert_value(env, u, id);
              return;
            }
          }
          bound = x;
          break;
        }
        default: {
          if (x->op == Op::kEq || x->op == Op::kNe) {
            update_info(kTopKind, id, kHasOpenValidator | kHasTop);
            if (ctx.kinds(x) & kCompositeKinds) has_top = true;
          }
          bool covered = false;
          erase_if(checks, [&](Conjunct& c) {
            if (c.x->type != NodeType::kBound) return false;
            Node* u = ctx.simplify_bounds(kind, x, to<Bound>(c.x));
            if (u == c.x) covered = true;
            return u == x && u != c.x;
          });
          if (!covered) checks.push_back({env, x, id});
          return;
        }
      }
      break;
    }
    case NodeType::kValidator: {
      unshare();
      auto* x = to<Validator>(v);
      Kinds k = ctx.kinds(x);
      if (k & kCompositeKinds)
        update_info(kTopKind, id, x->builtin->non_concrete ? kHasOpenValidator | kHasTop : kHasTop);
      for (std::size_t i = 0; i < checks.size(); ++i) {
        if (checks[i].x->type != NodeType::kValidator) continue;
        auto* y = to<Validator>(checks[i].x);
        if (x == y) return;
        if (x->builtin != y->builtin || x->args.size() != y->args.size()) continue;
        bool same = true;
        for (std::size_t j = 0; same && j < x->args.size(); ++j) {
          for (Node* a : {x->args[j], y->args[j]})
            if (a->type == NodeType::kVertex) ctx.finalize(to<Vertex>(a));
          same = ctx.equal(x->args[j], y->args[j], true);
        }
        // evaluating the arguments may have led back here and used up the checks
        if (same && i < checks.size() && checks[i].x == y) {
          checks[i] = {env, x, id};
          return;
        }
      }
      checks.push_back({env, x, id});
      if (k == kTopKind) has_top = true;
      update_kind(k, x, id);
      break;
    }
    default:
      unshare();
      update_cyclic(id);
      if (scalar) {
        if (!ctx.binop_bool(Op::kEq, v, scalar) || ctx.kinds(v) != ctx.kinds(scalar))
          report_conflict(v, scalar, ctx.kinds(v), ctx.kinds(scalar), id.def, scalar_id);
        break;
      }
      scalar = v;
      scalar_id = id.def;
      signal(kScalarKnown);
  }
  if (lower && upper) {
    if (Node* u = ctx.simplify_bounds(kind, lower, upper)) {
      lower = upper = nullptr;
      insert_value(env, u, id);
    }
  }
}

}  // namespace tutti::cue
