#include "lang/puppet/types/value.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/budget.h"
#include "base/utf8.h"
#include "lang/puppet/types/type.h"
#include "lang/puppet/types/unicode.h"

namespace tutti::puppet {
namespace {
constexpr u32 kIndexFrom = 9;

u32* make_slots(std::span<const Pair> pairs, u32 mask, u32* slots) {
  std::memset(slots, 0, (mask + 1) * sizeof(u32));
  for (u32 n = 0; n < pairs.size(); ++n) {
    u32 at = static_cast<u32>(hash_value(pairs[n].key)) & mask;
    while (slots[at]) at = (at + 1) & mask;
    slots[at] = n + 1;
  }
  return slots;
}

u32 mask_for(std::size_t n) {
  u32 size = 16;
  while (size < n * 2) size *= 2;
  return size - 1;
}
}  // namespace

namespace {
u32 checked_weight(u64 sum) {
  if (sum > kMostValues)
    throw LimitError("LIMIT-MEMORY", fmt::format("one value holds more than {} others, all uses counted", kMostValues));
  return static_cast<u32>(sum);
}
}  // namespace

Val Val::array(std::span<const Val> x) {
  Val v;
  v.kind = VK::kArray;
  v.list = x.data();
  v.size = static_cast<u32>(x.size());
  u64 sum = 1;
  for (const Val& i : x) sum += i.weight;
  v.weight = checked_weight(sum);
  return v;
}

Val Val::type(const Type* x) {
  Val v;
  v.kind = VK::kType;
  v.t = x;
  v.weight = x->weight;
  return v;
}

std::span<const Pair> Val::entries() const {
  if (kind != VK::kHash || size == 0) return {};
  return {h->pairs, size};
}

const Val* Val::get(const Val& key) const {
  if (kind != VK::kHash || size == 0) return nullptr;
  if (!h->slots) {
    for (u32 n = 0; n < size; ++n)
      if (same(h->pairs[n].key, key)) return &h->pairs[n].value;
    return nullptr;
  }
  for (u32 at = static_cast<u32>(hash_value(key)) & h->mask; h->slots[at]; at = (at + 1) & h->mask)
    if (same(h->pairs[h->slots[at] - 1].key, key)) return &h->pairs[h->slots[at] - 1].value;
  return nullptr;
}

void HashDraft::index() {
  u32 mask = mask_for(pairs_.size() * 2);
  slots_.resize(mask + 1);
  make_slots(pairs_, mask, slots_.data());
}

const Val* HashDraft::get(const Val& key) const {
  if (slots_.empty()) {
    for (const Pair& p : pairs_)
      if (same(p.key, key)) return &p.value;
    return nullptr;
  }
  u32 mask = static_cast<u32>(slots_.size() - 1);
  for (u32 at = static_cast<u32>(hash_value(key)) & mask; slots_[at]; at = (at + 1) & mask)
    if (same(pairs_[slots_[at] - 1].key, key)) return &pairs_[slots_[at] - 1].value;
  return nullptr;
}

void HashDraft::set(const Val& key, const Val& value) {
  if (const Val* old = get(key)) {
    *const_cast<Val*>(old) = value;
    return;
  }
  pairs_.push_back({key, value});
  if (pairs_.size() < kIndexFrom) return;
  if (slots_.empty() || pairs_.size() * 2 > slots_.size()) return index();
  u32 mask = static_cast<u32>(slots_.size() - 1), at = static_cast<u32>(hash_value(key)) & mask;
  while (slots_[at]) at = (at + 1) & mask;
  slots_[at] = static_cast<u32>(pairs_.size());
}

bool HashDraft::erase(const Val& key) {
  for (std::size_t n = 0; n < pairs_.size(); ++n)
    if (same(pairs_[n].key, key)) {
      pairs_.erase(pairs_.begin() + static_cast<std::ptrdiff_t>(n));
      slots_.clear();
      if (pairs_.size() >= kIndexFrom) index();
      return true;
    }
  return false;
}

Val HashDraft::build(Arena& arena) const { return make_hash(arena, pairs_); }

Val make_hash(Arena& arena, std::span<const Pair> pairs) {
  Val v;
  v.kind = VK::kHash;
  v.size = static_cast<u32>(pairs.size());
  u64 sum = 1;
  for (const Pair& p : pairs) sum += u64{p.key.weight} + p.value.weight;
  v.weight = checked_weight(sum);
  std::span<const Pair> kept = arena.copy(pairs);
  HashBody* body = arena.make<HashBody>();
  body->pairs = kept.data();
  body->slots = nullptr;
  body->mask = 0;
  if (pairs.size() >= kIndexFrom) {
    body->mask = mask_for(pairs.size());
    body->slots = make_slots(kept, body->mask, arena.array<u32>(body->mask + 1));
  }
  v.h = body;
  return v;
}

namespace {

void keep_sensitive(const Val& v, Sources& sources) {
  if (v.is(VK::kString) || v.is(VK::kBinary)) return sources.keep_secret(v.text());
  if (v.is(VK::kInt)) return sources.keep_secret(std::to_string(v.i));
  if (v.is(VK::kArray))
    for (const Val& i : v.items()) keep_sensitive(i, sources);
  if (v.is(VK::kHash))
    for (const Pair& p : v.entries()) keep_sensitive(p.value, sources);
  // `Sensitive(Deferred('sprintf', ['%s', 'secret']))`: the name of the function is none.
  if (v.is(VK::kObject))
    for (const Pair& p : v.o->fields)
      if (p.key.text() != "name") keep_sensitive(p.value, sources);
}

}  // namespace

Val make_sensitive(Arena& arena, const Val& inner, Sources& sources) {
  keep_sensitive(inner, sources);
  Val v;
  v.kind = VK::kSensitive;
  v.box = arena.make<Val>(inner);
  v.weight = inner.weight;
  return v;
}

u64 hash_value(const Val& v) {
  constexpr u64 kMul = 0x9E3779B97F4A7C15;
  u64 x = static_cast<u64>(v.kind) * kMul;
  switch (v.kind) {
    case VK::kUndef:
    case VK::kDefault: return x ^ (x >> 29);
    case VK::kBool: x ^= v.b ? 7 : 3; break;
    case VK::kInt:
    case VK::kTimestamp:
    case VK::kTimespan: x ^= static_cast<u64>(v.i); break;
    case VK::kFloat: {
      double d = v.d == 0 ? 0 : v.d;
      u64 bits;
      std::memcpy(&bits, &d, 8);
      x ^= bits;
      break;
    }
    case VK::kArray:
      for (const Val& i : v.items()) x = (x ^ hash_value(i)) * kMul;
      break;
    case VK::kHash:
      for (const Pair& p : v.entries()) x += hash_value(p.key) * 31 + hash_value(p.value);
      break;
    case VK::kSensitive: x ^= hash_value(*v.box); break;
    case VK::kType: x ^= std::hash<std::string>{}(type_text(v.t)); break;
    case VK::kObject:
    case VK::kClosure: break;
    default:
      for (char c : v.text()) x = (x ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  x ^= x >> 32;
  x *= kMul;
  return x ^ (x >> 29);
}

bool same(const Val& a, const Val& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case VK::kUndef:
    case VK::kDefault: return true;
    case VK::kBool: return a.b == b.b;
    case VK::kInt:
    case VK::kTimestamp:
    case VK::kTimespan: return a.i == b.i;
    case VK::kFloat: return a.d == b.d;
    case VK::kArray: {
      if (a.size != b.size) return false;
      for (u32 n = 0; n < a.size; ++n)
        if (!same(a.list[n], b.list[n])) return false;
      return true;
    }
    case VK::kHash: {
      if (a.size != b.size) return false;
      for (const Pair& p : a.entries()) {
        const Val* o = b.get(p.key);
        if (!o || !same(p.value, *o)) return false;
      }
      return true;
    }
    case VK::kType: return same_type(a.t, b.t);
    case VK::kSensitive: return same(*a.box, *b.box);
    case VK::kObject: {
      if (a.o == b.o) return true;
      if (a.o->type != b.o->type || a.o->fields.size() != b.o->fields.size()) return false;
      for (std::size_t n = 0; n < a.o->fields.size(); ++n)
        if (!same(a.o->fields[n].value, b.o->fields[n].value)) return false;
      return true;
    }
    case VK::kClosure: return a.c == b.c;
    default: return a.text() == b.text();
  }
}

bool equal(const Val& a, const Val& b) {
  if (a.kind != b.kind) {
    if (a.is(VK::kInt) && b.is(VK::kFloat)) return static_cast<double>(a.i) == b.d;
    if (a.is(VK::kFloat) && b.is(VK::kInt)) return a.d == static_cast<double>(b.i);
    return false;
  }
  switch (a.kind) {
    case VK::kString: return equal_text(a.text(), b.text());
    case VK::kArray:
      if (a.size != b.size) return false;
      for (u32 n = 0; n < a.size; ++n)
        if (!equal(a.list[n], b.list[n])) return false;
      return true;
    case VK::kHash:
      if (a.size != b.size) return false;
      for (const Pair& p : a.entries()) {
        const Val* o = b.get(p.key);
        if (!o || !equal(p.value, *o)) return false;
      }
      return true;
    default: return same(a, b);
  }
}

namespace {
char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
}  // namespace

bool equal_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t n = 0; n < a.size(); ++n)
    if (a[n] != b[n] && ascii_lower(a[n]) != ascii_lower(b[n])) return false;
  return true;
}

