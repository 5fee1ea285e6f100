#include <algorithm>

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/scalar.h"

namespace tutti::cue {

Node* Context::unwrap(Node* v) {
  if (!v || v->type != NodeType::kVertex) return v;
  Vertex* x = to<Vertex>(v)->deref_value();
  if (State* n = x->state; n && is_cycle(x->base)) {
    if (n->errs && !n->errs->incomplete()) return n->errs;
    if (n->scalar) return n->scalar;
  }
  return x->value();
}

// The default of a disjunction; an incomplete error when there is not exactly one.
Node* Context::get_default(Node* v, bool* ok) {
  *ok = true;
  Disjunction* d = nullptr;
  while (v) {
    if (v->type == NodeType::kVertex) {
      auto* x = to<Vertex>(v);
      if (!x->base) return v;
      if (x->base->type == NodeType::kVertex) {
        v = x->base;
        continue;
      }
      if (x->base->type != NodeType::kDisjunction) return v;
      d = to<Disjunction>(x->base);
    } else if (v->type == NodeType::kDisjunction) {
      d = to<Disjunction>(v);
    } else {
      return v;
    }
    if (d->defaults != 1) {
      add_errf(Code::kIncomplete, src, "unresolved disjunction {} (type {})", static_cast<const Node*>(d), kinds(d));
      *ok = false;
      return nullptr;
    }
    v = d->values[0];
  }
  return v;
}

// As far as it can be decided: several defaults stay a disjunction, an open list is closed.
Node* Context::default_of(Node* v) {
  if (!v) return v;
  if (v->type == NodeType::kDisjunction) {
    auto* d = to<Disjunction>(v);
    if (d->defaults == 0) return v;
    if (d->defaults == 1) return default_of(d->values[0]);
    auto* n = store.make<Disjunction>(d->values.subspan(0, d->defaults));
    return n;
  }
  if (v->type != NodeType::kVertex) return v;
  Vertex* x = to<Vertex>(v)->deref_value();
  if (!x->base) return x;
  if (x->base->type == NodeType::kDisjunction) {
    auto* d = to<Disjunction>(x->base);
    if (d->defaults == 0) return x;
    if (d->defaults == 1) {
      Node* w = default_of(d->values[0]);
      if (w->type == NodeType::kVertex) return w;
      Vertex* c = new_vertex();
      c->label = x->label;
      c->parent = x->parent;
      c->status = Status::kFinalized;
      c->base = w;
      return c;
    }
    Vertex* c = x->copy(store);
    c->state = nullptr;
    c->base = store.make<Disjunction>(d->values.subspan(0, d->defaults));
    return c;
  }
  if (x->base->type == NodeType::kListMarker && to<ListMarker>(x->base)->open) {
    Vertex* c = x->copy(store);
    c->state = nullptr;
    c->base = store.make<ListMarker>(false);
    return c;
  }
  return x;
}

Node* Context::chosen(Node* v) {
  if (v && v->type == NodeType::kVertex) {
    Vertex* x = to<Vertex>(v)->deref_value();
    if (!x->base || x->base->type != NodeType::kDisjunction) return x;
    if (to<Disjunction>(x->base)->defaults != 1) return default_of(x);
    v = x->base;
  }
  if (!v || v->type != NodeType::kDisjunction || to<Disjunction>(v)->defaults != 1) return default_of(v);
  return chosen(to<Disjunction>(v)->values[0]);
}

Node* Context::eval(Node* x, Flags f) { return eval_ci(x, f, nullptr); }

Node* Context::value(Node* x, Flags f) {
  f.concrete = true;
  bool ok;
  Node* v = get_default(eval(x, f), &ok);
  return unwrap(v);
}

Node* Context::eval_ci(Node* x, Flags f, CloseInfo* out) {
  Level level(*this);
  struct Scope {
    Context& c;
    Pos src;
    Bottom* errs;
    CloseInfo ci;
    ~Scope() { c.src = src, c.ci = ci; }
  } scope{*this, src, errs, ci};
  if (x->pos) src = x->pos;
  errs = nullptr;
  Node* result = nullptr;
  CloseInfo used;
  bool done = false;

  if (x->is_value()) {
    result = x;
  } else if (x->type == NodeType::kOpen) {
    result = eval_ci(to<Open>(x)->x, f, &used);
    used.opened = true;
    done = true;
  } else if (x->is_evaluated()) {
    result = evaluate(x, f);
  } else {
    [&] {
      Vertex* arc = resolve(x, f);
      if (has_err() || !arc) return;
      Vertex* orig = arc;
      arc = arc->deref_non_shared();
      if (State* s = state(arc)) {
        s->detect_cycle(arc, nullptr, x, ci);
        ++s->refs;
        struct Release {
          State* s;
          ~Release() { --s->refs; }
        } release{s};
        Cond want = f.condition | kArcTypeKnown;
        switch (f.mode) {
          case Mode::kFinalize:
            unify(arc, {.condition = want, .mode = Mode::kAttempt, .check_typos = true});
            if (arc->state == s) s->freeze(want);
            break;
          case Mode::kAttempt: unify(arc, {.condition = want, .mode = Mode::kAttempt, .check_typos = true}); break;
          case Mode::kYield: {
            unify(arc, {.condition = want, .mode = Mode::kYield, .check_typos = true});
            bool evaluating = arc->status == Status::kEvaluating;
            if (f.concrete && orig != arc && orig->state && orig->state->meets(kScalarKnown)) {
              // a disjunction whose default is already decided
              std::vector<Vertex*> walk{arc};
              bool all = true;
              for (std::size_t i = 0; all && i < walk.size(); ++i) {
                for (Vertex* a : walk[i]->arcs) {
                  if (!a->label.is_regular()) continue;
                  if (a->arc_type == ArcType::kRequired) all = false;
                  walk.push_back(a);
                }
                if (concreteness(walk[i]) > 1) all = false;
              }
              if (all) evaluating = false;
            }
            if (evaluating && orig != arc && arc->is_disjunct) {
              Task* t = current();
              if (t && f.condition == kScalarKnown && orig->state && !orig->state->meets(kScalarKnown)) {
                orig->state->default_attempt = t->node->node;
                orig->state->wait_for(t, want, blocking);
              }
              ++met_again;
              result = bottom(Code::kCycle, src, "unresolved disjunction: {}", static_cast<const Node*>(x));
              return;
            }
            bool breaking = s->has_field_value || !is_cycle(arc->base);
            if (evaluating && !breaking && s->frozen & kScalarKnown && s->all_tasks_finished()) {
              finalize(arc);
              breaking = !is_cycle(arc->base);
            }
            if (evaluating && !breaking) {
              ++met_again;
              add_bottom(bottom(Code::kCycle, src, "cycle with field: {}", static_cast<const Node*>(x)));
              break;
            }
            result = evaluate_vertex(arc, x, f);
            if (arc->non_rooted && arc->state == s && !s->all_tasks_finished())
              if (Task* t = current()) t->node->deferred.push_back(s->node);
            return;
          }
          default: break;
        }
      }
      arc = arc->deref_value();
      result = evaluate_vertex(arc, x, f);
    }();
  }
  if (!done) used = ci;

  errs = combine(errs, scope.errs);
  if (result && result->type == NodeType::kVertex)
    if (Bottom* b = to<Vertex>(result)->bottom(); b && !b->incomplete()) result = b;
  if (result && result->type == NodeType::kBottom) {
    if (errs != result) errs = combine(errs, to<Bottom>(result));
  }
  if (errs) result = errs;
  if (out) *out = used;
  return result;
}

// The value of a vertex as an operand; nullptr with an error in the context when it has none yet.
Node* Context::evaluate_vertex(Vertex* v, Node* ref, Flags f) {
  bool undefined = v->arc_type != ArcType::kMember || !v->base || v->base == cycle;
  if (undefined) {
    unify(v, f);
    if (v->arc_type == ArcType::kPending) {
      if (v->status == Status::kEvaluating) {
        while (v->parent && v->arc_type == ArcType::kPending) v = v->parent;
        auto* b =
            store.make<Bottom>(Code::kCycle, error_at(src, "cycle with field {}", static_cast<const Node*>(ref)), v);
        v->base = b;
        return b;
      }
      add_errf(Code::kIncomplete, src, "undefined field: {}", v->label);
      return nullptr;
    }
  }
  if (State* n = v->state) {
    if (n->errs && !n->errs->incomplete()) return n->errs;
    if (n->scalar && is_cycle(v->base)) return n->scalar;
  }
  if (!v->base) {
    if (!v->state) return nullptr;
    return v->state->validators();
  }
  if (v->base->type == NodeType::kBottom) {
    auto* b = to<Bottom>(v->base);
    if (!b->incomplete()) return b;
    add_bottom(b);
    return nullptr;
  }
  return v;
}

// Evaluates an expression to a vertex whose fields are known.
Node* Context::unify_node(Node* x, Flags f) {
  Level level(*this);
  Restore<Pos> saved_src(src);
  if (x->pos) src = x->pos;
  Bottom* saved = errs;
  errs = nullptr;
  Node* result = nullptr;
  if (x->is_value()) {
    result = x;
  } else if (x->type == NodeType::kOpen) {
    ci.opened = true;
    result = eval(to<Open>(x)->x, f);
  } else if (x->type == NodeType::kStruct) {
    result = literal_operand(to<StructLit>(x));
  } else if (x->is_evaluated()) {
    result = evaluate(x, f);
  } else if (Vertex* v = resolve(x, f); v && !has_err()) {
    if (f.mode == Mode::kAttempt) wait_while_tried(v);  // what is gone through must be there first
    // one that is being evaluated, perhaps for what stands for another by now, may still get more
    for (const State* n : {v->state.get(), v->deref_value()->state.get()})
      if (n && std::ranges::find(stack, n, &Task::node) != stack.end()) ++doubts;
    for (Vertex* seen = nullptr; seen != v;) {  // what it is found to stand for is looked into as well
      v = seen = v->deref_value();
      State* n = state(v);
      if (!n) break;
      State::Hold hold(n);
      // a lookup counts as new structure, but not that of a field in itself
      if (!ci.is_cyclic() && !(current() && current()->node == n)) n->has_non_cycle = true;
      n->process(kArcTypeKnown | kFieldSetKnown, Mode::kYield);
      if (!n->disjuncts.empty()) unify(n->node, {.condition = kArcTypeKnown | kFieldSetKnown, .mode = Mode::kYield});
      if (n->is_shared) v = v->deref_value();
    }
    result = v;
  }
  errs = combine(errs, saved);
  if (result && result->type == NodeType::kVertex)
    if (Bottom* b = to<Vertex>(result)->bottom(); b && !b->incomplete()) result = b;
  if (result && result->type == NodeType::kBottom) errs = combine(errs, to<Bottom>(result));
  if (errs) result = errs;
  return result;
}

// The vertex in which a selector or index looks.
Vertex* Context::node(Node* orig, Node* x, bool scalar, Flags f) {
  bool saved = ci.from_def;
  bool drop = !x->is_reference();
  if (drop) ci.from_def = false;
  struct Back {
    Context& c;
    bool drop, saved;
    ~Back() {
      if (drop) c.ci.from_def = saved;
    }
  } back{*this, drop, saved};
  Node* v = unify_node(x, f);
  bool ok;
  v = get_default(v, &ok);
  if (!ok) return empty_node;
  Vertex* parts = v && v->type == NodeType::kVertex ? to<Vertex>(v)->deref_value() : nullptr;
  if (scalar)
    if (Node* w = unwrap(v); !is_cycle(w)) v = w;
  Vertex* n = v && v->type == NodeType::kVertex ? to<Vertex>(v) : nullptr;
  if (n && !is_cycle(n->base)) v = n->value();
  if (!v) {
    ++doubts;
    add_errf(Code::kIncomplete, x->pos, "{} undefined ({} is incomplete)", static_cast<const Node*>(orig),
             static_cast<const Node*>(x));
    return empty_node;
  }
  if (v->type == NodeType::kBottom) {
    if (parts && parts->status == Status::kFinalized && to<Bottom>(v)->incomplete() && parts->bottom() == v &&
        !parts->arcs.empty())
      return parts;
    add_bottom(to<Bottom>(v));
    return empty_node;
  }
  if (v->type == NodeType::kVertex) {
    auto* nv = to<Vertex>(v);
    if (nv->non_rooted) complete_arcs_only(nv);
    return n;
  }
  Kinds k = kinds(v);
  if (k & kStructKind) {
    ++doubts;
    add_errf(Code::kIncomplete, x->pos, "{} undefined as {} is incomplete (type {})", static_cast<const Node*>(orig),
             static_cast<const Node*>(x), k);
    return empty_node;
  }
  if (!n) {
    add_errf(Code::kEval, x->pos, "invalid operand {} (found {}, want list or struct)", static_cast<const Node*>(x), k);
    return empty_node;
  }
  return n;
}

// A struct or list that lacks something (a guard that is not decided, a number of fields) has the scalars it has all
// the same, in whatever order the lines are; types and structs in it may still become narrower.
Vertex* Context::part_of(Vertex* n, Pos pos, Label l, Flags f) {
  Bottom* lacking = n->status == Status::kFinalized ? n->bottom() : nullptr;
  if (lacking && lacking->incomplete()) {
    Vertex* arc = n->find_raw(l);
    const Node* v = arc ? unwrap(default_of(arc)) : nullptr;
    if (!v || !is_scalar(v) || arc->deref_value()->arc_type != ArcType::kMember) {
      ++doubts;
      add_bottom(lacking);
      return nullptr;
    }
  }
  return lookup(n, pos, l, f);
}

// ---- references

Vertex* Context::resolve(Node* x, Flags f) {
  // `?` marks a reference whose absence skips the try clause around it
  auto skip_try = [&](bool optional, Vertex* arc) -> Vertex* {
    if (arc || !optional || !errs || !errs->incomplete()) return arc;
    for (Vertex* v = vertex; v; v = v->parent)
      if (v->state && v->state->try_skip) {
        *v->state->try_skip = true;
        break;
      }
    return nullptr;
  };
  switch (x->type) {
    case NodeType::kFieldRef: {
      auto* r = to<FieldRef>(x);
      Bottom* saved = errs;
      errs = nullptr;
      Vertex* v = skip_try(r->optional, lookup(rel_node(r->up), x->pos, r->label, f));
      errs = combine(errs, saved);
      return v;
    }
    case NodeType::kValueRef: {
      auto* r = to<ValueRef>(x);
      return r->up == 0 ? vertex : rel_node(r->up - 1);
    }
    case NodeType::kDynamicRef: {
      auto* r = to<DynamicRef>(x);
      Environment* env = env_up(r->up);
      Node* v;
      {
        EvalScope scope(*this, env, x->pos);
        v = value(r->label, {Status::kPartial, kScalarKnown, Mode::kYield});
        Bottom* b = scope.pop();
        (void)b;
      }
      Label l = label_from(r->label, v);
      return lookup(env_vertex(env), x->pos, l, f);
    }
    case NodeType::kImportRef: return package_vertex(to<ImportRef>(x)->path, x->pos);
    case NodeType::kLetRef: {
      auto* r = to<LetRef>(x);
      Environment* env = env_up(r->up);
      Vertex* arc = lookup(env_vertex(env), x->pos, r->label, f);
      if (!arc) return nullptr;
      Bottom* b = arc->bottom();
      State* s = state(arc);
      if (!arc->multi_let && ((!b && !s) || (b && is_cycle(b)))) return arc;
      Conjunct c = arc->conjuncts[0];
      Node* expr = expression_of(c.x);
      LetCache* entry = nullptr;
      for (LetCache* p = env->lets; p; p = p->next)
        if (p->expr == expr && p->arc == arc) {
          entry = p;
          break;
        }
      bool had = entry;
      if (entry && is_cycle(entry->result->base) && arc->status != Status::kFinalized && !entry->again) had = false;
      if (!had) {
        Vertex* n = new_vertex();
        n->parent = arc->parent;
        n->label = r->label;
        n->is_dynamic = b && b->code == Code::kStructuralCycle;
        n->conjuncts.push(arena, {env, expr, c.ci});
        if (entry) {
          entry->result = n;
          entry->again = true;
        } else {
          entry = arena.make<LetCache>(LetCache{Ref<const Node>(expr), Ref(arc), Ref(n), false, env->lets});
          env->lets = entry;
        }
      }
      return entry->result;
    }
    case NodeType::kSelector: {
      auto* s = to<Selector>(x);
      Vertex* n = node(x, s->x, s->label.is_regular(), {Status::kPartial, kNeedFieldSet, Mode::kYield});
      if (n == empty_node) return n;
      Bottom* saved = errs;
      errs = nullptr;
      Vertex* v = skip_try(s->optional, part_of(n, s->at, s->label, f));
      errs = combine(errs, saved);
      return v;
    }
    case NodeType::kIndex: {
      auto* s = to<Index>(x);
      Vertex* n = node(x, s->x, true, {Status::kPartial, kNeedFieldSet, Mode::kYield});
      Node* i = value(s->index, {Status::kPartial, kScalarKnown, Mode::kYield});
      if (n == empty_node) return n;
      Label l = label_from(s->index, i);
      if (errs) return nullptr;
      return skip_try(s->optional, part_of(n, s->index->pos, l, f));
    }
    default: return nullptr;
  }
}

Label Context::label_from(Node* x, Node* v) {
  bool ok;
  v = get_default(v, &ok);
  if (!v || v->type == NodeType::kBottom) return {};
  Kinds k = kinds(v);
  Node* u = unwrap(v);
  if (k == kIntKind || k == kNumberKind || k == kFloatKind) {
    if (!u || u->type != NodeType::kNum) {
      add_errf(Code::kIncomplete, v->pos, "invalid non-ground value {} (must be concrete {})",
               static_cast<const Node*>(v), "int");
      return {};
    }
    auto* n = to<Num>(u);
    auto i = n->value.to_i64();
    if (!i || n->kind != kIntKind) {
      add_errf(Code::kEval, src, "invalid index {}", static_cast<const Node*>(x ? x : v));
      return {};
    }
    if (*i < 0) {
      if (!x || x->type == NodeType::kNum || x->type == NodeType::kUnary)
        add_errf(Code::kEval, src, "invalid index {} (index must be non-negative)", static_cast<const Node*>(n));
      else
        add_errf(Code::kEval, src, "index {} out of range [{}]", static_cast<const Node*>(x),
                 static_cast<const Node*>(n));
      return {};
    }
    if (*i >= (i64{1} << 28)) {
      add_errf(Code::kEval, src, "int label out of range ({} not >=0 and <= 268435455)", *i);
      return {};
    }
    return Label::integer(static_cast<u32>(*i));
  }
  if (k == kStringKind) {
    if (!u || u->type != NodeType::kString) {
      add_errf(Code::kIncomplete, v->pos, "invalid non-ground value {} (must be concrete {})",
               static_cast<const Node*>(v), "string");
      return {};
    }
    return Label::string(to<String>(u)->text);
  }
  if (x)
    add_errf(Code::kEval, src, "invalid index {} (invalid type {})", static_cast<const Node*>(x), k);
  else
    add_errf(Code::kEval, src, "invalid index type {}", k);
  return {};
}

}  // namespace tutti::cue
