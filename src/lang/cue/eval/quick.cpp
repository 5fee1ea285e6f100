#include "lang/cue/eval/quick.h"

namespace tutti::cue {

namespace {

struct Quick {
  enum Kind : u8 { kInt, kText, kTruth } kind;
  i64 number = 0;
  std::string_view text;
};

Vertex* known_vertex(Context& ctx, const Node* x) {
  switch (x->type) {
    case NodeType::kFieldRef: {
      auto* r = to<FieldRef>(x);
      if (r->optional) return nullptr;
      Vertex* v = ctx.rel_node(r->up);
      return v ? v->find_raw(r->label) : nullptr;
    }
    case NodeType::kSelector: {
      auto* s = to<Selector>(x);
      if (s->optional) return nullptr;
      Vertex* v = known_vertex(ctx, s->x);
      if (!v) return nullptr;
      v = v->deref_value();
      if (v->bottom() && !ctx.is_cycle(v->base)) return nullptr;
      return v->find_raw(s->label);
    }
    default: return nullptr;
  }
}

bool take(const Node* n, Quick& out) {
  switch (n->type) {
    case NodeType::kNum: {
      auto* num = to<Num>(n);
      if (num->kind != kIntKind) return false;
      auto i = num->value.to_i64();
      if (!i || *i > i64{1} << 40 || *i < -(i64{1} << 40)) return false;  // sums and products stay exact
      out = {Quick::kInt, *i, {}};
      return true;
    }
    case NodeType::kString: out = {Quick::kText, 0, to<String>(n)->text}; return true;
    case NodeType::kBool: out = {Quick::kTruth, to<Bool>(n)->value, {}}; return true;
    default: return false;
  }
}

template <class T>
bool compare(Op op, const T& a, const T& b, bool& out) {
  switch (op) {
    case Op::kEq: out = a == b; return true;
    case Op::kNe: out = a != b; return true;
    case Op::kLt: out = a < b; return true;
    case Op::kLe: out = a <= b; return true;
    case Op::kGt: out = a > b; return true;
    case Op::kGe: out = a >= b; return true;
    default: return false;
  }
}

bool quick(Context& ctx, const Node* x, Quick& out, int depth) {
  if (depth > 16) return false;
  switch (x->type) {
    case NodeType::kFieldRef:
    case NodeType::kSelector: {
      Vertex* v = known_vertex(ctx, x);
      if (!v) return false;
      Vertex* w = v->deref_value();
      if (w->arc_type != ArcType::kMember) return false;
      if (State* s = w->state) {
        if (s->errs || !s->scalar || !s->meets(kScalarKnown)) return false;
        return take(s->scalar, out);
      }
      return w->status == Status::kFinalized && w->base && take(w->base, out);
    }
    case NodeType::kBinary: {
      auto* b = to<Binary>(x);
      Quick l, r;
      if (!quick(ctx, b->x, l, depth + 1) || !quick(ctx, b->y, r, depth + 1) || l.kind != r.kind) return false;
      bool truth = false;
      switch (l.kind) {
        case Quick::kInt:
          if (compare(b->op, l.number, r.number, truth)) break;
          if (b->op == Op::kAdd)
            out = {Quick::kInt, l.number + r.number, {}};
          else if (b->op == Op::kSub)
            out = {Quick::kInt, l.number - r.number, {}};
          else
            return false;
          return out.number < i64{1} << 60 && out.number > -(i64{1} << 60);
        case Quick::kText:
          if (compare(b->op, l.text, r.text, truth)) break;
          return false;
        case Quick::kTruth:
          if (b->op == Op::kLand)
            truth = l.number && r.number;
          else if (b->op == Op::kLor)
            truth = l.number || r.number;
          else if (b->op == Op::kEq || b->op == Op::kNe)
            truth = (l.number == r.number) == (b->op == Op::kEq);
          else
            return false;
          break;
      }
      out = {Quick::kTruth, truth, {}};
      return true;
    }
    default: return take(x, out);
  }
}

}  // namespace

std::optional<bool> quick_condition(Context& ctx, const Node* x) {
  Quick q;
  if (!quick(ctx, x, q, 0) || q.kind != Quick::kTruth) return std::nullopt;
  return q.number != 0;
}

}  // namespace tutti::cue
