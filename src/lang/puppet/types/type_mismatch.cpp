// Why a value is not of a type, in Puppet's words. The alternatives of a Variant, and the signatures of a function, are
// described one by one; what they all complain about at one place becomes one sentence.
#include <fmt/format.h>

#include <algorithm>

#include "lang/puppet/types/signature.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {
namespace {

std::string with_article(const std::string& s) {
  static constexpr std::string_view kVowels = "AEIOUaeiou";
  return (kVowels.find(s[0]) != std::string_view::npos ? "an " : "a ") + s;
}

struct Step {
  std::string text;
  bool alternative = false;  // of a Variant or of signatures: the place in the value is the same
  bool operator==(const Step&) const = default;
};
using Path = std::vector<Step>;

Path operator+(Path path, std::string text) {
  path.push_back({std::move(text)});
  return path;
}

struct Range {
  i64 min = 0, max = kNoMax;
  bool holds(Range o) const { return o.min >= min && o.max <= max; }
  bool operator==(const Range&) const = default;
};

struct Mismatch {
  enum class What : u8 { kMissingKey, kExtraneousKey, kUnexpectedBlock, kMissingBlock, kType, kMatch, kSize, kCount };
  What what;
  Path path;
  std::string key;                                    // of the keys
  const Type *expected = nullptr, *actual = nullptr;  // kType, kMatch
  Range wanted, got;                                  // kSize, kCount

  Path place() const {
    Path p = path;
    std::erase_if(p, [](const Step& s) { return s.alternative; });
    return p;
  }
  bool is_type() const { return what == What::kType || what == What::kMatch; }
};
using What = Mismatch::What;
using Mismatches = std::vector<Mismatch>;

bool same_mismatch(const Mismatch& a, const Mismatch& b) {
  if (a.what != b.what || a.key != b.key || a.wanted != b.wanted || a.got != b.got || a.place() != b.place())
    return false;
  return !a.is_type() || (same_type(a.expected, b.expected) && same_type(a.actual, b.actual));
}

std::string range_text(Range r, std::string_view zero) {
  if (r.min == r.max) return r.min == 0 ? std::string(zero) : std::to_string(r.min);
  if (r.min == 0) return r.max == kNoMax ? "unlimited" : fmt::format("at most {}", r.max);
  return r.max == kNoMax ? fmt::format("at least {}", r.min) : fmt::format("between {} and {}", r.min, r.max);
}

// The type of a value in all detail, or of a huge one without: nobody reads what is wrong with each of its parts.
const Type* type_of(Arena& arena, const Val& v) {
  constexpr u32 kHuge = 100'000;
  return infer(arena, v, v.weight > kHuge ? Infer::kReduced : Infer::kExact);
}

std::string count_text(Range wanted, Range got) {
  bool one = (wanted.min == 1 && (wanted.max == 1 || wanted.max == kNoMax)) || (wanted.min == 0 && wanted.max == 1);
  return fmt::format("expects {} argument{}, got {}", range_text(wanted, "no"), one ? "" : "s",
                     range_text(got, "none"));
}

class Describer {
 public:
  explicit Describer(Arena& arena) : arena_(arena) {}

  Mismatches describe(const Type* expected, const Type* actual, const Path& path) {
    return inner(normal(expected), expected, actual, path);
  }

  // What all alternatives complain about at one place becomes one; what is said twice is said once.
  Mismatches merged(std::size_t varying, What size, const std::vector<Mismatches>& alternatives) {
    Mismatches all;
    for (const Mismatches& m : alternatives) all.insert(all.end(), m.begin(), m.end());
    for (What what : {size, What::kMissingBlock, What::kUnexpectedBlock, What::kType}) {
      Mismatches these;
      std::copy_if(all.begin(), all.end(), std::back_inserter(these), [&](const Mismatch& m) {
        return m.what == what || (what == What::kType && m.is_type()) ||
               (what == What::kSize && m.what == What::kCount);
      });
      if (these.empty() || these.size() != alternatives.size()) continue;
      const Path place = these[0].place();
      if (std::any_of(these.begin(), these.end(), [&](const Mismatch& m) { return m.place() != place; })) continue;
      Mismatch one = these[0];
      for (std::size_t n = 1; n < these.size(); ++n) join(one, these[n]);
      all = {one};
      break;
    }
    Mismatches out;
    for (const Mismatch& m : all)
      if (std::none_of(out.begin(), out.end(), [&](const Mismatch& o) { return same_mismatch(o, m); }))
        out.push_back(m);
    if (out.size() == 1 && varying < out[0].path.size())
      out[0].path.erase(out[0].path.begin() + static_cast<std::ptrdiff_t>(varying));
    return out;
  }

