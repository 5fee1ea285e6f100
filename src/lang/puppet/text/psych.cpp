#include "lang/puppet/text/psych.h"

#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/ascii.h"

namespace tutti::puppet {
namespace {

bool same_word(std::string_view a, std::string_view lower) {
  if (a.size() != lower.size()) return false;
  for (std::size_t i = 0; i < a.size(); i++) {
    char c = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] + 32) : a[i];
    if (c != lower[i]) return false;
  }
  return true;
}

bool any_word(std::string_view a, std::initializer_list<std::string_view> words) {
  for (std::string_view w : words) {
    if (same_word(a, w)) return true;
  }
  return false;
}

// The reader's quick test for plain text: an optional first character of any kind but digits and .:-, then a letter or
// one of the usual marks.
bool looks_like_text(std::string_view s) {
  auto texty = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<u8>(c) >= 0x80 || c == ' ' || c == '\t' ||
           std::string_view("_!@#$%^&*(){}<>|/\\~;=").find(c) != std::string_view::npos;
  };
  if (s.find('\n') != std::string_view::npos) return true;
  if (texty(s[0])) return true;
  return s.size() > 1 && !is_digit(s[0]) && s[0] != '.' && s[0] != ':' && s[0] != '-' && texty(s[1]);
}

struct Cursor {
  std::string_view s;
  std::size_t at = 0;
  bool sign() {
    if (at < s.size() && (s[at] == '-' || s[at] == '+')) return ++at, true;
    return false;
  }
  std::size_t run(std::string_view of) {
    std::size_t start = at;
    while (at < s.size() && of.find(s[at]) != std::string_view::npos) at++;
    return at - start;
  }
  bool done() const { return at == s.size(); }
};

constexpr std::string_view kDigits = "0123456789";

bool is_date(std::string_view s) {
  Cursor c{s};
  std::size_t year = c.run(kDigits);
  if (year != 4 || c.done() || s[c.at++] != '-') return false;
  std::size_t from = c.at, n = c.run(kDigits);
  int month = 0, day = 0;
  if (n < 1 || n > 2) return false;
  std::from_chars(s.data() + from, s.data() + c.at, month);
  if (c.done() || s[c.at++] != '-') return false;
  from = c.at;
  n = c.run(kDigits);
  std::from_chars(s.data() + from, s.data() + c.at, day);
  return n >= 1 && n <= 2 && c.done() && month <= 12 && day <= 31;
}

bool is_time(std::string_view s) {
  Cursor c{s};
  if (!c.done() && s[0] == '-') c.at++;
  std::size_t end = s.find_first_of("Tt \t", c.at);
  if (end == std::string_view::npos || !is_date(s.substr(c.at, end - c.at))) return false;
  c.at = end;
  if (s[c.at] == 'T' || s[c.at] == 't') {
    c.at++;
  } else {
    c.run(" \t");
  }
  std::size_t hours = c.run(kDigits);
  if (hours < 1 || hours > 2) return false;
  for (int i = 0; i < 2; i++) {
    if (c.done() || s[c.at++] != ':' || c.run(kDigits) != 2) return false;
  }
  if (!c.done() && s[c.at] == '.') {
    c.at++;
    c.run(kDigits);
  }
  c.run(" \t");
  if (c.done()) return true;
  if (s[c.at] == 'Z') return c.at + 1 == s.size();
  if (!c.sign()) return false;
  c.run(kDigits);
  if (!c.done() && s[c.at] == ':') {
    c.at++;
    c.run(kDigits);
  }
  return c.done();
}

std::string without(std::string_view s, std::string_view marks) {
  std::string out;
  for (char c : s) {
    if (marks.find(c) == std::string_view::npos) out += c;
  }
  return out;
}

PsychScalar integer(std::string digits) {
  PsychScalar v;
  bool negative = digits[0] == '-';
  std::string_view d = digits;
  if (d[0] == '-' || d[0] == '+') d.remove_prefix(1);
  int base = 10;
  if (d.size() > 1 && d[0] == '0') {
    base = d[1] == 'x' ? 16 : d[1] == 'b' ? 2 : 8;
    d.remove_prefix(base == 8 ? 1 : 2);
  }
  u64 magnitude = 0;
  auto [end, bad] = std::from_chars(d.data(), d.data() + d.size(), magnitude, base);
  if (bad != std::errc{} || end != d.data() + d.size()) return v;
  v.what = PsychScalar::kInt;
  v.integer = static_cast<i64>(negative ? 0 - magnitude : magnitude);
  return v;
}

