#include "text/common_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/process_limits.h"

namespace tutti {
namespace {

// Readers that nest without recursion go as deep as this; the others look at their stack (CUE) or have bounds of their
// own.
constexpr u64 kDeepest = 1'000'000;

}  // namespace

std::string set_limit(Limits& limits, std::string_view text) {
  std::size_t equals = text.find('=');
  std::string_view name = text.substr(0, equals);
  u64 n = 0, scale = 1;
  std::string_view number = equals == std::string_view::npos ? std::string_view{} : text.substr(equals + 1);
  if (!number.empty()) {
    switch (number.back()) {
      case 'k': scale = 1'000; break;
      case 'M': scale = 1'000'000; break;
      case 'G': scale = 1'000'000'000; break;
    }
    if (scale > 1) number.remove_suffix(1);
  }
  auto [end, bad] = std::from_chars(number.data(), number.data() + number.size(), n);
  if (number.empty() || bad != std::errc{} || end != number.data() + number.size() || n > UINT64_MAX / scale) {
    return fmt::format("--limit wants NAME=N, such as depth=1000, not `{}`", text);
  }
  n *= scale;
  if (name == "input") {
    limits.input_bytes = n;
  } else if (name == "nodes") {
    limits.nodes = n;
  } else if (name == "steps") {
    limits.steps = n;
  } else if (name == "memory") {
    limits.memory = n;
  } else if (name == "depth") {
    if (n > kDeepest) return fmt::format("--limit depth is at most {}: the stack holds no more", kDeepest);
    limits.depth = static_cast<u32>(n);
  } else if (name == "errors") {
    limits.errors = static_cast<u32>(std::min<u64>(n, UINT32_MAX));
  } else if (name == "time") {
    limits.time = std::chrono::milliseconds(std::min<u64>(n, u64{1} << 50));
  } else {
    return fmt::format("there is no limit `{}`: input, nodes, steps, memory, depth, errors and time are", name);
  }
  return {};
}

std::string set_style(DiagnosticStyle& style, std::string_view name) {
  if (name == "text") {
    style = DiagnosticStyle::kExcerpt;
  } else if (name == "line") {
    style = DiagnosticStyle::kLine;
  } else if (name == "json") {
    style = DiagnosticStyle::kJson;
  } else {
    return fmt::format("--diagnostics is text, line or json, not `{}`", name);
  }
  return {};
}

std::string wrong_colour(std::string_view wish) {
  if (wish == "auto" || wish == "always" || wish == "never") return {};
  return fmt::format("--color is auto, always or never, not `{}`", wish);
}

void keep_limits(const Limits& limits, DiagnosticStyle style, bool colour) {
  if (limits.time.count() > 0) {
    Diagnostics met;
    met.error("LIMIT-TIME", {}, fmt::format("took longer than {} ms (--limit time=MS)", limits.time.count()));
    end_process_after(limits.time, (::isatty(2) == 1 ? "\r\x1b[K" : "") + render(met, Sources(), style, colour));
  }
  limit_process_memory(limits.memory);
}

bool use_colour(std::string_view wish, int descriptor) {
  if (wish == "always") return true;
  if (wish == "never") return false;
  const char* no = std::getenv("NO_COLOR");
  if (no != nullptr && *no != '\0') return false;
  const char* force = std::getenv("CLICOLOR_FORCE");
  if (force != nullptr && *force != '\0' && std::string_view(force) != "0") return true;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return ::isatty(descriptor) == 1;
}

}  // namespace tutti
