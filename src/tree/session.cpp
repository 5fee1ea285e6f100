#include "tree/session.h"

#include <cerrno>

#include "base/boundary.h"
#include "base/minisign.h"

namespace tutti {

const Source* Session::open(const std::string& path, Span wanted_at) {
  Result<const Source*> source = sources->open(path, budget.limits().input_bytes);
  if (source) return *source;
  diagnostics.error(std::string(read_failure_code(source.error(), "IO-READ")), wanted_at, source.error().message)
      .suggest(read_failure_help(source.error()));
  return nullptr;
}

std::string_view read_failure_code(const Failure& failure, std::string_view otherwise) {
  return failure.code == EFBIG        ? "LIMIT-INPUT"
         : failure.code == kOutside   ? kOutsideCode
         : failure.code == kNotSigned ? kSignatureCode
                                      : otherwise;
}

std::string_view write_failure_code(const Failure& failure) {
  return failure.code == kOutsideToWrite ? kOutsideToWriteCode : "IO-WRITE";
}

std::string read_failure_help(const Failure& failure) {
  if (failure.code == kNotSigned) return "`tutti sign FILE --key SECRET-KEY` signs what was read and found good";
  return failure.code == kOutside ? way_to_trust() : std::string();
}

}  // namespace tutti
