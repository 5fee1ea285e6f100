#include "lang/cue/eval/context.h"

namespace tutti::cue {

void State::run_resolver(Task* t, Mode mode) {
  Restore<bool> pending(ctx.pending_parent, false);
  Vertex* arc = ctx.resolve(t->x, {.condition = kFieldSetKnown, .mode = mode});
  bool was_pending = ctx.pending_parent;
  if (!arc || arc == ctx.empty_node) {
    // something that has not run yet may still make the field
    if (!arc && mode == Mode::kAttempt && !ctx.has_err() && was_pending) t->retry = true;
    return;
  }
  CloseInfo ci = ctx.ci;
  if (arc->opened_shared || t->id.opened) ci.opened = true;
  if (t->id.conjunct_opened) ci.conjunct_opened = true;
  arc = arc->deref_non_disjunct();
  Vertex* d = arc->deref_disjunct();
  if (detect_cycle(d, t->env, t->x, ci)) {
    unshare();
    return;
  }
  if (t->defunct) return;
  if (d->base && d->base->type == NodeType::kBottom && to<Bottom>(d->base)->code == Code::kStructuralCycle) {
    ctx.add_bottom(to<Bottom>(d->base));
    return;
  }
  schedule_vertex({t->env, t->x, ci}, arc, ci);
}

void State::run_dynamic(Task* t, Mode mode) {
  auto* f = to<DynamicField>(t->x);
  Node* v = ctx.value(f->key, {.condition = kScalarValue, .mode = mode});
  if (!v) return;
  auto not_yet = [&](const char* format) {
    add_bottom(ctx.store.make<Bottom>(Code::kIncomplete, ctx.error_at(f->key->pos, format, static_cast<const Node*>(v)),
                                      node));
  };
  if (v->type == NodeType::kVertex && to<Vertex>(v)->deref_value()->status == Status::kEvaluating)
    return not_yet("key value of dynamic field not yet known");
  if (ctx.concreteness(v) != 1) {
    return not_yet("key value of dynamic field must be concrete, found {}");
  }
  Label l = ctx.label_from(f->key, v);
  if (!l.valid()) return;
  if (l.is_int()) return add_error(ctx.error_at(f->key->pos, "integer fields not supported"));
  Environment* env = t->env;
  if (f->binds_label) {
    env = ctx.arena.make<Environment>(*t->env);
    env->lets = nullptr;
    env->dynamic_label = l;
  }
  insert_arc(l, f->arc, {env, f, t->id}, t->id, true);
}

void State::run_pattern(Task* t) {
  auto* p = to<Pattern>(t->x);
  Node* v = ctx.eval(p->filter, {.condition = kScalarValue, .mode = Mode::kYield});
  if (!v) return;
  insert_pattern(v, {t->env, p, t->id});
}

void State::run_comprehension(Task* t) {
  auto* c = to<Comprehension>(t->x);
  std::vector<Environment*> envs;
  if (Bottom* err = ctx.yield_clauses(node, t->env, c, envs)) {
    if (err->incomplete())
      t->err = ctx.combine(t->err, err);
    else
      add_bottom(err);
    return;
  }
  ++inserting;
  struct Done {
    u32& inserting;
    ~Done() { --inserting; }
  } done{inserting};
  if (envs.empty() && c->fallback) {
    schedule_conjunct({t->env, c->fallback, t->id}, t->id);
    return;
  }
  for (Environment* env : envs) schedule_conjunct({env, c->value, t->id}, t->id);
}

void State::run_list_lit(Task* t, Mode) {
  auto* l = to<ListLit>(t->x);
  update_cyclic(t->id);
  CloseInfo id = sub_field(t->id);
  u32 index = 0;
  bool has_comprehension = false, open = false;
  node->arcs.reserve(ctx.arena, static_cast<u32>(l->elems.size()));
  for (std::size_t j = 0; j < l->elems.size(); ++j) {
    Node* e = l->elems[j];
    if (e->type == NodeType::kComprehension) {
      auto* c = to<Comprehension>(e);
      std::vector<Environment*> envs;
      Bottom* err = ctx.yield_clauses(nullptr, t->env, c, envs);
      has_comprehension = true;
      u32 before = index;
      for (Environment* env : envs)
        insert_arc(Label::integer(index++), ArcType::kMember, {env, c->value, id}, id, true);
      if (err) return add_bottom(err);
      if (index == before && c->fallback)
        insert_arc(Label::integer(index++), ArcType::kMember, {t->env, c->fallback, id}, id, true);
    } else if (e->type == NodeType::kEllipsis) {
      if (j + 1 != l->elems.size()) return add_error(ctx.error_at(ctx.src, "ellipsis must be last element in list"));
      Node* elem = to<Ellipsis>(e)->value;
      if (!elem) elem = ctx.store.make<Top>();
      CloseInfo eid = id;
      set_optional(eid);
      insert_pattern(ctx.from_index(index), {t->env, elem, eid});
      open = true;
    } else {
      insert_arc(Label::integer(index++), ArcType::kMember, {t->env, e, id}, id, true);
    }
  }
  bool closed = !open;
  int n = static_cast<int>(index);
  auto lengths = [&](int a, int b) { add_error(ctx.error_at(ctx.src, "incompatible list lengths ({} and {})", a, b)); };
  if (n < max_list) {
    if (closed) return lengths(n, max_list);
  } else if (n > max_list) {
    if (list_closed) return lengths(max_list, n);
    max_list = n;
    max_node = l;
    list_closed = closed;
  } else if ((closed && !list_closed) || (closed == list_closed && !has_comprehension)) {
    max_list = n;
    max_node = l;
    list_closed = closed;
  }
  update_list(l, id, closed);
}

void State::run_list_vertex(Task* t) {
  auto* l = to<Vertex>(t->x);
  std::vector<Vertex*> elems;
  for (Vertex* a : l->arcs)
    if (a->label.is_int()) elems.push_back(a);
  bool closed = l->is_closed_list();
  int n = static_cast<int>(elems.size());
  auto lengths = [&](int a, int b) { add_error(ctx.error_at(ctx.src, "incompatible list lengths ({} and {})", a, b)); };
  if (n < max_list) {
    if (closed) return lengths(n, max_list);
  } else if (n > max_list) {
    if (list_closed) return lengths(max_list, n);
    list_closed = closed;
    max_list = n;
    max_node = l;
  } else if (closed) {
    list_closed = true;
    max_node = l;
  }
  for (Vertex* a : elems) {
    if (a->conjuncts.empty()) {
      insert_arc(a->label, ArcType::kMember, {nullptr, a, {}}, {}, true);
      continue;
    }
    for (u32 i = 0; i < a->conjuncts.size(); ++i) insert_arc(a->label, ArcType::kMember, a->conjuncts[i], t->id, true);
  }
  update_list(l, t->id, closed);
}

}  // namespace tutti::cue
