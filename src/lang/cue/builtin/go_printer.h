#pragma once

#include <string>

#include "lang/cue/builtin/go_field.h"
#include "lang/cue/builtin/go_value.h"

namespace tutti::cue {

// Writes values as the verbs of Go's Printf do.
class GoPrinter {
 public:
  GoField field;  // of the directive that is being written
  std::string out;

  void argument(const GoValue& v, char32_t verb);

 private:
  void value(const GoValue& v, char32_t verb, bool inside);
  void bad_verb(const GoValue& v, char32_t verb);
  void truth(const GoValue& v, char32_t verb);
  void integer(const GoValue& v, char32_t verb);
  void byte_in_go(u64 b);
  void real(const GoValue& v, double d, char32_t verb);
  void complex(const GoValue& v, char32_t verb);
  void string(const GoValue& v, char32_t verb);
  void bytes(const GoValue& v, char32_t verb, bool inside);
  void list(const GoValue& v, char32_t verb);
  void map(const GoValue& v, char32_t verb);
  void big_integer(const GoValue& v, char32_t verb);
  void big_real(const GoValue& v, char32_t);
  void pointer(const GoValue& v);
};

}  // namespace tutti::cue