int compare_text(std::string_view a, std::string_view b) {
  for (std::size_t n = 0; n < a.size() && n < b.size(); ++n) {
    unsigned char x = static_cast<unsigned char>(ascii_lower(a[n])), y = static_cast<unsigned char>(ascii_lower(b[n]));
    if (x != y) return x < y ? -1 : 1;
  }
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

std::string downcase(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t at = 0; at < s.size();) {
    unsigned char c = static_cast<unsigned char>(s[at]);
    if (c < 128) {
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : s[at];
      ++at;
      continue;
    }
    std::size_t from = at;
    char32_t code = utf8::decode(s, at);
    if (code == utf8::kInvalid)
      out += s[from];
    else
      utf8::append(out, unicode_lower(code));
  }
  return out;
}

std::string upcase(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (std::size_t at = 0; at < s.size();) {
    unsigned char c = static_cast<unsigned char>(s[at]);
    if (c < 128) {
      out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : s[at];
      ++at;
      continue;
    }
    std::size_t from = at;
    char32_t code = utf8::decode(s, at);
    if (code == utf8::kInvalid)
      out += s[from];
    else if (code == 0xDF)
      out += "SS";
    else
      utf8::append(out, unicode_upper(code));
  }
  return out;
}

i64 truncated(double d) {
  if (std::isnan(d)) return 0;
  if (d >= 0x1p63) return std::numeric_limits<i64>::max();
  if (d < -0x1p63) return std::numeric_limits<i64>::min();
  return static_cast<i64>(d);
}

