#include "lang/common/language.h"

#include <fmt/format.h>

namespace tutti {

std::optional<std::string> Language::format(Session& session, const Source& source) const {
  session.diagnostics.error("FMT-UNSUPPORTED", source.first, fmt::format("there is no formatter for {}", name()));
  return std::nullopt;
}

bool Language::write(Session& session, const Value&, std::string_view output, const Options&, Sink&) const {
  session.diagnostics.error("OUT-UNKNOWN", {}, fmt::format("{} does not write `{}`", name(), output));
  return false;
}

bool Language::vet(Session& session, const Request& request) const {
  return evaluate(session, request).has_value() && session.diagnostics.ok();
}

}  // namespace tutti
