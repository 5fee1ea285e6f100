// Functions that take text apart and put it together.
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "base/utf8.h"
#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/eval/growth.h"
#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/text/digest.h"
#include "lang/puppet/text/ruby_format.h"
#include "lang/puppet/text/version_compare.h"
#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/time.h"

namespace tutti::puppet {
namespace {

const Regex& regex_of(const FunctionCall& c, std::string_view pattern) {
  std::string error;
  const Regex* r = Regex::get(pattern, &error);
  if (r == nullptr) c.fail(fmt::format("{}(): {}", c.name, error));
  return *r;
}

// The pattern of a string, a regular expression or Regexp[...].
std::string_view pattern_of(const Val& v) {
  if (!v.is(VK::kType)) return v.text();
  const Type* t = resolved(v.t);
  return t->values.empty() ? std::string_view{} : t->values[0].text();
}

std::string_view group(std::string_view text, const Groups& g, std::size_t n) {
  if (2 * n + 1 >= g.size() || g[2 * n] < 0) return {};
  return text.substr(static_cast<std::size_t>(g[2 * n]), static_cast<std::size_t>(g[2 * n + 1] - g[2 * n]));
}

// \1, \0, \&, \k<name>, \\ in a replacement.
void expand(std::string& out, std::string_view replacement, std::string_view text, const Groups& g, const Regex& r) {
  for (std::size_t i = 0; i < replacement.size(); i++) {
    if (replacement[i] != '\\' || i + 1 == replacement.size()) {
      out += replacement[i];
      continue;
    }
    char next = replacement[++i];
    if (next >= '0' && next <= '9') {
      if (next == '0' || !r.has_names()) out += group(text, g, static_cast<std::size_t>(next - '0'));
    } else if (next == '&') {
      out += group(text, g, 0);
    } else if (next == '\\') {
      out += '\\';
    } else if (next == 'k' && i + 1 < replacement.size() && replacement[i + 1] == '<') {
      std::size_t end = replacement.find('>', i);
      if (end == std::string_view::npos) continue;
      int n = r.group_number(replacement.substr(i + 2, end - i - 2));
      if (n >= 0) out += group(text, g, static_cast<std::size_t>(n));
      i = end;
    } else {
      out += '\\';
      out += next;
    }
  }
}

std::string substituted(Budget& budget, std::string_view text, const Regex& r, const Val& replacement, bool all) {
  std::string out;
  std::size_t at = 0, copied = 0;
  Groups g;
  while (at <= text.size() && r.search(text, at, &g)) {
    std::size_t from = static_cast<std::size_t>(g[0]), to = static_cast<std::size_t>(g[1]);
    out += text.substr(copied, from - copied);
    if (replacement.is(VK::kHash)) {
      if (const Val* v = replacement.get(text.substr(from, to - from))) out += to_text(*v);
    } else {
      expand(out, replacement.text(), text, g, r);
    }
    copied = to;
    if (!all) break;
    grown(budget, out.size());
    at = to;
    if (to == from) {  // an empty match: go on after the next character
      if (to >= text.size()) break;
      std::size_t next = to;
      utf8::decode(text, next);
      at = next;
    }
  }
  return out + std::string(text.substr(std::min(copied, text.size())));
}

Val regsubst(const FunctionCall& c) {
  std::string_view flags = c.has(3) ? c.text(3) : std::string_view{};
  std::string pattern(pattern_of(c.arg(1))), options;
  if (c.arg(1).is(VK::kString)) {
    for (auto [flag, option] : {std::pair{'E', 'x'}, std::pair{'I', 'i'}, std::pair{'M', 'm'}}) {
      if (flags.find(flag) != std::string_view::npos) options += option;
    }
    if (!options.empty()) pattern = fmt::format("(?{}:{})", options, pattern);
  }
  const Regex& r = regex_of(c, pattern);
  bool all = flags.find('G') != std::string_view::npos;
  auto done = [&](std::string_view text) { return c.string(substituted(c.compiler.budget(), text, r, c.arg(2), all)); };
  if (c.arg(0).is(VK::kString)) return done(c.text(0));
  std::vector<Val> out;
  for (const Val& v : c.arg(0).items()) out.push_back(done(v.text()));
  return c.array(out);
}

Val match_one(const FunctionCall& c, const Val& text, const Val& pattern) {
  if (pattern.is(VK::kArray)) {
    for (const Val& p : pattern.items()) {
      if (Val v = match_one(c, text, p); !v.undefined()) return v;
    }
    return {};
  }
  if (pattern.is(VK::kType)) {
    const Type* t = resolved(pattern.t);
    if (t->kind == TK::kVariant) {
      for (const Type* one : t->types) {
        if (Val v = match_one(c, text, Val::type(one)); !v.undefined()) return v;
      }
      return {};
    }
    if (t->kind == TK::kRegexp && t->values.empty()) c.fail("Given Regexp Type has no regular expression");
    if (t->kind != TK::kRegexp && t->kind != TK::kPattern)
      c.fail(fmt::format("match() expects a String, Regexp, Pattern or an Array of them, not {}", type_text(t)));
    for (const Val& p : t->values) {
      if (Val v = match_one(c, text, p); !v.undefined()) return v;
    }
    return {};
  }
  if (!pattern.is(VK::kString) && !pattern.is(VK::kRegex)) {
    c.fail("match() expects pattern of T, where T is String, Regexp, Regexp[r], Pattern[p], or Array[T]. Got " +
           ruby_class(pattern));
  }
  Groups g;
  if (!regex_of(c, pattern.text()).search(text.text(), 0, &g)) return {};
  std::vector<Val> out;
  for (std::size_t n = 0; 2 * n + 1 < g.size(); n++)
    out.push_back(g[2 * n] < 0 ? Val::undef() : c.string(group(text.text(), g, n)));
  return c.array(out);
}

Val match(const FunctionCall& c) {
  if (c.arg(0).is(VK::kString)) return match_one(c, c.arg(0), c.arg(1));
  std::vector<Val> out;
  for (const Val& v : c.arg(0).items()) out.push_back(match_one(c, v, c.arg(1)));
  return c.array(out);
}

// As Ruby splits: groups of the pattern are kept, an empty pattern gives characters, empty texts at the end are
// dropped.
Val split(const FunctionCall& c) {
  std::string_view text = c.text(0);
  const Regex& r = regex_of(c, pattern_of(c.arg(1)));
  std::vector<Val> out;
  std::size_t start = 0, at = 0;
  Groups g;
  while (at <= text.size() && !text.empty() && r.search(text, at, &g)) {
    std::size_t from = static_cast<std::size_t>(g[0]), to = static_cast<std::size_t>(g[1]);
    if (from == to) {
      if (from >= text.size()) break;
      std::size_t next = from;
      utf8::decode(text, next);
      if (from == start) {  // nothing since the last cut: the character itself is a piece
        at = next;
        if (next >= text.size()) break;
        Groups again;
        if (!r.search(text, next, &again) || static_cast<std::size_t>(again[0]) != next || again[0] != again[1])
          continue;
        out.push_back(c.string(text.substr(start, next - start)));
        start = next;
        continue;
      }
    }
    out.push_back(c.string(text.substr(start, from - start)));
    for (std::size_t n = 1; 2 * n + 1 < g.size(); n++) {
      if (g[2 * n] >= 0) out.push_back(c.string(group(text, g, n)));
    }
    start = to;
    at = to > from ? to : to + 1;
  }
  out.push_back(c.string(text.substr(start)));
  while (!out.empty() && out.back().size == 0) out.pop_back();
  return c.array(out);
}

void join_into(Budget& budget, std::string& out, const Val& v, std::string_view by) {
  bool first = true;
  for (const Val& item : v.items()) {
    if (by.size() > 1024) grown(budget, out.size());
    if (!first) out += by;
    first = false;
    if (item.is(VK::kArray))
      join_into(budget, out, item, by);
    else if (item.is(VK::kRegex))
      out += ruby_regexp_text(item.text());
    else
      out += item.is(VK::kHash) ? ruby_inspect(item) : to_text(item);
  }
}
Val join(const FunctionCall& c) {
  std::string out;
  join_into(c.compiler.budget(), out, c.arg(0), c.has(1) ? c.text(1) : "");
  return c.string(out);
}

Val length(const FunctionCall& c) {
  const Val& v = c.arg(0);
  if (v.is(VK::kString)) return Val::integer(static_cast<i64>(utf8::length(v.text())));
  return Val::integer(v.size);
}
Val empty(const FunctionCall& c) {
  const Val& v = c.arg(0);
  switch (v.kind) {
    case VK::kUndef: return Val::boolean(true);
    case VK::kString:
    case VK::kBinary:
    case VK::kArray:
    case VK::kHash: return Val::boolean(v.size == 0);
    case VK::kSensitive: return Val::boolean(v.box->size == 0);
    default:
      c.compiler.strict(c.at,
                        fmt::format("Calling function empty() with {} value is deprecated.",
                                    v.is(VK::kInt) || v.is(VK::kFloat) ? "Numeric" : ruby_class(v)),
                        "PP-DEPRECATED");
      return Val::boolean(false);
  }
}

Val shellquote(const FunctionCall& c) {
  std::string out;
  auto one = [&](auto&& self, const Val& v) -> void {
    if (v.is(VK::kArray)) {
      for (const Val& item : v.items()) self(self, item);
      return;
    }
    if (!v.is(VK::kString) && !v.undefined()) c.fail(fmt::format("shellquote(): {} is no string", ruby_inspect(v)));
    std::string word = to_text(v);
    if (!out.empty()) out += ' ';
    constexpr std::string_view kDangerous = "!\"`$\\";
    bool safe = !word.empty();
    for (char ch : word)
      safe = safe && (std::isalnum(static_cast<u8>(ch)) != 0 ||
                      std::string_view("@%_+=:,./-").find(ch) != std::string_view::npos);
    if (safe) {
      out += word;
    } else if (word.find_first_of(kDangerous) == std::string::npos) {
      out += '"' + word + '"';
    } else if (word.find('\'') == std::string::npos) {
      out += '\'' + word + '\'';
    } else {
      out += '"';
      for (char ch : word) {
        if (kDangerous.find(ch) != std::string_view::npos) out += '\\';
        out += ch;
      }
      out += '"';
    }
  };
  for (const Val& v : c.args) one(one, v);
  return c.string(out);
}

Val versioncmp(const FunctionCall& c) {
  if (c.has(2) && c.arg(2).truthy() && (c.text(0).empty() || c.text(1).empty()))
    c.fail("versioncmp(): an empty version has no trailing zeroes");
  return Val::integer(compare_versions(c.text(0), c.text(1), c.has(2) && c.arg(2).truthy()));
}

// --- sprintf

bool one_of_decimal(char conversion) { return conversion == 'd' || conversion == 'i' || conversion == 'u'; }

Val sprintf_(const FunctionCall& c) {
  if (c.count() < 1 || !(c.arg(0).is(VK::kString) || c.arg(0).undefined()))
    c.fail("sprintf() needs a format, which is a String");
  std::string format = to_text(c.arg(0)), out;
  std::span<const Val> args = c.args.subspan(1);
  std::size_t next = 0;
  bool named = false;
  auto take = [&]() -> Val {
    if (next >= args.size()) c.fail("sprintf(): too few arguments");
    return args[next++];
  };
  for (std::size_t i = 0; i < format.size(); i++) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    std::size_t at = i + 1;
    if (at < format.size() && (format[at] == '%' || format[at] == '\n')) {
      out += format[at] == '%' ? "%" : "%\n";
      i = at;
      continue;
    }
    std::optional<FormatDirective> d = parse_directive(format, at);
    if (!d) c.fail("sprintf(): incomplete format specifier; use %% (double %) instead");
    i = at - 1;
    if (d->width_from_argument) {
      i64 width = ruby_to_i(take());
      d->left = d->left || width < 0;
      d->width = static_cast<int>(std::min<i64>(std::abs(width), 1'000'000));
    }
    if (d->precision_from_argument) d->precision = static_cast<int>(std::min<i64>(ruby_to_i(take()), 1'000'000));
    if (d->width && *d->width > 10'000'000) c.fail("sprintf(): width too big");
    Val v;
    if (!d->name.empty()) {
      named = true;
      if (args.empty() || !args[0].is(VK::kHash)) c.fail("sprintf(): one hash required");
      const Val* found = args[0].get(d->name);
      if (found == nullptr) c.fail(fmt::format("sprintf(): key<{}> not found", d->name));
      v = *found;
    } else if (d->position > 0) {
      if (static_cast<std::size_t>(d->position) > args.size()) c.fail("sprintf(): too few arguments");
      v = args[static_cast<std::size_t>(d->position) - 1];
    } else {
      v = take();
    }
    auto text_of = [&] { return ruby_to_s(v); };
    switch (d->conversion) {
      case 's': out += format_text(*d, text_of()); break;
      case 'p': out += format_text(*d, ruby_inspect(v)); break;
      case 'd':
      case 'i':
      case 'u':
      case 'b':
      case 'B':
      case 'o':
      case 'x':
      case 'X': {
        i64 n = 0;
        if (v.is(VK::kFloat) && std::fabs(v.d) >= 9.2e18) {
          if (!one_of_decimal(d->conversion)) c.fail("sprintf(): the value does not fit a 64-bit integer");
          out += format_huge(*d, v.d);
          break;
        }
        if (v.is(VK::kInt)) {
          n = v.i;
        } else if (v.is(VK::kFloat)) {
          n = truncated(v.d);
        } else if (Val number; v.is(VK::kString) && parse_number(v.text(), number) && number.is(VK::kInt)) {
          n = number.i;
        } else {
          c.fail(fmt::format("sprintf(): invalid value for Integer(): {}", ruby_inspect(v)));
        }
        out += format_integer(*d, n);
        break;
      }
      case 'f':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        double x = 0;
        if (v.is(VK::kInt)) {
          x = static_cast<double>(v.i);
        } else if (v.is(VK::kFloat)) {
          x = v.d;
        } else if (!v.is(VK::kString) || !ruby_float_text(v.text(), x)) {
          c.fail(fmt::format("sprintf(): invalid value for Float(): {}", ruby_inspect(v)));
        }
        out += format_real(*d, x);
        break;
      }
      case 'c':
        if (!v.is(VK::kString) && !v.is(VK::kInt) && !v.is(VK::kFloat))
          c.fail(fmt::format("sprintf(): %c needs a character, not {}", ruby_class(v)));
        if (v.is(VK::kString) && utf8::length(v.text()) != 1) c.fail("sprintf(): %c requires a character");
        out += v.is(VK::kString) ? format_text(*d, v.text()) : format_integer(*d, ruby_to_i(v));
        break;
      default: c.fail(fmt::format("sprintf(): malformed format string - %{}", d->conversion));
    }
  }
  (void)named;
  return c.string(out);
}

