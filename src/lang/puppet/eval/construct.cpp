// Type.new(...): the conversions between types.
#include <fmt/format.h>

#include "lang/puppet/eval/compiler.h"

namespace tutti::puppet {

Val Compiler::construct(const Type* type, std::span<const Val>, Pos at) {
  fail(at, fmt::format("creation of new instance of type '{}' is not supported", type_text(type)), "PP-NEW");
}

}  // namespace tutti::puppet
