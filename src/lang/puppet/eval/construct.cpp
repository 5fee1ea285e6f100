// Type.new(...): the conversions between types.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "lang/puppet/eval/compiler.h"
#include "lang/puppet/text/ruby_base64.h"
#include "lang/puppet/types/regex.h"
#include "lang/puppet/types/string_format.h"
#include "lang/puppet/types/time.h"
#include "lang/puppet/types/type_parse.h"
#include "lang/puppet/types/uri.h"
#include "lang/puppet/types/value_text.h"

namespace tutti::puppet {
namespace {

struct Maker {
  Compiler& c;
  const Type* type;
  std::span<const Val> args;
  Pos at;

  [[noreturn]] void bad(const std::string& what) const {
    c.fail(at, fmt::format("{}.new(): {}", type_text_short(type), what), "PP-NEW");
  }
  // In Puppet's words, which name its own function.
  [[noreturn]] void cannot(const Val& v, std::string_view function, std::string_view to) const {
    std::string what = v.is(VK::kString) ? fmt::format("The string '{}'", v.text())
                                         : fmt::format("Value of type {}", type_text_short(infer(c.arena(), v)));
    c.fail(at, fmt::format("'{}' {} cannot be converted to {}", function, what, to), "PP-NEW");
  }
  Arena& arena() const { return c.arena(); }
  const Val& from() const {
    if (args.empty()) bad("needs a value");
    return args[0];
  }
  void most(std::size_t n) const {
    if (args.size() > n) bad(fmt::format("expects at most {} argument{}, got {}", n, n == 1 ? "" : "s", args.size()));
  }

  // {from => x, ...}: arguments by name.
  std::vector<Val> named(std::initializer_list<std::string_view> names) const {
    std::vector<Val> out(args.begin(), args.end());
    if (args.size() == 1 && args[0].is(VK::kHash) && args[0].get("from")) {
      out.clear();
      for (std::string_view n : names) {
        const Val* v = args[0].get(n);
        out.push_back(v ? *v : Val::default_());
      }
      while (!out.empty() && out.back().is(VK::kDefault)) out.pop_back();
    }
    return out;
  }

  Val integer() const {
    std::vector<Val> a = named({"from", "radix", "abs"});
    if (a.empty()) bad("needs a value");
    const Val& v = a[0];
    if (a.size() > 1 && !a[1].is(VK::kDefault) &&
        !(a[1].is(VK::kInt) && (a[1].i == 2 || a[1].i == 8 || a[1].i == 10 || a[1].i == 16)))
      c.fail(at, fmt::format("illegal radix: {}, expected 2, 8, 10, 16, or default", to_literal(a[1])), "PP-NEW");
    if (a.size() > 2 && !a[2].is(VK::kBool)) bad(fmt::format("`abs` is true or false, not {}", to_literal(a[2])));
    bool absolute = a.size() > 2 && a[2].truthy();
    i64 n = 0;
    switch (v.kind) {
      case VK::kInt: n = v.i; break;
      case VK::kFloat:
        if (std::isnan(v.d) || std::fabs(v.d) > 9.2e18) bad("the value does not fit an Integer");
        n = static_cast<i64>(v.d);
        break;
      case VK::kBool: n = v.b ? 1 : 0; break;
      case VK::kTimespan:
      case VK::kTimestamp: n = floor_seconds(v.i); break;
      case VK::kString:
        n = parse_integer(v.text(), a.size() > 1 && a[1].is(VK::kInt) ? static_cast<int>(a[1].i) : 0);
        break;
      default: cannot(v, "new", "Integer");
    }
    return Val::integer(absolute && n < 0 ? -n : n);
  }

