#include "lang/cue/eval/predeclared.h"

#include "lang/cue/eval/context.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/eval/validate.h"

namespace tutti::cue {

namespace {

constexpr Kinds kLenKinds = kStructKind | kBytesKind | kStringKind | kListKind;

Node* len(CallContext& c) {
  Context& ctx = c.context;
  Node* v = c.args[0];
  if (v->type == NodeType::kVertex) {
    auto* x = to<Vertex>(v);
    if (!x->base) return ctx.fail("unevaluated vertex");
    if (x->base->type == NodeType::kListMarker || x->base->type == NodeType::kStructMarker) {
      i64 n = 0;
      bool list = x->base->type == NodeType::kListMarker;
      for (u32 i = 0; i < x->arcs.size(); ++i) {
        Vertex* a = x->arcs[i];
        n += list ? a->label.is_int() : a->label.is_regular() && ctx.is_defined(a);
      }
      return c.make_int(n);
    }
    v = x->value();
  }
  if (v->type == NodeType::kBytes) return c.make_int(static_cast<i64>(to<Bytes>(v)->text.size()));
  if (v->type == NodeType::kString) return c.make_int(static_cast<i64>(to<String>(v)->text.size()));
  Kinds k = ctx.kinds(v);
  if (!(k & kLenKinds)) return ctx.fail("invalid argument type {}", k);
  Bottom* b = ctx.fail("incomplete argument {} (type {})", static_cast<const Node*>(v), k);
  b->code = Code::kIncomplete;
  return b;
}

Node* close(CallContext& c) {
  Context& ctx = c.context;
  Node* v = c.args[0];
  if (v->type != NodeType::kVertex) return ctx.fail("struct argument must be concrete");
  auto* s = to<Vertex>(v);
  Vertex* w = ctx.inline_vertex(nullptr, nullptr);
  w->conjuncts = s->conjuncts;
  if (State* n = ctx.state(w)) {
    CloseInfo none;
    n->share({nullptr, s, none}, s, ctx.ci);
  }
  w->closed_once = true;
  return w;
}

bool literal_argument(const Call* call, bool close_too) {
  const Node* x = call->args[0];
  if (x->type == NodeType::kStruct) return to<StructLit>(x)->explicit_open;
  if (x->type == NodeType::kList) return to<ListLit>(x)->explicit_open;
  if (close_too && x->type == NodeType::kCall) {
    const Node* f = to<Call>(x)->fun;
    return f->type == NodeType::kBuiltin && to<Builtin>(f)->name == "close";
  }
  return false;
}

Node* close_all(CallContext& c) {
  if (!literal_argument(c.call, false))
    return c.context.fail("__closeAll may only be used when explicitopen is enabled");
  if (c.args[0]->type != NodeType::kVertex) return c.context.fail("struct argument must be concrete");
  to<Vertex>(c.args[0])->closed_recursive = true;
  return c.args[0];
}

Node* reclose(CallContext& c) {
  if (!literal_argument(c.call, true)) return c.context.fail("__reclose may only be used when explicitopen is enabled");
  if (c.args[0]->type == NodeType::kVertex) {
    auto* v = to<Vertex>(c.args[0]);
    if (v->state) {
      if (v->state->embed_closedness == EmbedClosed::kRecursive) v->closed_recursive = true;
      if (v->state->embed_closedness == EmbedClosed::kOnce) v->closed_once = true;
    }
  }
  return c.args[0];
}

// A list some of whose elements are errors.
bool is_list_with_errors(Vertex* v) {
  Bottom* b = v->bottom();
  return b && b->child_error && b->node == v && !v->arcs.empty() && v->arcs[0]->label.is_int();
}

// The elements of a list as they are, with errors among them if those say no more than that nothing is such an element.
std::vector<Node*> raw_elements(CallContext& c, std::size_t i, bool errors = false) {
  std::vector<Node*> out;
  bool ok;
  Bottom* saved = c.context.errs;
  Node* v = c.context.get_default(c.args[i], &ok);
  if (!ok) {
    c.context.errs = saved;
    v = c.args[i];
  }
  bool usable = v && v->type == NodeType::kVertex &&
                (to<Vertex>(v)->is_list() || (errors && is_list_with_errors(to<Vertex>(v)->deref_value())));
  if (!usable) {
    if (v && c.context.concreteness(v) > 1 && c.context.kinds(v) & kListKind)
      c.context.add_errf(Code::kIncomplete, v->pos, "incomplete {}: {}", Kinds{kListKind}, static_cast<const Node*>(v));
    else
      c.context.add_errf(Code::kEval, c.context.src, "cannot use {} (type {}) as type {}", static_cast<const Node*>(v),
                         c.context.kinds(v), Kinds{kListKind});
    return out;
  }
  if (errors) v = to<Vertex>(v)->deref_value();
  for (Vertex* a : to<Vertex>(v)->arcs)
    if (a->label.is_int()) out.push_back(a);
  return out;
}

Node* and_all(CallContext& c) {
  std::vector<Node*> a = raw_elements(c, 0);
  if (c.failed()) return nullptr;
  if (a.empty()) return c.context.store.make<Top>();
  // Of many, each is evaluated first: a bound or a type need only be said then, where an expression has to be kept and
  // compared with all the others.
  constexpr std::size_t kMany = 256;
  if (a.size() > kMany)
    for (Node*& x : a) {
      auto* v = to<Vertex>(x);
      c.context.finalize(v);
      const Node* is = v->deref_value()->base;
      if (is && (is->type == NodeType::kBound || is->type == NodeType::kBasicType)) x = v->deref_value()->base;
    }
  return c.context.store.make<Conjunction>(c.context.store.keep(a));
}

Node* or_all(CallContext& c) {
  std::vector<Disjunct> d;
  for (Node* x : raw_elements(c, 0)) d.push_back({Ref(x), false});
  if (c.failed()) return nullptr;
  Context& ctx = c.context;
  if (d.empty()) return ctx.bottom(Code::kIncomplete, ctx.src, "empty list in call to or");
  Vertex* v = ctx.new_vertex();
  v->conjuncts.push(ctx.arena, {nullptr, ctx.store.make<DisjunctionExpr>(ctx.store.keep(d)), ctx.ci});
  ctx.complete_arcs(v);
  return v;
}

template <Decimal (*F)(const Decimal&, const Decimal&)>
Node* integer_division(CallContext& c) {
  Num *a = c.context.num(c.args[0], Op::kQuo), *b = c.context.num(c.args[1], Op::kQuo);
  if (!a || !b) return nullptr;
  if (b->value.is_zero()) return c.context.fail("division by zero");
  Decimal out = F(a->value, b->value);
  // a zero has the sign that the result would have
  int sign = F == decimal::int_quo ? a->value.sign() * b->value.sign() : F == decimal::int_rem ? a->value.sign() : 1;
  if (out.is_zero() && sign < 0) out = Decimal::from_u64(0, 0, true);
  return c.make_number(out, kIntKind);
}

Node* test_on(CallContext& c) { return c.args[0]; }
Node* test_off(CallContext& c) { return c.context.fail("testing experiment disabled"); }

Node* user_error(Context& ctx, const Call* call) {
  Node* x = call->args[0];
  std::string text;
  if (x->type == NodeType::kInterpolation) {
    bool literal = true;
    for (Node* p : to<Interpolation>(x)->parts) {
      if (literal) {
        text += to<String>(p)->text;
      } else {
        Node* y = ctx.eval(p, {Status::kPartial, kScalarKnown, Mode::kFinalize});
        if (ctx.take_err()) {
          text += compact(p);
        } else {
          Node* u = ctx.unwrap(y);
          if (u && ctx.is_concrete(u) && ctx.kinds(u) & (kNumberKind | kStringKind | kBytesKind | kBoolKind))
            text += ctx.to_text(u, kTopKind);
          else
            text += compact(y);
        }
      }
      literal = !literal;
    }
  } else {
    Node* v = ctx.value(x, {Status::kPartial, kScalarKnown, Mode::kFinalize});
    text = ctx.to_text(v, kStringKind | kNumberKind | kBytesKind | kBoolKind);
  }
  Bottom* b = ctx.bottom(Code::kUser, call->pos, "{}", std::string_view(text));
  return b;
}

// ---- validators on schemas

Node* self_value(CallContext& c) {
  Node* v = c.args[0];
  return v->type == NodeType::kVertex ? c.context.to_data(to<Vertex>(v)) : v;
}

bool is_error(Context& ctx, Node* v) {
  if (v->type != NodeType::kVertex) return v->type == NodeType::kBottom;
  ctx.finalize(to<Vertex>(v));
  return to<Vertex>(v)->is_err();
}

constexpr ValidateConfig kFinal{.final = true, .report_incomplete = true};

Error* first_of(Error* e) {
  while (e && e->left) e = e->left;
  return e;
}

Node* match_n(CallContext& c) {
  Context& ctx = c.context;
  if (!c.validating) return ctx.fail("matchN is a validator and should not be used as a function");
  Node* self = self_value(c);
  if (is_error(ctx, self)) return c.make_bool(false);
  if (ctx.in_same_check(c.call))
    return ctx.bottom(Code::kStructuralCycle, c.call ? c.call->pos : ctx.src, "structural cycle");
  Context::Check checking(ctx, c.call);
  std::vector<Bottom*> errs;
  i64 count = 0, possible = 0;
  bool ok;
  Node* list = ctx.get_default(c.args[2], &ok);
  if (list && list->type == NodeType::kVertex) ctx.finalize(to<Vertex>(list));
  for (Node* check : raw_elements(c, 2, true)) {
    Vertex* v = ctx.unify_values(self, check);
    Bottom* err = validate_tree(ctx, v, kFinal);
    if (!err) {
      ++count;
      continue;
    }
    errs.push_back(err);
    if (err->incomplete()) ++possible;
  }
  if (c.failed()) return nullptr;
  Node* bound = ctx.unwrap(c.args[1]);
  Node* n = c.make_int(count);
  Vertex* v = ctx.new_vertex();
  v->conjuncts.push(ctx.arena, {nullptr, bound, ctx.ci});
  v->conjuncts.push(ctx.arena, {nullptr, n, ctx.ci});
  ctx.finalize(v);
  if (!v->is_err()) return c.make_bool(true);
  Bottom* b = ctx.fail("{} matched, expected {}", count, static_cast<const Node*>(bound));
  if (bound->type == NodeType::kNum) {
    auto i = to<Num>(bound)->value.to_i64();
    if (i && *i > count && *i <= count + possible) b->code = Code::kIncomplete;
  } else if (bound->type == NodeType::kBound) {
    Vertex* w = ctx.new_vertex();
    w->conjuncts.push(ctx.arena, {nullptr, bound, ctx.ci});
    w->conjuncts.push(ctx.arena, {nullptr, ctx.store.make<Bound>(Op::kGe, n), ctx.ci});
    w->conjuncts.push(ctx.arena, {nullptr, ctx.store.make<Bound>(Op::kLe, c.make_int(count + possible)), ctx.ci});
    ctx.finalize(w);
    if (!w->is_err()) b->code = Code::kIncomplete;
  } else {
    b->code = Code::kIncomplete;
  }
  Error* all = nullptr;
  for (Bottom* err : errs)
    if (!b->incomplete() || err->incomplete()) all = ctx.join(all, first_of(err->error));
  if (all) b->error = ctx.join(b->error, all);
  return b;
}

Node* match_if(CallContext& c) {
  Context& ctx = c.context;
  if (!c.validating) return ctx.fail("matchIf is a validator and should not be used as a function");
  Node* self = self_value(c);
  if (is_error(ctx, self)) return c.make_bool(false);
  if (ctx.in_same_check(c.call))
    return ctx.bottom(Code::kStructuralCycle, c.call ? c.call->pos : ctx.src, "structural cycle");
  Context::Check checking(ctx, c.call);
  // evaluated again for each value, in the scope of the call
  auto schema = [&](std::size_t i) -> Node* {
    if (!c.call) return c.args[i];
    Vertex* v = ctx.new_vertex();
    v->conjuncts.push(ctx.arena, {ctx.e, c.call->args[i - 1], ctx.ci});
    return v;
  };
  Node *first = schema(1), *then = schema(2), *otherwise = schema(3);
  Vertex* v = ctx.unify_values(self, first);
  bool matches = !validate_tree(ctx, v, kFinal);
  v = ctx.unify_values(self, matches ? then : otherwise);
  if (Bottom* err = validate_tree(ctx, v, kFinal)) return err;
  return c.make_bool(true);
}

struct Table {
  Param string_param[1] = {{kStringKind}};
  Param len_param[1] = {{kLenKinds}};
  Param struct_param[1] = {{kStructKind}};
  Param list_param[1] = {{kListKind}};
  Param top_param[1] = {{kTopKind}};
  Param ints[2] = {{kIntKind}, {kIntKind}};
  Param match_n_params[3] = {{kTopKind}, {kIntKind}, {kListKind}};
  Param match_if_params[4] = {{kTopKind}, {kTopKind}, {kTopKind}, {kTopKind}};
  Builtin all[16] = {
      {"", "error", string_param, kBottomKind, nullptr},
      {"", "len", len_param, kIntKind, len},
      {"", "close", struct_param, kStructKind, close},
      {"", "__closeAll", top_param, kTopKind, close_all},
      {"", "__reclose", top_param, kTopKind, reclose},
      {"", "and", list_param, kIntKind, and_all},
      {"", "or", list_param, kIntKind, or_all},
      {"", "div", ints, kIntKind, integer_division<decimal::int_div>},
      {"", "mod", ints, kIntKind, integer_division<decimal::int_mod>},
      {"", "quo", ints, kIntKind, integer_division<decimal::int_quo>},
      {"", "rem", ints, kIntKind, integer_division<decimal::int_rem>},
      {"", "matchN", match_n_params, kBoolKind, match_n},
      {"", "matchIf", match_if_params, kBoolKind, match_if},
      {"", "__no_sharing", top_param, kTopKind, nullptr},
      {"", "testExperiment", top_param, kTopKind, test_off},
      {"", "testExperiment+", top_param, kTopKind, test_on},
  };
  Bottom no_sharing{Code::kEval};
  Table() {
    for (auto& b : all) {
      if (b.name == "error") b.raw = user_error;
      if (b.name == "or" || b.name == "matchN" || b.name == "matchIf") b.non_concrete = true;
    }
  }
};

Table& table() {
  static Room& room = *new Room;
  static Table& all = *room.make<Table>();
  return all;
}

}  // namespace

Node* predeclared_function(std::string_view name) {
  if (name == "__no_sharing") return no_sharing_node();
  for (auto& b : table().all)
    if (b.name == name) return &b;
  return nullptr;
}

std::vector<std::string_view> predeclared_function_names() {
  std::vector<std::string_view> out;
  for (auto& b : table().all)
    if (!b.name.starts_with("__") && b.name.find('+') == b.name.npos) out.push_back(b.name);
  return out;
}

Node* no_sharing_node() { return &table().no_sharing; }

}  // namespace tutti::cue
