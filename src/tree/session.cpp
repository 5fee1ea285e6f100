#include "tree/session.h"

#include <cerrno>

namespace tutti {

const Source* Session::open(const std::string& path, Span wanted_at) {
  Result<const Source*> source = sources->open(path, budget.limits().input_bytes);
  if (source) return *source;
  diagnostics.error(source.error().code == EFBIG ? "LIMIT-INPUT" : "IO-READ", wanted_at, source.error().message);
  return nullptr;
}

}  // namespace tutti