// 190:20:30 and 190:20:30.15: three places of sixty, counted from the left as Ruby does.
bool sexagesimal(std::string_view s, PsychScalar& v) {
  Cursor c{s};
  c.sign();
  if (c.done() || !is_digit(s[c.at])) return false;
  c.run("0123456789_");
  int groups = 0;
  while (!c.done() && s[c.at] == ':' && groups < 2) {
    c.at++;
    std::size_t from = c.at, n = c.run(kDigits);
    if (n < 1 || n > 2 || (n == 2 && s[from] > '5')) return false;
    groups++;
  }
  if (groups == 0) return false;
  bool real = false;
  if (!c.done() && s[c.at] == '.') {
    real = true;
    c.at++;
    c.run("0123456789_");
  }
  if (!c.done()) return false;
  double sum = 0, weight = 3600;
  std::string plain = without(s, "_");
  for (std::size_t from = 0; from <= plain.size();) {
    std::size_t colon = std::min(plain.find(':', from), plain.size());
    sum += std::strtod(plain.substr(from, colon - from).c_str(), nullptr) * weight;
    weight /= 60;
    from = colon + 1;
  }
  v.what = real ? PsychScalar::kFloat : PsychScalar::kInt;
  v.integer = static_cast<i64>(sum);
  v.real = sum;
  return true;
}

bool floating(std::string_view s, PsychScalar& v) {
  Cursor c{s};
  c.sign();
  std::size_t before = 0;
  if (!c.done() && is_digit(s[c.at])) before = c.run("0123456789_,");
  if (c.done() || s[c.at++] != '.') return false;
  std::size_t after = c.run(kDigits);
  if (!c.done() && (s[c.at] == 'e' || s[c.at] == 'E')) {
    c.at++;
    if (!c.sign() || c.run(kDigits) == 0) return false;
  }
  if (!c.done() || (before == 0 && after == 0)) return false;
  v.what = PsychScalar::kFloat;
  v.real = std::strtod(without(s, "_,").c_str(), nullptr);
  return true;
}

bool integral(std::string_view s, PsychScalar& v) {
  Cursor c{s};
  c.sign();
  std::string_view d = s.substr(c.at);
  if (d.empty() || !is_digit(d[0])) return false;
  bool fits;
  if (d.starts_with("0b")) {
    fits = d.size() > 2 && d.find_first_not_of("01_,", 2) == std::string_view::npos;
  } else if (d.starts_with("0x")) {
    fits = d.size() > 2 && d.find_first_not_of("0123456789abcdefABCDEF_,", 2) == std::string_view::npos;
  } else if (d[0] == '0' && d.size() > 1) {
    fits = d.find_first_not_of("01234567_,", 1) == std::string_view::npos;
  } else {
    fits = d.find_first_not_of("0123456789_,") == std::string_view::npos && is_digit(d.back()) &&
           d.find("__") == std::string_view::npos && d.find(",,") == std::string_view::npos;
  }
  if (!fits) return false;
  v = integer(without(s, "_,"));
  return v.what == PsychScalar::kInt;
}

}  // namespace

PsychScalar psych_scalar(std::string_view s) {
  PsychScalar v;
  if (s.empty()) {
    v.what = PsychScalar::kNull;
    return v;
  }
  if (looks_like_text(s)) {
    if (s == "~" || same_word(s, "null")) {
      v.what = PsychScalar::kNull;
    } else if (any_word(s, {"yes", "true", "on"}) || any_word(s, {"no", "false", "off"})) {
      v.what = PsychScalar::kBool;
      v.boolean = any_word(s, {"yes", "true", "on"});
    }
    return v;
  }
  if (is_time(s) || is_date(s)) {
    v.what = PsychScalar::kDate;
    return v;
  }
  if (any_word(s, {".inf", "+.inf", "-.inf"})) {
    v.what = PsychScalar::kFloat;
    v.real = (s[0] == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
    return v;
  }
  if (same_word(s, ".nan")) {
    v.what = PsychScalar::kFloat;
    v.real = std::numeric_limits<double>::quiet_NaN();
    return v;
  }
  if (s[0] == ':' && s.size() > 1) {
    v.what = PsychScalar::kSymbol;
    v.text = s.substr(1);
    if (v.text.size() > 1 && (v.text[0] == '"' || v.text[0] == '\'') && v.text.back() == v.text[0]) {
      v.text = v.text.substr(1, v.text.size() - 2);
    }
    return v;
  }
  if (sexagesimal(s, v) || floating(s, v) || integral(s, v)) return v;
  return {};
}

}  // namespace tutti::puppet
