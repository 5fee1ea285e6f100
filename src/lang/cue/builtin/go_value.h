#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/decimal.h"

namespace tutti::cue {

class CallContext;
struct Node;

// A value as a Go program has it: what a template works on. Those of CUE become int64 (or a big integer), float64,
// string, []byte, []interface {} and map[string]interface {}; constants of a template are int.
struct GoValue {
  enum Kind : u8 {
    kNil,  // boxed: null; else no value at all
    kBool,
    kInt,
    kInt64,
    kUint8,
    kFloat,
    kComplex,
    kString,
    kBytes,
    kList,
    kMap,
    kBigInt,
    kBigFloat,
  };
  using List = std::vector<GoValue>;
  using Map = std::map<std::string, GoValue, std::less<>>;  // in the order in which Go prints

  Kind kind = kNil;
  bool boxed = false;  // an element of a list or map: of type interface {} to Go, which functions can tell apart
  i64 integer = 0;     // and a truth value
  double real = 0, imaginary = 0;
  std::shared_ptr<const std::string> bytes;  // of a string or of bytes
  std::shared_ptr<const List> items;
  std::size_t from = 0, size = 0;  // the part of `items` that a list is
  std::shared_ptr<const Map> fields;
  std::shared_ptr<const Decimal> big;

  static GoValue boolean(bool b);
  static GoValue number(i64 i, Kind kind = kInt);
  static GoValue floating(double d);
  static GoValue string(std::string s);
  static GoValue list(List items);

  bool is_nil() const { return kind == kNil; }
  bool is_valid() const { return kind != kNil || boxed; }
  bool is_integer() const { return kind == kInt || kind == kInt64 || kind == kUint8; }
  std::string_view text() const { return bytes ? std::string_view(*bytes) : std::string_view(); }
  const GoValue& item(std::size_t i) const { return (*items)[from + i]; }
  GoValue unboxed() const;

  std::size_t length() const;  // of what has one
  bool has_length() const { return kind >= kString && kind <= kMap; }
  bool truth() const;
  std::string_view type() const;        // of what is inside: "int64"
  std::string_view outer_type() const;  // "interface {}" when boxed
};

// The value of a node of CUE, all of it; what is not concrete becomes nil.
GoValue go_value(CallContext& c, Node* node);

}  // namespace tutti::cue
