#include "lang/cue/builtin/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstring>

#include "base/ascii.h"
#include "lang/cue/builtin/support.h"

namespace tutti::cue {

std::string Address::text() const {
  char buffer[64];
  if (is4() || !mapped()) {
    inet_ntop(is4() ? AF_INET : AF_INET6, bytes.data(), buffer, sizeof buffer);
    // IPv4-compatible addresses are shown in groups, not with dots.
    if (!is4() && std::strchr(buffer, '.')) {
      std::string s;
      u16 high = static_cast<u16>(at(12) << 8 | at(13)), low = static_cast<u16>(at(14) << 8 | at(15));
      s = high ? fmt::format("::{:x}:{:x}", high, low) : fmt::format("::{:x}", low);
      return zone.empty() ? s : s + "%" + zone;
    }
    return zone.empty() ? buffer : std::string(buffer) + "%" + zone;
  }
  return fmt::format("::ffff:{}.{}.{}.{}", at(12), at(13), at(14), at(15)) + (zone.empty() ? "" : "%" + zone);
}

bool Prefix::contains(const Address& a) const {
  if (a.bytes.size() != address.bytes.size() || !a.zone.empty()) return false;
  for (int i = 0; i < bits; ++i) {
    std::size_t byte = static_cast<std::size_t>(i) / 8;
    int bit = 7 - i % 8;
    if (((a.at(byte) ^ address.at(byte)) >> bit) & 1) return false;
  }
  return true;
}

namespace {

// What is wrong, and from where on when that is told.
struct Wrong {
  std::string_view why, at;
};
using Parsed = std::optional<Wrong>;  // nothing when all is well

int hex_digit(char c) {
  return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

Parsed parse4(std::string_view s, std::string& out) {
  int value = 0, digits = 0;
  std::size_t fields = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (is_digit(s[i])) {
      if (digits == 1 && value == 0) return Wrong{"IPv4 field has octet with leading zero", {}};
      value = value * 10 + (s[i] - '0');
      ++digits;
      if (value > 255) return Wrong{"IPv4 field has value >255", {}};
    } else if (s[i] == '.') {
      if (i == 0 || i + 1 == s.size() || s[i - 1] == '.')
        return Wrong{"IPv4 field must have at least one digit", s.substr(i)};
      if (fields == 3) return Wrong{"IPv4 address too long", {}};
      out += static_cast<char>(value);
      ++fields;
      value = digits = 0;
    } else {
      return Wrong{"unexpected character", s.substr(i)};
    }
  }
  if (fields < 3) return Wrong{"IPv4 address too short", {}};
  out += static_cast<char>(value);
  return {};
}

// One group of hexadecimal digits, taken from s.
Parsed parse_group(std::string_view& s, std::string& out) {
  std::size_t n = 0;
  unsigned value = 0;
  for (; n < s.size() && hex_digit(s[n]) >= 0; ++n) {
    if (n > 3) return Wrong{"each group must have 4 or less digits", s};
    value = value * 16 + static_cast<unsigned>(hex_digit(s[n]));
  }
  if (n == 0) return Wrong{"each colon-separated field must have at least one digit", s};
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value & 255);
  s.remove_prefix(n);
  return {};
}

Parsed parse6(std::string_view s, std::string& out) {
  std::optional<std::size_t> ellipsis;  // how many bytes are before it
  if (s.starts_with("::")) {
    ellipsis = 0;
    s.remove_prefix(2);
  }
  while (out.size() < 16 && !(s.empty() && ellipsis)) {
    std::string_view group = s;
    std::size_t before = out.size();
    if (Parsed wrong = parse_group(s, out)) return wrong;
    if (s.starts_with('.')) {
      out.resize(before);
      if (!ellipsis && before != 12)
        return Wrong{"embedded IPv4 address must replace the final 2 fields of the address", group};
      if (before > 12) return Wrong{"too many hex fields to fit an embedded IPv4 at the end of the address", group};
      if (Parsed wrong = parse4(group, out)) return wrong;
      s = {};
      break;
    }
    if (s.empty()) break;
    if (s[0] != ':') return Wrong{"unexpected character, want colon", s};
    if (s.size() == 1) return Wrong{"colon must be followed by more characters", s};
    s.remove_prefix(1);
    if (s[0] == ':') {
      if (ellipsis) return Wrong{"multiple :: in address", s};
      ellipsis = out.size();
      s.remove_prefix(1);
    }
  }
  if (!s.empty()) return Wrong{"trailing garbage after address", s};
  if (out.size() < 16 && !ellipsis) return Wrong{"address string too short", {}};
  if (out.size() == 16 && ellipsis) return Wrong{"the :: must expand to at least one field of zeros", {}};
  if (ellipsis) out.insert(*ellipsis, 16 - out.size(), '\0');
  return {};
}

}  // namespace

std::optional<Address> parse_address(std::string_view s, std::string& error) {
  Address a;
  Parsed wrong = Wrong{"unable to parse IP", {}};
  std::size_t mark = s.find_first_of(".:%");
  if (mark != std::string_view::npos && s[mark] == '.') wrong = parse4(s, a.bytes);
  if (mark != std::string_view::npos && s[mark] == '%') wrong = Wrong{"missing IPv6 address", {}};
  if (mark != std::string_view::npos && s[mark] == ':') {
    std::size_t zone = std::min(s.find('%'), s.size());
    a.zone = s.substr(std::min(zone + 1, s.size()));
    wrong = zone + 1 == s.size() ? Wrong{"zone must be a non-empty string", {}} : parse6(s.substr(0, zone), a.bytes);
  }
  if (!wrong) return a;
  error = fmt::format("ParseAddr({}): {}", go_quote(s), wrong->why);
  if (!wrong->at.empty()) error += fmt::format(" (at {})", go_quote(wrong->at));
  return std::nullopt;
}

std::optional<Prefix> parse_prefix(std::string_view s, std::string& error) {
  auto bad = [&](std::string_view why) {
    error = fmt::format("netip.ParsePrefix({}): {}", go_quote(s), why);
    return std::nullopt;
  };
  std::size_t slash = s.rfind('/');
  if (slash == std::string_view::npos) return bad("no '/'");
  std::string why;
  std::optional<Address> a = parse_address(s.substr(0, slash), why);
  if (!a) return bad(why);
  if (!a->zone.empty()) return bad("IPv6 zones cannot be present in a prefix");
  std::string_view bits = s.substr(slash + 1);
  if (bits.empty() || bits.size() > 3 || bits.find_first_not_of("0123456789") != std::string_view::npos ||
      (bits.size() > 1 && bits[0] == '0'))
    return bad("bad bits after slash: " + go_quote(bits));
  int n = std::stoi(std::string(bits));
  if (n > static_cast<int>(a->bytes.size()) * 8) return bad("prefix length out of range");
  return Prefix{*a, n};
}

}  // namespace tutti::cue
