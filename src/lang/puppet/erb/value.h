#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "lang/puppet/types/value.h"

namespace tutti::puppet::erb {

// Values as a template sees them: Ruby's, which are shared and may change, where the compiler's never do.
enum class Kind : u8 {
  kNil,
  kBool,
  kInt,
  kFloat,
  kSymbol,
  kString,
  kArray,
  kHash,
  kRange,
  kMatch,
  kRegex,
  kClass,
  kScope,
};

struct Text;
struct List;
struct Map;

struct Any {
  Kind kind = Kind::kNil;
  union {
    i64 i = 0;
    bool b;
    double d;
    Text* text;
    List* list;  // kRange: from, to and whether the end is left out; kMatch: the groups
    Map* map;
  };

  static Any boolean(bool x) {
    Any v;
    v.kind = Kind::kBool;
    v.b = x;
    return v;
  }
  static Any integer(i64 x) {
    Any v;
    v.kind = Kind::kInt;
    v.i = x;
    return v;
  }
  static Any real(double x) {
    Any v;
    v.kind = Kind::kFloat;
    v.d = x;
    return v;
  }
  bool is(Kind k) const { return kind == k; }
  bool nil() const { return kind == Kind::kNil; }
  bool truthy() const { return kind != Kind::kNil && !(kind == Kind::kBool && !b); }
  const std::string& str() const;
};

// `foreign`: it is the manifest's, which would notice a change. The arrays and hashes that variables of the manifest
// hold themselves (`own_variable`) may change all the same: the manifest is told when all is done.
struct Text {
  std::string text;
  bool foreign = false;
};
struct List {
  std::vector<Any> items;
  bool foreign = false, own_variable = false, changed = false;
};
struct Map {
  std::vector<std::pair<Any, Any>> pairs;
  bool foreign = false, own_variable = false, changed = false;

  std::size_t find(const Any& key);  // npos: it is not there
  void set(const Any& key, const Any& value);
  void erase(std::size_t at);
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

 private:
  std::unordered_map<std::string, std::size_t> texts_;  // where text keys are, once there are many
  bool indexed_ = false;
};

inline const std::string& Any::str() const { return text->text; }

// All values of one rendering, gone with it. Whoever goes through values counts against its budget: one that holds
// another twice, again and again, is small to hold and endless to look at.
class Heap {
 public:
  explicit Heap(Budget& budget);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  Any text(Kind kind, std::string s, bool foreign = false);
  Any string(std::string s) { return text(Kind::kString, std::move(s)); }
  Any list(std::vector<Any> items, bool foreign = false);
  Any pair(const Any& a, const Any& b) { return list({a, b}); }
  Any map();
  void count(std::size_t bytes);  // throws LimitError where all of it is too much

  // Throws Unsupported for what Ruby has a class of its own for.
  Any from(const Val& v);
  // A symbol has no place in a manifest: it is refused, or text.
  static Val to(const Any& v, Arena& arena, bool symbols_as_text = false);

 private:
  Budget& budget_;
  std::size_t bytes_ = 0;
  std::deque<Text> texts_;
  std::deque<List> lists_;
  std::deque<Map> maps_;
};

bool reaches(const Any& v, const void* container);    // whether an array or a hash is in it
bool equal(const Any& a, const Any& b);               // ==
bool eql(const Any& a, const Any& b);                 // as keys of hashes
int compare(const Any& a, const Any& b);              // <=>; throws Unsupported where Ruby has no answer
void append_s(std::string& out, const Any& v);        // to_s
void append_inspect(std::string& out, const Any& v);  // inspect
std::string to_s(const Any& v);

}  // namespace tutti::puppet::erb
