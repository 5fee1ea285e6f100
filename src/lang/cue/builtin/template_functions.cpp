#include "lang/cue/builtin/template_functions.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "lang/cue/builtin/encodings.h"
#include "lang/cue/builtin/go_format.h"
#include "lang/cue/builtin/template_lexer.h"
#include "lang/cue/builtin/template_tree.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

using Args = std::span<const GoValue>;

[[noreturn]] void function_error(std::string what) { throw TemplateError{std::move(what)}; }

// What is behind a pointer; Go's functions look there.
std::string_view type_behind(const GoValue& v) {
  std::string_view t = v.type();
  return t.starts_with('*') ? t.substr(1) : t;
}

// ---- elements and parts

i64 index_of(const GoValue& index, std::size_t most) {
  if (!index.is_valid()) function_error("cannot index slice/array with nil");
  if (!index.is_integer() || index.boxed)
    function_error(fmt::format("cannot index slice/array with type {}", index.outer_type()));
  if (index.integer < 0 || static_cast<u64>(index.integer) > most)
    function_error(fmt::format("index out of range: {}", index.integer));
  return index.integer;
}

GoValue element(const GoValue& of, const GoValue& index) {
  if (of.is_nil()) function_error("index of nil pointer");
  if (of.kind == GoValue::kMap) {
    if (index.is_nil()) function_error("value is nil; should be of type string");
    if (index.kind != GoValue::kString)
      function_error(fmt::format("value has type {}; should be string", index.type()));
    auto it = of.fields->find(index.text());
    if (it != of.fields->end()) return it->second;
    GoValue none;
    none.boxed = true;
    return none;
  }
  if (!of.has_length()) function_error(fmt::format("can't index item of type {}", type_behind(of)));
  auto i = static_cast<std::size_t>(index_of(index, of.length()));
  if (i == of.length())  // Go finds this one only when it is there already
    function_error(fmt::format("reflect: {} index out of range", of.kind == GoValue::kString ? "string" : "slice"));
  if (of.kind == GoValue::kList) return of.item(i);
  return GoValue::number(static_cast<unsigned char>(of.text()[i]), GoValue::kUint8);
}

GoValue index_function(Args a) {
  GoValue v = a[0].unboxed();
  if (!v.is_valid()) function_error("index of untyped nil");
  for (const GoValue& i : a.subspan(1)) v = element(v, i.unboxed());
  return v;
}

// What Go set aside for a list that was filled one by one: a part of a list may reach to there.
std::size_t capacity(const GoValue& list) {
  constexpr std::size_t kDoubledUpTo = 512;
  std::size_t n = list.items->size(), c = n == 0 ? 0 : 1;
  if (n > kDoubledUpTo) return n - list.from;
  while (c < n) c *= 2;
  return c - list.from;
}

GoValue slice_function(Args a) {
  GoValue v = a[0].unboxed();
  if (!v.is_valid()) function_error("slice of untyped nil");
  if (a.size() > 4) function_error(fmt::format("too many slice indexes: {}", a.size() - 1));
  if (v.kind == GoValue::kString && a.size() == 4) function_error("cannot 3-index slice a string");
  if (!v.has_length() || v.kind == GoValue::kMap) function_error(fmt::format("can't slice item of type {}", v.type()));
  std::size_t most = v.kind == GoValue::kList ? capacity(v) : v.length();
  std::size_t ends[3] = {0, v.length(), most};
  for (std::size_t i = 1; i < a.size(); ++i) ends[i - 1] = static_cast<std::size_t>(index_of(a[i], most));
  for (std::size_t i = 0; i < 2; ++i)
    if (ends[i] > ends[i + 1]) function_error(fmt::format("invalid slice index: {} > {}", ends[i], ends[i + 1]));
  std::size_t count = ends[1] - ends[0];
  if (v.kind != GoValue::kList) {
    GoValue part = GoValue::string(std::string(v.text().substr(ends[0], count)));
    part.kind = v.kind;
    return part;
  }
  if (v.from + ends[1] > v.items->size()) {
    GoValue::List padded = *v.items;
    padded.resize(v.from + ends[1]);
    for (std::size_t i = v.items->size(); i < padded.size(); ++i) padded[i].boxed = true;
    v.items = std::make_shared<const GoValue::List>(std::move(padded));
  }
  v.from += ends[0];
  v.size = count;
  return v;
}

