#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstring>

#include "base/utf8.h"
#include "lang/puppet/functions/stdlib.h"
#include "lang/puppet/text/ruby_format.h"
#include "lang/puppet/types/regex.h"

namespace tutti::puppet {
namespace {

bool word_char(char ch) { return std::isalnum(static_cast<u8>(ch)) != 0; }

// Text or an array of texts, each changed by `f`.
template <class F>
Val each_text(const FunctionCall& c, F&& f) {
  expect_count(c, 1, SIZE_MAX);
  const Val& v = c.arg(0);
  if (v.is(VK::kString)) return c.string(f(v.text()));
  if (!v.is(VK::kArray)) c.fail(fmt::format("{}(): Requires either array or string to work with", c.name));
  std::vector<Val> out;
  for (const Val& item : v.items()) out.push_back(item.is(VK::kString) ? c.string(f(item.text())) : item);
  return c.array(out);
}

Val swapcase(const FunctionCall& c) {
  return each_text(c, [](std::string_view s) {
    std::string out;
    for (std::size_t at = 0; at < s.size();) {
      std::size_t start = at;
      utf8::decode(s, at);
      std::string one(s.substr(start, at - start)), up = upcase(one);
      out += up == one ? downcase(one) : up;
    }
    return out;
  });
}

Val regexpescape(const FunctionCall& c) { return each_text(c, regexp_escape); }

Val uriescape(const FunctionCall& c) {
  return each_text(c, [](std::string_view s) {
    std::string out;
    for (char ch : s) {
      bool safe = word_char(ch) || std::string_view("-_.!~*'();/?:@&=+$,[]").find(ch) != std::string_view::npos;
      out += safe ? std::string(1, ch) : fmt::format("%{:02X}", static_cast<u8>(ch));
    }
    return out;
  });
}

std::string squeezed(std::string_view s, std::string_view set) {
  auto in_set = [&](std::string_view one) {
    if (set.empty()) return true;
    bool negate = set.size() > 1 && set[0] == '^';
    std::string_view members = negate ? set.substr(1) : set;
    bool found = members.find(one) != std::string_view::npos;
    for (std::size_t i = 1; i + 1 < members.size() && one.size() == 1; i++) {
      if (members[i] == '-') found |= one[0] >= members[i - 1] && one[0] <= members[i + 1];
    }
    return found != negate;
  };
  std::string out;
  std::string_view last;
  for (std::size_t at = 0; at < s.size();) {
    std::size_t start = at;
    utf8::decode(s, at);
    std::string_view one = s.substr(start, at - start);
    if (one != last || !in_set(one)) out += one;
    last = one;
  }
  return out;
}
Val squeeze(const FunctionCall& c) {
  expect_count(c, 1, 2);
  if (c.count() > 1 && !c.arg(1).is(VK::kString) && c.arg(1).truthy())
    c.fail(fmt::format("squeeze(): {} is no string", ruby_inspect(c.arg(1))));
  if (c.count() > 1 && c.arg(1).is(VK::kString) && c.text(1).empty()) return c.arg(0);  // no letters are squeezed
  std::string set = c.count() > 1 && c.arg(1).is(VK::kString) ? to_text(c.arg(1)) : "";
  if (c.arg(0).is(VK::kArray))
    for (const Val& v : c.arg(0).items())
      if (!v.is(VK::kString)) c.fail(fmt::format("squeeze(): {} is no string", ruby_inspect(v)));
  return each_text(c, [&](std::string_view s) { return squeezed(s, set); });
}

Val dos2unix(const FunctionCall& c) {
  expect_count(c, 1, 1);
  if (!c.arg(0).is(VK::kString)) c.fail("dos2unix(): Requires string as argument");
  std::string out;
  std::string_view s = c.text(0);
  for (std::size_t i = 0; i < s.size(); i++) {
    if (s[i] != '\r' || i + 1 == s.size() || s[i + 1] != '\n') out += s[i];
  }
  return c.string(out);
}

Val unix2dos(const FunctionCall& c) {
  expect_count(c, 1, 1);
  if (!c.arg(0).is(VK::kString)) c.fail("unix2dos(): Requires string as argument");
  std::string out;
  for (char ch : c.text(0)) {
    if (ch == '\n') {
      while (out.ends_with('\r')) out.pop_back();
      out += "\r\n";
    } else {
      out += ch;
    }
  }
  return c.string(out);
}

std::string shell_escaped(std::string_view s) {
  if (s.empty()) return "''";
  std::string out;
  for (char ch : s) {
    if (ch == '\n') {
      out += "'\n'";
      continue;
    }
    bool inside =
        (static_cast<u8>(ch) & 0xC0) == 0x80;  // a character beyond ASCII has one backslash, before its first byte
    bool plain = inside || word_char(ch) || std::string_view("_-.,:+/@").find(ch) != std::string_view::npos;
    if (!plain) out += '\\';
    out += ch;
  }
  return out;
}
Val shell_escape(const FunctionCall& c) { return c.string(shell_escaped(ruby_to_s(c.arg(0)))); }
Val shell_join(const FunctionCall& c) {
  expect_count(c, 1, 1);
  if (!c.arg(0).is(VK::kArray)) c.fail(fmt::format("First argument is not an Array: {}", ruby_inspect(c.arg(0))));
  std::string out;
  for (const Val& v : c.arg(0).items()) out += (out.empty() ? "" : " ") + shell_escaped(ruby_to_s(v));
  return c.string(out);
}

Val shell_split(const FunctionCall& c) {
  expect_count(c, 1, 1);
  std::string text = to_text(c.arg(0));
  std::vector<Val> out;
  std::string word;
  bool open = false;
  for (std::size_t i = 0; i < text.size(); i++) {
    char ch = text[i];
    if (ch == ' ' || ch == '\t' || ch == '\n') {
      if (open) out.push_back(c.string(word));
      word.clear();
      open = false;
      continue;
    }
    open = true;
    if (ch == '\'' || ch == '"') {
      std::size_t end = i + 1;
      for (; end < text.size() && text[end] != ch; end++) {
        if (ch == '"' && text[end] == '\\' && end + 1 < text.size()) {
          if (std::string_view("$`\"\\\n").find(text[end + 1]) == std::string_view::npos) word += '\\';
          end++;
        }
        word += text[end];
      }
      if (end == text.size()) c.fail(fmt::format("Unmatched quote: {}", text));
      i = end;
    } else if (ch == '\\' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += ch;
    }
  }
  if (open) out.push_back(c.string(word));
  return c.array(out);
}

Val batch_escape(const FunctionCall& c) {
  std::string out = "\"";
  for (char ch : ruby_to_s(c.arg(0))) {
    if (ch == '"') out += '"';
    if (ch == '$' || ch == '\\') out += '\\';
    out += ch;
  }
  return c.string(out + "\"");
}

Val powershell_escape(const FunctionCall& c) {
  std::string out;
  for (char ch : ruby_to_s(c.arg(0))) {
    if (ch == '"') {
      out += "\\`\"";
      continue;
    }
    if (std::string_view(" '`|\n$").find(ch) != std::string_view::npos) out += '`';
    out += ch;
  }
  return c.string(out);
}

Val basename(const FunctionCall& c) {
  expect_count(c, 1, 2);
  if (!c.arg(0).is(VK::kString)) c.fail("basename(): Requires string as first argument");
  std::string_view s = c.text(0);
  while (s.size() > 1 && s.ends_with('/')) s.remove_suffix(1);
  if (std::size_t slash = s.rfind('/'); slash != std::string_view::npos && s.size() > 1) s.remove_prefix(slash + 1);
  if (c.count() > 1) {
    if (!c.arg(1).is(VK::kString)) c.fail("basename(): Requires string as second argument");
    std::string_view ending = c.text(1);
    if (ending == ".*") {
      if (std::size_t dot = s.rfind('.'); dot != std::string_view::npos && dot > 0) s = s.substr(0, dot);
    } else if (s.size() > ending.size() && s.ends_with(ending)) {
      s.remove_suffix(ending.size());
    }
  }
  return c.string(s);
}

Val dirname(const FunctionCall& c) {
  if (c.count() < 1) c.fail("dirname(): No arguments given");
  if (c.count() > 1) c.fail(fmt::format("dirname(): Too many arguments given ({})", c.count()));
  if (!c.arg(0).is(VK::kString)) c.fail("dirname(): Requires string as argument");
  if (c.arg(0).size == 0) c.fail("dirname(): Requires a non-empty string as argument");
  std::string_view s = c.text(0);
  while (s.starts_with("//")) s.remove_prefix(1);
  while (s.size() > 1 && s.ends_with('/')) s.remove_suffix(1);
  std::size_t slash = s.rfind('/');
  if (slash == std::string_view::npos) return c.string(".");
  while (slash > 0 && s[slash - 1] == '/') slash--;
  return c.string(slash == 0 ? "/" : s.substr(0, slash));
}

Val extname(const FunctionCall& c) {
  std::string_view s = c.text(0);
  if (std::size_t slash = s.rfind('/'); slash != std::string_view::npos) s.remove_prefix(slash + 1);
  std::size_t dot = s.rfind('.');
  bool none = dot == std::string_view::npos || s.find_first_not_of('.') >= dot || dot + 1 == s.size();
  return c.string(none ? "" : s.substr(dot));
}

bool any_of_texts(const Val& v, auto&& f) {
  if (v.is(VK::kString)) return f(v.text());
  for (const Val& item : v.items()) {
    if (f(item.text())) return true;
  }
  return false;
}
Val start_with(const FunctionCall& c) {
  return Val::boolean(any_of_texts(c.arg(1), [&](std::string_view s) { return c.text(0).starts_with(s); }));
}
Val end_with(const FunctionCall& c) {
  return Val::boolean(any_of_texts(c.arg(1), [&](std::string_view s) { return c.text(0).ends_with(s); }));
}

Val xml_encode(const FunctionCall& c) {
  bool attribute = c.count() > 1 && c.text(1) == "attr";
  std::string out = attribute ? "\"" : "";
  for (char ch : c.text(0)) {
    switch (ch) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += attribute ? "&quot;" : "\""; break;
      default: out += ch;
    }
  }
  return c.string(attribute ? out + "\"" : out);
}

Val enclose_ipv6(const FunctionCall& c) {
  expect_count(c, 1, 1);
  const Val& v = c.arg(0);
  if (!v.is(VK::kString) && !v.is(VK::kArray))
    c.fail(fmt::format("enclose_ipv6(): Wrong argument type given {} expected String or Array", ruby_class(v)));
  std::vector<Val> out;
  auto one = [&](const Val& item) {
    std::string text = to_text(item);
    if (text != "*") {
      in6_addr six{};
      in_addr four{};
      std::string bare = text.starts_with('[') && text.ends_with(']') ? text.substr(1, text.size() - 2) : text;
      bool v6 = inet_pton(AF_INET6, bare.c_str(), &six) == 1;
      if (!v6 && inet_pton(AF_INET, bare.c_str(), &four) != 1)
        c.fail(fmt::format("enclose_ipv6(): Wrong argument given {} is not an ip address.", text));
      if (v6) text = "[" + bare + "]";
    }
    out.push_back(c.string(text));
  };
  if (v.is(VK::kString)) one(v);
  for (const Val& item : v.is(VK::kArray) ? v.items() : std::span<const Val>{}) one(item);
  return c.array(out);
}

Val to_bytes(const FunctionCall& c) {
  expect_count(c, 1, 1);
  const Val& v = c.arg(0);
  if (v.is(VK::kInt) || v.is(VK::kFloat)) return v;
  if (!v.is(VK::kString)) c.fail(fmt::format("to_bytes(): a String is needed, not {}", ruby_class(v)));
  std::string s = to_text(v);
  std::size_t end = std::min(s.find_first_not_of("0123456789.e+-"), s.size());
  double number = std::strtod(s.substr(0, end).c_str(), nullptr);
  while (end < s.size() && s[end] == ' ') end++;
  char unit = end < s.size() ? s[end] : 0;
  std::size_t power = 0;
  if (unit != 0 && unit != 'b' && unit != 'B') {
    power = std::string_view("kMGTPE").find(unit) + 1;
    if (power == 0) c.fail(fmt::format("to_bytes(): Unknown prefix {}", unit));
  }
  return Val::integer(truncated(number * static_cast<double>(i64{1} << (10 * power))));
}

Val convert_base(const FunctionCall& c) {
  expect_count(c, 2, 2);
  for (const Val& v : c.args) {
    if (v.is(VK::kInt)) continue;
    if (!v.is(VK::kString)) c.fail("convert_base(): First argument must be either a string or an integer");
    if (v.size == 0 || v.text().find_first_not_of("0123456789") != std::string_view::npos) {
      c.fail("convert_base(): First argument must be an integer or a string corresponding to an integer in base 10");
    }
  }
  i64 n = ruby_to_i(c.arg(0)), base = ruby_to_i(c.arg(1));
  if (base < 2 || base > 36) c.fail("convert_base(): base must be at least 2 and must not be greater than 36");
  bool negative = n < 0;
  u64 rest = negative ? 0 - static_cast<u64>(n) : static_cast<u64>(n);
  std::string out;
  do {
    out.insert(out.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[rest % static_cast<u64>(base)]);
    rest /= static_cast<u64>(base);
  } while (rest != 0);
  return c.string(negative ? "-" + out : out);
}

Val str2bool(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  const Val& v = c.arg(0);
  if (v.is(VK::kBool)) return v;
  if (!v.is(VK::kString)) c.fail("str2bool(): Requires string to work with");
  std::string s = downcase(v.text());
  for (std::string_view yes : {"1", "t", "y", "true", "yes"}) {
    if (s == yes) return Val::boolean(true);
  }
  for (std::string_view no : {"", "0", "f", "n", "false", "no"}) {
    if (s == no) return Val::boolean(false);
  }
  if (v.text() == "undef" || v.text() == "undefined") return Val::boolean(false);
  c.fail("str2bool(): Unknown type of boolean given");
}

Val num2bool(const FunctionCall& c) {
  expect_count(c, 1, 1);
  const Val& v = c.arg(0);
  double number = 0;
  if (v.is(VK::kInt)) {
    number = static_cast<double>(v.i);
  } else if (v.is(VK::kFloat)) {
    number = v.d;
  } else if (!v.is(VK::kString)) {
    number = static_cast<double>(ruby_to_i(Val::string(c.string(ruby_to_s(v)).text())));
  } else if (!ruby_float_text(v.text(), number)) {
    c.fail(fmt::format("num2bool(): '{}' does not look like a number: invalid value for Float(): {}", to_text(v),
                       ruby_inspect(v)));
  }
  return Val::boolean(number >= 1);
}

Val any2bool(const FunctionCall& c) {
  expect_count(c, 1, SIZE_MAX);
  const Val& v = c.arg(0);
  if (v.is(VK::kBool)) return v;
  if (v.undefined()) return Val::boolean(false);
  const FunctionCall first{c.compiler, c.scope, c.name, c.args.first(1), nullptr, c.at};  // the others say nothing
  double number = 0;
  if (v.is(VK::kInt) || v.is(VK::kFloat) || (v.is(VK::kString) && ruby_float_text(v.text(), number)))
    return num2bool(first);
  return v.is(VK::kString) ? str2bool(first) : Val::boolean(true);
}

Val bool2num(const FunctionCall& c) { return Val::integer(str2bool(c).b ? 1 : 0); }

Val bool2str(const FunctionCall& c) {
  if (c.count() != 1 && c.count() != 3)
    c.fail(fmt::format("bool2str(): Wrong number of arguments given ({} for 3)", c.count()));
  if (!c.arg(0).is(VK::kBool)) c.fail("bool2str(): Requires a boolean to work with");
  if (c.count() == 1) return c.string(c.arg(0).b ? "true" : "false");
  if (!c.arg(1).is(VK::kString) || !c.arg(2).is(VK::kString)) c.fail("bool2str(): Requires strings to convert to");
  return c.arg(0).b ? c.arg(1) : c.arg(2);
}

struct Range {
  int family = 0;
  u8 bytes[16] = {};
  int bits = 0;
};
Range parse_range(const FunctionCall& c, std::string_view text) {
  Range r;
  std::string address(text.substr(0, text.find('/')));
  r.family = inet_pton(AF_INET, address.c_str(), r.bytes) == 1    ? AF_INET
             : inet_pton(AF_INET6, address.c_str(), r.bytes) == 1 ? AF_INET6
                                                                  : 0;
  if (r.family == 0) c.fail(fmt::format("invalid address: {}", text));
  r.bits = r.family == AF_INET ? 32 : 128;
  if (std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    std::string mask(text.substr(slash + 1));
    u8 four[4];
    if (inet_pton(AF_INET, mask.c_str(), four) == 1) {
      r.bits = 0;
      for (u8 b : four) r.bits += __builtin_popcount(b);
    } else {
      r.bits = std::atoi(mask.c_str());
    }
  }
  return r;
}
Val ip_in_range(const FunctionCall& c) {
  Range ip = parse_range(c, c.text(0));
  auto inside = [&](std::string_view text) {
    Range r = parse_range(c, text);
    if (r.family != ip.family) return false;
    for (int bit = 0; bit < r.bits; bit++) {
      if (((r.bytes[bit / 8] ^ ip.bytes[bit / 8]) >> (7 - bit % 8) & 1) != 0) return false;
    }
    return true;
  };
  return Val::boolean(any_of_texts(c.arg(1), inside));
}

Val type3x(const FunctionCall& c) {
  expect_count(c, 1, 1);
  const Val& v = c.arg(0);
  switch (v.kind) {
    case VK::kBool: return c.string("boolean");
    case VK::kInt: return c.string("integer");
    case VK::kFloat: return c.string("float");
    case VK::kArray: return c.string("array");
    case VK::kHash: return c.string("hash");
    case VK::kString: {
      Val number;
      if (!v.text().empty() && to_text(Val::integer(ruby_to_i(v))) == v.text()) return c.string("integer");
      if (parse_number(v.text(), number) && number.is(VK::kFloat) && ruby_float(number.d) == v.text())
        return c.string("float");
      return c.string("string");
    }
    default: c.fail("type3x(): Unknown type");
  }
}

}  // namespace

