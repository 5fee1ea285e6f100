#include "lang/cue/builtin/go_value.h"

#include <cmath>

#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/context.h"

namespace tutti::cue {

GoValue GoValue::boolean(bool b) {
  GoValue v;
  v.kind = kBool;
  v.integer = b;
  return v;
}

GoValue GoValue::number(i64 i, Kind kind) {
  GoValue v;
  v.kind = kind;
  v.integer = i;
  return v;
}

GoValue GoValue::floating(double d) {
  GoValue v;
  v.kind = kFloat;
  v.real = d;
  return v;
}

GoValue GoValue::string(std::string s) {
  GoValue v;
  v.kind = kString;
  v.bytes = std::make_shared<const std::string>(std::move(s));
  return v;
}

GoValue GoValue::list(List items) {
  GoValue v;
  v.kind = kList;
  v.size = items.size();
  v.items = std::make_shared<const List>(std::move(items));
  return v;
}

GoValue GoValue::unboxed() const {
  GoValue v = *this;
  v.boxed = false;
  return v;
}

std::size_t GoValue::length() const {
  switch (kind) {
    case kString:
    case kBytes: return text().size();
    case kList: return size;
    case kMap: return fields->size();
    default: return 0;
  }
}

bool GoValue::truth() const {
  switch (kind) {
    case kNil: return false;
    case kBool:
    case kInt:
    case kInt64:
    case kUint8: return integer != 0;
    case kFloat: return real != 0;
    case kComplex: return real != 0 || imaginary != 0;
    case kBigInt:
    case kBigFloat: return true;  // a pointer
    default: return length() > 0;
  }
}

std::string_view GoValue::type() const {
  switch (kind) {
    case kNil: return "<nil>";
    case kBool: return "bool";
    case kInt: return "int";
    case kInt64: return "int64";
    case kUint8: return "uint8";
    case kFloat: return "float64";
    case kComplex: return "complex128";
    case kString: return "string";
    case kBytes: return "[]uint8";
    case kList: return "[]interface {}";
    case kMap: return "map[string]interface {}";
    case kBigInt: return "*big.Int";
    case kBigFloat: return "*big.Float";
  }
  return "";
}

std::string_view GoValue::outer_type() const { return boxed ? "interface {}" : type(); }

namespace {

GoValue big_value(GoValue::Kind kind, const Decimal& d) {
  GoValue v;
  v.kind = kind;
  v.big = std::make_shared<const Decimal>(d);
  return v;
}

GoValue boxed_value(CallContext& c, Node* n) {
  GoValue v = go_value(c, n);
  v.boxed = true;
  return v;
}

GoValue container(CallContext& c, Vertex* v) {
  if (v->is_list()) {
    GoValue::List items;
    for (Vertex* a : v->arcs)
      if (a->label.is_int()) items.push_back(boxed_value(c, a));
    return GoValue::list(std::move(items));
  }
  GoValue::Map fields;
  for (Vertex* a : v->arcs)
    if (a->label.is_string() && (a->arc_type == ArcType::kMember || a->arc_type == ArcType::kRequired))
      fields.emplace(a->label.name(), boxed_value(c, a));
  GoValue out;
  out.kind = GoValue::kMap;
  out.fields = std::make_shared<const GoValue::Map>(std::move(fields));
  return out;
}

}  // namespace

GoValue go_value(CallContext& c, Node* node) {
  Level level(c.context);
  c.context.budget.step();
  Node* n = plain(c.context.default_of(node));
  switch (n->type) {
    case NodeType::kNull: return {};
    case NodeType::kBool: return GoValue::boolean(to<Bool>(n)->value);
    case NodeType::kNum: {
      const Decimal& d = to<Num>(n)->value;
      if (to<Num>(n)->kind & kIntKind) {
        if (auto i = d.to_i64()) return GoValue::number(*i, GoValue::kInt64);
        return big_value(GoValue::kBigInt, d);
      }
      double r = d.to_double();
      bool fits = std::isfinite(r) && (r != 0 || d.is_zero());
      return fits ? GoValue::floating(r) : big_value(GoValue::kBigFloat, d);
    }
    case NodeType::kString: return GoValue::string(std::string(to<String>(n)->text));
    case NodeType::kBytes: {
      GoValue v = GoValue::string(std::string(to<Bytes>(n)->text));
      v.kind = GoValue::kBytes;
      return v;
    }
    case NodeType::kVertex: return container(c, to<Vertex>(n));
    default: return {};
  }
}

}  // namespace tutti::cue
