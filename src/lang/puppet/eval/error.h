#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "lang/puppet/types/value.h"
#include "text/source.h"

namespace tutti::puppet {

// Ends the compilation of a catalog. Becomes a diagnostic where the request began; on the way out the declarations that
// led there are noted.
class EvalError : public std::runtime_error {
 public:
  EvalError(std::string code_text, Span at, const std::string& message)
      : std::runtime_error(message), code(std::move(code_text)), where(at) {}
  std::string code;
  Span where;
  std::vector<std::string> notes;
  std::string help;
};

// next(), break() and return(): they leave a block, an iteration, or a function, class or define.
struct NextSignal {
  Val value;
  Pos at;
};
struct BreakSignal {
  Pos at;
};
struct ReturnSignal {
  Val value;
  Pos at;
};

}  // namespace tutti::puppet