  std::string text(const Mismatch& m) const {
    std::string where;
    for (const Step& s : m.path) where += (where.empty() ? "" : " ") + s.text;
    if (!where.empty()) where += ' ';
    switch (m.what) {
      case What::kMissingKey: return fmt::format("{}expects a value for key '{}'", where, m.key);
      case What::kExtraneousKey: return fmt::format("{}unrecognized key '{}'", where, m.key);
      case What::kUnexpectedBlock: return where + "does not expect a block";
      case What::kMissingBlock: return where + "expects a block";
      case What::kSize:
        return fmt::format("{}expects size to be {}, got {}", where, range_text(m.wanted, "0"), range_text(m.got, "0"));
      case What::kCount: return where + count_text(m.wanted, m.got);
      case What::kMatch: return where + match_text(m);
      case What::kType: return where + type_mismatch_text(m);
    }
    return where;
  }

  // The arguments of a call against one signature, without the block.
  Mismatches arguments(const Signature& s, std::span<const Val> args, const Path& path) {
    const Range wanted{s.least, s.most};
    const Range got{static_cast<i64>(args.size()), static_cast<i64>(args.size())};
    if (!wanted.holds(got)) return {count(path, wanted, got)};
    for (std::size_t n = 0; n < args.size(); ++n) {
      std::size_t p = std::min(n, s.types.size() - 1);
      if (is_instance(s.types[p], args[n])) continue;
      Mismatches found = describe(s.types[p], type_of(arena_, args[n]), path + parameter(s, p));
      if (!found.empty()) return found;
    }
    return {};
  }

  Mismatches block(const Signature& s, const Type* given, const Path& path) {
    if (!given) {
      if (!s.block || s.block_optional) return {};
      return {{What::kMissingBlock, path, {}, nullptr, nullptr, {}, {}}};
    }
    if (!s.block) return {{What::kUnexpectedBlock, path, {}, nullptr, nullptr, {}, {}}};
    return describe(s.block, given, path + "block");
  }

 private:
  static std::string parameter(const Signature& s, std::size_t n) {
    return n < s.names.size() ? fmt::format("parameter '{}'", s.names[n]) : fmt::format("parameter {}", n + 1);
  }

  static constexpr std::size_t kMost = 100;  // nobody reads more of them

  Mismatch wrong(const Path& path, const Type* expected, const Type* actual, What what = What::kType) {
    return {what, path, {}, normal(expected), actual, {}, {}};
  }
  static Mismatch size(const Path& path, Range wanted, Range got) {
    return {What::kSize, path, {}, nullptr, nullptr, wanted, got};
  }
  static Mismatch count(const Path& path, Range wanted, Range got) {
    return {What::kCount, path, {}, nullptr, nullptr, wanted, got};
  }
  static Mismatch keyed(What what, const Path& path, std::string_view key) {
    return {what, path, std::string(key), nullptr, nullptr, {}, {}};
  }
  static Range sizes(const Type* t) { return {std::max<i64>(t->min, 0), t->max}; }

  void join(Mismatch& into, const Mismatch& other) {
    if (into.is_type()) {
      const Type* both[2] = {into.expected, other.expected};
      into.expected = normal(variant_of(arena_, both));
    } else {
      into.wanted = {std::min(into.wanted.min, other.wanted.min), std::max(into.wanted.max, other.wanted.max)};
    }
  }

  // Without what a type says twice: Variant[Undef, A] is Optional[A], Variant[Enum[a], Enum[b]] is Enum[a, b].
  const Type* normal(const Type* t) {
    if (t->types.empty()) return t;
    switch (t->kind) {
      case TK::kOptional: {
        const Type* of = normal(t->types[0]);
        if (of->kind == TK::kNotUndef && !of->types.empty()) return normal(optional_of(arena_, of->types[0]));
        if (is_instance(of, Val::undef())) return of;
        return of == t->types[0] ? t : optional_of(arena_, of);
      }
      case TK::kNotUndef: {
        const Type* of = normal(t->types[0]);
        if (of->kind == TK::kOptional && !of->types.empty()) of = normal(of->types[0]);
        return is_instance(of, Val::undef()) ? t : of;
      }
      case TK::kVariant: return normal_variant(t);
      default: return t;
    }
  }

