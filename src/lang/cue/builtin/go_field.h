#pragma once

#include <string>
#include <string_view>

#include "base/types.h"

namespace tutti::cue {

// The flags, width and precision of one directive of Go's Printf, and how a scalar is written with them. Widths and
// precisions of texts count characters, not bytes.
struct GoField {
  bool has_width = false, has_precision = false;
  bool minus = false, plus = false, sharp = false, space = false, zero = false;
  bool plus_v = false, sharp_v = false;  // the flags of %+v and %#v, which mean something else to %v
  i64 width = 0, precision = 0;

  void padded(std::string& out, std::string_view text) const;
  void padded_with_spaces(std::string& out, std::string_view text) const;

  struct Integer {
    u64 magnitude;
    bool negative;
  };
  void integer(std::string& out, Integer n, int base, char32_t verb) const;  // the verbs d b o O x X v
  void unicode(std::string& out, u64 c) const;                               // U
  void character(std::string& out, u64 c, bool quoted) const;                // c q
  // The digits of a large integer, without a sign, in the base of the verb.
  void large(std::string& out, std::string digits, bool negative, char32_t verb) const;
  void floating(std::string& out, double d, char verb, i64 usual_precision) const;  // b e E f g G x X

  std::string_view truncated(std::string_view text) const;
  void text(std::string& out, std::string_view text) const { padded(out, truncated(text)); }
  void quoted(std::string& out, std::string_view text) const;
  void hexadecimal(std::string& out, std::string_view bytes, bool upper) const;

 private:
  void pad(std::string& out, i64 n, char with) const;
  char filling() const { return zero && !minus ? '0' : ' '; }
  std::string with_point(std::string number, char verb, i64 wanted) const;  // what the flag # asks for
};

}  // namespace tutti::cue
