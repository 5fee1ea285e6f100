#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/time.h"
#include "lang/puppet/types/value_text.h"

namespace tutti::puppet {
namespace {

// What a value is called in a message: Array, Undef Value, Integer-Type.
std::string label(const Val& v) {
  switch (v.kind) {
    case VK::kUndef: return "Undef Value";
    case VK::kArray: return "Array";
    case VK::kHash: return "Hash";
    case VK::kType: return to_text(v) + "-Type";
    default: {
      Arena arena;
      return type_text(infer(arena, v, Infer::kGeneralized));
    }
  }
}
std::string a_label(const Val& v) {
  std::string name = label(v);
  return (std::string_view("AEIOUaeiou").find(name[0]) == std::string_view::npos ? "a " : "an ") + name;
}

double as_double(const Val& v) { return v.is(VK::kInt) ? static_cast<double>(v.i) : v.d; }

i64 floor_div(i64 a, i64 b) {
  i64 q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

}  // namespace

Val Compiler::binary(const Binary& b, Scope& scope) {
  switch (b.op) {
    case Op::kAnd:
      return Val::boolean(evaluate(b.left, scope).truthy() && evaluate(b.right, scope).truthy()).with_origin(b.begin);
    case Op::kOr:
      return Val::boolean(evaluate(b.left, scope).truthy() || evaluate(b.right, scope).truthy()).with_origin(b.begin);
    case Op::kMatch:
    case Op::kNoMatch: return match(b, scope).with_origin(b.begin);
    default: break;
  }
  Val x = evaluate(b.left, scope), y = evaluate(b.right, scope);
  bool alike = x.kind == y.kind && x.size == y.size;
  switch (b.op) {
    case Op::kIn: looked_at(budget_, y); break;
    case Op::kPlus:
    case Op::kMinus:
    case Op::kLShift: gone_through(budget_, x), gone_through(budget_, y); break;
    default:
      if (alike) gone_through(budget_, x);
  }
  switch (b.op) {
    case Op::kEqual: return Val::boolean(equal(x, y)).with_origin(b.begin);
    case Op::kNotEqual: return Val::boolean(!equal(x, y)).with_origin(b.begin);
    case Op::kLess:
    case Op::kLessEqual:
    case Op::kGreater:
    case Op::kGreaterEqual: return Val::boolean(less(b.op, x, y, b.begin)).with_origin(b.begin);
    case Op::kIn: return Val::boolean(contains(x, y, scope, b.begin)).with_origin(b.begin);
    default: return arithmetic(b.op, x, y, b.begin).with_origin(b.begin);
  }
}

Val Compiler::match(const Binary& b, Scope& scope) {
  Val x = evaluate(b.left, scope), y = evaluate(b.right, scope);
  looked_at(budget_, x);
  bool yes;
  if (y.is(VK::kType)) {
    yes = is_instance(y.t, x);
  } else if (y.is(VK::kSemVerRange)) {
    SemVer v;
    yes = (x.is(VK::kSemVer) || x.is(VK::kString)) && parse_semver(x.text(), v) && semver_in_range(y.text(), v);
  } else if (y.is(VK::kSemVer)) {
    yes = x.is(VK::kSemVer) && x.text() == y.text();
  } else {
    if (!y.is(VK::kRegex) && !y.is(VK::kString))
      fail(b.right->span(), "the right operand of a match must be a regular expression, a String or a Type");
    if (!x.is(VK::kString))
      fail(b.left->span(), fmt::format("left match operand must result in a String value. Got {}", a_label(x)));
    yes = match_regex(x.text(), y.text(), scope, b.begin);
  }
  return Val::boolean(b.op == Op::kMatch ? yes : !yes);
}

bool Compiler::less(Op op, const Val& a, const Val& b, Pos at) {
  auto by = [&](auto c) {
    return op == Op::kLess ? c < 0 : op == Op::kLessEqual ? c <= 0 : op == Op::kGreater ? c > 0 : c >= 0;
  };
  if (is_number(a) && is_number(b)) {
    if (a.is(VK::kInt) && b.is(VK::kInt)) return by(a.i < b.i ? -1 : a.i > b.i ? 1 : 0);
    double x = as_double(a), y = as_double(b);
    return by(x < y ? -1 : x > y ? 1 : 0);
  }
  if (a.is(VK::kString) && b.is(VK::kString)) return by(compare_text(a.text(), b.text()));
  if (std::optional<int> order = compare_times(a, b)) return by(*order);
  if (a.is(VK::kSemVer) && b.is(VK::kSemVer)) {
    SemVer x, y;
    parse_semver(a.text(), x);
    parse_semver(b.text(), y);
    return by(compare_semver(x, y));
  }
  if (a.is(VK::kType) && b.is(VK::kType)) {
    switch (op) {
      case Op::kLess: return assignable(b.t, a.t) && !same_type(a.t, b.t);
      case Op::kLessEqual: return assignable(b.t, a.t);
      case Op::kGreater: return assignable(a.t, b.t) && !same_type(a.t, b.t);
      default: return assignable(a.t, b.t);
    }
  }
  if (a.is(VK::kType)) return false;  // what is no type is neither narrower nor wider
  std::string_view why = a.is(VK::kString) ? "A String is not comparable to a non String"
                         : is_number(a)    ? "A Numeric is not comparable to non Numeric"
                                        : "Only Strings, Numbers, Timespans, Timestamps, and Versions are comparable";
  fail(at,
       fmt::format("comparison of: {} {} {}, is not possible. Caused by '{}'", label(a), op_text(op), label(b), why),
       "PP-COMPARE");
}

bool Compiler::contains(const Val& x, const Val& in, Scope& scope, Pos at) {
  switch (in.kind) {
    case VK::kArray:
      for (const Val& i : in.items()) {
        if (x.is(VK::kRegex)) {
          if (i.is(VK::kString) && match_regex(i.text(), x.text(), scope, at)) return true;
        } else if (x.is(VK::kType)) {
          if (is_instance(x.t, i) || equal(x, i)) return true;
        } else if (equal(x, i)) {
          return true;
        }
      }
      return false;
    case VK::kHash: {
      std::vector<Val> keys;
      for (const Pair& p : in.entries()) keys.push_back(p.key);
      return contains(x, make_array(arena(), keys), scope, at);
    }
    case VK::kString:
      if (x.is(VK::kString)) return downcase(in.text()).find(downcase(x.text())) != std::string::npos;
      if (x.is(VK::kRegex)) return match_regex(in.text(), x.text(), scope, at);
      if (x.is(VK::kType)) return is_instance(x.t, in);
      if (is_number(x)) {
        Val n;
        return parse_number(in.text(), n) && equal(n, x);
      }
      return false;
    case VK::kBinary: return x.is(VK::kInt) && in.text().find(static_cast<char>(x.i)) != std::string_view::npos;
    case VK::kSemVerRange: {
      SemVer v;
      return (x.is(VK::kSemVer) || x.is(VK::kString)) && parse_semver(x.text(), v) && semver_in_range(in.text(), v);
    }
    case VK::kType: {
      const Type* t = resolved(in.t);
      if (t->kind == TK::kInteger || t->kind == TK::kEnum) return is_instance(t, x);
      return false;
    }
    default: return false;
  }
}

Val Compiler::arithmetic(Op op, Val a, Val b, Pos at) {
  bool of_collections = op == Op::kPlus || op == Op::kMinus || op == Op::kLShift;
  if (of_collections && (a.is(VK::kArray) || a.is(VK::kHash))) {
    grown(budget_, (std::size_t{a.size} + (b.is(VK::kArray) || b.is(VK::kHash) ? b.size : 1)) * sizeof(Val));
    if (op == Op::kLShift && a.is(VK::kArray)) {
      std::vector<Val> out(a.items().begin(), a.items().end());
      out.push_back(b);
      return make_array(arena(), out);
    }
    if (op == Op::kPlus) {
      if (a.is(VK::kHash)) {
        HashDraft h;
        for (const Pair& p : a.entries()) h.set(p.key, p.value);
        if (b.is(VK::kHash)) {
          for (const Pair& p : b.entries()) h.set(p.key, p.value);
        } else if (b.is(VK::kArray)) {
          bool pairs = std::all_of(b.items().begin(), b.items().end(),
                                   [](const Val& v) { return v.is(VK::kArray) && v.size == 2; });
          if (pairs) {
            for (const Val& v : b.items()) h.set(v.list[0], v.list[1]);
          } else {
            if (b.size % 2) fail(at, "an array added to a hash needs an even number of elements");
            for (u32 n = 0; n + 1 < b.size; n += 2) h.set(b.list[n], b.list[n + 1]);
          }
        } else {
          fail(at, fmt::format("cannot add {} to a Hash", a_label(b)));
        }
        return h.build(arena());
      }
      std::vector<Val> out(a.items().begin(), a.items().end());
      if (b.is(VK::kArray)) {
        out.insert(out.end(), b.items().begin(), b.items().end());
      } else if (b.is(VK::kHash)) {
        for (const Pair& p : b.entries()) {
          Val both[2] = {p.key, p.value};
          out.push_back(make_array(arena(), both));
        }
      } else {
        out.push_back(b);
      }
      return make_array(arena(), out);
    }
    if (op == Op::kMinus) {
      auto gone = [&](const Val& v) {
        if (b.is(VK::kArray))
          return std::any_of(b.items().begin(), b.items().end(), [&](const Val& i) { return same(i, v); });
        if (b.is(VK::kHash) && a.is(VK::kHash)) return b.get(v) != nullptr;
        if (b.is(VK::kHash)) {
          for (const Pair& p : b.entries())
            if (v.is(VK::kArray) && v.size == 2 && same(v.list[0], p.key) && same(v.list[1], p.value)) return true;
          return false;
        }
        return same(v, b);
      };
      if (a.is(VK::kHash)) {
        HashDraft h;
        for (const Pair& p : a.entries())
          if (!gone(p.key)) h.set(p.key, p.value);
        return h.build(arena());
      }
      std::vector<Val> out;
      for (const Val& v : a.items())
        if (!gone(v)) out.push_back(v);
      return make_array(arena(), out);
    }
    fail(at, fmt::format("operator '{}' is not applicable to {}", op_text(op), a_label(a)));
  }
  try {
    if (std::optional<Val> time = time_arithmetic(op, a, b)) return *time;
  } catch (const TypeError& e) {
    fail(at, e.what());
  }
  if (a.is(VK::kUri) && op == Op::kPlus && (b.is(VK::kString) || b.is(VK::kUri))) {
    std::string out(a.text());
    if (out.empty() || out.back() != '/') out = out.substr(0, out.rfind('/') + 1);
    return Val::with_text(VK::kUri, arena().copy(std::string_view(out + std::string(b.text()))));
  }
  if (a.is(VK::kBinary) && b.is(VK::kBinary) && op == Op::kPlus)
    return Val::with_text(VK::kBinary, arena().copy(std::string_view(std::string(a.text()) + std::string(b.text()))));
  auto number = [&](Val& v) {
    if (is_number(v)) return;
    Val n;
    if (v.is(VK::kString) && parse_number(v.text(), n)) {
      strict(
          at,
          fmt::format("the string {} was automatically coerced to the numerical value {}", to_literal(v), to_text(n)),
          "PP-NUMERIC-STRING");
      v = n;
      return;
    }
    if (v.undefined() || v.is(VK::kTimestamp) || v.is(VK::kTimespan))
      fail(at, fmt::format("operator '{}' is not applicable to {}", op_text(op), a_label(v)), "PP-OPERATOR");
    fail(at,
         fmt::format("the value '{}' cannot be converted to Numeric", v.is(VK::kString) ? to_text(v) : ruby_inspect(v)),
         "PP-NUMERIC");
  };
  number(a);
  number(b);
  if (bool shift = op == Op::kLShift || op == Op::kRShift; shift && a.is(VK::kInt) && b.is(VK::kFloat))
    b = Val::integer(static_cast<i64>(std::clamp(b.d, -1e3, 1e3)));  // as Ruby does it: what is behind the point goes
  if (a.is(VK::kInt) && b.is(VK::kInt)) {
    i64 out = 0;
    bool over = false;
    switch (op) {
      case Op::kPlus: over = __builtin_add_overflow(a.i, b.i, &out); break;
      case Op::kMinus: over = __builtin_sub_overflow(a.i, b.i, &out); break;
      case Op::kTimes: over = __builtin_mul_overflow(a.i, b.i, &out); break;
      case Op::kDiv:
      case Op::kModulo:
        if (b.i == 0) fail(at, "division by 0", "PP-DIVIDE");
        if (a.i == kNoMin && b.i == -1)
          over = op == Op::kDiv;
        else
          out = op == Op::kDiv ? floor_div(a.i, b.i) : a.i - floor_div(a.i, b.i) * b.i;
        break;
      case Op::kLShift:
      case Op::kRShift: {
        i64 shift = op == Op::kLShift ? b.i : -b.i;
        if (shift >= 0) {
          if (shift > 62 && a.i != 0)
            over = true;
          else if (a.i != 0)
            over = __builtin_mul_overflow(a.i, i64{1} << shift, &out);
        } else {
          out = shift < -63 ? (a.i < 0 ? -1 : 0) : a.i >> -shift;
        }
        break;
      }
      default: break;
    }
    if (over)
      fail(at,
           fmt::format("{} resulted in a value outside of Puppet Integer max range (a 64-bit integer)", op_text(op)),
           "PP-OVERFLOW");
    return Val::integer(out);
  }
  double x = as_double(a), y = as_double(b), out = 0;
  switch (op) {
    case Op::kPlus: out = x + y; break;
    case Op::kMinus: out = x - y; break;
    case Op::kTimes: out = x * y; break;
    case Op::kDiv:
      if (y == 0) fail(at, "division by 0", "PP-DIVIDE");
      out = x / y;
      break;
    default: fail(at, fmt::format("operator '{}' is not applicable to a Float", op_text(op)), "PP-OPERATOR");
  }
  if (std::isinf(out) || std::isnan(out)) fail(at, "the result of the operation is not a finite number", "PP-OVERFLOW");
  return Val::real(out);
}

// --- access by []

Val Compiler::access(const Val& base, std::span<const Val> keys, Scope& scope, Pos at) {
  if (keys.empty()) fail(at, "operator '[]' needs at least one key");
  switch (base.kind) {
    case VK::kArray:
    case VK::kString:
    case VK::kBinary: {
      if (keys.size() > 2)
        fail(at, fmt::format("{} supports [] with one or two arguments, got {}", label(base), keys.size()));
      i64 index[2] = {0, 1};
      for (std::size_t n = 0; n < keys.size(); ++n) {
        Val k = keys[n];
        if (k.is(VK::kString)) parse_number(k.text(), k);
        if (!k.is(VK::kInt))
          fail(at, base.is(VK::kString)
                       ? fmt::format("a substring operation does not accept {} as a character index. Expected an "
                                     "Integer",
                                     a_label(keys[n]))
                       : fmt::format("the value '{}' cannot be converted to Numeric",
                                     keys[n].is(VK::kString) ? to_text(keys[n]) : ruby_inspect(keys[n])));
        index[n] = k.i;
      }
      std::vector<std::size_t> starts;  // of characters
      i64 size = base.size;
      if (base.is(VK::kString)) {
        for (std::size_t p = 0; p < base.size; ++p)
          if ((static_cast<unsigned char>(base.s[p]) & 0xC0) != 0x80) starts.push_back(p);
        size = static_cast<i64>(starts.size());
        starts.push_back(base.size);
      }
      i64 from = index[0] < 0 ? size + index[0] : index[0];
      if (keys.size() == 1) {
        if (base.is(VK::kArray)) return from < 0 || from >= size ? Val::undef() : base.list[from];
        if (from < 0 || from >= size) return Val::string("");
        if (base.is(VK::kBinary)) return Val::integer(static_cast<unsigned char>(base.s[from]));
        return Val::string(
            base.text().substr(starts[static_cast<std::size_t>(from)],
                               starts[static_cast<std::size_t>(from) + 1] - starts[static_cast<std::size_t>(from)]));
      }
      i64 to = index[1] < 0 ? size + index[1] + 1 : from + index[1];
      i64 count = to - from;
      if (from < 0) count += from, from = 0;
      if (from > size || count <= 0) return base.is(VK::kArray) ? make_array(arena(), {}) : Val::string("");
      count = std::min(count, size - from);
      if (base.is(VK::kArray))
        return Val::array(base.items().subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count)));
      if (base.is(VK::kBinary))
        return Val::with_text(VK::kBinary,
                              base.text().substr(static_cast<std::size_t>(from), static_cast<std::size_t>(count)));
      return Val::string(
          base.text().substr(starts[static_cast<std::size_t>(from)],
                             starts[static_cast<std::size_t>(from + count)] - starts[static_cast<std::size_t>(from)]));
    }
    case VK::kHash: {
      if (keys.size() == 1) {
        const Val* v = base.get(keys[0]);
        return v ? *v : Val::undef();
      }
      std::vector<Val> out;
      for (const Val& k : keys)
        if (const Val* v = base.get(k); v && !v->undefined()) out.push_back(*v);
      return make_array(arena(), out);
    }
    case VK::kType: return type_access(base.t, keys, scope, at);
    case VK::kObject:
      if (keys.size() == 1 && keys[0].is(VK::kString))
        for (const Pair& p : base.o->fields)
          if (p.key.text() == keys[0].text()) return p.value;
      [[fallthrough]];
    default: fail(at, fmt::format("operator '[]' is not applicable to {}", a_label(base)), "PP-ACCESS");
  }
}