  // Digits, or 0x and 0b with theirs, after blanks and a sign; without a radix the prefix says what it is, and with one
  // it must be that of the radix.
  i64 parse_integer(std::string_view text, int radix) const {
    auto refuse = [&] { cannot(Val::string(text), "new", "Integer"); };
    auto blanks = [](std::string_view& s) {
      while (!s.empty() && std::isspace(static_cast<unsigned char>(s[0]))) s.remove_prefix(1);
    };
    std::string_view d = text;
    blanks(d);
    bool negative = !d.empty() && d[0] == '-';
    if (negative || d.starts_with('+')) d.remove_prefix(1), blanks(d);
    std::string prefix = downcase(d.substr(0, 2));
    int own = prefix == "0x" ? 16 : prefix == "0b" ? 2 : 0;
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string lower = downcase(own ? d.substr(2) : d);
    if (lower.empty() || lower.find_first_not_of(kDigits.substr(0, own ? own : 10)) != std::string::npos) refuse();
    int base = radix ? radix : own ? own : d.size() > 1 && d[0] == '0' ? 8 : 10;
    if (own == 2 && base == 16)
      lower.insert(0, 1, 'b');  // 0b1 is a number of that radix too
    else if (own && own != base)
      refuse();
    std::string digits = (negative ? "-" : "") + lower;
    char* end = nullptr;
    errno = 0;
    long long n = std::strtoll(digits.c_str(), &end, base);
    if (errno || *end) refuse();
    return n;
  }

