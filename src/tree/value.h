#pragma once

#include <atomic>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/symbol.h"
#include "tree/origin.h"

namespace tutti {

enum class Kind : u8 {
  kNull,
  kBool,
  kInt,      // of any size
  kDecimal,  // exact, as written: 1.50 is not 1.5 when printed, but equal
  kString,   // UTF-8
  kBytes,
  kList,
  kMap,  // ordered
  // What some languages leave open:
  kReference,  // a reference kept as data: text() is its written form
  kLazy,       // to be supplied at run time: text() names what it waits for
  kResource,   // a typed reference such as File['/x']: tag() is the type, text() the title
  kOpen,       // not concrete: text() is the constraint (`int & >0`)
  kError,      // an error that is part of the result: text() is the message, tag() "incomplete" or "error"
};
std::string_view kind_word(Kind kind);

class Value;
struct Entry;
struct ListBody;
struct MapBody;

// A value of the common tree: 24 bytes, copied freely. A copy of a list or map shares its body, which is how
// inheritance costs only what it changes. Bodies and text live in an arena and never change once made.
// What stands in a text as it is: nothing, a setting of the same configuration, or what a component found out on a
// host.
enum class Raw : u8 { kNone, kSetting, kOutput };

class Value {
 public:
  constexpr Value() = default;  // null
  static Value null(Origin o = {}) { return Value(Kind::kNull, o); }
  static Value boolean(bool b, Origin o = {});
  static Value integer(i64 i, Origin o = {});
  // Text of a number, -?digits(.digits)?([eE][+-]?digits)?, which must outlive the value. It becomes an integer when it
  // has neither fraction nor exponent. Kept as it is, so that numbers survive a round trip exactly.
  static Value number(std::string_view text, Origin o = {});
  static Value string(std::string_view text, Origin o = {}) { return with_text(Kind::kString, text, o); }
  static Value bytes(std::string_view data, Origin o = {}) { return with_text(Kind::kBytes, data, o); }
  static Value reference(std::string_view text, Origin o = {}) { return with_text(Kind::kReference, text, o); }
  static Value lazy(std::string_view name, Origin o = {}) { return with_text(Kind::kLazy, name, o); }
  static Value resource(Symbol type, std::string_view title, Origin o = {});
  static Value open(std::string_view constraint, Origin o = {}) { return with_text(Kind::kOpen, constraint, o); }
  static Value error(std::string_view message, Symbol what, Origin o = {});

  Kind kind() const { return kind_; }
  bool is(Kind k) const { return kind_ == k; }
  bool is_scalar() const { return kind_ <= Kind::kBytes; }

  bool as_bool() const { return u_.boolean; }
  bool fits_i64() const { return kind_ == Kind::kInt && !(flags_ & kText); }
  i64 as_i64() const { return u_.integer; }
  std::string number_text() const;                            // of kInt and kDecimal
  std::string_view text() const { return {u_.text, size_}; }  // of the kinds that have one
  std::span<const Value> items() const;                       // of kList
  std::span<const Entry> entries() const;                     // of kMap, in order
  std::size_t size() const { return kind_ == Kind::kList || kind_ == Kind::kMap ? size_ : 0; }

  // Constant time: small maps are scanned, large ones indexed at first use. nullptr when absent or not a map.
  const Entry* find(Symbol key) const;
  const Entry* find(std::string_view key) const { return find(Symbol(key)); }

  Origin origin() const { return origin_; }
  Value with_origin(Origin o) const;
  // A language's own type name, kept beside the value: "LONG", "Timestamp", the resource's type.
  Symbol tag() const { return Symbol::from_id(tag_); }
  Value with_tag(Symbol tag) const;
  bool secret() const { return flags_ & kSecret; }
  Value as_secret() const;
  // A text that has something in it as it is which was not written by who wrote the text, and which a shell would not
  // read as one plain word (tree/raw_mark.h).
  Raw raw() const { return static_cast<Raw>((flags_ & kRaw) >> 2); }
  Value as_raw(Raw raw) const;

  // The same body: equal without looking inside. (False says nothing.)
  bool same_body(const Value& o) const { return kind_ == o.kind_ && u_.body == o.u_.body && size_ == o.size_; }
  const void* body() const { return u_.body; }  // identity of a list's or map's body, for walks that visit it once

 private:
  friend class TreeBuilder;
  static constexpr u8 kSecret = 1, kText = 2, kRaw = 4 | 8;
  constexpr Value(Kind k, Origin o) : kind_(k), origin_(o) {}
  static Value with_text(Kind k, std::string_view text, Origin o);

  Kind kind_ = Kind::kNull;
  u8 flags_ = 0;
  Origin origin_;
  union {
    const void* body = nullptr;
    bool boolean;
    i64 integer;
    const char* text;
    const ListBody* list;
    const MapBody* map;
  } u_;
  u32 size_ = 0;
  u32 tag_ = 0;
};
static_assert(sizeof(Value) == 24);

// Whether a value has been marked as secret since the program began: nothing has to be looked for before.
bool any_secret_made();

// What kind of field an entry is, for the languages that tell them apart. Data formats show only the plain ones.
enum class Field : u8 { kPlain, kDefinition, kHidden, kOptional, kRequired };

struct Entry {
  Symbol key;
  Field field = Field::kPlain;
  Value value;
};
static_assert(sizeof(Entry) == 32);

// Makes lists and maps in an arena. Small and cheap: make one wherever an arena is at hand.
class TreeBuilder {
 public:
  explicit TreeBuilder(Arena& arena) : arena_(arena) {}

  Value list(std::span<const Value> items, Origin o = {}) const;
  // Keys must differ: where they might not, check first (readers) or use MapDraft (evaluators).
  Value map(std::span<const Entry> entries, Origin o = {}) const;
  Value string(std::string_view text, Origin o = {}) const { return Value::string(arena_.copy(text), o); }
  Value number(std::string_view text, Origin o = {}) const { return Value::number(arena_.copy(text), o); }
  Arena& arena() const { return arena_; }

 private:
  Arena& arena_;
};

// A map being put together: set, replace and remove by key in constant time, order of first setting kept.
class MapDraft {
 public:
  Value* find(Symbol key);
  // Returns the entry's value; a new key goes to the end.
  Value& set(Symbol key, const Value& value, Field field = Field::kPlain);
  bool erase(Symbol key);  // linear: for the rare language that needs it
  std::size_t size() const { return entries_.size(); }
  const std::vector<Entry>& entries() const { return entries_; }
  Value build(const TreeBuilder& builder, Origin o = {}) const { return builder.map(entries_, o); }

 private:
  void index_all();
  std::vector<Entry> entries_;
  std::vector<u32> slots_;  // open addressing, 1 + index of entry; used once there are more than a few
};

// Equal as data: numbers by value (1.0 is not the integer 1, but is 1.00), maps in any order of keys; origins, secrets
// and tags do not count. `ordered` makes the order of keys count.
bool equal(const Value& a, const Value& b, bool ordered = false);
// A total order: kind, then number by value, text by bytes, lists and maps item by item. 0 exactly when equal(a, b).
int compare(const Value& a, const Value& b);
u64 hash(const Value& v);  // equal values, equal hashes

}  // namespace tutti
