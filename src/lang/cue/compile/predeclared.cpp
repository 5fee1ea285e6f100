#include "lang/cue/eval/predeclared.h"

#include "lang/cue/builtin/registry.h"
#include "lang/cue/compile/compile.h"

namespace tutti::cue {

namespace {

struct Basic {
  std::string_view name;
  Kinds kind;
};
constexpr Basic kBasic[] = {{"string", kStringKind}, {"bytes", kBytesKind}, {"bool", kBoolKind},
                            {"int", kIntKind},       {"float", kFloatKind}, {"number", kNumberKind}};

struct Range {
  std::string_view name, low, high;
  Kinds kind;
};
constexpr Range kRanges[] = {
    {"rune", "0", "1114111", kIntKind},
    {"int8", "-128", "127", kIntKind},
    {"int16", "-32768", "32767", kIntKind},
    {"int32", "-2147483648", "2147483647", kIntKind},
    {"int64", "-9223372036854775808", "9223372036854775807", kIntKind},
    {"int128", "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727", kIntKind},
    {"uint", "0", "", kIntKind},
    {"uint8", "0", "255", kIntKind},
    {"uint16", "0", "65535", kIntKind},
    {"uint32", "0", "4294967295", kIntKind},
    {"uint64", "0", "18446744073709551615", kIntKind},
    {"uint128", "0", "340282366920938463463374607431768211455", kIntKind},
    {"float32", "-3.40282346638528859811704183484516925440e+38", "3.40282346638528859811704183484516925440e+38",
     kNumberKind},
    {"float64", "-1.797693134862315708145274237317043567981e+308", "1.797693134862315708145274237317043567981e+308",
     kNumberKind},
};

}  // namespace

std::vector<std::string_view> predeclared_names() {
  std::vector<std::string_view> out = predeclared_function_names();
  for (const Basic& b : kBasic) out.push_back(b.name);
  for (const Range& r : kRanges) out.push_back(r.name);
  return out;
}

Node* predeclared_value(NodeStore& store, std::string_view name, const ast::Node* src) {
  if (name.substr(0, 2) == "__" && name != "__closeAll" && name != "__reclose" && name != "__no_sharing")
    name.remove_prefix(2);
  for (const Basic& b : kBasic)
    if (b.name == name) return store.make<BasicType>(b.kind, src);
  for (const Range& r : kRanges) {
    if (r.name != name) continue;
    std::vector<Node*> parts;
    if (r.kind == kIntKind) parts.push_back(store.make<BasicType>(kIntKind, nullptr));
    Kinds literal = r.kind == kIntKind ? kIntKind : kFloatKind;
    parts.push_back(store.make<Bound>(Op::kGe, store.num(literal, *Decimal::parse(r.low)), nullptr));
    if (!r.high.empty())
      parts.push_back(store.make<Bound>(Op::kLe, store.num(literal, *Decimal::parse(r.high)), nullptr));
    auto* range = store.make<Conjunction>(store.keep(parts), src);
    range->pos = {};  // its bounds were written nowhere
    return range;
  }
  return predeclared_function(name);
}

}  // namespace tutti::cue
