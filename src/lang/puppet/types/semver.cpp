#include <charconv>
#include <vector>

#include "lang/puppet/types/type.h"

namespace tutti::puppet {
namespace {

bool read_number(std::string_view s, std::size_t& at, i64& out) {
  auto [end, error] = std::from_chars(s.data() + at, s.data() + s.size(), out);
  if (error != std::errc() || out < 0) return false;
  at = static_cast<std::size_t>(end - s.data());
  return true;
}

int compare_parts(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    if (a.empty()) return -1;
    if (b.empty()) return 1;
    std::string_view x = a.substr(0, a.find('.')), y = b.substr(0, b.find('.'));
    a.remove_prefix(std::min(a.size(), x.size() + 1));
    b.remove_prefix(std::min(b.size(), y.size() + 1));
    bool nx = x.find_first_not_of("0123456789") == std::string_view::npos,
         ny = y.find_first_not_of("0123456789") == std::string_view::npos;
    if (nx != ny) return nx ? -1 : 1;
    if (nx) {
      i64 p = 0, q = 0;
      std::from_chars(x.data(), x.data() + x.size(), p);
      std::from_chars(y.data(), y.data() + y.size(), q);
      if (p != q) return p < q ? -1 : 1;
    } else if (int c = x.compare(y)) {
      return c;
    }
  }
  return 0;
}

struct Comparator {
  enum Op { kEq, kLt, kLe, kGt, kGe } op;
  SemVer v;
};
using And = std::vector<Comparator>;

// A version whose last parts may be missing, x or *: how many parts were given.
bool partial(std::string_view s, SemVer& v, int& parts) {
  parts = 0;
  if (!s.empty() && (s[0] == 'v' || s[0] == 'V' || s[0] == '=')) s.remove_prefix(1);
  i64* fields[3] = {&v.major, &v.minor, &v.patch};
  std::size_t at = 0;
  for (int n = 0; n < 3; ++n) {
    if (at >= s.size()) break;
    if (s[at] == 'x' || s[at] == 'X' || s[at] == '*') return s.find_first_not_of("xX*.", at) == std::string_view::npos;
    if (!read_number(s, at, *fields[n])) return false;
    ++parts;
    if (n < 2) {
      if (at >= s.size()) return true;
      if (s[at] != '.') break;
      ++at;
    }
  }
  if (at < s.size() && s[at] == '-') {
    std::size_t plus = s.find('+', at);
    v.pre = std::string(s.substr(at + 1, plus == std::string_view::npos ? plus : plus - at - 1));
    at = plus == std::string_view::npos ? s.size() : plus;
  }
  if (at < s.size() && s[at] == '+') at = s.size();
  return at == s.size() && parts > 0;
}

SemVer bump(SemVer v, int part) {
  v.pre.clear();
  if (part == 0) ++v.major, v.minor = v.patch = 0;
  if (part == 1) ++v.minor, v.patch = 0;
  if (part == 2) ++v.patch;
  return v;
}

bool one_term(std::string_view s, And& out) {
  Comparator::Op op = Comparator::kEq;
  bool plain_term = false;
  char special = 0;
  if (s.substr(0, 2) == ">=")
    op = Comparator::kGe, s.remove_prefix(2);
  else if (s.substr(0, 2) == "<=")
    op = Comparator::kLe, s.remove_prefix(2);
  else if (s.substr(0, 1) == ">")
    op = Comparator::kGt, s.remove_prefix(1);
  else if (s.substr(0, 1) == "<")
    op = Comparator::kLt, s.remove_prefix(1);
  else if (s.substr(0, 1) == "~" || s.substr(0, 1) == "^")
    special = s[0], s.remove_prefix(s.substr(0, 2) == "~>" ? 2 : 1);
  else
    plain_term = true;
  while (!s.empty() && s[0] == ' ') s.remove_prefix(1);
  SemVer v;
  int parts = 0;
  if (!partial(s, v, parts)) return false;
  if (parts == 0) return true;  // anything
  if (special == '~' || (plain_term && parts < 3)) {
    out.push_back({Comparator::kGe, v});
    out.push_back({Comparator::kLt, bump(v, parts >= 2 ? 1 : 0)});
    return true;
  }
  if (special == '^') {
    out.push_back({Comparator::kGe, v});
    int part = v.major > 0 || parts == 1 ? 0 : v.minor > 0 || parts == 2 ? 1 : 2;
    out.push_back({Comparator::kLt, bump(v, part)});
    return true;
  }
  if (parts < 3 && (op == Comparator::kGt || op == Comparator::kLe)) {
    out.push_back({op == Comparator::kGt ? Comparator::kGe : Comparator::kLt, bump(v, parts - 1)});
    return true;
  }
  out.push_back({op, v});
  return true;
}

bool parse_range(std::string_view text, std::vector<And>& out) {
  std::size_t from = 0;
  for (;;) {
    std::size_t bar = text.find("||", from);
    std::string_view part = text.substr(from, bar == std::string_view::npos ? bar : bar - from);
    And all;
    if (std::size_t dash = part.find(" - "); dash != std::string_view::npos) {
      auto trim = [](std::string_view s) {
        while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
        while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
        return s;
      };
      SemVer a, b;
      int na = 0, nb = 0;
      if (!partial(trim(part.substr(0, dash)), a, na) || !partial(trim(part.substr(dash + 3)), b, nb)) return false;
      all.push_back({Comparator::kGe, a});
      if (nb == 3)
        all.push_back({Comparator::kLe, b});
      else if (nb > 0)
        all.push_back({Comparator::kLt, bump(b, nb - 1)});
    } else {
      std::size_t at = 0;
      while (at < part.size()) {
        while (at < part.size() && part[at] == ' ') ++at;
        std::size_t start = at;
        while (at < part.size() && std::string_view("<>=~^ ").find(part[at]) != std::string_view::npos) ++at;
        while (at < part.size() && part[at] != ' ') ++at;
        if (at > start && !one_term(part.substr(start, at - start), all)) return false;
      }
    }
    out.push_back(std::move(all));
    if (bar == std::string_view::npos) return true;
    from = bar + 2;
  }
}

}  // namespace

