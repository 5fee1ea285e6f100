#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/limits.h"

namespace tutti::cue {

namespace {

constexpr i64 kMaxRepeat = 1'000'000;

bool is_space(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

char32_t code_point(std::string_view s, std::size_t& at) {
  char32_t c = utf8::decode(s, at);
  return c == utf8::kInvalid ? 0xFFFD : c;
}

template <class F>
std::string map_runes(std::string_view s, F f) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t i = 0; i < s.size();) utf8::append(out, f(code_point(s, i)));
  return out;
}

// Unicode has no upper case of ß for a letter at a time; utf8proc has.
char32_t upper(char32_t c) {
  return c == U'ß' ? c : static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}
char32_t lower(char32_t c) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }
char32_t title(char32_t c) { return static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))); }

std::vector<std::string> explode(std::string_view s, i64 n) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < s.size();) {
    if (n > 0 && static_cast<i64>(out.size()) == n - 1) {
      out.emplace_back(s.substr(i));
      break;
    }
    std::size_t from = i;
    code_point(s, i);
    check_list(out.size());
    out.emplace_back(s.substr(from, i - from));
  }
  return out;
}

// At most n pieces (all for n < 0), each with `keep` bytes of the separator.
std::vector<std::string> split(std::string_view s, std::string_view sep, std::size_t keep, i64 n) {
  if (n == 0) return {};
  if (sep.empty()) return explode(s, n);
  std::vector<std::string> out;
  while (n < 0 || static_cast<i64>(out.size()) < n - 1) {
    std::size_t at = s.find(sep);
    if (at == std::string_view::npos) break;
    check_list(out.size());
    out.emplace_back(s.substr(0, at + keep));
    s.remove_prefix(at + sep.size());
  }
  out.emplace_back(s);
  return out;
}

bool in_set(std::string_view set, char32_t c) {
  for (std::size_t i = 0; i < set.size();)
    if (code_point(set, i) == c) return true;
  return false;
}

template <class P>
std::string_view trim_left(std::string_view s, P drop) {
  std::size_t i = 0;
  while (i < s.size()) {
    std::size_t next = i;
    if (!drop(code_point(s, next))) break;
    i = next;
  }
  return s.substr(i);
}

template <class P>
std::string_view trim_right(std::string_view s, P drop) {
  while (!s.empty()) {
    std::size_t from = s.size() - 1;
    while (from > 0 && (static_cast<unsigned char>(s[from]) & 0xC0) == 0x80) --from;
    std::size_t at = from;
    if (!drop(code_point(s, at))) break;
    s = s.substr(0, from);
  }
  return s;
}

i64 position(std::size_t at) { return at == std::string_view::npos ? -1 : static_cast<i64>(at); }

i64 index_any(std::string_view s, std::string_view set, bool last) {
  i64 found = -1;
  for (std::size_t i = 0; i < s.size();) {
    std::size_t from = i;
    if (in_set(set, code_point(s, i))) {
      found = static_cast<i64>(from);
      if (!last) break;
    }
  }
  return found;
}

std::string replace(std::string_view s, std::string_view from, std::string_view to, i64 n) {
  std::string out;
  i64 done = 0;
  if (from.empty()) {  // before each character and at the end
    std::size_t i = 0;
    for (;; ++done) {
      if (n >= 0 && done >= n) return out += s.substr(i);
      check_text(out.size() + to.size());
      out += to;
      if (i >= s.size()) return out;
      std::size_t at = i;
      code_point(s, i);
      out += s.substr(at, i - at);
    }
  }
  for (std::size_t at; (n < 0 || done < n) && (at = s.find(from)) != std::string_view::npos; ++done) {
    check_text(out.size() + at + to.size());
    out += s.substr(0, at);
    out += to;
    s.remove_prefix(at + from.size());
  }
  return out += s;
}

i64 count(std::string_view s, std::string_view sub) {
  if (sub.empty()) return static_cast<i64>(utf8::length(s)) + 1;
  i64 n = 0;
  for (std::size_t at = s.find(sub); at != std::string_view::npos; at = s.find(sub, at + sub.size())) ++n;
  return n;
}