  const Type* normal_variant(const Type* t) {
    std::vector<const Type*> types;
    bool optional = false;
    for (const Type* i : t->types) {
      const Type* n = normal(i);
      if (n->kind == TK::kUndef || n->kind == TK::kOptional) optional = true;
      if (n->kind == TK::kOptional && !n->types.empty()) n = n->types[0];
      if (n->kind != TK::kUndef) types.push_back(n);
    }
    const Type* flat = types.empty() ? plain(TK::kUndef) : variant_of(arena_, types);
    if (optional) return normal(optional_of(arena_, flat));
    if (flat->kind != TK::kVariant) return flat;
    types.assign(flat->types.begin(), flat->types.end());
    std::size_t before = types.size();
    merge_values(types, TK::kEnum);
    merge_values(types, TK::kPattern);
    merge_ranges(types, TK::kInteger);
    return types.size() == before ? flat : variant_of(arena_, types);
  }

  void merge_values(std::vector<const Type*>& types, TK kind) {
    auto has_values = [&](const Type* t) {
      return !t->values.empty() && !t->flag && (t->kind == kind || (kind == TK::kEnum && t->kind == TK::kString));
    };
    if (std::count_if(types.begin(), types.end(), has_values) < 2) return;
    std::vector<Val> values;
    for (const Type* t : types) {
      if (!has_values(t)) continue;
      for (const Val& v : t->values)
        if (std::none_of(values.begin(), values.end(), [&](const Val& x) { return same(x, v); })) values.push_back(v);
    }
    std::erase_if(types, has_values);
    Type all = *plain(kind);
    all.values = arena_.copy(std::span<const Val>(values));
    types.push_back(make_type(arena_, all));
  }

  // Ranges that touch become one; the ranges stand first.
  void merge_ranges(std::vector<const Type*>& types, TK kind) {
    std::vector<const Type*> ranges, out;
    for (const Type* t : types) (t->kind == kind ? ranges : out).push_back(t);
    if (ranges.size() < 2) return;
    std::vector<const Type*> joined;
    while (!ranges.empty()) {
      Type x = *ranges.back();
      ranges.pop_back();
      std::vector<const Type*> apart;
      for (const Type* y : ranges) {
        bool touch =
            y->min <= (x.max == kNoMax ? kNoMax : x.max + 1) && x.min <= (y->max == kNoMax ? kNoMax : y->max + 1);
        if (touch)
          x.min = std::min(x.min, y->min), x.max = std::max(x.max, y->max);
        else
          apart.push_back(y);
      }
      x.sized = x.min != kNoMin || x.max != kNoMax;
      joined.push_back(make_type(arena_, x));
      ranges = std::move(apart);
    }
    joined.insert(joined.end(), out.begin(), out.end());
    types = std::move(joined);
  }

  // `original` is how the expected type was written: an alias, an Optional of it.
  Mismatches inner(const Type* expected, const Type* original, const Type* actual, const Path& path) {
    constexpr std::size_t kDeepest = 60;  // types may contain themselves
    if (path.size() > kDeepest) return {};
    switch (expected->kind) {
      case TK::kVariant: return variant(expected, original, actual, path);
      case TK::kStruct: return structure(expected, original, actual, path);
      case TK::kHash: return hash(expected, original, actual, path);
      case TK::kTuple: return tuple(expected, original, actual, path, What::kSize);
      case TK::kArray: return array(expected, original, actual, path);
      case TK::kCallable: return callable(expected, original, actual, path);
      case TK::kOptional:
        if (actual->kind == TK::kUndef || expected->types.empty()) return {};
        return inner(expected->types[0], original->kind == TK::kAlias ? original : expected, actual, path);
      case TK::kPattern:
      case TK::kEnum: return {wrong(path, original, actual, What::kMatch)};
      case TK::kAlias:
        if (!expected->inner) return {};
        return inner(normal(expected->inner), expected, actual, path);
      default:
        if (assignable(expected, actual)) return {};
        return {wrong(path, original, actual)};
    }
  }

