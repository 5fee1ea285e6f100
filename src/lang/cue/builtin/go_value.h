#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace tutti::cue {

// A value as Go's reflection sees it: what templates compute with, and what Printf shows.
struct GoValue {
  enum Kind : u8 { kInvalid, kNil, kBool, kInt, kByte, kFloat, kString, kBytes, kBigInt, kList, kMap };
  using List = std::vector<GoValue>;
  using Map = std::map<std::string, GoValue, std::less<>>;

  Kind kind = kInvalid;
  bool truth = false;
  bool from_data = false;  // an int64; else an int, as the template itself makes them
  bool boxed = false;      // held by an interface: an element of a list or map
  i64 integer = 0;
  double real = 0;
  std::string text;  // of strings, bytes, and large integers as they are written
  std::shared_ptr<const List> list;
  std::shared_ptr<const Map> map;

  static GoValue nil() { return of(kNil); }
  static GoValue boolean(bool b) {
    GoValue v = of(kBool);
    v.truth = b;
    return v;
  }
  static GoValue number(i64 i, bool data = false) {
    GoValue v = of(kInt);
    v.integer = i;
    v.from_data = data;
    return v;
  }
  static GoValue floating(double d) {
    GoValue v = of(kFloat);
    v.real = d;
    return v;
  }
  static GoValue string(std::string s) {
    GoValue v = of(kString);
    v.text = std::move(s);
    return v;
  }
  static GoValue of(Kind k) {
    GoValue v;
    v.kind = k;
    return v;
  }

  bool valid() const { return kind != kInvalid; }
  bool is_nil() const { return kind == kNil; }
  const char* type() const;  // as %T writes it
  std::size_t length() const;
};

std::string go_sprint(std::span<const GoValue> values);    // spaces between operands when neither is a string
std::string go_sprintln(std::span<const GoValue> values);  // always
std::string go_sprintf(std::string_view format, std::span<const GoValue> values);
std::string go_float(double d, char format, int precision);  // as strconv.FormatFloat; -1: as few digits as are needed

}  // namespace tutti::cue
