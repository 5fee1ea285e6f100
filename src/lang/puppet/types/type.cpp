#include "lang/puppet/types/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/budget.h"
#include "lang/puppet/types/regex.h"

namespace tutti::puppet {
namespace {

struct PlainName {
  std::string_view name;
  TK kind;
};
constexpr std::array<PlainName, 45> kPlainNames{{{"Any", TK::kAny},
                                                 {"Unit", TK::kUnit},
                                                 {"Undef", TK::kUndef},
                                                 {"Default", TK::kDefault},
                                                 {"Boolean", TK::kBoolean},
                                                 {"Integer", TK::kInteger},
                                                 {"Float", TK::kFloat},
                                                 {"Numeric", TK::kNumeric},
                                                 {"String", TK::kString},
                                                 {"Enum", TK::kEnum},
                                                 {"Pattern", TK::kPattern},
                                                 {"Regexp", TK::kRegexp},
                                                 {"Scalar", TK::kScalar},
                                                 {"ScalarData", TK::kScalarData},
                                                 {"Data", TK::kData},
                                                 {"RichData", TK::kRichData},
                                                 {"RichDataKey", TK::kRichDataKey},
                                                 {"Collection", TK::kCollection},
                                                 {"Array", TK::kArray},
                                                 {"Hash", TK::kHash},
                                                 {"Tuple", TK::kTuple},
                                                 {"Struct", TK::kStruct},
                                                 {"Variant", TK::kVariant},
                                                 {"Optional", TK::kOptional},
                                                 {"NotUndef", TK::kNotUndef},
                                                 {"Type", TK::kType},
                                                 {"Callable", TK::kCallable},
                                                 {"Iterable", TK::kIterable},
                                                 {"Iterator", TK::kIterator},
                                                 {"Sensitive", TK::kSensitive},
                                                 {"Binary", TK::kBinary},
                                                 {"Timestamp", TK::kTimestamp},
                                                 {"Timespan", TK::kTimespan},
                                                 {"SemVer", TK::kSemVer},
                                                 {"SemVerRange", TK::kSemVerRange},
                                                 {"URI", TK::kUri},
                                                 {"Resource", TK::kResource},
                                                 {"Class", TK::kClass},
                                                 {"CatalogEntry", TK::kCatalogEntry},
                                                 {"Runtime", TK::kRuntime},
                                                 {"Init", TK::kInit},
                                                 {"Object", TK::kObject},
                                                 {"Deferred", TK::kDeferred},
                                                 {"Error", TK::kError},
                                                 {"TypeSet", TK::kTypeSet}}};

struct PlainTypes {
  std::array<Type, 64> types;
  PlainTypes() {
    for (const PlainName& p : kPlainNames) {
      Type& t = types[static_cast<std::size_t>(p.kind)];
      t.kind = p.kind;
      if (p.kind != TK::kResource && p.kind != TK::kClass) t.name = p.name;
      switch (p.kind) {
        case TK::kArray:
        case TK::kHash:
        case TK::kCollection:
        case TK::kString:
        case TK::kTuple:
        case TK::kStruct:
        case TK::kCallable: t.min = 0; break;
        default: break;
      }
    }
  }
};

const PlainTypes& plain_types() {
  static const PlainTypes all;
  return all;
}

template <class F>
bool all_types(std::span<const Type* const> types, F f) {
  return std::all_of(types.begin(), types.end(), f);
}

const Type* arg(const Type* t, std::size_t n, TK otherwise = TK::kAny) {
  return n < t->types.size() ? t->types[n] : plain(otherwise);
}

bool size_fits(const Type* t, i64 n) { return n >= t->min && n <= t->max; }

bool matches_any(std::span<const Val> patterns, std::string_view text) {
  for (const Val& p : patterns) {
    const Regex* r = Regex::get(p.text(), nullptr);
    if (r && r->search(text, 0)) return true;
  }
  return false;
}

const Type* tuple_at(const Type* t, std::size_t n) {
  if (t->types.empty()) return plain(TK::kAny);
  return t->types[std::min(n, t->types.size() - 1)];
}

bool data_instance(const Val& v, bool rich) {
  switch (v.kind) {
    case VK::kUndef:
    case VK::kBool:
    case VK::kInt:
    case VK::kFloat:
    case VK::kString: return true;
    case VK::kArray:
      return std::all_of(v.items().begin(), v.items().end(), [&](const Val& i) { return data_instance(i, rich); });
    case VK::kHash:
      return std::all_of(v.entries().begin(), v.entries().end(), [&](const Pair& p) {
        return (p.key.is(VK::kString) || (rich && data_instance(p.key, true))) && data_instance(p.value, rich);
      });
    case VK::kClosure: return false;
    default: return rich;
  }
}

bool semver_matches(const Type* t, std::string_view version) {
  if (t->values.empty()) return true;
  SemVer v;
  if (!parse_semver(version, v)) return false;
  return std::any_of(t->values.begin(), t->values.end(), [&](const Val& r) { return semver_in_range(r.text(), v); });
}

}  // namespace

const Type* plain(TK kind) { return &plain_types().types[static_cast<std::size_t>(kind)]; }

const Type* plain_named(std::string_view name) {
  for (const PlainName& p : kPlainNames)
    if (p.name == name) return plain(p.kind);
  return nullptr;
}

std::span<const std::string_view> plain_type_names() {
  static const auto names = [] {
    std::array<std::string_view, std::size(kPlainNames)> all;
    std::transform(std::begin(kPlainNames), std::end(kPlainNames), all.begin(),
                   [](const PlainName& p) { return p.name; });
    return all;
  }();
  return names;
}

const Type* make_type(Arena& arena, const Type& t) {
  constexpr u64 kMost = u64{1} << 20;
  u64 sum = 1;
  for (const Type* i : t.types) sum += i->weight;
  for (const Member& m : t.members) sum += m.type ? m.type->weight : 1;
  if (t.inner) sum += t.inner->weight;
  if (t.block) sum += t.block->weight;
  if (sum > kMost)
    throw LimitError("LIMIT-MEMORY", fmt::format("one type is made of more than {} others, all uses counted", kMost));
  Type* made = arena.make<Type>(t);
  made->weight = static_cast<u32>(sum);
  return made;
}

const Type* integer_range(Arena& arena, i64 min, i64 max) {
  Type t = *plain(TK::kInteger);
  t.min = min;
  t.max = max;
  t.sized = true;
  return make_type(arena, t);
}

std::string capitalize_segments(std::string_view name) {
  std::string out(name);
  if (out.substr(0, 2) == "::") out.erase(0, 2);
  bool start = true;
  for (std::size_t n = 0; n < out.size(); ++n) {
    char& c = out[n];
    if (start && c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 32);
    else if (!start && c >= 'A' && c <= 'Z')
      c = static_cast<char>(c + 32);
    start = c == ':' && n > 0 && out[n - 1] == ':';
  }
  return out;
}

const Type* resource_type(Arena& arena, std::string_view name) {
  Type t;
  t.kind = TK::kResource;
  t.name = Symbol(capitalize_segments(name)).text();
  return make_type(arena, t);
}

const Type* resource_type(Arena& arena, std::string_view name, std::string_view title) {
  if (downcase(name) == "class") return class_type(arena, title);
  Type t;
  t.kind = TK::kResource;
  t.name = Symbol(capitalize_segments(name)).text();
  t.title = arena.copy(title);
  t.has_title = true;
  return make_type(arena, t);
}

const Type* class_type(Arena& arena, std::string_view name) {
  Type t;
  t.kind = TK::kClass;
  std::string lower = downcase(name);
  if (lower.substr(0, 2) == "::") lower.erase(0, 2);
  t.name = Symbol(lower).text();
  t.has_title = true;
  return make_type(arena, t);
}

const Type* optional_of(Arena& arena, const Type* inner) {
  Type t = *plain(TK::kOptional);
  t.types = arena.copy(std::span<const Type* const>(&inner, 1));
  return make_type(arena, t);
}

const Type* variant_of(Arena& arena, std::span<const Type* const> types) {
  std::vector<const Type*> flat;
  auto add = [&](auto&& self, const Type* t) -> void {
    if (t->kind == TK::kVariant && !t->types.empty()) {
      for (const Type* i : t->types) self(self, i);
      return;
    }
    for (const Type* f : flat)
      if (same_type(f, t)) return;
    flat.push_back(t);
  };
  for (const Type* t : types) add(add, t);
  if (flat.size() == 1) return flat[0];
  Type t = *plain(TK::kVariant);
  t.types = arena.copy(std::span<const Type* const>(flat));
  return make_type(arena, t);
}

const Type* resolved(const Type* t) {
  for (int n = 0; t->kind == TK::kAlias && t->inner && n < 100; ++n) t = t->inner;
  return t;
}

namespace {

// The aliases a value is being compared with: an alias met again for the same value, with no container between,
// adds nothing to itself (`type B = Variant[B, Integer]` is Integer).
struct AliasUnderWay {
  const Type* alias;
  const Val* value;
  const AliasUnderWay* outer;
};
thread_local const AliasUnderWay* aliases_under_way = nullptr;

bool alias_instance(const Type* alias, const Val& v) {
  if (!alias->inner) return false;
  for (const AliasUnderWay* a = aliases_under_way; a && a->value == &v; a = a->outer)
    if (a->alias == alias) return false;
  const AliasUnderWay here{alias, &v, aliases_under_way};
  aliases_under_way = &here;
  bool fits = is_instance(alias->inner, v);
  aliases_under_way = here.outer;
  return fits;
}

}  // namespace

namespace {

bool endless(const Type* t, std::vector<const Type*>& open, std::unordered_set<const Type*>& finite) {
  if (t == nullptr || finite.contains(t)) return false;
  if (t->kind == TK::kAlias) {
    if (std::find(open.begin(), open.end(), t) != open.end()) return true;
    open.push_back(t);
  }
  auto inner = [&](const Type* x) { return endless(x, open, finite); };
  bool found = std::any_of(t->types.begin(), t->types.end(), inner) ||
               std::any_of(t->members.begin(), t->members.end(), [&](const Member& m) { return inner(m.type); }) ||
               inner(t->inner) || inner(t->block);
  if (t->kind == TK::kAlias) open.pop_back();
  if (!found) finite.insert(t);
  return found;
}

}  // namespace

bool is_endless(const Type* t) {
  std::vector<const Type*> open;
  std::unordered_set<const Type*> finite;
  return endless(t, open, finite);
}

bool is_instance(const Type* t, const Val& v) {
  switch (t->kind) {
    case TK::kAny:
    case TK::kUnit: return true;
    case TK::kUndef: return v.undefined();
    case TK::kDefault: return v.is(VK::kDefault);
    case TK::kBoolean: return v.is(VK::kBool) && (!t->sized || v.b == t->flag);
    case TK::kInteger: return v.is(VK::kInt) && v.i >= t->min && v.i <= t->max;
    case TK::kFloat: return v.is(VK::kFloat) && v.d >= t->fmin && v.d <= t->fmax;
    case TK::kNumeric: return v.is(VK::kInt) || v.is(VK::kFloat);
    case TK::kString: {
      if (!v.is(VK::kString)) return false;
      if (!t->values.empty()) return t->values[0].text() == v.text();
      if (!t->sized) return true;
      i64 n = 0;
      for (char c : v.text()) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      return size_fits(t, n);
    }
    case TK::kEnum:
      if (!v.is(VK::kString)) return false;
      if (t->values.empty()) return true;
      for (const Val& e : t->values)
        if (t->flag ? equal_text(e.text(), v.text()) : e.text() == v.text()) return true;
      return false;
    case TK::kPattern: return v.is(VK::kString) && (t->values.empty() || matches_any(t->values, v.text()));
    case TK::kRegexp: return v.is(VK::kRegex) && (t->values.empty() || t->values[0].text() == v.text());
    case TK::kScalar:
      switch (v.kind) {
        case VK::kBool:
        case VK::kInt:
        case VK::kFloat:
        case VK::kString:
        case VK::kRegex:
        case VK::kSemVer:
        case VK::kTimespan:
        case VK::kTimestamp: return true;
        default: return false;
      }
    case TK::kScalarData: return v.is(VK::kBool) || v.is(VK::kInt) || v.is(VK::kFloat) || v.is(VK::kString);
    case TK::kData: return data_instance(v, false);
    case TK::kRichData: return data_instance(v, true);
    case TK::kRichDataKey: return v.is(VK::kString) || v.is(VK::kInt) || v.is(VK::kFloat);
    case TK::kCollection: return (v.is(VK::kArray) || v.is(VK::kHash)) && size_fits(t, v.size);
    case TK::kArray: {
      if (!v.is(VK::kArray) || !size_fits(t, v.size)) return false;
      if (t->types.empty()) return true;
      const Type* item = t->types[0];
      return std::all_of(v.items().begin(), v.items().end(), [&](const Val& i) { return is_instance(item, i); });
    }
    case TK::kTuple: {
      if (!v.is(VK::kArray)) return false;
      if (t->types.empty()) return size_fits(t, v.size);
      if (!size_fits(t, v.size)) return false;
      for (u32 n = 0; n < v.size; ++n)
        if (!is_instance(tuple_at(t, n), v.list[n])) return false;
      return true;
    }
    case TK::kHash: {
      if (!v.is(VK::kHash) || !size_fits(t, v.size)) return false;
      if (t->types.empty()) return true;
      for (const Pair& p : v.entries())
        if (!is_instance(t->types[0], p.key) || !is_instance(arg(t, 1), p.value)) return false;
      return true;
    }
    case TK::kStruct: {
      if (!v.is(VK::kHash)) return false;
      if (t->members.empty() && !t->sized) return true;
      std::size_t found = 0;
      for (const Member& m : t->members) {
        const Val* x = v.get(m.name);
        if (x) {
          ++found;
          if (!is_instance(m.type, *x)) return false;
        } else if (!m.optional) {
          return false;
        }
      }
      return found == v.size;
    }
    case TK::kVariant:
      return std::any_of(t->types.begin(), t->types.end(), [&](const Type* i) { return is_instance(i, v); });
    case TK::kOptional: return v.undefined() || is_instance(arg(t, 0), v);
    case TK::kNotUndef: return !v.undefined() && is_instance(arg(t, 0), v);
    case TK::kType: return v.is(VK::kType) && (t->types.empty() || assignable(t->types[0], v.t));
    case TK::kCallable: return v.is(VK::kClosure);
    case TK::kIterable:
    case TK::kIterator: {
      const Type* item = t->types.empty() ? nullptr : t->types[0];
      if (t->kind == TK::kIterator) return false;
      switch (v.kind) {
        case VK::kArray:
          return !item ||
                 std::all_of(v.items().begin(), v.items().end(), [&](const Val& i) { return is_instance(item, i); });
        case VK::kHash:
          if (!item) return true;
          if (v.size == 0) return resolved(item)->kind == TK::kTuple || assignable(item, plain(TK::kTuple));
          return std::all_of(v.entries().begin(), v.entries().end(), [&](const Pair& p) {
            const Val both[2] = {p.key, p.value};
            return is_instance(item, Val::array(both));
          });
        case VK::kString: return !item || assignable(item, plain(TK::kString));
        case VK::kInt: return v.i >= 0 && (!item || assignable(item, plain(TK::kInteger)));
        case VK::kType: {
          const Type* r = resolved(v.t);
          return (r->kind == TK::kInteger && r->sized && r->max != kNoMax && r->min != kNoMin) || r->kind == TK::kEnum;
        }
        default: return false;
      }
    }
    case TK::kSensitive: return v.is(VK::kSensitive) && (t->types.empty() || is_instance(t->types[0], *v.box));
    case TK::kBinary: return v.is(VK::kBinary);
    case TK::kTimestamp: return v.is(VK::kTimestamp) && v.i >= t->min && v.i <= t->max;
    case TK::kTimespan: return v.is(VK::kTimespan) && v.i >= t->min && v.i <= t->max;
    case TK::kSemVer: return v.is(VK::kSemVer) && semver_matches(t, v.text());
    case TK::kSemVerRange: return v.is(VK::kSemVerRange);
    case TK::kUri: return v.is(VK::kUri);
    case TK::kResource:
    case TK::kClass:
    case TK::kCatalogEntry: return false;  // a reference is a type, not a resource
    case TK::kRuntime:
    case TK::kTypeSet:
    case TK::kError: return false;
    case TK::kInit: {
      // Whether the type could be made from the value.
      if (t->types.empty() || is_instance(t->types[0], v)) return true;
      Val n;
      switch (resolved(t->types[0])->kind) {
        case TK::kInteger:
          return v.is(VK::kFloat) || v.is(VK::kBool) ||
                 (v.is(VK::kString) && parse_number(v.text(), n) && n.is(VK::kInt));
        case TK::kFloat:
        case TK::kNumeric: return v.is(VK::kInt) || v.is(VK::kBool) || (v.is(VK::kString) && parse_number(v.text(), n));
        case TK::kString:
        case TK::kSensitive: return true;
        case TK::kBoolean: return v.is(VK::kInt) || v.is(VK::kString);
        case TK::kArray: return v.is(VK::kHash) || v.is(VK::kString) || v.is(VK::kInt);
        case TK::kHash:
        case TK::kStruct: return v.is(VK::kArray);
        case TK::kSemVer: {
          SemVer s;
          return v.is(VK::kString) && parse_semver(v.text(), s);
        }
        default: return v.is(VK::kString) || v.is(VK::kHash);
      }
    }
    case TK::kObject:
      if (!v.is(VK::kObject)) return false;
      if (t->name == "Object" && t->members.empty()) return true;
      for (const Type* o = v.o->type; o; o = o->inner)
        if (o == t || (!t->name.empty() && o->name == t->name)) return true;
      return false;
    case TK::kDeferred: return v.is(VK::kObject) && !v.o->type;
    case TK::kAlias: return alias_instance(t, v);
  }
  return false;
}

namespace {

bool assignable_deep(const Type* to, const Type* from, int depth);

bool callable_assignable(const Type* to, const Type* from, int depth) {
  if (!to->sized) return true;
  if (!from->sized) return false;
  if (to->inner && from->inner && !assignable_deep(to->inner, from->inner, depth)) return false;
  if (from->min > to->min || from->max < to->max) return false;
  for (std::size_t n = 0; n < to->types.size(); ++n)
    if (!from->types.empty() && !assignable_deep(tuple_at(from, n), to->types[n], depth)) return false;
  return true;
}

i64 string_min(const Type* t) {
  if (t->values.empty()) return t->min;
  i64 n = 0;
  for (char c : t->values[0].text()) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

bool assignable_plain(const Type* to, const Type* from, int depth);

// The pairs with an alias that are being compared, as for instances. A pair met again holds when the right side leads
// to itself (nothing speaks against it), and not when only the left side does (nothing new can speak for it).
struct PairUnderWay {
  const Type *to, *from;
  const PairUnderWay* outer;
};
thread_local const PairUnderWay* pairs_under_way = nullptr;

bool assignable_deep(const Type* to, const Type* from, int depth) {
  if (to == from || depth > 60) return true;
  if (to->kind != TK::kAlias && from->kind != TK::kAlias) return assignable_plain(to, from, depth);
  for (const PairUnderWay* p = pairs_under_way; p; p = p->outer)
    if (p->to == to && p->from == from) return from->kind == TK::kAlias;
  const PairUnderWay here{to, from, pairs_under_way};
  pairs_under_way = &here;
  bool fits = assignable_plain(to, from, depth);
  pairs_under_way = here.outer;
  return fits;
}

bool assignable_plain(const Type* to, const Type* from, int depth) {
  to = resolved(to);
  from = resolved(from);
  if (to == from) return true;
  ++depth;
  if (to->kind == TK::kAny || from->kind == TK::kUnit) return true;
  if (from->kind == TK::kVariant && to->kind != TK::kVariant) {
    if (from->types.empty()) return to->kind == TK::kVariant;
    return all_types(from->types, [&](const Type* f) { return assignable_deep(to, f, depth); });
  }
  if (from->kind == TK::kOptional && to->kind != TK::kVariant)
    return assignable_deep(to, plain(TK::kUndef), depth) && assignable_deep(to, arg(from, 0), depth);
  if (from->kind == TK::kNotUndef && to->kind != TK::kNotUndef && to->kind != TK::kVariant && !from->types.empty())
    if (assignable_deep(to, from->types[0], depth)) return true;
  switch (to->kind) {
    case TK::kUndef:
    case TK::kDefault:
    case TK::kBinary:
    case TK::kSemVerRange:
    case TK::kUri:
    case TK::kDeferred: return from->kind == to->kind;
    case TK::kBoolean: return from->kind == TK::kBoolean && (!to->sized || (from->sized && from->flag == to->flag));
    case TK::kInteger:
    case TK::kTimestamp:
    case TK::kTimespan: return from->kind == to->kind && from->min >= to->min && from->max <= to->max;
    case TK::kFloat: return from->kind == TK::kFloat && from->fmin >= to->fmin && from->fmax <= to->fmax;
    case TK::kNumeric: return from->kind == TK::kInteger || from->kind == TK::kFloat || from->kind == TK::kNumeric;
    case TK::kString:
      if (!to->values.empty())
        return from->kind == TK::kString && !from->values.empty() && from->values[0].text() == to->values[0].text();
      if (from->kind == TK::kString)
        return !to->sized ||
               (string_min(from) >= to->min && (from->values.empty() ? from->max : string_min(from)) <= to->max);
      if (from->kind == TK::kEnum) {
        if (!to->sized) return true;
        return !from->values.empty() &&
               std::all_of(from->values.begin(), from->values.end(), [&](const Val& v) { return is_instance(to, v); });
      }
      return from->kind == TK::kPattern && !to->sized;
    case TK::kEnum:
      if (to->values.empty()) return from->kind == TK::kEnum || from->kind == TK::kString || from->kind == TK::kPattern;
      if (from->kind == TK::kString && !from->values.empty()) return is_instance(to, from->values[0]);
      return from->kind == TK::kEnum && !from->values.empty() && (to->flag || !from->flag) &&
             std::all_of(from->values.begin(), from->values.end(), [&](const Val& v) { return is_instance(to, v); });
    case TK::kPattern:
      if (to->values.empty()) return from->kind == TK::kPattern || from->kind == TK::kString || from->kind == TK::kEnum;
      if (from->kind == TK::kPattern)
        return !from->values.empty() && std::all_of(from->values.begin(), from->values.end(), [&](const Val& f) {
          return std::any_of(to->values.begin(), to->values.end(), [&](const Val& p) { return p.text() == f.text(); });
        });
      if (from->kind == TK::kString && !from->values.empty()) return is_instance(to, from->values[0]);
      return from->kind == TK::kEnum && !from->values.empty() &&
             std::all_of(from->values.begin(), from->values.end(), [&](const Val& v) { return is_instance(to, v); });
    case TK::kRegexp:
      return from->kind == TK::kRegexp &&
             (to->values.empty() || (!from->values.empty() && from->values[0].text() == to->values[0].text()));
    case TK::kSemVer: {
      if (from->kind != TK::kSemVer) return false;
      return to->values.empty() ||
             (!from->values.empty() && std::all_of(from->values.begin(), from->values.end(), [&](const Val& f) {
               return std::any_of(to->values.begin(), to->values.end(),
                                  [&](const Val& p) { return p.text() == f.text(); });
             }));
    }
    case TK::kScalar:
      switch (from->kind) {
        case TK::kScalar:
        case TK::kScalarData:
        case TK::kBoolean:
        case TK::kInteger:
        case TK::kFloat:
        case TK::kNumeric:
        case TK::kString:
        case TK::kEnum:
        case TK::kPattern:
        case TK::kRegexp:
        case TK::kSemVer:
        case TK::kTimespan:
        case TK::kTimestamp: return true;
        default: return false;
      }
    case TK::kScalarData:
      switch (from->kind) {
        case TK::kScalarData:
        case TK::kBoolean:
        case TK::kInteger:
        case TK::kFloat:
        case TK::kNumeric:
        case TK::kString:
        case TK::kEnum:
        case TK::kPattern: return true;
        default: return false;
      }
    case TK::kData:
    case TK::kRichData: {
      if (from->kind == TK::kData || from->kind == to->kind || from->kind == TK::kUndef) return true;
      if (assignable_deep(plain(TK::kScalarData), from, depth)) return true;
      if (from->kind == TK::kArray) return !from->types.empty() && assignable_deep(to, from->types[0], depth);
      if (from->kind == TK::kArray && from->max == 0) return true;
      if (from->kind == TK::kTuple)
        return all_types(from->types, [&](const Type* f) { return assignable_deep(to, f, depth); });
      if (from->kind == TK::kHash)
        return from->max == 0 ||
               (from->types.size() == 2 &&
                assignable_deep(plain(to->kind == TK::kData ? TK::kString : TK::kRichDataKey), from->types[0], depth) &&
                assignable_deep(to, from->types[1], depth));
      if (from->kind == TK::kStruct)
        return std::all_of(from->members.begin(), from->members.end(),
                           [&](const Member& m) { return assignable_deep(to, m.type, depth); });
      if (to->kind == TK::kData) return false;
      switch (from->kind) {
        case TK::kScalar:
        case TK::kBinary:
        case TK::kDefault:
        case TK::kDeferred:
        case TK::kObject:
        case TK::kSemVer:
        case TK::kSemVerRange:
        case TK::kSensitive:
        case TK::kTimestamp:
        case TK::kTimespan:
        case TK::kType:
        case TK::kUri:
        case TK::kRegexp: return true;
        default: return false;
      }
    }
    case TK::kRichDataKey:
      return from->kind == TK::kRichDataKey || assignable_deep(plain(TK::kString), from, depth) ||
             assignable_deep(plain(TK::kNumeric), from, depth);
    case TK::kCollection:
      return (from->kind == TK::kCollection || from->kind == TK::kArray || from->kind == TK::kHash ||
              from->kind == TK::kTuple || from->kind == TK::kStruct) &&
             (!to->sized || (from->min >= to->min && from->max <= to->max));
    case TK::kArray:
      if (from->kind != TK::kArray && from->kind != TK::kTuple) return false;
      if (to->sized && (from->min < to->min || from->max > to->max)) return false;
      if (to->types.empty() || from->max == 0) return true;
      if (from->kind == TK::kTuple)
        return all_types(from->types, [&](const Type* f) { return assignable_deep(to->types[0], f, depth); });
      return assignable_deep(to->types[0], arg(from, 0), depth);
    case TK::kTuple: {
      if (from->kind != TK::kArray && from->kind != TK::kTuple) return false;
      if (from->min < to->min || from->max > to->max) return false;
      if (from->kind == TK::kArray)
        return all_types(to->types, [&](const Type* t) { return assignable_deep(t, arg(from, 0), depth); });
      for (std::size_t n = 0; n < std::max(to->types.size(), from->types.size()); ++n)
        if (!to->types.empty() && !from->types.empty() && !assignable_deep(tuple_at(to, n), tuple_at(from, n), depth))
          return false;
      return true;
    }
    case TK::kHash:
      if (from->kind == TK::kStruct) {
        i64 required = 0;
        for (const Member& m : from->members) required += !m.optional;
        if (to->sized && (required < to->min || static_cast<i64>(from->members.size()) > to->max)) return false;
        if (to->types.empty()) return true;
        return std::all_of(from->members.begin(), from->members.end(), [&](const Member& m) {
          return is_instance(to->types[0], Val::string(m.name)) && assignable_deep(arg(to, 1), m.type, depth);
        });
      }
      if (from->kind != TK::kHash) return false;
      if (to->sized && (from->min < to->min || from->max > to->max)) return false;
      if (to->types.empty() || from->max == 0) return true;
      return assignable_deep(to->types[0], arg(from, 0), depth) && assignable_deep(arg(to, 1), arg(from, 1), depth);
    case TK::kStruct:
      if (from->kind == TK::kStruct) {
        std::size_t found = 0;
        for (const Member& m : to->members) {
          const Member* f = nullptr;
          for (const Member& x : from->members)
            if (x.name == m.name) f = &x;
          if (!f) {
            if (!m.optional) return false;
            continue;
          }
          ++found;
          if (f->optional && !m.optional) return false;
          if (!assignable_deep(m.type, f->type, depth)) return false;
        }
        return found == from->members.size() || to->members.empty();
      }
      return false;
    case TK::kVariant:
      if (from->kind == TK::kVariant)
        return all_types(from->types, [&](const Type* f) { return assignable_deep(to, f, depth); });
      if (std::any_of(to->types.begin(), to->types.end(),
                      [&](const Type* t) { return assignable_deep(t, from, depth); }))
        return true;
      if (from->kind == TK::kOptional)
        return assignable_deep(to, plain(TK::kUndef), depth) && assignable_deep(to, arg(from, 0), depth);
      if (from->kind == TK::kNotUndef && !from->types.empty()) return assignable_deep(to, from->types[0], depth);
      if (from->kind == TK::kEnum && from->values.size() > 1)
        return std::all_of(from->values.begin(), from->values.end(), [&](const Val& v) { return is_instance(to, v); });
      return false;
    case TK::kOptional: return from->kind == TK::kUndef || assignable_deep(arg(to, 0), from, depth);
    case TK::kNotUndef:
      if (from->kind == TK::kNotUndef) return assignable_deep(arg(to, 0), arg(from, 0), depth);
      return !assignable_deep(from, plain(TK::kUndef), depth) && assignable_deep(arg(to, 0), from, depth);
    case TK::kType:
      return from->kind == TK::kType &&
             (to->types.empty() || (!from->types.empty() && assignable_deep(to->types[0], from->types[0], depth)));
    case TK::kSensitive:
      return from->kind == TK::kSensitive && (to->types.empty() || assignable_deep(to->types[0], arg(from, 0), depth));
    case TK::kCallable: return from->kind == TK::kCallable && callable_assignable(to, from, depth);
    case TK::kIterable: {
      const Type* item = to->types.empty() ? nullptr : to->types[0];
      // What a hash is made of when it is gone through.
      auto takes_pair = [&](const Type* wanted, const Type* key, const Type* value) {
        const Type* both[2] = {key, value};
        Type pair = *plain(TK::kTuple);
        pair.types = both;
        pair.min = pair.max = 2;
        return assignable_deep(wanted, &pair, depth);
      };
      switch (from->kind) {
        case TK::kArray: return !item || assignable_deep(item, arg(from, 0), depth);
        case TK::kTuple:
          return !item || all_types(from->types, [&](const Type* f) { return assignable_deep(item, f, depth); });
        case TK::kHash: return !item || takes_pair(item, arg(from, 0), arg(from, 1));
        case TK::kStruct:
          return !item || std::all_of(from->members.begin(), from->members.end(),
                                      [&](const Member& m) { return takes_pair(item, plain(TK::kString), m.type); });
        case TK::kString:
        case TK::kEnum:
        case TK::kPattern: return !item || assignable_deep(item, plain(TK::kString), depth);
        case TK::kInteger: return !item || assignable_deep(item, plain(TK::kInteger), depth);
        case TK::kIterable:
        case TK::kIterator: return !item || assignable_deep(item, arg(from, 0), depth);
        case TK::kType:
          return !from->types.empty() && (from->types[0]->kind == TK::kInteger || from->types[0]->kind == TK::kEnum);
        default: return false;
      }
    }
    case TK::kIterator:
      return from->kind == TK::kIterator && (to->types.empty() || assignable_deep(to->types[0], arg(from, 0), depth));
    case TK::kCatalogEntry:
      return from->kind == TK::kCatalogEntry || from->kind == TK::kResource || from->kind == TK::kClass;
    case TK::kResource:
      return from->kind == TK::kResource &&
             (to->name.empty() ||
              (equal_text(to->name, from->name) && (!to->has_title || (from->has_title && to->title == from->title))));
    case TK::kClass: return from->kind == TK::kClass && (!to->has_title || (from->has_title && to->name == from->name));
    case TK::kInit: return from->kind == TK::kInit;
    case TK::kObject:
      if (from->kind != TK::kObject) return false;
      if (to->name == "Object" && to->members.empty()) return true;
      for (const Type* o = from; o; o = o->inner)
        if (o == to || (!to->name.empty() && o->name == to->name)) return true;
      return false;
    case TK::kRuntime: return from->kind == TK::kRuntime && (to->values.empty() || to->name == from->name);
    default: return from->kind == to->kind;
  }
}

}  // namespace

bool assignable(const Type* to, const Type* from) { return assignable_deep(to, from, 0); }

namespace {

// The same, in any order.
template <class T, class Same>
bool same_set(std::span<const T> a, std::span<const T> b, Same same) {
  auto all_in = [&](std::span<const T> x, std::span<const T> y) {
    return std::all_of(x.begin(), x.end(), [&](const T& one) {
      return std::any_of(y.begin(), y.end(), [&](const T& other) { return same(one, other); });
    });
  };
  return all_in(a, b) && all_in(b, a);
}

// Types of one kind that are written differently.
bool same_parts(const Type* a, const Type* b) {
  if (a->kind == TK::kVariant)
    return same_set(a->types, b->types, [](const Type* x, const Type* y) { return same_type(x, y); });
  if (a->kind == TK::kPattern)
    return same_set(a->values, b->values, [](const Val& x, const Val& y) { return equal(x, y); });
  if (a->kind == TK::kStruct)
    return a->members.size() == b->members.size() &&
           same_set(a->members, b->members, [](const Member& x, const Member& y) {
             return x.name == y.name && x.optional == y.optional && same_type(x.type, y.type);
           });
  if (a->types.empty() || a->types.size() != b->types.size() || a->sized != b->sized || a->flag != b->flag ||
      a->min != b->min || a->max != b->max || a->inner != b->inner || a->block != b->block)
    return false;
  return std::equal(a->types.begin(), a->types.end(), b->types.begin(), [](const Type* x, const Type* y) {
    // Optional['a'] holds the type of one text, which is shown as String.
    if (x->kind == TK::kString && y->kind == TK::kString)
      return x->name == y->name && x->min == y->min && x->max == y->max &&
             std::equal(x->values.begin(), x->values.end(), y->values.begin(), y->values.end(), same);
    return same_type(x, y);
  });
}

}  // namespace

bool same_type(const Type* a, const Type* b) {
  if (a == b) return true;
  if (a->kind != b->kind) {
    const Type *x = resolved(a), *y = resolved(b);
    return (x != a || y != b) && same_type(x, y);
  }
  if (a->kind == TK::kResource)
    return a->has_title == b->has_title && a->title == b->title && equal_text(a->name, b->name);
  if (a->kind == TK::kClass) return a->has_title == b->has_title && a->name == b->name;
  if (a->kind == TK::kObject) return a->name == b->name && a->members.data() == b->members.data();
  return type_text(a) == type_text(b) || same_parts(a, b);
}

}  // namespace tutti::puppet