Val Compiler::type_access(const Type* t, std::span<const Val> keys, Scope&, Pos at) {
  const Type* r = resolved(t);
  // Several keys, or arrays among them, make several of what one makes; undef makes nothing.
  auto several = [&](std::span<const Val> titles, auto make) -> Val {
    std::vector<Val> out;
    auto add = [&](auto&& self, const Val& v) -> void {
      if (v.is(VK::kArray))
        for (const Val& i : v.items()) self(self, i);
      else if (!v.undefined())
        out.push_back(make(v));
    };
    for (const Val& k : titles) add(add, k);
    if (titles.size() == 1 && !titles[0].is(VK::kArray)) return out.empty() ? Val::undef() : out[0];
    return make_array(arena(), out);
  };
  if ((r->kind == TK::kResource || r->kind == TK::kClass) && r->has_title)
    return several(keys, [&](const Val& k) -> Val {
      Resource* res = find_resource(r);
      if (!res) fail(at, fmt::format("resource not found: {}", type_text(r)), "PP-UNKNOWN-RESOURCE");
      if (!k.is(VK::kString)) fail(at, "the name of a resource parameter must be a String");
      Symbol name(k.text());
      if (const Val* v = resource_parameter(*res, name)) return *v;
      bool known = res->native && res->native->has_attribute(name);
      if (res->definition)
        for (const Param& p : res->definition->params) known = known || p.name == name;
      if (!known && !is_metaparameter(name))
        fail(at, fmt::format("the resource {} does not have a parameter called '{}'", res->ref(), k.text()),
             "PP-UNKNOWN-PARAMETER");
      return Val::undef();
    });
  try {
    auto reference = [&](const Type* to, const Val& title) {
      return Val::type(parameterize(arena(), to, std::span<const Val>(&title, 1)));
    };
    if (r->kind == TK::kClass || (r->kind == TK::kResource && !r->name.empty()))
      return several(keys, [&](const Val& v) { return reference(r, v); });
    if (r->kind == TK::kResource && keys.size() > 1) {  // Resource['file', '/a', '/b']
      const Type* named = parameterize(arena(), r, keys.subspan(0, 1));
      return several(keys.subspan(1), [&](const Val& v) { return reference(named, v); });
    }
    if (r->kind == TK::kTimestamp || r->kind == TK::kTimespan) {  // Timestamp['2000-01-01', default]
      std::vector<Val> times(keys.begin(), keys.end());
      for (Val& v : times)
        if (v.is(VK::kString) || v.is(VK::kHash)) v = construct(plain(r->kind), std::span<const Val>(&v, 1), at);
      return Val::type(parameterize(arena(), r, times));
    }
    return Val::type(parameterize(arena(), r, keys));
  } catch (const TypeError& e) {
    fail(at, e.what(), "PP-TYPE");
  }
}

}  // namespace tutti::puppet
