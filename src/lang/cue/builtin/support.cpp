#include "lang/cue/builtin/support.h"

#include <cmath>

#include "lang/cue/builtin/data.h"
#include "lang/cue/eval/context.h"

namespace tutti::cue {

Node* number_result(CallContext& c, const Decimal& d) {
  if (d.is_integer()) return c.make_number(d.with_exponent_zero(), kIntKind);
  return c.make_number(d, kFloatKind);
}

Node* number_result(CallContext& c, const DecimalResult& r) {
  return r.ok() ? number_result(c, r.value) : c.error(r.error);
}

Node* float_result(CallContext& c, double d) {
  if (!std::isfinite(d)) return c.error(std::isnan(d) ? "result is not a number" : "result is infinite");
  return c.make_number(Decimal::from_double(d), kFloatKind);
}

Node* int_result(CallContext& c, const Decimal& d) { return c.make_number(d, kIntKind); }

Node* strings_result(CallContext& c, const std::vector<std::string>& items) {
  if (c.failed()) return nullptr;
  std::vector<Node*> out;
  out.reserve(items.size());
  for (const std::string& s : items) out.push_back(c.make_string(s));
  return c.make_list(out);
}

Node* plain(Node* n) {
  while (n && n->type == NodeType::kVertex) {
    Vertex* v = to<Vertex>(n)->deref_value();
    if (!v->base || v->base->type == NodeType::kStructMarker || v->base->type == NodeType::kListMarker) return v;
    if (v->base->type == NodeType::kDisjunction && to<Disjunction>(v->base)->defaults == 1) {
      n = to<Disjunction>(v->base)->values[0];
      continue;
    }
    n = v->base;
  }
  return n;
}

Kinds concrete_kind(Node* n) {
  n = plain(n);
  if (!n) return 0;
  switch (n->type) {
    case NodeType::kNull: return kNullKind;
    case NodeType::kBool: return kBoolKind;
    case NodeType::kNum: return to<Num>(n)->kind & kIntKind ? kIntKind : kFloatKind;
    case NodeType::kString: return kStringKind;
    case NodeType::kBytes: return kBytesKind;
    case NodeType::kVertex: return to<Vertex>(n)->is_list() ? kListKind : kStructKind;
    default: return 0;
  }
}

Node* validation_error(CallContext& c, Code code, std::string_view message) {
  if (!c.validating) return c.make_bool(false);  // as a function it only says no
  Bottom* b = c.context.bottom(code, {}, "{}", message);
  b->flags |= 1;  // shown as it is, without "error in call to"
  return b;
}

std::vector<Node*> list_items(CallContext& c, Node* list) {
  Node* n = plain(c.context.default_of(list));
  if (!n || n->type != NodeType::kVertex || !to<Vertex>(n)->is_list()) {
    if (n && n->type == NodeType::kBottom)
      c.report(to<Bottom>(n));
    else if (n && c.context.concreteness(n) > 1 && c.context.kinds(n) & kListKind)
      c.report(c.context.bottom(Code::kIncomplete, list->pos, "non-concrete value {}", static_cast<const Node*>(n)));
    else
      c.report(c.context.bottom(Code::kEval, list->pos, "cannot use value {} (type {}) as list",
                                static_cast<const Node*>(list), c.context.kinds(list)));
    return {};
  }
  std::vector<Node*> out;
  auto& arcs = to<Vertex>(n)->arcs;
  for (u32 i = 0; i < arcs.size(); ++i) {
    Vertex* a = arcs[i];
    if (!a->label.is_int()) continue;
    c.context.finalize(a);
    out.push_back(a);
  }
  return out;
}

}  // namespace tutti::cue
