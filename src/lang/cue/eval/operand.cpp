#include "lang/cue/eval/context.h"

// A struct literal from which a field is selected: {a: x, b: a.c}.b. What is selected may lead back to the same literal
// in the same scopes; that is then the same operand, so that a projection which feeds itself is found to be a reference
// cycle instead of unfolding for ever.
namespace tutti::cue {

namespace {

constexpr u64 kAllScopes = ~u64{0};

// Of the scopes around an expression that lies in `level` literals of its own: bit k when it refers to the k-th
// outwards. All of them where more than fields is involved.
u64 scopes_used(const Node* x, u32 level) {
  if (x->is_value()) return x->type == NodeType::kVertex ? kAllScopes : 0;
  switch (x->type) {
    case NodeType::kFieldRef: {
      u32 up = to<FieldRef>(x)->up;
      return up < level ? 0 : up - level < 64 ? u64{1} << (up - level) : kAllScopes;
    }
    case NodeType::kSelector: return scopes_used(to<Selector>(x)->x, level);
    case NodeType::kBoundExpr: return scopes_used(to<BoundExpr>(x)->x, level);
    case NodeType::kUnary: return scopes_used(to<Unary>(x)->x, level);
    case NodeType::kBinary: return scopes_used(to<Binary>(x)->x, level) | scopes_used(to<Binary>(x)->y, level);
    case NodeType::kStruct: {
      u64 out = 0;
      for (const Node* d : to<StructLit>(x)->decls) {
        if (d->type == NodeType::kField)
          out |= scopes_used(to<Field>(d)->value, level + 1);
        else
          out |= d->is_expr() ? scopes_used(d, level + 1) : kAllScopes;
      }
      return out;
    }
    default: return kAllScopes;
  }
}

}  // namespace

bool Context::same_scopes(const Environment* a, const Environment* b, u64 used) {
  for (; used && a != b; used = used == kAllScopes ? used : used >> 1, a = a->up, b = b->up) {
    if (!a || !b) return false;
    if (used & 1 && (env_vertex(const_cast<Environment*>(a)) != env_vertex(const_cast<Environment*>(b)) ||
                     a->dynamic_label != b->dynamic_label))
      return false;
  }
  return true;
}

u64 Context::scopes_of(const Node* x) {
  auto [at, added] = scopes_used_.try_emplace(x, 0);
  if (added) at->second = scopes_used(x, 0);
  return at->second;
}

// Whether two conjuncts say the same: one expression in scopes that agree wherever it looks.
bool Context::same_conjunct(const Conjunct& a, const Conjunct& b) {
  if (a.x != b.x) return false;
  if (a.env == b.env) return true;
  return a.env && b.env && same_scopes(a.env, b.env, scopes_of(expression_of(a.x)));
}

Vertex* Context::literal_operand(StructLit* x) {
  constexpr std::size_t kRemembered = 16;
  constexpr int kTimes = 3;
  auto& made = operands_[x];
  int times = 0;
  for (std::size_t i = made.size(); i-- > 0;) {
    const Operand& o = made[i];
    if (!o.value->state || !same_scopes(o.env, e, scopes_of(x))) continue;
    // further in than where it was made it is most often found to be a structural cycle, and better told so
    if (o.made_for == vertex || !lies_within(vertex, o.made_for) || ++times == kTimes) return o.value;
  }
  Conjunct c{e, x, ci};
  Vertex* v = inline_vertex(nullptr, &c);
  if (made.size() == kRemembered) made.erase(made.begin());
  made.push_back({e, v, vertex});
  complete_arcs_only(v);
  return v;
}

}  // namespace tutti::cue
