#include "text/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

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

void Diagnostics::sort_from(std::size_t first) {
  // Places count up through all sources, and no place is 0: one less makes that the greatest.
  std::stable_sort(
      all_.begin() + static_cast<std::ptrdiff_t>(std::min(first, all_.size())), all_.end(),
      [](const Diagnostic& a, const Diagnostic& b) { return a.where.begin.at - 1 < b.where.begin.at - 1; });
}

void Diagnostics::clear() {
  all_.clear();
  errors_ = left_out_ = 0;
}

}  // namespace tutti