Node* is_bytes(CallContext& c, std::size_t i, std::string_view s) {
  return concrete_kind(c.args[i]) == kStringKind ? c.make_bytes(s) : c.make_bytes(s);
}

const BuiltinSpec kFunctions[] = {
    {"ByteAt",
     {kBytesKind | kStringKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       std::string_view b = c.bytes(0);
       i64 i = c.integer(1);
       if (c.failed()) return nullptr;
       if (i < 0 || i >= static_cast<i64>(b.size())) return c.error("index out of range");
       return c.make_int(static_cast<unsigned char>(b[static_cast<std::size_t>(i)]));
     }},
    {"ByteSlice",
     {kBytesKind | kStringKind, kIntKind, kIntKind},
     kBytesKind | kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view b = c.bytes(0);
       i64 i = c.integer(1), j = c.integer(2);
       if (c.failed()) return nullptr;
       if (i < 0 || i > j || j > static_cast<i64>(b.size())) return c.error("index out of range");
       return is_bytes(c, 0, b.substr(static_cast<std::size_t>(i), static_cast<std::size_t>(j - i)));
     }},
    {"Runes",
     {kStringKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       if (c.failed()) return nullptr;
       std::vector<Node*> out;
       for (std::size_t i = 0; i < s.size();) out.push_back(c.make_int(code_point(s, i)));
       return c.make_list(out);
     }},
    {"Repeat",
     {kStringKind, kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       i64 n = c.integer(1);
       if (c.failed()) return nullptr;
       if (n < 0) return c.error("negative count");
       if (n > kMaxRepeat) return c.error(fmt::format("count {} exceeds limit of {}", n, kMaxRepeat));
       check_text(static_cast<u64>(n) * s.size());
       std::string out;
       for (i64 i = 0; i < n; ++i) out += s;
       return c.make_string(out);
     }},
    {"MinRunes",
     {kStringKind, kIntKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       i64 n = c.integer(1);
       return c.failed() ? nullptr : c.make_bool(static_cast<i64>(utf8::length(s)) >= n);
     }},
    {"MaxRunes",
     {kStringKind, kIntKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       i64 n = c.integer(1);
       return c.failed() ? nullptr : c.make_bool(static_cast<i64>(utf8::length(s)) <= n);
     }},
    {"ToTitle",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       char32_t previous = ' ';
       std::string_view s = c.string(0);
       if (c.failed()) return nullptr;
       return c.make_string(map_runes(s, [&](char32_t r) {
         char32_t out = is_space(previous) ? title(r) : r;
         previous = r;
         return out;
       }));
     }},
    {"ToCamel",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       char32_t previous = ' ';
       std::string_view s = c.string(0);
       if (c.failed()) return nullptr;
       return c.make_string(map_runes(s, [&](char32_t r) {
         char32_t out = is_space(previous) ? lower(r) : r;
         previous = r;
         return out;
       }));
     }},
    {"SliceRunes",
     {kStringKind, kIntKind, kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       i64 i = c.integer(1), j = c.integer(2);
       if (c.failed()) return nullptr;
       if (i < 0 || i > j || j > static_cast<i64>(utf8::length(s))) return c.error("index out of range");
       std::size_t at = 0, from = 0;
       for (i64 k = 0; k < j; ++k) {
         if (k == i) from = at;
         code_point(s, at);
       }
       if (i == j) from = at;
       return c.make_string(s.substr(from, at - from));
     }},
    {"Compare",
     {kStringKind, kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       int r = c.string(0).compare(c.string(1));
       return c.failed() ? nullptr : c.make_int(r < 0 ? -1 : r > 0);
     }},
    {"Count",
     {kStringKind, kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* { return c.make_int(count(c.string(0), c.string(1))); }},
    {"Contains",
     {kStringKind, kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return c.make_bool(c.string(0).find(c.string(1)) != std::string_view::npos); }},
    {"ContainsAny",
     {kStringKind, kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return c.make_bool(index_any(c.string(0), c.string(1), false) >= 0); }},
    {"Index",
     {kStringKind, kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* { return c.make_int(position(c.string(0).find(c.string(1)))); }},
    {"LastIndex",
     {kStringKind, kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* { return c.make_int(position(c.string(0).rfind(c.string(1)))); }},
    {"IndexAny",
     {kStringKind, kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* { return c.make_int(index_any(c.string(0), c.string(1), false)); }},
    {"LastIndexAny",
     {kStringKind, kStringKind},
     kIntKind,
     [](CallContext& c) -> Node* { return c.make_int(index_any(c.string(0), c.string(1), true)); }},
    {"SplitN",
     {kStringKind, kStringKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* { return strings_result(c, split(c.string(0), c.string(1), 0, c.integer(2))); }},
    {"SplitAfterN",
     {kStringKind, kStringKind, kIntKind},
     kListKind,
     [](CallContext& c) -> Node* {
       return strings_result(c, split(c.string(0), c.string(1), c.string(1).size(), c.integer(2)));
     }},
    {"Split",
     {kStringKind, kStringKind},
     kListKind,
     [](CallContext& c) -> Node* { return strings_result(c, split(c.string(0), c.string(1), 0, -1)); }},
    {"SplitAfter",
     {kStringKind, kStringKind},
     kListKind,
     [](CallContext& c) -> Node* {
       return strings_result(c, split(c.string(0), c.string(1), c.string(1).size(), -1));
     }},
    {"Fields",
     {kStringKind},
     kListKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0);
       std::vector<std::string> out;
       std::string word;
       for (std::size_t i = 0; i < s.size();) {
         std::size_t from = i;
         if (!is_space(code_point(s, i))) {
           word += s.substr(from, i - from);
         } else if (!word.empty()) {
           check_list(out.size());
           out.push_back(std::move(word));
           word.clear();
         }
       }
       if (!word.empty()) out.push_back(word);
       return strings_result(c, out);
     }},
    {"Join",
     {kListKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::vector<std::string_view> items = c.strings(0);
       std::string_view sep = c.string(1);
       if (c.failed()) return nullptr;
       u64 size = items.size() * sep.size();
       for (std::string_view item : items) size += item.size();
       check_text(size);
       std::string out;
       for (std::size_t i = 0; i < items.size(); ++i) {
         if (i > 0) out += sep;
         out += items[i];
       }
       return c.make_string(out);
     }},
    {"HasPrefix",
     {kStringKind, kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return c.make_bool(c.string(0).starts_with(c.string(1))); }},
    {"HasSuffix",
     {kStringKind, kStringKind},
     kBoolKind,
     [](CallContext& c) -> Node* { return c.make_bool(c.string(0).ends_with(c.string(1))); }},
    {"ToUpper",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(map_runes(c.string(0), upper)); }},
    {"ToLower",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(map_runes(c.string(0), lower)); }},
    {"Trim",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       auto drop = [set = c.string(1)](char32_t r) { return in_set(set, r); };
       return c.make_string(trim_right(trim_left(c.string(0), drop), drop));
     }},
    {"TrimLeft",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       return c.make_string(trim_left(c.string(0), [set = c.string(1)](char32_t r) { return in_set(set, r); }));
     }},
    {"TrimRight",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       return c.make_string(trim_right(c.string(0), [set = c.string(1)](char32_t r) { return in_set(set, r); }));
     }},
    {"TrimSpace",
     {kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* { return c.make_string(trim_right(trim_left(c.string(0), is_space), is_space)); }},
    {"TrimPrefix",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0), p = c.string(1);
       return c.make_string(s.starts_with(p) ? s.substr(p.size()) : s);
     }},
    {"TrimSuffix",
     {kStringKind, kStringKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       std::string_view s = c.string(0), p = c.string(1);
       return c.make_string(s.ends_with(p) ? s.substr(0, s.size() - p.size()) : s);
     }},
    {"Replace",
     {kStringKind, kStringKind, kStringKind, kIntKind},
     kStringKind,
     [](CallContext& c) -> Node* {
       return c.make_string(replace(c.string(0), c.string(1), c.string(2), c.integer(3)));
     }},
};

}  // namespace

void add_strings() { add_package("strings", kFunctions); }

}  // namespace tutti::cue