  Val number(bool want_float) const {
    std::vector<Val> a = named({"from", "abs"});
    if (a.empty()) bad("needs a value");
    if (a.size() > 1 && !a[1].is(VK::kBool)) bad(fmt::format("`abs` is true or false, not {}", to_literal(a[1])));
    Val v = a[0];
    switch (v.kind) {
      case VK::kInt:
      case VK::kFloat: break;
      case VK::kBool: v = Val::integer(v.b ? 1 : 0); break;
      case VK::kTimespan:
      case VK::kTimestamp: v = Val::real(seconds_of(v.i)); break;
      case VK::kString: {
        Val n;
        std::string_view text = v.text();
        // A leading zero says "octal" to all but Float.
        while (want_float && text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9')
          text.remove_prefix(1);
        if (!parse_number(text, n))
          cannot(v, want_float ? "new_float" : "new_numeric", want_float ? "Float" : "Numeric");
        v = n;
        break;
      }
      default: cannot(v, want_float ? "new_float" : "new_numeric", want_float ? "Float" : "Numeric");
    }
    if (a.size() > 1 && a[1].is(VK::kBool) && a[1].b) {
      if (v.is(VK::kInt) && v.i < 0) v.i = -v.i;
      if (v.is(VK::kFloat)) v.d = std::fabs(v.d);
    }
    if (want_float && v.is(VK::kInt)) return Val::real(static_cast<double>(v.i));
    return v;
  }

  Val boolean() const {
    most(1);
    const Val& v = from();
    if (v.is(VK::kBool)) return v;
    if (v.is(VK::kInt)) return Val::boolean(v.i != 0);
    if (v.is(VK::kFloat)) return Val::boolean(v.d != 0);
    if (v.is(VK::kString)) {
      std::string s = downcase(v.text());
      if (s == "true" || s == "yes" || s == "y") return Val::boolean(true);
      if (s == "false" || s == "no" || s == "n") return Val::boolean(false);
    }
    cannot(v, "new_boolean", "Boolean");
  }

  Val array() const {
    most(2);
    const Val& v = from();
    if (args.size() > 1 && !args[1].is(VK::kBool)) bad("needs a Boolean that says whether to wrap");
    bool wrap = args.size() > 1 && args[1].truthy();
    if (v.undefined() && !wrap) cannot(v, "new_array", "Array");
    if (wrap && !v.is(VK::kArray)) return make_array(arena(), std::span<const Val>(&v, 1));
    if (v.is(VK::kArray)) return v;
    FunctionCall call{c, c.top(), "Array", args, nullptr, at};
    if (v.is(VK::kHash) || v.is(VK::kString) || (v.is(VK::kInt) && v.i >= 0) || v.is(VK::kBinary) || v.is(VK::kType))
      return make_array(arena(), iterate(call, v));
    cannot(v, "new_array", "Array");
  }

  Val hash() const {
    most(2);
    const Val& v = from();
    if (args.size() > 1) {
      if (!v.is(VK::kArray) || !args[1].is(VK::kString))
        bad("a tree is made of an Array, and is 'tree' or 'hash_tree'");
      return tree(args[1].text() == "hash_tree");
    }
    if (v.is(VK::kHash)) return v;
    HashDraft h;
    std::vector<Val> items;
    if (v.is(VK::kArray))
      items.assign(v.items().begin(), v.items().end());
    else if (is_instance(plain(TK::kIterable), v) && !v.is(VK::kBinary))
      items = iterate(FunctionCall{c, c.top(), "Hash", args, nullptr, at}, v);
    else
      cannot(v, "new_hash", "Hash");
    bool pairs = true;
    for (const Val& i : items) pairs = pairs && i.is(VK::kArray) && i.size == 2;
    if (pairs) {
      for (const Val& i : items) h.set(i.list[0], i.size > 1 ? i.list[1] : Val::undef());
    } else {
      if (items.size() % 2) bad("an array needs an even number of elements");
      for (std::size_t n = 0; n + 1 < items.size(); n += 2) h.set(items[n], items[n + 1]);
    }
    return h.build(arena());
  }

  // [[path, value], ...] as nested hashes.
  struct Tree {
    Val key;  // under its parent
    std::vector<Tree> children;
    Val value;
    bool leaf = false;
  };
  Val tree(bool all_hashes) const {
    Tree root;
    for (const Val& p : from().items()) {
      if (!p.is(VK::kArray) || p.size != 2 || !p.list[0].is(VK::kArray)) bad("a tree is made of [path, value] pairs");
      Tree* t = &root;
      for (const Val& k : p.list[0].items()) {
        Tree* next = nullptr;
        for (Tree& child : t->children)
          if (same(child.key, k)) next = &child;
        if (!next) {
          next = &t->children.emplace_back();
          next->key = k;
        }
        t = next;
      }
      t->leaf = true;
      t->value = p.list[1];
    }
    return build(root, all_hashes);
  }
  Val build(const Tree& t, bool all_hashes) const {
    if (t.children.empty()) return t.leaf ? t.value : make_hash(arena(), {});
    bool indexes = !all_hashes;
    for (std::size_t n = 0; n < t.children.size(); ++n)
      indexes = indexes && t.children[n].key.is(VK::kInt) && t.children[n].key.i == static_cast<i64>(n);
    if (indexes) {
      std::vector<Val> items;
      for (const Tree& child : t.children) items.push_back(build(child, all_hashes));
      return make_array(arena(), items);
    }
    HashDraft h;
    for (const Tree& child : t.children) h.set(child.key, build(child, all_hashes));
    return h.build(arena());
  }

  Val string() const {
    most(2);
    if (args.size() > 1 && args[1].undefined()) bad("needs a format, which undef is not");
    try {
      return make_string(arena(), format_value(from(), args.size() > 1 ? args[1] : Val::undef()));
    } catch (const TypeError& e) {
      c.fail(at, e.what(), "PP-NEW");
    }
  }

  Val semver() const {
    std::string text;
    if (from().is(VK::kString) || from().is(VK::kSemVer)) {
      text = from().text();
    } else if (from().is(VK::kHash)) {
      auto get = [&](std::string_view k) {
        const Val* v = from().get(k);
        return v ? to_text(*v) : std::string();
      };
      text = get("major") + "." + get("minor") + "." + get("patch");
      if (std::string p = get("prerelease"); !p.empty()) text += "-" + p;
      if (std::string b = get("build"); !b.empty()) text += "+" + b;
    } else if (args.size() >= 3) {
      text = to_text(args[0]) + "." + to_text(args[1]) + "." + to_text(args[2]);
      if (args.size() > 3) text += "-" + to_text(args[3]);
      if (args.size() > 4) text += "+" + to_text(args[4]);
    }
    SemVer v;
    if (!parse_semver(text, v)) cannot(Val::string(text), "new_Version", "a SemVer");
    return Val::with_text(VK::kSemVer, arena().copy(std::string_view(text)));
  }

  Val semver_range() const {
    std::string text;
    if (from().is(VK::kString) || from().is(VK::kSemVerRange))
      text = from().text();
    else if (args.size() >= 2)
      text =
          fmt::format(">={} <{}{}", to_text(args[0]), args.size() > 2 && args[2].truthy() ? "" : "=", to_text(args[1]));
    if (!parse_semver_range(text)) bad(fmt::format("'{}' is not a version range", text));
    return Val::with_text(VK::kSemVerRange, arena().copy(std::string_view(text)));
  }

  // Formats are one text or several.
  std::vector<std::string_view> formats(const Val* given) const {
    std::vector<std::string_view> out;
    if (given == nullptr || given->is(VK::kDefault)) return out;
    std::span<const Val> all = given->is(VK::kArray) ? given->items() : std::span<const Val>(given, 1);
    for (const Val& f : all) {
      if (!f.is(VK::kString) || f.size < 2) bad(fmt::format("needs a format, which {} is not", to_literal(f)));
      out.push_back(f.text());
    }
    if (out.empty()) bad("needs a format");
    return out;
  }

  // The fields of a hash, which must all be among the names.
  void only(const Val& hash, std::initializer_list<std::string_view> names) const {
    for (const Pair& p : hash.entries()) {
      bool known = p.key.is(VK::kString) && std::find(names.begin(), names.end(), p.key.text()) != names.end();
      if (!known) bad(fmt::format("unrecognized key '{}'", to_text(p.key)));
    }
  }

  Val seconds(VK kind, const Val& v) const {
    i64 ns = 0;
    if (v.is(VK::kFloat))
      ns = truncated(v.d * 1e9);
    else if (__builtin_mul_overflow(v.i, i64{1'000'000'000}, &ns))
      bad("the time is out of range");
    return Val::nanoseconds(kind, ns);
  }

  Val timespan() const {
    const Val& v = from();
    if (is_number(v) && args.size() == 1) return seconds(VK::kTimespan, v);
    static constexpr std::pair<std::string_view, i64> kUnits[] = {{"days", 86'400'000'000'000},
                                                                  {"hours", 3'600'000'000'000},
                                                                  {"minutes", 60'000'000'000},
                                                                  {"seconds", 1'000'000'000},
                                                                  {"milliseconds", 1'000'000},
                                                                  {"microseconds", 1'000},
                                                                  {"nanoseconds", 1}};
    // Wide enough for any sum of products below.
    __int128 ns = 0;
    auto add = [&](const Val& n, i64 unit) {
      if (!n.is(VK::kInt)) bad(fmt::format("needs integers, which {} is not", to_literal(n)));
      ns += __int128{n.i} * unit;
    };
    if (v.is(VK::kHash) && !v.get("string")) {
      most(1);
      only(v, {"negative", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"});
      for (auto [name, unit] : kUnits)
        if (const Val* n = v.get(name)) add(*n, unit);
      if (const Val* n = v.get("negative"); n && n->truthy()) ns = -ns;
    } else if (v.is(VK::kInt)) {
      most(std::size(kUnits));
      if (args.size() < 4) bad(fmt::format("needs days, hours, minutes and seconds, got {} numbers", args.size()));
      for (std::size_t n = 0; n < args.size(); ++n) add(args[n], kUnits[n].second);
    } else {
      most(2);
      const Val* format = args.size() > 1 ? &args[1] : nullptr;
      Val text = v;
      if (v.is(VK::kHash)) {
        most(1);
        only(v, {"string", "format"});
        text = *v.get("string");
        format = v.get("format");
      }
      if (!text.is(VK::kString) || text.size == 0) bad("needs a String, a Hash or numbers");
      try {
        ns = parse_span(text.text(), formats(format));
      } catch (const TypeError& e) {
        bad(e.what());
      }
    }
    if (ns > kNoMax || ns < kNoMin) bad("the time span is too long");
    return Val::nanoseconds(VK::kTimespan, static_cast<i64>(ns));
  }

  Val timestamp() const {
    if (args.empty()) {
      auto now = std::chrono::system_clock::now().time_since_epoch();
      return Val::nanoseconds(VK::kTimestamp, std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
    }
    const Val& v = from();
    if (is_number(v) && args.size() == 1) return seconds(VK::kTimestamp, v);
    most(3);
    const Val* format = args.size() > 1 ? &args[1] : nullptr;
    const Val* zone = args.size() > 2 ? &args[2] : nullptr;
    Val text = v;
    if (v.is(VK::kHash)) {
      most(1);
      only(v, {"string", "format", "timezone"});
      if (const Val* s = v.get("string")) text = *s;
      format = v.get("format");
      zone = v.get("timezone");
    }
    if (!text.is(VK::kString) || text.size == 0) bad("needs a String or a number");
    if (zone && (!zone->is(VK::kString) || zone->size == 0)) bad("needs the name of a time zone");
    try {
      return Val::nanoseconds(VK::kTimestamp, parse_time(text.text(), formats(format), zone ? zone->text() : ""));
    } catch (const TypeError& e) {
      bad(e.what());
    }
  }

  Val binary() const {
    const Val& v = from();
    if (v.is(VK::kBinary)) return v;
    std::string out;
    if (v.is(VK::kArray)) {
      if (args.size() > 1) bad("an array of bytes stands alone");
      for (const Val& b : v.items()) {
        if (!b.is(VK::kInt) || b.i < 0 || b.i > 255) bad("an array of bytes holds integers from 0 to 255");
        out += static_cast<char>(b.i);
      }
    } else if (v.is(VK::kString)) {
      std::string_view format = args.size() > 1 && args[1].is(VK::kString) ? args[1].text() : "%B";
      if (format == "%s" || format == "%r") {
        out = v.text();
      } else {
        std::string text(v.text());
        if (format == "%u") {
          std::replace(text.begin(), text.end(), '-', '+');
          std::replace(text.begin(), text.end(), '_', '/');
          while (text.size() % 4 != 0) text += '=';
        }
        auto bytes = ruby_base64_decode(text, format != "%b");
        if (!bytes) bad("the string is not valid base64");
        out = std::move(*bytes);
      }
    } else {
      bad("needs a String or an Array of bytes");
    }
    return Val::with_text(VK::kBinary, arena().copy(std::string_view(out)));
  }

  // {scheme => ..., host => ..., ...}
  Val uri_of(const Val& parts) const {
    only(parts, {"scheme", "userinfo", "host", "port", "path", "query", "fragment", "opaque"});
    auto part = [&](std::string_view name) {
      const Val* v = parts.get(name);
      return v == nullptr || v->undefined() ? std::string() : to_text(*v);
    };
    auto with = [](std::string_view before, const std::string& text, std::string_view after) {
      return text.empty() ? std::string() : std::string(before) + text + std::string(after);
    };
    std::string text = with("", part("scheme"), ":");
    if (std::string opaque = part("opaque"); !opaque.empty())
      text += opaque;
    else if (std::string host = part("host"); !host.empty())
      text += "//" + with("", part("userinfo"), "@") + host + with(":", part("port"), "");
    text += part("path") + with("?", part("query"), "") + with("#", part("fragment"), "");
    return Val::with_text(VK::kUri, arena().copy(std::string_view(text)));
  }

  Val object(const Type* t) const {
    std::vector<Pair> fields;
    bool by_name = args.size() == 1 && args[0].is(VK::kHash);
    if (by_name) {
      for (const Pair& p : args[0].entries()) {
        bool known = false;
        for (const Member& m : t->members) known = known || (p.key.is(VK::kString) && m.name == p.key.text());
        if (!known) bad(fmt::format("has no attribute named '{}'", to_text(p.key)));
      }
    } else if (args.size() > t->members.size()) {
      bad(fmt::format("expects at most {} arguments, got {}", t->members.size(), args.size()));
    }
    for (std::size_t n = 0; n < t->members.size(); ++n) {
      const Member& m = t->members[n];
      const Val* v = by_name ? args[0].get(m.name) : n < args.size() ? &args[n] : nullptr;
      if (!v && !m.has_value) bad(fmt::format("expects a value for attribute '{}'", m.name));
      Val value = v ? *v : m.value;
      if (v && !is_instance(m.type, value))
        bad(describe_mismatch(fmt::format("attribute '{}'", m.name), m.type, value)[0]);
      fields.push_back({Val::string(m.name), value});
    }
    return make_object(t, fields);
  }

  Val make_object(const Type* t, const std::vector<Pair>& fields) const {
    ObjectBody body;
    body.type = t;
    body.fields = arena().copy(std::span<const Pair>(fields));
    Val v;
    v.kind = VK::kObject;
    v.o = arena().make<ObjectBody>(body);
    for (const Pair& p : fields) v.weight += p.value.weight;
    return v;
  }

  Val deferred() const {
    const Regex* name = Regex::get("\\A[$]?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\\z", nullptr);
    if (!from().is(VK::kString) || !name->search(from().text(), 0)) bad("needs the name of a function or variable");
    std::vector<Pair> fields{{Val::string("name"), args[0]}};
    fields.push_back({Val::string("arguments"), args.size() > 1 ? args[1] : make_array(arena(), {})});
    if (args.size() < 2) fields.pop_back();
    return make_object(nullptr, fields);
  }

  Val make(const Type* t) const {
    switch (t->kind) {
      case TK::kInteger: return integer();
      case TK::kFloat: return number(true);
      case TK::kNumeric: return number(false);
      case TK::kBoolean: return boolean();
      case TK::kString: return string();
      case TK::kArray:
      case TK::kTuple: return array();
      case TK::kHash:
      case TK::kStruct: {
        Val made = hash();
        if (t->kind == TK::kStruct && t->members.empty() && made.size > 0)
          c.fail(
              at,
              fmt::format("converted value from Struct.new() has wrong type, expects size to be 0, got {}", made.size),
              "PP-TYPE-MISMATCH");
        return made;
      }
      case TK::kPattern:  // nothing is made into one: a text that matches is it already
        if (!from().is(VK::kString) || !is_instance(t, from()))
          c.fail(at, fmt::format("creation of new instance of type '{}' is not supported", type_text(type)), "PP-NEW");
        return from();
      case TK::kNotUndef:
        if (t->types.empty()) {
          if (from().undefined()) bad("expects a value that is not undef");
          return from();
        }
        return c.construct(t->types[0], args, at);
      case TK::kOptional:
        if (t->types.empty()) break;
        if (!args.empty() && args[0].undefined()) return args[0];
        return c.construct(t->types[0], args, at);
      case TK::kInit:
        if (!t->types.empty()) {
          std::vector<Val> all(args.begin(), args.end());
          all.insert(all.end(), t->values.begin(), t->values.end());
          return c.construct(t->types[0], all, at);
        }
        break;
      case TK::kSensitive: {
        const Val& v = from();
        if (args.size() > 1) bad(fmt::format("expects 1 argument, got {}", args.size()));
        return v.is(VK::kSensitive) ? v : make_sensitive(arena(), v, *c.session().sources);
      }
      case TK::kSemVer: return semver();
      case TK::kSemVerRange: return semver_range();
      case TK::kTimespan: return timespan();
      case TK::kTimestamp: return timestamp();
      case TK::kBinary: return binary();
      case TK::kRegexp: {
        if (from().is(VK::kRegex)) return from();
        if (args.size() > 1 && !args[1].is(VK::kBool)) bad("needs a Boolean that says whether to escape");
        std::string error;
        if (!from().is(VK::kString) || !Regex::get(from().text(), &error)) bad("needs a regular expression: " + error);
        return Val::with_text(VK::kRegex, from().text());
      }
      case TK::kUri:
        most(1);
        if (from().is(VK::kHash)) return uri_of(from());
        if (!from().is(VK::kString)) bad("needs a String or a Hash");
        if (!is_uri(from().text())) c.fail(at, "bad URI(is not URI?): " + ruby_inspect(from()), "PP-NEW");
        return Val::with_text(VK::kUri, from().text());
      case TK::kType:
        if (!from().is(VK::kString)) bad("needs the text of a type");
        try {
          return Val::type(
              type_of_text(arena(), from().text(), [&](std::string_view n) { return c.find_type_name(n, at); }));
        } catch (const TypeError& e) {
          bad(e.what());
        }
      case TK::kObject:
        if (t->name.empty() && t->members.empty()) break;
        return object(t);
      case TK::kDeferred: return deferred();
      default: break;
    }
    c.fail(at, fmt::format("creation of new instance of type '{}' is not supported", type_text(type)), "PP-NEW");
  }
};

}  // namespace

Val Compiler::construct(const Type* type, std::span<const Val> args, Pos at) {
  Val v = Maker{*this, type, args, at}.make(resolved(type));
  if (!is_instance(type, v))
    fail(at, fmt::format("converted value from {}.new() {}", type_text_short(type), describe_mismatch("", type, v)[0]),
         "PP-TYPE-MISMATCH");
  return v.with_origin(at);
}

}  // namespace tutti::puppet
