#include "lang/cue/module/version.h"

#include <algorithm>
#include <charconv>

namespace tutti::cue {

namespace {

// Of pre-releases: part by part; numbers are before words, and what has fewer parts is before what goes on.
bool is_before(std::string_view a, std::string_view b) {
  auto is_number = [](std::string_view s) { return s.find_first_not_of("0123456789") == s.npos; };
  while (!a.empty() && !b.empty()) {
    std::size_t ends_a = std::min(a.find('.'), a.size()), ends_b = std::min(b.find('.'), b.size());
    std::string_view x = a.substr(0, ends_a), y = b.substr(0, ends_b);
    if (x != y) {
      bool nx = is_number(x), ny = is_number(y);
      if (nx != ny) return nx;
      return nx && x.size() != y.size() ? x.size() < y.size() : x < y;
    }
    a.remove_prefix(std::min(ends_a + 1, a.size()));
    b.remove_prefix(std::min(ends_b + 1, b.size()));
  }
  return a.empty() && !b.empty();
}

}  // namespace

std::optional<Version> version_of(std::string_view text) {
  if (!text.starts_with('v')) return std::nullopt;
  text.remove_prefix(1);
  Version v;
  v.built = text.find('+') != text.npos;
  text = text.substr(0, text.find('+'));
  if (std::size_t dash = text.find('-'); dash != text.npos) {
    v.before = text.substr(dash + 1);
    text = text.substr(0, dash);
    constexpr std::string_view kLetters = "0123456789-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (v.before.empty() || v.before.find_first_not_of(kLetters) != v.before.npos) return std::nullopt;
  }
  std::size_t n = 0;
  for (;; ++n) {
    std::size_t dot = std::min(text.find('.'), text.size());
    std::string_view part = text.substr(0, dot);
    if (n == 3 || part.empty() || (part.size() > 1 && part[0] == '0')) return std::nullopt;
    auto [end, bad] = std::from_chars(part.data(), part.data() + part.size(), v.numbers[n]);
    if (bad != std::errc{} || end != part.data() + part.size()) return std::nullopt;
    if (dot == text.size()) break;
    text.remove_prefix(dot + 1);
  }
  v.whole = n == 2;
  return v;
}

bool is_whole_version(std::string_view text) {
  std::optional<Version> v = version_of(text);
  return v && v->whole && !v->built;
}

bool operator<(const Version& a, const Version& b) {
  if (a.numbers != b.numbers) return a.numbers < b.numbers;
  if (a.before.empty() || b.before.empty()) return !a.before.empty() && b.before.empty();
  return is_before(a.before, b.before);
}

bool is_older(std::string_view a, std::string_view b) {
  std::optional<Version> x = version_of(a), y = version_of(b);
  if (!x || !y) return !x && y;
  return *x < *y;
}

}  // namespace tutti::cue