GoValue len_function(Args a) {
  if (!a[0].is_valid()) function_error("reflect: call of reflect.Value.Type on zero Value");
  if (a[0].is_nil()) function_error("len of nil pointer");
  if (!a[0].has_length()) function_error(fmt::format("len of type {}", type_behind(a[0])));
  return GoValue::number(static_cast<i64>(a[0].length()));
}

// ---- comparison

enum class Basic : u8 { kNone, kBool, kComplex, kInt, kUint, kFloat, kString };

Basic basic_kind(const GoValue& v) {
  switch (v.kind) {
    case GoValue::kBool: return Basic::kBool;
    case GoValue::kInt:
    case GoValue::kInt64: return Basic::kInt;
    case GoValue::kUint8: return Basic::kUint;
    case GoValue::kFloat: return Basic::kFloat;
    case GoValue::kComplex: return Basic::kComplex;
    case GoValue::kString: return Basic::kString;
    default: return Basic::kNone;
  }
}

bool both_integers(Basic a, Basic b) {
  return (a == Basic::kInt || a == Basic::kUint) && (b == Basic::kInt || b == Basic::kUint);
}

[[noreturn]] void incompatible(const GoValue& a, const GoValue& b) {
  function_error(fmt::format("incompatible types for comparison: {} and {}", a.type(), b.type()));
}

// Values that are neither numbers nor text: only nil can be compared, and what is behind a pointer.
bool equal_others(const GoValue& a, const GoValue& b) {
  auto family = [](const GoValue& v) {
    return v.kind == GoValue::kBytes ? GoValue::kList : v.kind == GoValue::kBigFloat ? GoValue::kBigInt : v.kind;
  };
  if (family(a) != family(b) && !a.is_nil() && !b.is_nil())
    function_error(fmt::format("non-comparable types {}: {}, {}: {}", go_show(a, 's'), a.type(), b.type(), go_show(b)));
  if (a.is_nil() || b.is_nil()) return a.is_nil() == b.is_nil();
  if (!b.big) function_error(fmt::format("non-comparable type {}: {}", go_show(b, 's'), b.type()));
  return a.big == b.big;
}

bool equal(const GoValue& a, const GoValue& b) {
  Basic x = basic_kind(a), y = basic_kind(b);
  if (both_integers(x, y)) return a.integer == b.integer;
  if (x != y) {
    if (!a.is_nil() && !b.is_nil()) incompatible(a, b);
    return false;
  }
  switch (x) {
    case Basic::kNone: return equal_others(a, b);
    case Basic::kString: return a.text() == b.text();
    case Basic::kBool: return a.integer == b.integer;
    default: return a.real == b.real && a.imaginary == b.imaginary;
  }
}

bool less(const GoValue& a, const GoValue& b) {
  Basic x = basic_kind(a), y = basic_kind(b);
  if (x == Basic::kNone || y == Basic::kNone) function_error("invalid type for comparison");
  if (both_integers(x, y)) return a.integer < b.integer;
  if (x != y) incompatible(a, b);
  if (x == Basic::kBool || x == Basic::kComplex) function_error("invalid type for comparison");
  return x == Basic::kFloat ? a.real < b.real : a.text() < b.text();
}

GoValue eq_function(Args a) {
  if (a.size() < 2) function_error("missing argument for comparison");
  for (const GoValue& b : a.subspan(1))
    if (equal(a[0], b)) return GoValue::boolean(true);
  return GoValue::boolean(false);
}

// ---- text

