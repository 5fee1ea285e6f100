#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/symbol.h"
#include "tree/origin.h"

namespace tutti {
class Sources;
}

namespace tutti::puppet {

struct Type;
struct HashBody;
struct ObjectBody;
struct Closure;
struct Val;

enum class VK : u8 {
  kUndef,
  kDefault,
  kBool,
  kInt,
  kFloat,
  kString,
  kRegex,  // text: the pattern
  kArray,
  kHash,
  kType,         // types, and so references to resources: File['/x'] is a type
  kSensitive,    // boxes one value
  kBinary,       // text: the bytes
  kTimestamp,    // integer: nanoseconds since 1970
  kTimespan,     // integer: nanoseconds
  kSemVer,       // text
  kSemVerRange,  // text
  kUri,          // text
  kObject,       // an instance of an Object type, or a Deferred
  kClosure,      // a lambda as a value
};

struct Pair;

// A value of the Puppet language: 24 bytes, copied freely; what it points to lives in an arena and never changes.
// The origin is where it came from (tree/origin.h); it takes no part in comparisons.
struct Val {
  VK kind = VK::kUndef;
  Origin origin;
  union {
    i64 i = 0;
    bool b;
    double d;
    const char* s;
    const Val* list;
    const HashBody* h;
    const Type* t;
    const Val* box;
    const ObjectBody* o;
    const Closure* c;
  };
  u32 size = 0;    // bytes of text, items of an array, entries of a hash
  u32 weight = 1;  // how many values it is when everything in it is counted as often as it is there

  static Val undef() { return {}; }
  static Val default_() {
    Val v;
    v.kind = VK::kDefault;
    return v;
  }
  static Val boolean(bool x) {
    Val v;
    v.kind = VK::kBool;
    v.b = x;
    return v;
  }
  static Val integer(i64 x) {
    Val v;
    v.kind = VK::kInt;
    v.i = x;
    return v;
  }
  static Val real(double x) {
    Val v;
    v.kind = VK::kFloat;
    v.d = x;
    return v;
  }
  // The text must live as long as the value: an arena, the source, or a literal.
  static Val string(std::string_view x) { return with_text(VK::kString, x); }
  static Val with_text(VK k, std::string_view x) {
    Val v;
    v.kind = k;
    v.s = x.data();
    v.size = static_cast<u32>(x.size());
    return v;
  }
  // Throws LimitError where the values in it are too many together (kMostValues).
  static Val array(std::span<const Val> x);
  static Val type(const Type* x);
  static Val nanoseconds(VK k, i64 x) {
    Val v;
    v.kind = k;
    v.i = x;
    return v;
  }

  bool is(VK k) const { return kind == k; }
  bool undefined() const { return kind == VK::kUndef; }
  bool truthy() const { return kind != VK::kUndef && !(kind == VK::kBool && !b); }
  std::string_view text() const { return {s, size}; }
  std::span<const Val> items() const { return {list, size}; }
  std::span<const Pair> entries() const;
  // The value under a key, or nullptr. Keys compare exactly: strings by their bytes, 1 is not 1.0.
  const Val* get(const Val& key) const;
  const Val* get(std::string_view key) const { return get(Val::string(key)); }
  Val with_origin(Origin x) const {
    Val v = *this;
    v.origin = x;
    return v;
  }
};
static_assert(sizeof(Val) == 24);

// What is shared is small to hold, but whoever looks at all of it (compares, prints, checks a type) sees every use of
// it: values that hold the same one twice, again and again, are refused when they are made.
constexpr u64 kMostValues = u64{1} << 22;

struct Pair {
  Val key, value;
};

struct HashBody {
  const Pair* pairs;
  const u32* slots;  // open addressing, 1 + index; nullptr for small hashes
  u32 mask;
};

// What an object does besides holding fields: a method call finds these before any function.
class ObjectMethods {
 public:
  virtual ~ObjectMethods() = default;
  // nullopt: there is no such method. Throws TypeError where the arguments are wrong.
  virtual std::optional<Val> call(std::string_view method, std::span<const Val> args, const Closure* block) = 0;
};

struct ObjectBody {
  const Type* type = nullptr;    // the Object type; nullptr for Deferred
  std::span<const Pair> fields;  // name -> value, in the type's order
  ObjectMethods* methods = nullptr;
};

// A hash being put together; a later value for a key replaces the earlier one in its place.
class HashDraft {
 public:
  void set(const Val& key, const Val& value);
  void set(std::string_view key, const Val& value) { set(Val::string(key), value); }  // the key's text must stay
  bool erase(const Val& key);
  const Val* get(const Val& key) const;
  std::size_t size() const { return pairs_.size(); }
  std::vector<Pair>& pairs() { return pairs_; }
  Val build(Arena& arena) const;

 private:
  std::vector<Pair> pairs_;
  std::vector<u32> slots_;
  void index();
};

// Building values in an arena.
inline Val make_string(Arena& arena, std::string_view text) { return Val::string(arena.copy(text)); }
inline Val make_array(Arena& arena, std::span<const Val> items) { return Val::array(arena.copy(items)); }
Val make_hash(Arena& arena, std::span<const Pair> pairs);  // keys must differ
// Its texts are kept from now on, also once it is unwrapped.
Val make_sensitive(Arena& arena, const Val& inner, Sources& sources);

u64 hash_value(const Val& v);
// The language's ==: strings without regard to case, 1 == 1.0, deep for arrays and hashes.
bool equal(const Val& a, const Val& b);
// As hash keys, `unique` and types compare: exact.
bool same(const Val& a, const Val& b);
// Strings without regard to the case of ASCII letters.
bool equal_text(std::string_view a, std::string_view b);
std::string downcase(std::string_view s);  // all of Unicode
std::string upcase(std::string_view s);
int compare_text(std::string_view a, std::string_view b);  // < 0, 0, > 0, the same way

// As interpolation shows it: undef is "", strings within arrays are not quoted.
std::string to_text(const Val& v);
void append_text(std::string& out, const Val& v);
// As the language would write it: strings in single quotes, undef as a word. For messages and String(x, '%p').
std::string to_literal(const Val& v);
i64 truncated(double d);  // towards zero; the nearest there is when it does not fit
// A string that a number may be read from: decimal, octal, hex, float; false when it is none.
bool parse_number(std::string_view text, Val& out);

}  // namespace tutti::puppet
