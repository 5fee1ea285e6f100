#include <fmt/format.h>

#include <algorithm>

#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/time.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {
namespace {

[[noreturn]] void bad(const Type* base, std::string_view what) {
  throw TypeError(fmt::format("{}[]: {}", type_text_short(base), what));
}

i64 whole(const Type* base, const Val& v, i64 otherwise) {
  if (v.is(VK::kDefault)) return otherwise;
  if (!v.is(VK::kInt)) bad(base, fmt::format("a size or limit must be an Integer or default, got {}", to_literal(v)));
  return v.i;
}

void size_args(Type& t, std::span<const Val> args) {
  if (args.empty()) return;
  if (args.size() > 2) bad(&t, "too many size arguments");
  t.sized = true;
  if (args.size() == 1 && args[0].is(VK::kType) && resolved(args[0].t)->kind == TK::kInteger) {
    t.min = resolved(args[0].t)->min;
    t.max = resolved(args[0].t)->max;
    return;
  }
  t.min = whole(&t, args[0], 0);
  t.max = args.size() > 1 ? whole(&t, args[1], kNoMax) : kNoMax;
  if (t.min < 0 || t.max < t.min) bad(&t, "the size limits are not in order");
}

const Type* type_arg(const Type* base, const Val& v) {
  if (!v.is(VK::kType)) bad(base, fmt::format("needs a type, got {}", to_literal(v)));
  return v.t;
}

std::span<const Type* const> keep(Arena& arena, const std::vector<const Type*>& v) {
  return arena.copy(std::span<const Type* const>(v));
}

const Type* literal_string(Arena& arena, std::string_view text) {
  Type t = *plain(TK::kString);
  Val v = make_string(arena, text);
  t.values = arena.copy(std::span<const Val>(&v, 1));
  return make_type(arena, t);
}

// A type where a string means that string: Optional['x'], NotUndef['x'].
const Type* type_or_text(Arena& arena, const Type* base, const Val& v) {
  return v.is(VK::kString) ? literal_string(arena, v.text()) : type_arg(base, v);
}

const Type* make_callable(Arena& arena, std::span<const Val> args) {
  Type t = *plain(TK::kCallable);
  t.sized = true;
  if (!args.empty() && args[0].is(VK::kArray)) {
    if (args.size() > 1) t.inner = type_arg(&t, args[1]);
    args = args[0].items();
  }
  std::vector<const Type*> types;
  std::vector<i64> sizes;
  for (const Val& a : args) {
    if (a.is(VK::kType)) {
      const Type* x = a.t;
      const Type* r = resolved(x);
      bool callable = r->kind == TK::kCallable ||
                      (r->kind == TK::kOptional && !r->types.empty() && resolved(r->types[0])->kind == TK::kCallable);
      if (callable && &a == &args.back())
        t.block = x;
      else if (sizes.empty())
        types.push_back(x);
      else
        bad(&t, "types come before sizes");
    } else {
      sizes.push_back(a.is(VK::kDefault) ? kNoMax : whole(&t, a, 0));
    }
  }
  t.types = keep(arena, types);
  t.min = t.max = static_cast<i64>(types.size());
  if (!sizes.empty()) {
    t.flag = true;
    t.min = sizes[0] == kNoMax ? 0 : sizes[0];
    t.max = sizes.size() > 1 ? sizes[1] : kNoMax;
  }
  return make_type(arena, t);
}

const Type* make_struct(Arena& arena, const Val& h) {
  Type t = *plain(TK::kStruct);
  if (!h.is(VK::kHash)) bad(&t, "needs a hash of names and types");
  std::vector<Member> members;
  for (const Pair& p : h.entries()) {
    Member m;
    m.type = p.value.is(VK::kString) ? literal_string(arena, p.value.text()) : type_arg(&t, p.value);
    Val key = p.key;
    if (key.is(VK::kType)) {
      const Type* k = resolved(key.t);
      if ((k->kind == TK::kOptional || k->kind == TK::kNotUndef) && !k->types.empty()) {
        m.optional = k->kind == TK::kOptional;
        m.explicit_key = true;
        k = resolved(k->types[0]);
      }
      if (k->kind == TK::kString && !k->values.empty())
        key = k->values[0];
      else if (k->kind == TK::kEnum && k->values.size() == 1)
        key = k->values[0];
      else
        bad(&t, "a key must be a string, Optional[string] or NotUndef[string]");
    }
    if (!key.is(VK::kString) || key.size == 0) bad(&t, "a key must be a string that is not empty");
    m.name = arena.copy(key.text());
    if (!m.explicit_key) m.optional = is_instance(m.type, Val::undef());
    members.push_back(m);
  }
  t.members = arena.copy(std::span<const Member>(members));
  t.sized = true;
  return make_type(arena, t);
}

Val pattern_arg(Arena& arena, const Type* base, const Val& v) {
  if (v.is(VK::kRegex)) return v;
  if (v.is(VK::kString)) {
    std::string error;
    if (!Regex::get(v.text(), &error)) bad(base, error);
    return Val::with_text(VK::kRegex, arena.copy(v.text()));
  }
  bad(base, fmt::format("needs a regular expression, got {}", to_literal(v)));
}

// (::)?[a-z]\w*(::[a-z]\w*)* in any case
bool class_name(std::string_view name) {
  if (name.starts_with("::")) name.remove_prefix(2);
  bool first = true;  // of a segment
  for (std::size_t at = 0; at < name.size(); ++at) {
    unsigned char c = static_cast<unsigned char>(name[at]);
    if (first ? !std::isalpha(c) : !(std::isalnum(c) || c == '_')) {
      if (first || name.substr(at, 2) != "::") return false;
      ++at;
    }
    first = c == ':';
  }
  return !first;
}

const Type* make_resource(Arena& arena, const Type* base, std::span<const Val> args) {
  std::string name(base->name);
  if (name.empty()) {
    const Val& first = args[0];
    if (args.size() == 1 && first.is(VK::kType) && resolved(first.t)->kind == TK::kResource)
      return resolved(first.t);  // Resource[File['/x']]
    if (first.is(VK::kString))
      name = first.text();
    else if (first.is(VK::kType) && resolved(first.t)->kind == TK::kResource)
      name = resolved(first.t)->name;
    else
      bad(base, "needs the name of a resource type");
    if (name.empty()) bad(base, "needs the name of a resource type");
    args = args.subspan(1);
    if (args.empty()) return resource_type(arena, name);
  }
  if (args.size() != 1) bad(base, "takes one title");
  if (!args[0].is(VK::kString)) bad(base, fmt::format("a title must be a String, got {}", to_literal(args[0])));
  return resource_type(arena, name, args[0].text());
}

i64 timespan_arg(const Type* base, const Val& v, i64 otherwise) {
  if (v.is(VK::kDefault)) return otherwise;
  if (v.is(VK::kTimespan) || v.is(VK::kTimestamp)) return v.i;
  if (v.is(VK::kInt)) {
    i64 ns = 0;
    if (__builtin_mul_overflow(v.i, i64{1'000'000'000}, &ns)) bad(base, "the time is out of range");
    return ns;
  }
  if (v.is(VK::kFloat)) return truncated(v.d * 1e9);
  bad(base, "needs a time, a number or default");
}

const Type* make_object(Arena& arena, std::span<const Val> args) {
  Type t = *plain(TK::kObject);
  if (args.size() != 1 || !args[0].is(VK::kHash)) bad(&t, "needs a hash");
  t.name = "";
  if (const Val* n = args[0].get("name"); n && n->is(VK::kString)) t.name = arena.copy(n->text());
  std::vector<Member> members;
  if (const Val* p = args[0].get("parent"); p && p->is(VK::kType)) {
    t.inner = resolved(p->t);
    members.assign(t.inner->members.begin(), t.inner->members.end());
  }
  if (const Val* attributes = args[0].get("attributes"); attributes && attributes->is(VK::kHash)) {
    for (const Pair& p : attributes->entries()) {
      Member m;
      m.name = arena.copy(p.key.text());
      const Val* type = &p.value;
      if (p.value.is(VK::kHash)) {
        type = p.value.get("type");
        if (const Val* d = p.value.get("value")) m.has_value = true, m.value = *d;
      }
      m.type = type && type->is(VK::kType) ? type->t : plain(TK::kAny);
      if (!m.has_value && is_instance(m.type, Val::undef()) && m.type->kind == TK::kOptional) m.has_value = true;
      m.optional = m.has_value;
      members.push_back(m);
    }
  }
  t.members = arena.copy(std::span<const Member>(members));
  return make_type(arena, t);
}

}  // namespace

const Type* parameterize(Arena& arena, const Type* base, std::span<const Val> args) {
  if (base->kind == TK::kAlias) base = resolved(base);
  if (args.empty()) bad(base, "needs at least one argument");
  Type t = *base;
  std::vector<const Type*> types;
  switch (base->kind) {
    case TK::kInteger: {
      if (args.size() > 2) bad(base, "takes a lower and an upper limit");
      t.min = whole(base, args[0], kNoMin);
      t.max = args.size() > 1 ? whole(base, args[1], kNoMax) : kNoMax;
      if (t.min > t.max) bad(base, fmt::format("the lower limit {} is above the upper one, {}", t.min, t.max));
      t.sized = true;
      break;
    }
    case TK::kFloat: {
      if (args.size() > 2) bad(base, "takes a lower and an upper limit");
      auto number = [&](const Val& v, double otherwise) {
        if (v.is(VK::kDefault)) return otherwise;
        if (v.is(VK::kInt)) return static_cast<double>(v.i);
        if (!v.is(VK::kFloat)) bad(base, "a limit must be a number or default");
        return v.d;
      };
      t.fmin = number(args[0], t.fmin);
      if (args.size() > 1) t.fmax = number(args[1], t.fmax);
      t.sized = true;
      break;
    }
    case TK::kTimespan:
    case TK::kTimestamp:
      t.min = timespan_arg(base, args[0], kNoMin);
      t.max = args.size() > 1 ? timespan_arg(base, args[1], kNoMax) : kNoMax;
      if (t.min > t.max) bad(base, "the first time is after the second");
      t.sized = true;
      break;
    case TK::kBoolean:
      if (args.size() != 1 || !args[0].is(VK::kBool)) bad(base, "takes true or false");
      t.flag = args[0].b;
      t.sized = true;
      break;
    case TK::kString:
      if (args.size() == 1 && args[0].is(VK::kString)) return literal_string(arena, args[0].text());
      size_args(t, args);
      break;
    case TK::kCollection: size_args(t, args); break;
    case TK::kEnum: {
      std::vector<Val> values;
      std::span<const Val> in = args;
      if (in.size() == 1 && in[0].is(VK::kArray)) in = in[0].items();
      for (const Val& v : in) {
        if (v.is(VK::kBool) && &v == &in.back())
          t.flag = v.b;
        else if (v.is(VK::kString))
          values.push_back(v);
        else
          bad(base, fmt::format("needs strings, got {}", to_literal(v)));
      }
      std::sort(values.begin(), values.end(), [](const Val& a, const Val& b) { return a.text() < b.text(); });
      values.erase(
          std::unique(values.begin(), values.end(), [](const Val& a, const Val& b) { return a.text() == b.text(); }),
          values.end());
      t.values = arena.copy(std::span<const Val>(values));
      break;
    }
    case TK::kPattern: {
      std::vector<Val> values;
      for (const Val& v : args) {
        if (v.is(VK::kType) && resolved(v.t)->kind == TK::kPattern) {
          for (const Val& p : resolved(v.t)->values) values.push_back(p);
        } else if (v.is(VK::kType) && resolved(v.t)->kind == TK::kRegexp && !resolved(v.t)->values.empty()) {
          values.push_back(resolved(v.t)->values[0]);
        } else if (v.is(VK::kArray)) {
          for (const Val& p : v.items()) values.push_back(pattern_arg(arena, base, p));
        } else {
          values.push_back(pattern_arg(arena, base, v));
        }
      }
      t.values = arena.copy(std::span<const Val>(values));
      break;
    }
    case TK::kRegexp: {
      if (args.size() != 1) bad(base, "takes one pattern");
      Val p = pattern_arg(arena, base, args[0]);
      t.values = arena.copy(std::span<const Val>(&p, 1));
      break;
    }
    case TK::kSemVer: {
      std::vector<Val> values;
      for (const Val& v : args) {
        if (!(v.is(VK::kString) || v.is(VK::kSemVerRange)) || !parse_semver_range(v.text()))
          bad(base, "needs version ranges");
        values.push_back(Val::string(v.text()));
      }
      t.values = arena.copy(std::span<const Val>(values));
      break;
    }
    case TK::kArray: {
      std::span<const Val> rest = args;
      if (rest[0].is(VK::kType) && !(rest.size() == 1 && false)) {
        types.push_back(rest[0].t);
        rest = rest.subspan(1);
      } else if (rest[0].is(VK::kHash) || rest[0].is(VK::kString)) {
        bad(base, "needs a type");
      }
      size_args(t, rest);
      break;
    }
    case TK::kHash: {
      std::span<const Val> rest = args;
      if (rest[0].is(VK::kType)) {
        if (rest.size() < 2) bad(base, "needs a type for keys and one for values");
        types.push_back(rest[0].t);
        types.push_back(type_arg(base, rest[1]));
        rest = rest.subspan(2);
      }
      size_args(t, rest);
      break;
    }
    case TK::kTuple: {
      std::size_t n = 0;
      std::span<const Val> in = args;
      if (in.size() == 1 && in[0].is(VK::kArray)) in = in[0].items();
      while (n < in.size() && in[n].is(VK::kType)) types.push_back(in[n++].t);
      t.min = t.max = static_cast<i64>(types.size());
      if (n < in.size()) size_args(t, in.subspan(n));
      break;
    }
    case TK::kStruct: return make_struct(arena, args[0]);
    case TK::kVariant: {
      for (const Val& v : args) {
        const Type* one = type_arg(base, v);
        auto is_it = [&](const Type* known) {  // what an alias stands for may not be known yet
          return known->kind == one->kind && one->kind != TK::kAlias && type_text(known) == type_text(one);
        };
        if (std::none_of(types.begin(), types.end(), is_it)) types.push_back(one);
      }
      if (types.size() == 1) return types[0];
      break;
    }
    case TK::kOptional:
    case TK::kNotUndef:
      if (args.size() != 1) bad(base, "takes one type");
      types.push_back(type_or_text(arena, base, args[0]));
      break;
    case TK::kType:
    case TK::kIterable:
    case TK::kIterator:
    case TK::kSensitive:
      if (args.size() != 1) bad(base, "takes one type");
      types.push_back(type_arg(base, args[0]));
      break;
    case TK::kInit:
      types.push_back(type_arg(base, args[0]));
      t.values = arena.copy(args.subspan(1));
      break;
    case TK::kCallable: return make_callable(arena, args);
    case TK::kResource: return make_resource(arena, base, args);
    case TK::kClass:
      if (base->has_title) bad(base, "has a title already");
      if (args.size() != 1 || !args[0].is(VK::kString)) bad(base, "needs the name of a class");
      if (!class_name(args[0].text())) bad(base, fmt::format("'{}' cannot be the name of a class", args[0].text()));
      return class_type(arena, args[0].text());
    case TK::kRuntime:
      if (args.size() != 2 || !args[0].is(VK::kString) || !args[1].is(VK::kString)) bad(base, "takes two strings");
      t.values = arena.copy(args);
      break;
    case TK::kObject: return make_object(arena, args);
    default: bad(base, "takes no arguments");
  }
  if (!types.empty()) t.types = keep(arena, types);
  return make_type(arena, t);
}

const Type* common_type(Arena& arena, const Type* a, const Type* b) {
  if (a->kind == TK::kUnit) return b;
  if (b->kind == TK::kUnit) return a;
  if (assignable(a, b)) return a;
  if (assignable(b, a)) return b;
  if (a->kind == TK::kInteger && b->kind == TK::kInteger)
    return integer_range(arena, std::min(a->min, b->min), std::max(a->max, b->max));
  if (a->kind == TK::kFloat && b->kind == TK::kFloat) {
    Type t = *a;
    t.fmin = std::min(a->fmin, b->fmin);
    t.fmax = std::max(a->fmax, b->fmax);
    return make_type(arena, t);
  }
  if (a->kind == TK::kString && b->kind == TK::kString) {
    // Two literal strings have a length in common.
    auto length = [](const Type* t) {
      i64 n = 0;
      for (char c : t->values[0].text()) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      return n;
    };
    bool known = (a->sized || !a->values.empty()) && (b->sized || !b->values.empty());
    if (!known) return plain(TK::kString);
    Type t = *plain(TK::kString);
    t.sized = true;
    t.min = std::min(a->values.empty() ? a->min : length(a), b->values.empty() ? b->min : length(b));
    t.max = std::max(a->values.empty() ? a->max : length(a), b->values.empty() ? b->max : length(b));
    return make_type(arena, t);
  }
  if (a->kind == TK::kArray && b->kind == TK::kArray) {
    Type t = *plain(TK::kArray);
    const Type* item = common_type(arena, a->types.empty() ? plain(TK::kAny) : a->types[0],
                                   b->types.empty() ? plain(TK::kAny) : b->types[0]);
    t.types = arena.copy(std::span<const Type* const>(&item, 1));
    t.min = std::min(a->min, b->min);
    t.max = std::max(a->max, b->max);
    t.sized = a->sized && b->sized;
    return make_type(arena, t);
  }
  for (TK k : {TK::kNumeric, TK::kScalarData, TK::kScalar, TK::kCatalogEntry})
    if (assignable(plain(k), a) && assignable(plain(k), b)) return plain(k);
  if (a->kind == TK::kType && b->kind == TK::kType) return plain(TK::kType);
  for (TK k : {TK::kData, TK::kRichData})
    if (assignable(plain(k), a) && assignable(plain(k), b)) return plain(k);
  return plain(TK::kAny);
}

const Type* generalize(Arena& arena, const Type* t) {
  switch (t->kind) {
    case TK::kInteger:
    case TK::kFloat:
    case TK::kString:
    case TK::kBoolean:
    case TK::kRegexp:
    case TK::kTimespan:
    case TK::kTimestamp:
    case TK::kSemVer: return plain(t->kind);
    case TK::kArray:
    case TK::kHash: {
      if (t->max == 0) return plain(t->kind);
      Type g = *plain(t->kind);
      std::vector<const Type*> types;
      for (const Type* i : t->types) types.push_back(generalize(arena, i));
      g.types = arena.copy(std::span<const Type* const>(types));
      return make_type(arena, g);
    }
    default: return t;
  }
}

const Type* infer(Arena& arena, const Val& v, Infer how) {
  switch (v.kind) {
    case VK::kUndef: return plain(TK::kUndef);
    case VK::kDefault: return plain(TK::kDefault);
    case VK::kBool: {
      if (how == Infer::kGeneralized) return plain(TK::kBoolean);
      Type t = *plain(TK::kBoolean);
      t.sized = true;
      t.flag = v.b;
      return make_type(arena, t);
    }
    case VK::kInt: return how == Infer::kGeneralized ? plain(TK::kInteger) : integer_range(arena, v.i, v.i);
    case VK::kFloat: {
      if (how == Infer::kGeneralized) return plain(TK::kFloat);
      Type t = *plain(TK::kFloat);
      t.fmin = t.fmax = v.d;
      t.sized = true;
      return make_type(arena, t);
    }
    case VK::kString: return how == Infer::kGeneralized ? plain(TK::kString) : literal_string(arena, v.text());
    case VK::kRegex: {
      Type t = *plain(TK::kRegexp);
      if (how != Infer::kGeneralized) t.values = arena.copy(std::span<const Val>(&v, 1));
      return make_type(arena, t);
    }
    case VK::kArray: {
      if (v.size == 0) {
        if (how == Infer::kGeneralized) return plain(TK::kArray);
        Type t = *plain(TK::kArray);
        const Type* unit = plain(TK::kUnit);
        t.types = arena.copy(std::span<const Type* const>(&unit, 1));
        t.max = 0;
        t.sized = true;
        return make_type(arena, t);
      }
      std::vector<const Type*> types;
      for (const Val& i : v.items()) types.push_back(infer(arena, i, how));
      Type t = *plain(how == Infer::kExact ? TK::kTuple : TK::kArray);
      t.min = t.max = v.size;
      if (how != Infer::kExact) {
        const Type* all = types[0];
        for (const Type* i : types) all = common_type(arena, all, i);
        types.assign(1, all);
        t.sized = how == Infer::kReduced;
        if (!t.sized) t.min = 0, t.max = kNoMax;
      }
      t.types = keep(arena, types);
      return make_type(arena, t);
    }
    case VK::kHash: {
      if (v.size == 0) {
        if (how == Infer::kGeneralized) return plain(TK::kHash);
        Type t = *plain(TK::kHash);
        const Type* unit[2] = {plain(TK::kUnit), plain(TK::kUnit)};
        t.types = arena.copy(std::span<const Type* const>(unit));
        t.max = 0;
        t.sized = true;
        return make_type(arena, t);
      }
      bool strings = std::all_of(v.entries().begin(), v.entries().end(),
                                 [](const Pair& p) { return p.key.is(VK::kString) && p.key.size; });
      if (how == Infer::kExact && strings) {
        Type t = *plain(TK::kStruct);
        std::vector<Member> members;
        for (const Pair& p : v.entries()) {
          Member m;
          m.name = p.key.text();
          m.type = infer(arena, p.value, how);
          members.push_back(m);
        }
        t.members = arena.copy(std::span<const Member>(members));
        t.sized = true;
        t.min = t.max = v.size;
        return make_type(arena, t);
      }
      Type t = *plain(TK::kHash);
      const Type* both[2] = {plain(TK::kUnit), plain(TK::kUnit)};
      constexpr u32 kMostTold = 1'000;  // each is compared with all others
      if (how == Infer::kExact && v.size <= kMostTold) {
        std::vector<const Type*> all[2];
        for (const Pair& p : v.entries())
          for (int n : {0, 1}) {
            const Type* x = infer(arena, n == 0 ? p.key : p.value, how);
            if (std::none_of(all[n].begin(), all[n].end(),
                             [&](const Type* y) { return assignable(x, y) && assignable(y, x); }))
              all[n].push_back(x);
          }
        for (int n : {0, 1}) {
          Type variant = *plain(TK::kVariant);
          variant.types = keep(arena, all[n]);
          both[n] = all[n].size() == 1 ? all[n][0] : make_type(arena, variant);
        }
        t.types = arena.copy(std::span<const Type* const>(both));
        t.sized = true;
        t.min = t.max = v.size;
        return make_type(arena, t);
      }
      for (const Pair& p : v.entries()) {
        both[0] = common_type(arena, both[0], infer(arena, p.key, p.key.is(VK::kString) ? Infer::kReduced : how));
        both[1] = common_type(arena, both[1], infer(arena, p.value, how == Infer::kExact ? Infer::kReduced : how));
      }
      t.types = arena.copy(std::span<const Type* const>(both));
      if (how != Infer::kGeneralized) t.sized = true, t.min = t.max = v.size;
      return make_type(arena, t);
    }
    case VK::kType: {
      Type t = *plain(TK::kType);
      t.types = arena.copy(std::span<const Type* const>(&v.t, 1));
      return make_type(arena, t);
    }
    case VK::kSensitive: {
      Type t = *plain(TK::kSensitive);
      const Type* inner = infer(arena, *v.box, Infer::kGeneralized);
      t.types = arena.copy(std::span<const Type* const>(&inner, 1));
      return make_type(arena, t);
    }
    case VK::kBinary: return plain(TK::kBinary);
    case VK::kTimestamp:
    case VK::kTimespan: {
      Type t = *plain(v.is(VK::kTimestamp) ? TK::kTimestamp : TK::kTimespan);
      if (how == Infer::kGeneralized) return plain(t.kind);
      t.min = t.max = v.i;
      t.sized = true;
      return make_type(arena, t);
    }
    case VK::kSemVer: {
      Type t = *plain(TK::kSemVer);
      Val range = make_string(arena, fmt::format("{} - {}", v.text(), v.text()));
      t.values = arena.copy(std::span<const Val>(&range, 1));
      return make_type(arena, t);
    }
    case VK::kSemVerRange: return plain(TK::kSemVerRange);
    case VK::kUri: return plain(TK::kUri);
    case VK::kObject: return v.o->type ? v.o->type : plain(TK::kDeferred);
    case VK::kClosure: return plain(TK::kCallable);
  }
  return plain(TK::kAny);
}

}  // namespace tutti::puppet