  Mismatches variant(const Type* expected, const Type* original, const Type* actual, const Path& path) {
    std::vector<const Type*> types(expected->types.begin(), expected->types.end());
    if (original->kind == TK::kOptional) types.insert(types.begin(), plain(TK::kUndef));
    std::vector<Mismatches> all;
    for (std::size_t n = 0; n < types.size(); ++n) {
      if (assignable(types[n], actual)) return {};
      Path to = path;
      to.push_back({fmt::format("variant {}", n), true});
      all.push_back(describe(types[n], actual, to));
      if (all.back().empty()) return {};
    }
    Mismatches out = merged(path.size(), What::kSize, all);
    // An alias of which no alternative fits is named, not its alternatives.
    if (original->kind == TK::kAlias && out.size() == 1) return {wrong(path, original, actual)};
    return out;
  }

  Mismatches array(const Type* expected, const Type* original, const Type* actual, const Path& path) {
    const Range wanted = sizes(expected), got = sizes(actual);
    if (actual->kind != TK::kTuple && actual->kind != TK::kArray) return {wrong(path, original, actual)};
    if (!wanted.holds(got)) return {size(path, wanted, got)};
    if (actual->kind == TK::kArray) return {wrong(path, original, without_size(actual))};
    Mismatches out;
    const Type* item = expected->types.empty() ? plain(TK::kAny) : expected->types[0];
    for (std::size_t n = 0; n < actual->types.size() && out.size() < kMost; ++n)
      add(out, item, actual->types[n], path + fmt::format("index {}", n));
    return out;
  }

  Mismatches tuple(const Type* expected, const Type* original, const Type* actual, const Path& path, What size_kind) {
    if (actual->kind != TK::kTuple && actual->kind != TK::kArray) return {wrong(path, original, actual)};
    const Range wanted = sizes(expected), got = sizes(actual);
    if (expected->types.empty() && actual->kind == TK::kArray) return {};
    if (!wanted.holds(got)) {
      Mismatch m = size(path, wanted, got);
      m.what = size_kind;
      return {m};
    }
    Mismatches out;
    if (expected->types.empty()) return out;
    if (actual->kind == TK::kArray) {
      if (actual->types.empty()) return {wrong(path, original, actual)};
      for (std::size_t n = 0; n < expected->types.size() && out.size() < kMost; ++n)
        add(out, expected->types[n], actual->types[0], path + fmt::format("index {}", n));
      return out;
    }
    for (std::size_t n = 0; n < actual->types.size() && out.size() < kMost; ++n) {
      std::size_t at = std::min(n, expected->types.size() - 1);
      add(out, expected->types[at], actual->types[n], path + fmt::format("index {}", at));
    }
    return out;
  }

  Mismatches hash(const Type* expected, const Type* original, const Type* actual, const Path& path) {
    const Type* any = plain(TK::kAny);
    const Type* key = expected->types.empty() ? any : expected->types[0];
    const Type* value = expected->types.size() < 2 ? any : expected->types[1];
    if (actual->kind == TK::kStruct) {
      if (Range got = members(actual); !sizes(expected).holds(got)) return {size(path, sizes(expected), got)};
      Mismatches out;
      for (const Member& m : actual->members) {
        if (out.size() >= kMost) break;
        if (!is_instance(key, Val::string(m.name)))
          add(out, key, literal(m.name), path + fmt::format("key of entry '{}'", m.name));
        add(out, value, m.type, path + fmt::format("entry '{}'", m.name));
      }
      return out;
    }
    if (actual->kind != TK::kHash) return {wrong(path, original, actual)};
    if (!sizes(expected).holds(sizes(actual))) return {size(path, sizes(expected), sizes(actual))};
    return {wrong(path, original, without_size(actual))};
  }

  Mismatches structure(const Type* expected, const Type* original, const Type* actual, const Path& path) {
    if (actual->kind == TK::kHash) {
      Range wanted = members(expected);
      if (!wanted.holds(sizes(actual))) return {size(path, wanted, sizes(actual))};
      return {wrong(path, original, without_size(actual))};
    }
    if (actual->kind != TK::kStruct) return {wrong(path, original, actual)};
    Mismatches out;
    auto named = [](const Type* t, std::string_view name) {
      return std::find_if(t->members.begin(), t->members.end(), [&](const Member& m) { return m.name == name; });
    };
    for (const Member& m : expected->members) {
      auto there = named(actual, m.name);
      if (there != actual->members.end())
        add(out, m.type, there->type, path + fmt::format("entry '{}'", m.name));
      else if (!m.optional)
        out.push_back(keyed(What::kMissingKey, path, m.name));
    }
    for (const Member& m : actual->members)
      if (named(expected, m.name) == expected->members.end()) out.push_back(keyed(What::kExtraneousKey, path, m.name));
    return out;
  }