bool parse_number(std::string_view s, Val& out) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  bool negative = false;
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  }
  if (s.empty() || s[0] < '0' || s[0] > '9') return false;
  int base = 10;
  std::string_view digits = s;
  if (s.size() > 1 && s[0] == '0') {
    if (s[1] == 'x' || s[1] == 'X')
      base = 16, digits.remove_prefix(2);
    else if (s[1] == 'b' || s[1] == 'B')
      base = 2, digits.remove_prefix(2);
    else if (s.find_first_of(".eE") == std::string_view::npos)
      base = 8, digits.remove_prefix(1);
  }
  if (base == 10 && s.find_first_of(".eE") != std::string_view::npos) {
    std::size_t p = 0;
    auto run = [&] {
      std::size_t from = p;
      while (p < s.size() && s[p] >= '0' && s[p] <= '9') ++p;
      return p > from;
    };
    if (!run()) return false;
    if (p < s.size() && s[p] == '.') {
      ++p;
      if (!run()) return false;
    }
    if (p < s.size() && (s[p] == 'e' || s[p] == 'E')) {
      ++p;
      if (p < s.size() && (s[p] == '-' || s[p] == '+')) ++p;
      if (!run()) return false;
    }
    if (p != s.size()) return false;
    double d = std::strtod(std::string(s).c_str(), nullptr);
    out = Val::real(negative ? -d : d);
    return true;
  }
  if (digits.empty()) return false;
  std::string signed_text = (negative ? "-" : "") + std::string(digits);
  i64 value = 0;
  auto [end, error] = std::from_chars(signed_text.data(), signed_text.data() + signed_text.size(), value, base);
  if (error != std::errc() || end != signed_text.data() + signed_text.size()) return false;
  out = Val::integer(value);
  return true;
}

}  // namespace tutti::puppet