// The arguments of a function that escapes: as print shows them, but for nil.
std::string printed(Args a) {
  GoValue::List shown(a.begin(), a.end());
  for (GoValue& v : shown)
    if (v.is_nil()) v = GoValue::string("<no value>");
  return go_sprint(shown);
}

std::string query_escape(std::string_view s) {
  std::string out;
  for (char c : s) {
    bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '-' || c == '_' ||
                 c == '.' || c == '~';
    if (plain)
      out += c;
    else if (c == ' ')
      out += '+';
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

constexpr auto kBoxed = TemplateFunction::kBoxed;
constexpr auto kUnboxed = TemplateFunction::kUnboxed;

const TemplateFunction kTemplateFunctions[] = {
    {"and", 1, true, kBoxed, nullptr},
    {"or", 1, true, kBoxed, nullptr},
    {"call", 1, true, kBoxed, nullptr},
    {"not", 1, false, kBoxed, [](Args a) { return GoValue::boolean(!a[0].truth()); }},
    {"len", 1, false, kBoxed, len_function},
    {"index", 1, true, kBoxed, index_function},
    {"slice", 1, true, kBoxed, slice_function},
    {"eq", 1, true, kUnboxed, eq_function},
    {"ne", 2, false, kUnboxed, [](Args a) { return GoValue::boolean(!equal(a[0], a[1])); }},
    {"lt", 2, false, kUnboxed, [](Args a) { return GoValue::boolean(less(a[0], a[1])); }},
    {"le", 2, false, kUnboxed, [](Args a) { return GoValue::boolean(less(a[0], a[1]) || equal(a[0], a[1])); }},
    {"gt", 2, false, kUnboxed, [](Args a) { return GoValue::boolean(!less(a[0], a[1]) && !equal(a[0], a[1])); }},
    {"ge", 2, false, kUnboxed, [](Args a) { return GoValue::boolean(!less(a[0], a[1])); }},
    {"print", 0, true, kUnboxed, [](Args a) { return GoValue::string(go_sprint(a)); }},
    {"println", 0, true, kUnboxed, [](Args a) { return GoValue::string(go_sprintln(a)); }},
    {"printf", 1, true, TemplateFunction::kFormat,
     [](Args a) { return GoValue::string(go_sprintf(a[0].text(), a.subspan(1))); }},
    {"html", 0, true, kUnboxed, [](Args a) { return GoValue::string(template_html_escape(printed(a))); }},
    {"js", 0, true, kUnboxed, [](Args a) { return GoValue::string(template_js_escape(printed(a))); }},
    {"urlquery", 0, true, kUnboxed, [](Args a) { return GoValue::string(query_escape(printed(a))); }},
};

}  // namespace

const TemplateFunction* find_template_function(std::string_view name) {
  for (const TemplateFunction& f : kTemplateFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

bool is_template_function(std::string_view name) { return find_template_function(name) != nullptr; }

std::string template_html_escape(std::string_view s) {
  std::string out;
  for (char ch : html_escape(s)) ch == '\0' ? out += "\uFFFD" : out += ch;
  return out;
}

std::string template_js_escape(std::string_view s) {
  std::string out;
  for (std::size_t i = 0; i < s.size();) {
    std::size_t from = i;
    char32_t ch = utf8::decode(s, i);
    switch (ch) {
      case '\\': out += "\\\\"; break;
      case '\'': out += "\\'"; break;
      case '"': out += "\\\""; break;
      case '<': out += "\\u003C"; break;
      case '>': out += "\\u003E"; break;
      case '&': out += "\\u0026"; break;
      case '=': out += "\\u003D"; break;
      default:
        if (ch < 0x20 || (ch > 0x7F && ch != utf8::kInvalid && !is_printable(ch)))
          out += fmt::format("\\u{:04X}", static_cast<u32>(ch));
        else
          out += s.substr(from, i - from);
    }
  }
  return out;
}

}  // namespace tutti::cue