// --- digests

template <char which>
Val digest(const FunctionCall& c) {
  constexpr std::string_view kNames[] = {"md5", "sha1", "sha256", "sha512"};
  expect_count(c, 1, 1);
  if (!c.arg(0).is(VK::kString) && !c.arg(0).undefined())
    c.fail(fmt::format("{}(): {} is no string", c.name, ruby_inspect(c.arg(0))));
  return c.string(digest_hex(kNames[static_cast<std::size_t>(which)], to_text(c.arg(0))));
}

// --- strftime

template <class Text>
Val formatted(const FunctionCall& c, Text text) {
  try {
    return c.string(text());
  } catch (const TypeError& e) {
    c.fail(e.what());
  }
}
Val strftime_stamp(const FunctionCall& c) {
  return formatted(c, [&] { return format_time(c.arg(0).i, c.text(1), c.has(2) ? c.text(2) : ""); });
}
Val strftime_span(const FunctionCall& c) {
  return formatted(c, [&] { return format_span(c.arg(0).i, c.text(1)); });
}
Val strftime_now(const FunctionCall& c) {
  std::timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  i64 ns = now.tv_sec * i64{1'000'000'000} + now.tv_nsec;
  return formatted(c, [&] { return format_time(ns, c.text(0), c.has(1) ? c.text(1) : ""); });
}

}  // namespace

