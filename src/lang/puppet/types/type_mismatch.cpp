#include <fmt/format.h>

#include <algorithm>

#include "lang/puppet/types/type.h"

namespace tutti::puppet {
namespace {

std::string with_article(const std::string& s) {
  static constexpr std::string_view kVowels = "AEIOUaeiou";
  return (kVowels.find(s[0]) != std::string_view::npos ? "an " : "a ") + s;
}

bool ranged(const Type* t) { return t->sized || !t->values.empty(); }

// How a value of the wrong type is named: its kind alone, unless only its range or size is wrong.
std::string actual_text(const Type* expected, const Val& v) {
  Arena arena;
  const Type* e = resolved(expected);
  if (v.undefined()) return "Undef";
  const Type* exact = infer(arena, v, Infer::kExact);
  if (e->kind == exact->kind && ranged(e) && e->kind != TK::kString) return type_text(exact);
  switch (v.kind) {
    case VK::kArray: return v.size == 0 ? "Array[0, 0]" : exact->kind == e->kind ? type_text(exact) : "Tuple";
    case VK::kHash: return exact->kind == TK::kStruct ? "Struct" : "Hash";
    case VK::kType: return type_text(exact);
    case VK::kSensitive: return type_text(exact);
    default: return std::string(plain(exact->kind)->name);
  }
}

std::string size_range(const Type* t) {
  if (t->max == kNoMax) return fmt::format("at least {}", t->min);
  if (t->min == t->max) return std::to_string(t->min);
  if (t->min == 0) return fmt::format("at most {}", t->max);
  return fmt::format("between {} and {}", t->min, t->max);
}

void describe(std::vector<std::string>& out, const std::string& where, const Type* expected, const Val& v,
              bool optional, int depth) {
  constexpr std::size_t kMost = 100;  // nobody reads more of them
  if (out.size() >= kMost || depth > 30 || is_instance(expected, v)) return;
  const Type* t = expected;
  std::string lead = where.empty() ? "" : where + " ";
  switch (t->kind) {
    case TK::kAlias: {
      const Type* r = resolved(t);
      if (r->kind == TK::kVariant || r->kind == TK::kOptional || r->kind == TK::kStruct || r->kind == TK::kHash ||
          r->kind == TK::kArray || r->kind == TK::kTuple)
        return describe(out, where, r, v, optional, depth + 1);
      if (r->kind == TK::kEnum || r->kind == TK::kPattern) break;
      out.push_back(fmt::format("{}expects {} value, got {}", lead, with_article(type_text(t)), actual_text(r, v)));
      return;
    }
    case TK::kOptional:
      if (!t->types.empty()) return describe(out, where, t->types[0], v, true, depth + 1);
      break;
    case TK::kNotUndef:
      if (!v.undefined() && !t->types.empty()) return describe(out, where, t->types[0], v, optional, depth + 1);
      break;
    case TK::kVariant: {
      std::vector<std::string> names;
      for (const Type* i : t->types) {
        std::string text = type_text_short(i);
        if (std::find(names.begin(), names.end(), text) == names.end()) names.push_back(text);
      }
      // One alternative of the right kind: its own complaint says more.
      const Type* kin = nullptr;
      Arena arena;
      int kins = 0;
      for (const Type* i : t->types) {
        const Type* r = resolved(i);
        bool near = (v.is(VK::kHash) && (r->kind == TK::kStruct || r->kind == TK::kHash)) ||
                    (v.is(VK::kArray) && (r->kind == TK::kArray || r->kind == TK::kTuple));
        if (near) kin = i, ++kins;
      }
      if (kins == 1) return describe(out, where, kin, v, optional, depth + 1);
      if (optional) names.insert(names.begin(), "Undef");
      std::string list;
      for (std::size_t n = 0; n < names.size(); ++n)
        list += (n == 0 ? "" : n + 1 == names.size() ? (names.size() > 2 ? ", or " : " or ") : ", ") + names[n];
      out.push_back(fmt::format("{}expects a value of type {}, got {}", lead, list, actual_text(t, v)));
      return;
    }
    case TK::kStruct: {
      if (!v.is(VK::kHash)) break;
      for (const Member& m : t->members) {
        const Val* x = v.get(m.name);
        if (x)
          describe(out, fmt::format("{}{}entry '{}'", where, where.empty() ? "" : " ", m.name), m.type, *x, false,
                   depth + 1);
        else if (!m.optional)
          out.push_back(fmt::format("{}expects a value for key '{}'", lead, m.name));
      }
      for (const Pair& p : v.entries()) {
        bool known = std::any_of(t->members.begin(), t->members.end(),
                                 [&](const Member& m) { return p.key.is(VK::kString) && m.name == p.key.text(); });
        if (!known) out.push_back(fmt::format("{}unrecognized key '{}'", lead, to_text(p.key)));
      }
      return;
    }
    case TK::kArray:
    case TK::kTuple:
      if (!v.is(VK::kArray)) break;
      if (v.size < t->min || v.size > t->max) {
        out.push_back(fmt::format("{}expects size to be {}, got {}", lead, size_range(t), v.size));
        return;
      }
      for (u32 n = 0; n < v.size; ++n) {
        const Type* item = t->types.empty() ? plain(TK::kAny) : t->types[std::min<std::size_t>(n, t->types.size() - 1)];
        describe(out, fmt::format("{}{}index {}", where, where.empty() ? "" : " ", n), item, v.list[n], false,
                 depth + 1);
      }
      return;
    case TK::kHash:
      if (!v.is(VK::kHash)) break;
      if (v.size < t->min || v.size > t->max) {
        out.push_back(fmt::format("{}expects size to be {}, got {}", lead, size_range(t), v.size));
        return;
      }
      for (const Pair& p : v.entries()) {
        if (t->types.empty()) break;
        describe(out, fmt::format("{}{}key of entry '{}'", where, where.empty() ? "" : " ", to_text(p.key)),
                 t->types[0], p.key, false, depth + 1);
        if (t->types.size() > 1)
          describe(out, fmt::format("{}{}entry '{}'", where, where.empty() ? "" : " ", to_text(p.key)), t->types[1],
                   p.value, false, depth + 1);
      }
      return;
    default: break;
  }
  const Type* r = resolved(t);
  if (r->kind == TK::kEnum || r->kind == TK::kPattern) {
    std::string got = v.is(VK::kString) ? to_literal(v) : actual_text(r, v);
    std::string text = type_text(t);
    out.push_back(
        fmt::format("{}expects {}a match for {}, got {}", lead, optional ? "an undef value or " : "", text, got));
    return;
  }
  if (r->kind == TK::kUndef) {
    out.push_back(fmt::format("{}expects an undef value, got {}", lead, actual_text(r, v)));
    return;
  }
  std::string text = type_text(t);
  if (optional) text = "Undef or " + text;
  out.push_back(fmt::format("{}expects {} {}, got {}", lead,
                            optional ? "a value of type" : with_article(text).substr(0, with_article(text).find(' ')),
                            optional ? text : text + " value", actual_text(r, v)));
}

}  // namespace

std::vector<std::string> describe_mismatch(const std::string& subject, const Type* expected, const Val& actual) {
  std::vector<std::string> out;
  describe(out, subject, expected, actual, false, 0);
  if (out.empty() && !is_instance(expected, actual))
    out.push_back(fmt::format("{} expects {}", subject, with_article(type_text(expected) + " value")));
  return out;
}

}  // namespace tutti::puppet
