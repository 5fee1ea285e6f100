#include "text/diagnostic.h"

#include <fmt/format.h>

namespace tutti {

Diagnostic& Diagnostic::did_you_mean(std::string_view name) {
  if (!name.empty()) help = fmt::format("did you mean `{}`?", name);
  return *this;
}

Diagnostic& Diagnostics::add(Severity severity, std::string code, Span where, std::string message) {
  if (severity == Severity::kError) errors_++;
  if (all_.size() >= most_) {
    left_out_++;
    over_ = {};
    return over_;
  }
  Diagnostic d;
  d.severity = severity;
  d.code = std::move(code);
  d.message = std::move(message);
  d.where = where;
  return all_.emplace_back(std::move(d));
}

void Diagnostics::clear() {
  all_.clear();
  errors_ = left_out_ = 0;
}

}  // namespace tutti