void add_text_functions(Functions& f) {
  f.add("regsubst", {{"Variant[Array[String], String], String, Variant[String, Hash[String, String]], "
                      "Optional[Pattern[/^[GEIM]*$/]]?, Enum['N', 'E', 'S', 'U']?",
                      regsubst},
                     {"Variant[Array[String], String], Variant[Regexp, Type[Regexp]], Variant[String, Hash[String, "
                      "String]], Pattern[/^G?$/]?",
                      regsubst}});
  f.add("match", {{"String, Any", match}, {"Array[String], Any", match}});
  f.add("split", {{"String, String", split}, {"String, Regexp", split}, {"String, Type[Regexp]", split}});
  f.add("join", {{"Array, String?", join}});
  f.add("length", {{"Variant[String, Array, Hash, Binary]", length}});
  f.add("size", {{"Variant[String, Array, Hash, Binary]", length}});
  f.add("empty", {{"Variant[String, Collection, Numeric, Undef, Binary, Sensitive]", empty}});
  f.add3x("shellquote", shellquote);
  f.add("versioncmp", {{"String, String, Optional[Boolean]?", versioncmp}});
  f.add3x("sprintf", sprintf_);
  f.add("sprintf_hash", {{"String, Hash[String, Any]", sprintf_}});
  f.add3x("md5", digest<0>);
  f.add3x("sha1", digest<1>);
  f.add3x("digest", digest<2>);
  f.add3x("sha256", digest<2>);
  f.add("strftime", {{"Timespan, String", strftime_span},
                     {"Timestamp, String, String?", strftime_stamp},
                     {"String, String?", strftime_now}});
}

}  // namespace tutti::puppet