bool parse_semver(std::string_view s, SemVer& v) {
  int parts = 0;
  SemVer out;
  std::size_t plus = s.find('+');
  if (s.empty() || s[0] < '0' || s[0] > '9') return false;
  if (!partial(s.substr(0, plus), out, parts) || parts != 3) return false;
  if (plus != std::string_view::npos) out.build = std::string(s.substr(plus + 1));
  v = out;
  return true;
}

int compare_semver(const SemVer& a, const SemVer& b) {
  if (a.major != b.major) return a.major < b.major ? -1 : 1;
  if (a.minor != b.minor) return a.minor < b.minor ? -1 : 1;
  if (a.patch != b.patch) return a.patch < b.patch ? -1 : 1;
  if (a.pre.empty() != b.pre.empty()) return a.pre.empty() ? 1 : -1;
  return compare_parts(a.pre, b.pre);
}

bool parse_semver_range(std::string_view text) {
  std::vector<And> r;
  return parse_range(text, r);
}

bool semver_in_range(std::string_view range, const SemVer& version) {
  std::vector<And> r;
  if (!parse_range(range, r)) return false;
  for (const And& all : r) {
    bool good = true, pre_named = version.pre.empty();
    for (const Comparator& c : all) {
      int d = compare_semver(version, c.v);
      good = good && (c.op == Comparator::kEq   ? d == 0
                      : c.op == Comparator::kLt ? d < 0
                      : c.op == Comparator::kLe ? d <= 0
                      : c.op == Comparator::kGt ? d > 0
                                                : d >= 0);
      // A pre-release is in a range only when the range speaks of that version's pre-releases.
      if (!c.v.pre.empty() && c.v.major == version.major && c.v.minor == version.minor && c.v.patch == version.patch)
        pre_named = true;
    }
    if (good && pre_named) return true;
  }
  return false;
}

}  // namespace tutti::puppet
