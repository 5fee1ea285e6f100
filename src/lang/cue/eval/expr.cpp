#include <fmt/format.h>

#include "base/utf8.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/eval/limits.h"

namespace tutti::cue {

namespace {
constexpr Flags kScalarNow{Status::kPartial, kScalarKnown, Mode::kYield};

bool concrete_possible(const Node* x) {
  switch (x->type) {
    case NodeType::kBoundExpr: return false;
    case NodeType::kTop:
    case NodeType::kBasicType:
    case NodeType::kBound:
    case NodeType::kConjunction:
    case NodeType::kDisjunction:
    case NodeType::kValidator: return false;
    default: return true;
  }
}
}  // namespace

Node* Context::concrete(Environment* env, Node* x, Op op) {
  Node* w;
  {
    EvalScope scope(*this, env, x->pos);
    w = eval(x, kScalarNow);
  }
  bool ok;
  w = get_default(w, &ok);
  if (!ok) return w;
  Node* v = unwrap(w);
  if (!is_concrete(v)) {
    Bottom* b = fail("non-concrete value {} in operand to {}", static_cast<const Node*>(w ? w : x), op);
    b->code = Code::kIncomplete;
    v = b;
  }
  return v;
}

Node* Context::make_bool(bool b) {
  if (errs) return take_err();
  auto* v = store.make<Bool>(b);
  v->pos = src;
  return v;
}

namespace {

// x == _|_ and x != _|_: whether there is a value.
Node* presence(Context& c, Environment* env, const Binary* src, Node* x, Op op, Flags f) {
  Context::Frame frame = c.push_state(env, src->pos);
  struct Guard {
    Context& c;
    Context::Frame& f;
    bool open = true;
    ~Guard() {
      if (open) c.pop_state(f);
      --c.in_validator;
    }
    void pop() {
      open = false;
      c.pop_state(f);
    }
  } guard{c, frame};
  ++c.in_validator;
  bool match = op != Op::kEq;
  auto recheck = [&](bool expect_error) {
    if (State* n = c.env_vertex(env)->state) n->post_checks.push_back({env, x, expect_error});
  };
  Node* v = c.eval(x, {f.status, kNeedTasksDone, Mode::kFinalize});
  bool ok;
  Node* u = c.unwrap(c.get_default(v, &ok));
  if (u && u->type != NodeType::kBottom && c.kinds(u) & kCompositeKinds) u = v;
  if (!u) {
  } else if (u->type == NodeType::kBottom) {
    auto* b = to<Bottom>(u);
    if (b->code == Code::kCycle) {
      guard.pop();
      c.add_bottom(b);
      return nullptr;
    }
    if (b->code == Code::kIncomplete) {
      if (b->node)
        if (State* ns = b->node->state;
            ns && ns->sched == SchedState::kRunning && !ns->meets(kValueKnown) && ns->provided & kValueKnown)
          if (Task* t = c.current()) {
            guard.pop();
            ns->wait_for(t, kValueKnown, c.blocking);
          }
      c.eval(x, {Status::kFinalized, kAllKnown, Mode::kIgnore});
      recheck(true);
    }
    match = op == Op::kEq;
  } else if (u->type == NodeType::kVertex) {
    auto* w = to<Vertex>(u);
    if (c.has_depth_cycle(w)) {
      recheck(true);
      match = op == Op::kEq;
    } else {
      c.finalize(w);
      Node* fin = c.unwrap(w->deref_value());
      if (fin && fin->type == NodeType::kBottom && to<Bottom>(fin)->code < Code::kIncomplete) match = op == Op::kEq;
    }
  } else {
    if (c.kinds(u) & kCompositeKinds && c.concreteness(u) > 1 && f.status < Status::kConjuncts) {
      guard.pop();
      c.add_bottom(c.cycle);
      return nullptr;
    }
    recheck(false);
    if (c.concreteness(u) > 1) match = op == Op::kEq;
    c.eval(x, {f.status, kNeedTasksDone, Mode::kYield});
  }
  guard.pop();
  return c.make_bool(match);
}

Node* slice(Context& c, Slice* x) {
  Node* v = c.value(x->x, {Status::kPartial, kFieldSetKnown, Mode::kYield});
  if (!v) {
    c.add_errf(Code::kIncomplete, c.src, "non-concrete slice subject {}", static_cast<const Node*>(x->x));
    return nullptr;
  }
  if (v->type == NodeType::kBottom) return v;
  bool list = v->type == NodeType::kVertex && to<Vertex>(v)->is_list();
  if (!list && v->type != NodeType::kBytes)
    return c.fail("cannot slice {} (type {})", static_cast<const Node*>(v), c.kinds(v));
  i64 size = list ? static_cast<i64>(to<Vertex>(v)->arcs.size()) : static_cast<i64>(to<Bytes>(v)->text.size());
  i64 low = 0, high = size;
  if (x->low) low = c.uint(c.value(x->low, kScalarNow), "slice index");
  if (x->high) {
    high = c.uint(c.value(x->high, kScalarNow), "slice index");
    if (high > size) return c.fail("index {} out of range", high);
  }
  if (c.has_err()) return nullptr;
  if (low > high) return c.fail("invalid slice index: {} > {}", low, high);
  if (!list)
    return c.make_bytes(to<Bytes>(v)->text.substr(static_cast<std::size_t>(low), static_cast<std::size_t>(high - low)));
  auto* l = to<Vertex>(v);
  Vertex* n = c.inline_vertex(c.store.make<ListMarker>(false), nullptr);
  for (i64 i = low; i < high; ++i) {
    Vertex* from = l->arcs[static_cast<std::size_t>(i)];
    Vertex* a;
    if (from->status == Status::kFinalized) {
      a = from->copy(c.store);
      a->state = nullptr;
    } else {
      // not evaluated yet: the same conjuncts, to be evaluated when the element is used
      a = c.new_vertex();
      a->conjuncts = from->conjuncts;
    }
    a->parent = n;
    a->label = Label::integer(static_cast<u32>(i - low));
    n->add_arc(c.arena, a);
  }
  n->status = Status::kFinalized;
  return n;
}

}  // namespace

Node* Context::evaluate(Node* x, Flags f) {
  switch (x->type) {
    case NodeType::kLabelRef: {
      Label l = env_up(to<LabelRef>(x)->up)->dynamic_label;
      if (!l.valid()) return store.make<BasicType>(kStringKind);
      Node* name = label_value(l);
      if (name) name->pos = x->pos;
      return name;
    }
    case NodeType::kStruct: {
      Conjunct c{e, x, ci};
      Vertex* v = inline_vertex(nullptr, &c);
      complete_arcs_only(v);
      return v;
    }
    case NodeType::kList: {
      Conjunct c{e, x, ci};
      Vertex* v = inline_vertex(nullptr, &c);
      complete_arcs_only(v);
      return v;
    }
    case NodeType::kDisjunctionExpr: {
      Conjunct c{e, x, ci};
      Vertex* v = inline_vertex(nullptr, &c);
      finalize(v);
      return v;
    }
    case NodeType::kBoundExpr: {
      auto* b = to<BoundExpr>(x);
      if (b->made) return b->made;
      Node* v = value(b->x, kScalarNow);
      if (!v || v->type == NodeType::kBottom) return v;
      Kinds k = kinds(v);
      bool eq = b->op == Op::kEq || b->op == Op::kNe;
      switch (k) {
        case kIntKind:
        case kFloatKind:
        case kNumberKind:
        case kStringKind:
        case kBytesKind: break;
        case kNullKind:
        case kStructKind:
        case kListKind:
          if (!eq) return bottom(Code::kEval, b->x->pos, "cannot use {} for bound {}", k, b->op);
          break;
        default: {
          Kinds mask = kNumberKind | kStringKind | kBytesKind;
          if (eq) mask |= kNullKind | kCompositeKinds;
          if (k & mask) {
            add_errf(Code::kIncomplete, {}, "non-concrete value {} for bound {}", static_cast<const Node*>(b->x),
                     b->op);
            return nullptr;
          }
          return bottom(Code::kEval, b->x->pos, "invalid value {} (type {}) for bound {}", static_cast<const Node*>(v),
                        k, b->op);
        }
      }
      if (concreteness(v) > 1) {
        if (b->x->is_value()) return fail("bound has fixed non-concrete value");
        add_errf(Code::kIncomplete, {}, "non-concrete value {} for bound {}", static_cast<const Node*>(b->x), b->op);
        return nullptr;
      }
      auto* out = store.make<Bound>(b->op, v);
      out->set_src(x->src());
      out->pos = x->pos;
      if (b->x->type <= NodeType::kBytes) b->made = out;
      return out;
    }
    case NodeType::kSlice: return slice(*this, to<Slice>(x));
    case NodeType::kInterpolation: {
      auto* i = to<Interpolation>(x);
      std::string text;
      for (Node* p : i->parts) {
        Node* v = value(p, kScalarNow);
        if (i->kind == kBytesKind && v && v->type == NodeType::kBytes)
          text += to<Bytes>(v)->text;
        else
          text += to_text(v, kStringKind | kNumberKind | kBytesKind | kBoolKind);
        check_text(text.size());
      }
      if (errs) {
        Bottom* b = take_err();
        Error* w = error_at(x->pos, "invalid interpolation");
        w->wrapped = b->error;
        if (!b->incomplete()) w->node = nullptr, w->path = {};  // it is told where what is interpolated went wrong
        return store.make<Bottom>(b->code, w, vertex);
      }
      Node* out = i->kind == kBytesKind ? make_bytes(text) : make_string(text);
      out->set_src(x->src());
      out->pos = x->pos;
      return out;
    }
    case NodeType::kUnary: {
      auto* u = to<Unary>(x);
      if (!concrete_possible(u->x)) {
        add_errf(Code::kEval, {}, "invalid operand {} ('{}' requires concrete value)", static_cast<const Node*>(u->x),
                 u->op);
        return nullptr;
      }
      Node* v = value(u->x, kScalarNow);
      if (!v || v->type == NodeType::kBottom) return v;
      Kinds k = kinds(v), want = kNumberKind;
      if (u->op == Op::kNot) {
        if (v->type == NodeType::kBool) return make_bool(!to<Bool>(v)->value);
        want = kBoolKind;
      } else if (v->type == NodeType::kNum) {
        if (u->op == Op::kAdd) return v;
        Num* n = store.num(to<Num>(v)->kind, -to<Num>(v)->value, x->src());
        n->pos = x->pos;
        return n;
      }
      if (k & want) {
        add_errf(Code::kIncomplete, u->x->pos, "operand {} of '{}' not concrete (was {})",
                 static_cast<const Node*>(u->x), u->op, k);
        return nullptr;
      }
      return fail("invalid operation {} ({} {})", static_cast<const Node*>(x), u->op, k);
    }
    case NodeType::kBinary: {
      auto* b = to<Binary>(x);
      Environment* env = e;
      if (b->op == Op::kAnd) {
        Conjunct c{env, x, {}};
        c.ci.refs = ci.refs;
        Vertex* v = inline_vertex(nullptr, &c);
        Vertex* ev = env ? env_vertex(env) : nullptr;
        if ((in_detached == 0 && ev && ev->is_dynamic) || in_validator > 0)
          finalize(v);
        else
          complete_arcs_only(v);
        return v;
      }
      if (b->short_circuit && (b->op == Op::kLand || b->op == Op::kLor) && concrete_possible(b->x)) {
        Node* left = concrete(env, b->x, b->op);
        if (left && left->type == NodeType::kBool && to<Bool>(left)->value == (b->op == Op::kLor))
          return make_bool(to<Bool>(left)->value);
      }
      for (Node* o : {b->x, b->y})
        if (!concrete_possible(o)) {
          add_errf(Code::kEval, {}, "invalid operand {} ('{}' requires concrete value)", static_cast<const Node*>(o),
                   b->op);
          return nullptr;
        }
      if (b->op == Op::kEq || b->op == Op::kNe) {
        if (literal_bottom(b->x)) return presence(*this, env, b, b->y, b->op, f);
        if (literal_bottom(b->y)) return presence(*this, env, b, b->x, b->op, f);
      }
      Node* left = concrete(env, b->x, b->op);
      Node* right = concrete(env, b->y, b->op);
      if (Bottom* err = combine(as_bottom(left), as_bottom(right))) return err;
      if (errs) return take_err();
      if (!left || !right) return nullptr;
      Node* out = binop(b->op, left, right);
      if (out && out->type != NodeType::kBottom && !out->src()) out->set_src(x->src()), out->pos = x->pos;
      return out;
    }
    case NodeType::kCall: return call(to<Call>(x), f);
    default: return nullptr;
  }
}

// Text of a scalar, reporting what is none.
std::string Context::to_text(Node* v, Kinds allowed) {
  v = unwrap(v);
  if (!v || v->type == NodeType::kBottom) return {};
  Kinds k = kinds(v);
  if (!(k & allowed)) {
    add_errf(Code::kEval, src, "cannot use {} (type {}) as type {}", static_cast<const Node*>(v), k, allowed);
    return {};
  }
  switch (v->type) {
    case NodeType::kString: return std::string(to<String>(v)->text);
    case NodeType::kBytes: {
      std::string out;
      std::string_view t = to<Bytes>(v)->text;
      for (std::size_t at = 0; at < t.size();) {
        char32_t c = utf8::decode(t, at);
        if (c != utf8::kInvalid) {
          utf8::append(out, c);
        } else if (out.size() < 3 || out.compare(out.size() - 3, 3, "\xEF\xBF\xBD") != 0 || at < 2 ||
                   (static_cast<unsigned char>(t[at - 2]) < 0x80)) {
          utf8::append(out, 0xFFFD);
        }
      }
      return out;
    }
    case NodeType::kNum: return to<Num>(v)->value.text('E');
    case NodeType::kBool: return to<Bool>(v)->value ? "true" : "false";
    default: add_errf(Code::kIncomplete, src, "non-concrete value {} (type {})", static_cast<const Node*>(v), k);
  }
  return {};
}

bool Context::bool_value(Node* v, Op as) {
  v = unwrap(v);
  if (!v || v->type == NodeType::kBottom) return false;
  if (v->type == NodeType::kBool) return to<Bool>(v)->value;
  if (!is_concrete(v) && kinds(v) & kBoolKind) {
    add_errf(Code::kIncomplete, v->pos, "incomplete {}: {}", Kinds{kBoolKind}, static_cast<const Node*>(v));
  } else if (as == Op::kNone) {
    add_errf(Code::kEval, src, "cannot use {} (type {}) as type {}", static_cast<const Node*>(v), kinds(v),
             Kinds{kBoolKind});
  } else {
    add_errf(Code::kEval, src, "cannot use {} (type {}) as type {} in {}", static_cast<const Node*>(v), kinds(v),
             Kinds{kBoolKind}, as);
  }
  return false;
}

Num* Context::num(Node* v, Op as) {
  v = unwrap(v);
  if (!v || v->type == NodeType::kBottom) return nullptr;
  if (v->type == NodeType::kNum) return to<Num>(v);
  if (!is_concrete(v) && kinds(v) & kNumberKind)
    add_errf(Code::kIncomplete, v->pos, "incomplete {} in {}: {}", Kinds{kNumberKind}, as, static_cast<const Node*>(v));
  else
    add_errf(Code::kEval, src, "cannot use {} (type {}) as type {} in {}", static_cast<const Node*>(v), kinds(v),
             Kinds{kNumberKind}, as);
  return nullptr;
}

i64 Context::uint(Node* v, std::string_view as) {
  v = unwrap(v);
  if (!v || v->type == NodeType::kBottom) return 0;
  if (v->type != NodeType::kNum) {
    if (!is_concrete(v) && kinds(v) & kIntKind)
      add_errf(Code::kIncomplete, v->pos, "incomplete {} in {}: {}", Kinds{kIntKind}, as, static_cast<const Node*>(v));
    else
      add_errf(Code::kEval, src, "cannot use {} (type {}) as type {} in {}", static_cast<const Node*>(v), kinds(v),
               Kinds{kIntKind}, as);
    return 0;
  }
  const Decimal& d = to<Num>(v)->value;
  if (d.negative() && !d.is_zero()) {
    add_errf(Code::kEval, src, "cannot convert negative number to uint64");
    return 0;
  }
  auto i = d.to_i64();
  if (!i) {
    add_errf(Code::kEval, src, "cannot convert number {} to uint64", static_cast<const Node*>(v));
    return 0;
  }
  return *i;
}

}  // namespace tutti::cue