  Mismatches callable(const Type* expected, const Type* original, const Type* actual, const Path& path) {
    if (actual->kind != TK::kCallable) return {wrong(path, original, actual)};
    if (!expected->sized) return {};
    Type wanted = *expected, given = *actual;
    wanted.kind = given.kind = TK::kTuple;
    if (Mismatches found = tuple(&wanted, &wanted, &given, path, What::kCount); !found.empty()) return found;
    const Type* any = plain(TK::kAny);
    const Type *to = expected->inner ? expected->inner : any, *from = actual->inner ? actual->inner : any;
    if (!assignable(to, from)) return {wrong(path + "return", to, from)};
    return {};
  }

  void add(Mismatches& out, const Type* expected, const Type* actual, const Path& path) {
    if (assignable(expected, actual)) return;
    for (Mismatch& m : describe(expected, actual, path)) out.push_back(std::move(m));
  }

  static Range members(const Type* t) {
    auto required = std::count_if(t->members.begin(), t->members.end(), [](const Member& m) { return !m.optional; });
    return {required, static_cast<i64>(t->members.size())};
  }

  const Type* literal(std::string_view text) { return infer(arena_, Val::string(text), Infer::kExact); }

  const Type* without_size(const Type* t) {
    Type out = *t;
    out.sized = false;
    out.min = 0;
    out.max = kNoMax;
    if (t->max == 0) out.types = {};
    return make_type(arena_, out);
  }

  // --- the words

  static std::string kind_name(const Type* t) {
    if (t->kind == TK::kAlias) return std::string(t->name);
    if (t->kind == TK::kResource) return "Resource";
    if (t->kind == TK::kClass) return "Class";
    if (t->kind == TK::kObject && !t->name.empty()) return std::string(t->name);
    return std::string(plain(t->kind)->name);
  }

  static std::string short_name(const Type* t) {
    bool contains = t->kind == TK::kOptional || t->kind == TK::kNotUndef || t->kind == TK::kSensitive ||
                    t->kind == TK::kType || t->kind == TK::kIterable || t->kind == TK::kIterator ||
                    t->kind == TK::kInit;
    if (contains && !t->types.empty() && t->types[0]->kind != TK::kAny)
      return fmt::format("{}[{}]", kind_name(t), kind_name(t->types[0]));
    return kind_name(t);
  }

  static bool same_class(const Type* e, const Type* a) {
    return e->kind == a->kind || e->kind == TK::kAlias || a->kind == TK::kAlias ||
           (e->kind == TK::kStruct && a->kind == TK::kHash) || (e->kind == TK::kTuple && a->kind == TK::kArray);
  }

