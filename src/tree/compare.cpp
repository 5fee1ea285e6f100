#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <string>

#include "tree/value.h"

namespace tutti {
namespace {

// A number's text taken apart, so that numbers of any size compare by value without being computed: 0.digits *
// 10^exponent with neither leading nor trailing zeros in digits.
struct Parts {
  bool negative = false;
  std::string digits;
  i64 exponent = 0;
};

constexpr i64 kLargestExponent = 100'000'000'000'000'000;  // larger ones count as this one

Parts parts_of(const Value& v) {
  Parts p;
  std::string text = v.number_text();
  std::string_view s = text;
  if (s.starts_with('-')) {
    p.negative = true;
    s.remove_prefix(1);
  }
  i64 exponent = 0;
  if (std::size_t e = s.find_first_of("eE"); e != std::string_view::npos) {
    bool minus = s[e + 1] == '-';
    for (char c : s.substr(e + 1)) {
      if (c >= '0' && c <= '9') exponent = std::min<i64>(exponent * 10 + (c - '0'), kLargestExponent);
    }
    if (minus) exponent = -exponent;
    s = s.substr(0, e);
  }
  std::size_t point = s.find('.');
  p.digits = s.substr(0, point);
  i64 before = static_cast<i64>(p.digits.size());
  if (point != std::string_view::npos) p.digits += s.substr(point + 1);
  std::size_t zeros = p.digits.find_first_not_of('0');
  if (zeros == std::string::npos) return {};  // zero, whatever its sign and exponent
  p.digits.erase(0, zeros);
  p.digits.erase(p.digits.find_last_not_of('0') + 1);
  p.exponent = exponent + before - static_cast<i64>(zeros);
  return p;
}

int sign(auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; }

int compare_numbers(const Value& a, const Value& b) {
  if (a.fits_i64() && b.fits_i64()) return sign(a.as_i64(), b.as_i64());
  Parts x = parts_of(a), y = parts_of(b);
  if (x.digits.empty() || y.digits.empty()) {
    int xs = x.digits.empty() ? 0 : x.negative ? -1 : 1, ys = y.digits.empty() ? 0 : y.negative ? -1 : 1;
    return sign(xs, ys);
  }
  if (x.negative != y.negative) return x.negative ? -1 : 1;
  int magnitude = sign(x.exponent, y.exponent);
  if (magnitude == 0) magnitude = sign(x.digits.compare(y.digits), 0);
  return x.negative ? -magnitude : magnitude;
}

std::vector<const Entry*> sorted(const Value& map) {
  std::vector<const Entry*> out;
  out.reserve(map.size());
  for (const Entry& e : map.entries()) out.push_back(&e);
  std::sort(out.begin(), out.end(), [](const Entry* a, const Entry* b) { return a->key.text() < b->key.text(); });
  return out;
}

}  // namespace

bool equal(const Value& a, const Value& b, bool ordered) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNull: return true;
    case Kind::kBool: return a.as_bool() == b.as_bool();
    case Kind::kInt:
    case Kind::kDecimal: return compare_numbers(a, b) == 0;
    case Kind::kList:
      if (a.same_body(b)) return true;
      if (a.size() != b.size()) return false;
      for (std::size_t i = 0; i < a.size(); i++) {
        if (!equal(a.items()[i], b.items()[i], ordered)) return false;
      }
      return true;
    case Kind::kMap:
      if (a.same_body(b)) return true;
      if (a.size() != b.size()) return false;
      for (std::size_t i = 0; i < a.size(); i++) {
        const Entry& e = a.entries()[i];
        const Entry* other = ordered || b.entries()[i].key == e.key ? &b.entries()[i] : b.find(e.key);
        if (other == nullptr || other->key != e.key || !equal(e.value, other->value, ordered)) return false;
      }
      return true;
    default: return a.text() == b.text() && (a.kind() != Kind::kResource || a.tag() == b.tag());
  }
}

int compare(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return sign(a.kind(), b.kind());
  switch (a.kind()) {
    case Kind::kNull: return 0;
    case Kind::kBool: return sign(a.as_bool(), b.as_bool());
    case Kind::kInt:
    case Kind::kDecimal: return compare_numbers(a, b);
    case Kind::kList:
      for (std::size_t i = 0; i < std::min(a.size(), b.size()); i++) {
        if (int c = compare(a.items()[i], b.items()[i])) return c;
      }
      return sign(a.size(), b.size());
    case Kind::kMap: {
      auto x = sorted(a), y = sorted(b);
      for (std::size_t i = 0; i < std::min(x.size(), y.size()); i++) {
        if (x[i]->key != y[i]->key) return sign(x[i]->key.text().compare(y[i]->key.text()), 0);
        if (int c = compare(x[i]->value, y[i]->value)) return c;
      }
      return sign(x.size(), y.size());
    }
    default:
      if (a.kind() == Kind::kResource && a.tag() != b.tag()) return sign(a.tag().text().compare(b.tag().text()), 0);
      return sign(a.text().compare(b.text()), 0);
  }
}

u64 hash(const Value& v) {
  u64 h = static_cast<u64>(v.kind()) * 0x9E3779B97F4A7C15;
  auto mix = [&h](u64 x) {
    h = (h ^ x) * 0xD6E8FEB86659FD93;
    h ^= h >> 32;
  };
  auto text = [](std::string_view s) { return XXH3_64bits(s.data(), s.size()); };
  switch (v.kind()) {
    case Kind::kNull: break;
    case Kind::kBool: mix(v.as_bool()); break;
    case Kind::kInt:
    case Kind::kDecimal: {
      Parts p = parts_of(v);
      mix(text(p.digits));
      mix(static_cast<u64>(p.exponent) * 2 + p.negative);
      break;
    }
    case Kind::kList:
      for (const Value& item : v.items()) mix(hash(item));
      break;
    case Kind::kMap: {
      u64 sum = 0;  // order of keys does not count
      for (const Entry& e : v.entries()) {
        u64 pair = text(e.key.text()) ^ (hash(e.value) * 0xBF58476D1CE4E5B9);
        sum += pair ^ (pair >> 29);
      }
      mix(sum);
      mix(v.size());
      break;
    }
    default: mix(text(v.text())); mix(v.kind() == Kind::kResource ? text(v.tag().text()) : 0);
  }
  return h;
}

}  // namespace tutti
