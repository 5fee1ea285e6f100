#include "lang/cue/export/constraint.h"

#include <algorithm>
#include <optional>

namespace tutti::cue {

namespace {

// Predeclared types that are ranges. Those of integers ask for an integer, those of floats for any number.
struct NamedRange {
  std::string_view name, low, high;
  bool integer;
};
constexpr NamedRange kNamedRanges[] = {
    {"int8", "-128", "127", true},
    {"int16", "-32768", "32767", true},
    {"int32", "-2147483648", "2147483647", true},
    {"int64", "-9223372036854775808", "9223372036854775807", true},
    {"int128", "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727", true},
    {"uint8", "0", "255", true},
    {"uint16", "0", "65535", true},
    {"uint32", "0", "4294967295", true},
    {"uint64", "0", "18446744073709551615", true},
    {"uint128", "0", "340282366920938463463374607431768211455", true},
    {"float32", "-3.40282346638528859811704183484516925440e+38", "3.40282346638528859811704183484516925440e+38", false},
    {"float64", "-1.797693134862315708145274237317043567981e+308", "1.797693134862315708145274237317043567981e+308",
     false},
};

// The part of a conjunction that says which numbers.
struct NumberRange {
  bool integer = false, floating = false;
  Bound *low = nullptr, *high = nullptr;
  std::size_t bounds = 0;     // how many there were
  std::vector<Node*> others;  // what says something else

  explicit NumberRange(std::span<Node* const> values) {
    for (Node* v : values)
      if (!take(v)) others.push_back(v);
  }

  static const Decimal& limit(const Bound* b) { return to<Num>(b->value)->value; }

  // Nothing but `type & >=low & <=high`, each once.
  std::string_view name() const {
    if (!others.empty() || !low || low->op != Op::kGe) return {};
    if (integer && !high && bounds == 1 && limit(low).is_zero()) return "uint";
    if (!high || high->op != Op::kLe || bounds != 2) return {};
    for (const NamedRange& r : kNamedRanges)
      if (r.integer == integer && (integer || !floating) && limit(low) == *Decimal::parse(r.low) &&
          limit(high) == *Decimal::parse(r.high))
        return r.name;
    return {};
  }

 private:
  bool take(Node* v) {
    if (v->type == NodeType::kBasicType) {
      Kinds k = to<BasicType>(v)->kind;
      integer |= (k & kScalarKinds) == kIntKind;
      floating |= k == kFloatKind;
      return (k & kScalarKinds) == kIntKind || k == kNumberKind || k == kFloatKind;
    }
    if (v->type != NodeType::kBound || to<Bound>(v)->value->type != NodeType::kNum) return false;
    auto* b = to<Bound>(v);
    bool lower = b->op == Op::kGt || b->op == Op::kGe, upper = b->op == Op::kLt || b->op == Op::kLe;
    if (!lower && !upper) return false;
    ++bounds;
    Bound*& end = lower ? low : high;
    if (!end || narrower(b, end, lower)) end = b;
    return true;
  }
  // Of two bounds of one side; of equal limits the one that excludes it.
  static bool narrower(const Bound* a, const Bound* b, bool lower) {
    const Decimal &x = limit(a), &y = limit(b);
    if (x == y) return a->op == Op::kGt || a->op == Op::kLt;
    return lower == (y < x);
  }
};

// Where a constraint comes among others.
int rank(const Node* n) {
  switch (n->type) {
    case NodeType::kTop: return 0;
    case NodeType::kBasicType: return 1;
    case NodeType::kFieldRef: return 2;
    case NodeType::kNull:
    case NodeType::kBool:
    case NodeType::kNum:
    case NodeType::kString:
    case NodeType::kBytes: return 3;
    case NodeType::kBound: return 4;
    case NodeType::kStruct:
    case NodeType::kList: return 6;
    default: return 5;
  }
}

}  // namespace

bool constraint_before(const Node* a, const Node* b) {
  int x = rank(a), y = rank(b);
  return x != y ? x < y : a->src() && b->src() && a->pos < b->pos;
}

std::string_view named_range(std::span<Node* const> values) { return NumberRange(values).name(); }

std::vector<ConstraintTerm> constraint_terms(std::span<Node* const> values, bool shorten) {
  std::vector<ConstraintTerm> out;
  std::vector<Node*> rest(values.begin(), values.end());
  if (shorten) {
    NumberRange range(values);
    if (std::string_view name = range.name(); !name.empty()) return {{name}};
    if (range.low && range.high) {
      // An integer from zero on is a uint; then >=0 need not be said.
      int sign = NumberRange::limit(range.low).sign();
      if (range.integer) out.push_back({sign < 0 ? "int" : "uint"});
      if (!(range.integer && sign == 0 && range.low->op == Op::kGe)) out.push_back({{}, range.low, true});
      out.push_back({{}, range.high, true});
      rest = range.others;
      // Types that are no integers were not used up by the range.
      for (Node* v : values)
        if (v->type == NodeType::kBasicType && std::find(rest.begin(), rest.end(), v) == rest.end() &&
            (to<BasicType>(v)->kind & kScalarKinds) != kIntKind)
          rest.push_back(v);
    }
  }
  std::stable_sort(rest.begin(), rest.end(), constraint_before);
  for (Node* v : rest) out.push_back({{}, v});
  return out;
}

}  // namespace tutti::cue