void add_stdlib_string_functions(Functions& f) {
  f.add3x("swapcase", swapcase);
  f.add3x("regexpescape", regexpescape);
  f.add3x("uriescape", uriescape);
  f.add3x("squeeze", squeeze);
  f.add3x("dos2unix", dos2unix);
  f.add3x("unix2dos", unix2dos);
  f.add("shell_escape", {{"Any", shell_escape}});
  f.add3x("shell_join", shell_join);
  f.add3x("shell_split", shell_split);
  f.add("batch_escape", {{"Any", batch_escape}});
  f.add("powershell_escape", {{"Any", powershell_escape}});
  f.add3x("basename", basename);
  f.add3x("dirname", dirname);
  f.add("stdlib::extname", {{"String", extname}});
  f.add("stdlib::start_with", {{"String, Variant[String[1], Array[String[1], 1]]", start_with}});
  f.add("stdlib::end_with", {{"String, Variant[String[1], Array[String[1], 1]]", end_with}});
  f.add("stdlib::xml_encode", {{"String, Enum['text', 'attr']?", xml_encode}});
  f.add("stdlib::ip_in_range", {{"String, Variant[String, Array]", ip_in_range}});
  f.add3x("enclose_ipv6", enclose_ipv6);
  f.add3x("to_bytes", to_bytes);
  f.add3x("convert_base", convert_base);
  f.add3x("str2bool", str2bool);
  f.add3x("num2bool", num2bool);
  f.add3x("any2bool", any2bool);
  f.add3x("bool2num", bool2num);
  f.add3x("bool2str", bool2str);
  f.add3x("type3x", type3x);
}

}  // namespace tutti::puppet
