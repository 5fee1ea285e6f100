#include "lang/cue/eval/context.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/eval/quick.h"

// The clauses of a comprehension are run first, to a list of scopes; its value is then put in once for each.
namespace tutti::cue {

Bottom* Context::yield_clauses(Vertex* node, Environment* env, Comprehension* c, std::vector<Environment*>& out) {
  u32 comp = ++next_comp;
  EvalScope scope(*this, env, c->clauses[0]->pos);
  if (node) {
    ArcScope arc(*this, node);
    yield_from(c, 0, comp, out);
  } else {
    yield_from(c, 0, comp, out);
  }
  return scope.pop();
}

// Runs clause i in the current scope.
void Context::yield_from(Comprehension* c, std::size_t i, u32 comp, std::vector<Environment*>& out) {
  budget.step();
  auto next = [&](Environment* env) {
    if (i + 1 >= c->clauses.size()) {
      out.push_back(env);
      return true;
    }
    EvalScope scope(*this, env, c->clauses[i + 1]->pos);
    yield_from(c, i + 1, comp, out);
    if (Bottom* b = scope.pop()) {
      add_bottom(b);
      return false;
    }
    return !has_err();
  };
  auto spawn = [&](Vertex* n) {
    Environment* env = new_env(e, n);
    env->comp_id = comp;
    return env;
  };
  auto one_field = [&](Label l, Node* x) {
    Vertex* n = new_vertex();
    Vertex* a = new_vertex();
    a->label = l;
    a->is_dynamic = true;
    a->anonymous = true;
    a->conjuncts.push(arena, {e, x, ci});
    n->add_arc(arena, a);
    return n;
  };
  Node* clause = c->clauses[i];
  switch (clause->type) {
    case NodeType::kIf: {
      auto* x = to<IfClause>(clause);
      if (auto known = quick_condition(*this, x->condition)) {
        if (*known) next(e);
        break;
      }
      ++scopes_kept_;
      if (bool_value(value(x->condition, {Status::kUnprocessed, kScalarKnown, Mode::kYield}))) next(e);
      break;
    }
    case NodeType::kLet: {
      auto* x = to<LetClause>(clause);
      ++scopes_kept_;
      next(spawn(one_field(x->label, x->x)));
      break;
    }
    case NodeType::kTry: {
      auto* x = to<TryClause>(clause);
      ++scopes_kept_;
      Conjunct cj{e, x->x ? x->x : c->value, ci};
      Vertex* v = inline_vertex(nullptr, &cj);
      bool skip = false;
      if (State* s = state(v)) s->try_skip = &skip;
      finalize(v);
      if (v->state) v->state->try_skip = nullptr;
      if (skip) break;
      if (x->x)
        next(spawn(one_field(x->label, x->x)));
      else
        next(e);
      break;
    }
    case NodeType::kFor: {
      auto* x = to<ForClause>(clause);
      Environment* env = e;
      ++scopes_kept_;
      Vertex* n = for_source(x->source);
      Environment* spare = nullptr;  // of a round that came to nothing
      if (State* s = state(n)) s->freeze(kFieldSetKnown);
      for (u32 j = 0; j < n->arcs.size(); ++j) {
        Vertex* a = n->arcs[j];
        if (!a->label.is_regular()) continue;
        if (State* s = state(a)) s->process(kArcTypeKnown, Mode::kAttempt);
        if (a->arc_type == ArcType::kRequired) {
          add_bottom(store.make<Bottom>(Code::kIncomplete,
                                        error_at(src, "missing required field in for comprehension: {}", a->label)));
          continue;
        }
        if (a->arc_type != ArcType::kMember) continue;
        u64 kept = scopes_kept_;
        std::size_t before = out.size();
        if (spare) {
          u32 at = 0;
          if (x->value.valid()) spare->vertex->arcs[at++]->base = a;
          if (x->key.valid()) {
            Vertex* k = spare->vertex->arcs[at];
            k->base = k->conjuncts[0].x = label_value(a->label);
          }
          Environment* sub = spare;
          if (!next(sub)) break;
          if (out.size() != before || scopes_kept_ != kept) spare = nullptr;
          continue;
        }
        budget.node(2);
        budget.step();
        Vertex* scope = new_vertex();
        scope->parent = env_vertex(env);
        scope->status = Status::kFinalized;
        scope->is_dynamic = true;
        scope->anonymous = true;
        if (x->value.valid()) {
          Vertex* b = new_vertex();
          b->label = x->value;
          b->base = a;
          b->is_dynamic = true;
          b->anonymous = true;
          b->arc_type = ArcType::kPending;
          scope->add_arc(arena, b);
        }
        if (x->key.valid()) {
          Vertex* k = new_vertex();
          k->label = x->key;
          k->is_dynamic = true;
          k->anonymous = true;
          Node* key = label_value(a->label);
          k->conjuncts.push(arena, {env, key, {}});
          k->base = key;
          k->status = Status::kFinalized;
          scope->add_arc(arena, k);
        }
        Environment* sub = new_env(env, scope);
        sub->comp_id = comp;
        if (!next(sub)) break;
        if (out.size() == before && scopes_kept_ == kept) spare = sub;
      }
      break;
    }
    default: break;
  }
}

Vertex* Context::for_source(Node* x) {
  Flags f{Status::kConjuncts, kNeedFieldSet, Mode::kAttempt};
  Node* v;
  {
    Restore<int> detached(in_detached, in_detached + 1);
    v = unify_node(x, f);
  }
  if (v && v->type == NodeType::kVertex)
    unify(to<Vertex>(v), {.condition = f.condition, .mode = Mode::kFinalize, .check_typos = true});
  bool ok;
  v = get_default(v, &ok);
  if (!ok) return empty_node;
  if (Node* w = unwrap(v); !is_cycle(w)) v = w;
  Vertex* n = v && v->type == NodeType::kVertex ? to<Vertex>(v) : nullptr;
  if (n && !is_cycle(n->base)) v = n->value();
  if (!v) {
    add_errf(Code::kIncomplete, x->pos, "cannot range over {} (incomplete)", static_cast<const Node*>(x));
    return empty_node;
  }
  if (v->type == NodeType::kBottom) {
    add_bottom(to<Bottom>(v));
    return empty_node;
  }
  Kinds k = kinds(v);
  if (v->type != NodeType::kVertex) {
    if (k & kCompositeKinds) {
      add_errf(Code::kIncomplete, x->pos, "cannot range over {} (incomplete type {})", static_cast<const Node*>(x), k);
      return empty_node;
    }
    if (!n) {
      // a literal as it is written
      const ast::Node* lit = x->src() && x->src()->kind == ast::Kind::kLit ? x->src() : nullptr;
      add_errf(Code::kEval, x->pos, "cannot range over {} (found {}, want list or struct)",
               lit ? std::string(ast::as<ast::Lit>(lit)->text) : compact(x), k);
      return empty_node;
    }
  }
  if (k & kCompositeKinds && k != kStructKind && k != kListKind) {
    add_errf(Code::kIncomplete, x->pos, "cannot range over {} (incomplete type {})", static_cast<const Node*>(x), k);
    return empty_node;
  }
  return n ? n : empty_node;
}

}  // namespace tutti::cue