  std::string type_mismatch_text(const Mismatch& m) const {
    const Type *e = m.expected, *a = m.actual;
    bool optional = e->kind == TK::kOptional && !e->types.empty();
    if (optional) e = e->types[0];
    std::vector<const Type*> types{e};
    if (e->kind == TK::kVariant && !e->types.empty()) types.assign(e->types.begin(), e->types.end());
    auto any = [&](auto&& f) { return std::any_of(types.begin(), types.end(), f); };
    bool detailed = any([&](const Type* t) {
      const Type* r = resolved(t);
      return same_class(t, a) || assignable(r->kind == TK::kObject ? r : plain(r->kind), a);
    });
    std::vector<std::string> names;
    for (const Type* t : types) {
      std::string name = detailed ? type_text(t) : short_name(t);
      if (detailed || std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
    if (optional) names.insert(names.begin(), "Undef");
    std::string got = short_name(a);
    if (detailed) {
      bool exact = any([&](const Type* t) { return same_class(resolved(t), a); });
      if (!exact) {
        const Type* general = generalize(arena_, a);
        exact = any([&](const Type* t) { return assignable(resolved(t), general); });
      }
      got = exact ? type_text(a) : kind_name(a);
    }
    if (names.size() == 1) return fmt::format("expects {} value, got {}", with_article(names[0]), got);
    std::string list;
    for (std::size_t n = 0; n < names.size(); ++n)
      list += (n == 0 ? "" : n + 1 == names.size() ? (names.size() > 2 ? ", or " : " or ") : ", ") + names[n];
    return fmt::format("expects a value of type {}, got {}", list, got);
  }

  static std::string match_text(const Mismatch& m) {
    const Type *e = m.expected, *a = m.actual;
    bool optional = e->kind == TK::kOptional && !e->types.empty();
    if (optional) e = e->types[0];
    bool text = a->kind == TK::kString && !a->values.empty();
    return fmt::format("expects {}a match for {}, got {}", optional ? "an undef value or " : "", type_text(e),
                       text ? fmt::format("'{}'", a->values[0].text()) : short_name(a));
  }

  Arena& arena_;
};

std::string signature_text(const Signature& s) {
  std::string out;
  for (std::size_t n = 0; n < s.types.size(); ++n) {
    const Type* t = s.types[n];
    std::string_view mark;
    if (s.most == kNoMax && n + 1 == s.types.size()) {
      mark = s.least == static_cast<i64>(s.types.size()) ? "+" : "*";
    } else if (static_cast<i64>(n) >= s.least) {
      mark = "?";
      if (t->kind == TK::kOptional && !t->types.empty()) t = t->types[0];
    }
    out += fmt::format("{}{}{}{}", n ? ", " : "", type_text(t), n < s.names.size() ? " " + s.names[n] : "", mark);
  }
  if (s.block)
    out += fmt::format("{}{} {}{}", out.empty() ? "" : ", ", type_text(s.block), s.block_name,
                       s.block_optional ? "?" : "");
  return out;
}

}  // namespace

std::vector<std::string> describe_mismatch(const std::string& subject, const Type* expected, const Val& actual) {
  std::vector<std::string> out;
  if (is_instance(expected, actual)) return out;
  Arena arena;
  Describer describer(arena);
  Path path;
  if (!subject.empty()) path.push_back({subject});
  for (const Mismatch& m : describer.describe(expected, type_of(arena, actual), path)) out.push_back(describer.text(m));
  if (out.empty())
    out.push_back(fmt::format("{}{}expects {}", subject, subject.empty() ? "" : " ",
                              with_article(type_text(expected) + " value")));
  return out;
}

std::string describe_count(i64 least, i64 most, std::size_t given) {
  const i64 got = static_cast<i64>(given);
  return count_text({least, most}, {got, got});
}

bool accepts(const Signature& s, std::span<const Val> args, const Type* block) {
  i64 count = static_cast<i64>(args.size());
  if (count < s.least || count > s.most) return false;
  for (std::size_t n = 0; n < args.size(); ++n)
    if (!is_instance(s.types[std::min(n, s.types.size() - 1)], args[n])) return false;
  if (!block) return !s.block || s.block_optional;
  return s.block && assignable(s.block, block);
}

std::string describe_call(std::string_view function, std::span<const Signature> signatures, std::span<const Val> args,
                          const Type* block) {
  Arena arena;
  Describer describer(arena);
  std::vector<Mismatches> errors, blocks;
  auto path = [](std::size_t n) { return Path{{fmt::format("{}.", n + 1), true}}; };
  auto wrong = [](const Mismatches& m) { return !m.empty(); };
  for (std::size_t n = 0; n < signatures.size(); ++n)
    errors.push_back(describer.arguments(signatures[n], args, path(n)));
  if (!std::all_of(errors.begin(), errors.end(), wrong)) {
    for (std::size_t n = 0; n < signatures.size(); ++n)
      blocks.push_back(describer.block(signatures[n], block, path(n)));
    if (std::all_of(blocks.begin(), blocks.end(), wrong)) {
      errors = blocks;
    } else {
      for (std::size_t n = 0; n < errors.size(); ++n)
        if (errors[n].empty()) errors[n] = blocks[n];
    }
  }
  Mismatches all = describer.merged(0, What::kCount, errors);
  if (all.size() == 1) return fmt::format("'{}' {}", function, describer.text(all[0]));
  auto rejected = [&](Mismatch m) {
    m.path.erase(m.path.begin());
    return describer.text(m);
  };
  if (signatures.size() == 1) {
    std::string out = fmt::format("'{}' expects ({})", function, signature_text(signatures[0]));
    for (const Mismatch& m : errors[0]) out += "\n  rejected: " + rejected(m);
    return out;
  }
  std::string out =
      fmt::format("The function '{}' was called with arguments it does not accept. It expects one of:", function);
  for (std::size_t n = 0; n < signatures.size(); ++n) {
    out += fmt::format("\n  ({})", signature_text(signatures[n]));
    for (const Mismatch& m : errors[n]) out += "\n    rejected: " + rejected(m);
  }
  return out;
}

}  // namespace tutti::puppet
