#include "lang/puppet/functions/stdlib.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "lang/puppet/text/ruby_format.h"

namespace tutti::puppet {

void expect_count(const FunctionCall& c, std::size_t least, std::size_t most) {
  if (c.count() >= least && c.count() <= most) return;
  std::string want = least == most      ? fmt::format("{}", least)
                     : most == SIZE_MAX ? fmt::format("at least {}", least)
                                        : fmt::format("{} to {}", least, most);
  c.fail(fmt::format("{}(): Wrong number of arguments given ({} for {})", c.name, c.count(), want));
}

i64 ruby_to_i(const Val& v) {
  switch (v.kind) {
    case VK::kInt: return v.i;
    case VK::kFloat: return truncated(v.d);
    case VK::kString: {
      std::string_view s = v.text();
      while (!s.empty() && (s[0] == ' ' || s[0] == '\t' || s[0] == '\n')) s.remove_prefix(1);
      if (s.starts_with('+')) s.remove_prefix(1);
      i64 n = 0;
      std::from_chars(s.data(), s.data() + s.size(), n);
      return n;
    }
    default: return 0;
  }
}

std::string ruby_class(const Val& v) {
  switch (v.kind) {
    case VK::kUndef: return "NilClass";
    case VK::kBool: return v.b ? "TrueClass" : "FalseClass";
    case VK::kInt: return "Integer";
    case VK::kFloat: return "Float";
    case VK::kString: return "String";
    case VK::kArray: return "Array";
    case VK::kHash: return "Hash";
    case VK::kRegex: return "Regexp";
    default: return "Object";
  }
}

bool is_empty_text(const Val& v) { return v.undefined() || (v.is(VK::kString) && v.size == 0); }

bool ruby_float_text(std::string_view s, double& out) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\n' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\n' || s.back() == '\t')) s.remove_suffix(1);
  if (s.empty()) return false;
  std::string plain;
  for (std::size_t i = 0; i < s.size(); i++) {
    bool between =
        i > 0 && i + 1 < s.size() && std::isdigit(static_cast<u8>(s[i - 1])) && std::isdigit(static_cast<u8>(s[i + 1]));
    if (s[i] == '_' && between) continue;
    bool known =
        std::isxdigit(static_cast<u8>(s[i])) || std::string_view(".+-xXpP").find(s[i]) != std::string_view::npos;
    if (!known) return false;
    plain += s[i];
  }
  if (plain.back() == '.' ||
      plain[plain.find_first_not_of("+-") == std::string::npos ? 0 : plain.find_first_not_of("+-")] == '.')
    return false;
  char* end = nullptr;
  out = std::strtod(plain.c_str(), &end);
  return end == plain.c_str() + plain.size();
}

}  // namespace tutti::puppet
