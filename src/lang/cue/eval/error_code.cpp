#include "lang/cue/eval/error_code.h"

#include "base/near.h"

namespace tutti::cue {

namespace {

// cue's own words are the only name that it has for a kind of error. docs/cue.md lists the codes.
struct Beginning {
  std::string_view words, code;
};
constexpr Beginning kBeginnings[] = {
    {"conflicting value", "CUE-CONFLICT"},
    {"incompatible ", "CUE-CONFLICT"},
    {"field not allowed", "CUE-NOT-ALLOWED"},
    {"field is required but not present", "CUE-REQUIRED"},
    {"required field missing", "CUE-REQUIRED"},
    {"missing required field", "CUE-REQUIRED"},
    {"undefined field", "CUE-UNDEFINED"},
    {"field not found", "CUE-UNDEFINED"},
    {"cannot reference optional field", "CUE-UNDEFINED"},
    {"reference \"", "CUE-REFERENCE"},
    {"invalid value", "CUE-CONSTRAINT"},
    {"structural cycle", "CUE-CYCLE"},
    {"cycle ", "CUE-CYCLE"},
    {"cyclic ", "CUE-CYCLE"},
    {"incomplete ", "CUE-INCOMPLETE"},
    {"non-concrete ", "CUE-INCOMPLETE"},
    {"unresolved disjunction", "CUE-INCOMPLETE"},
    {"some instances are incomplete", "CUE-INCOMPLETE"},
    {"error in call to", "CUE-CALL"},
    {"cannot call", "CUE-CALL"},
    {"too many arguments", "CUE-CALL"},
    {"not enough arguments", "CUE-CALL"},
    {"cannot use", "CUE-TYPE"},
    {"invalid operand", "CUE-TYPE"},
    {"invalid operation", "CUE-TYPE"},
    {"invalid left-hand value", "CUE-TYPE"},
    {"invalid right-hand value", "CUE-TYPE"},
    {"cannot range over", "CUE-TYPE"},
    {"division by zero", "CUE-ARITHMETIC"},
    {"failed arithmetic", "CUE-ARITHMETIC"},
    {"index ", "CUE-INDEX"},
    {"invalid index", "CUE-INDEX"},
    {"invalid slice index", "CUE-INDEX"},
    {"import failed", "CUE-IMPORT"},
    {"cannot find package", "CUE-IMPORT"},
    {"no tag for", "CUE-TAG"},
    {"tag ", "CUE-TAG"},
    {"empty disjunction", "CUE-DISJUNCTION"},
};

}  // namespace

std::string meant_name(std::string_view name, std::span<const std::string_view> known) {
  std::string_view near = nearest(name, known);
  auto letters = [](std::string_view s) {
    std::string out;
    for (char c : s)
      if (c < '0' || c > '9') out += c;
    return out;
  };
  return letters(near) == letters(name) ? std::string{} : std::string(near);
}

std::string_view error_code(std::string_view message) {
  for (const Beginning& b : kBeginnings)
    if (message.starts_with(b.words)) return b.code;
  std::size_t digits = message.find_first_not_of("0123456789");  // "3 errors in empty disjunction:"
  if (digits != 0 && digits != message.npos && message.substr(digits).starts_with(" errors in empty disjunction"))
    return "CUE-DISJUNCTION";
  return "CUE";
}

}  // namespace tutti::cue
