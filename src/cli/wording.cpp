#include "cli/wording.h"

#include <fmt/format.h>

#include <ctime>

#include "base/utf8.h"
#include "transport/host.h"

namespace tutti {

std::string when(double time) {
  std::time_t t = static_cast<std::time_t>(time);
  std::tm tm{};
  ::localtime_r(&t, &tm);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
  return text;
}

std::string short_time(double s) {
  if (s < 1) return fmt::format("{:.0f} ms", s * 1000);
  if (s < 100) return fmt::format("{:.1f} s", s);
  if (s < 6000) return fmt::format("{:.0f} min", s / 60);
  return fmt::format("{:.1f} h", s / 3600);
}

std::string show_time(double seconds) {
  std::string s = fmt::format("{:.3f}", seconds);
  while (s.back() == '0') s.pop_back();
  if (s.back() == '.') s.pop_back();
  return s;
}

std::string counted(u64 n, std::string_view noun) { return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s"); }

std::string as_typed(const std::string& name) {
  bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/#:@~") ==
               std::string::npos;
  return plain ? name : shell_quote(name);
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  auto new_line = [&] {
    out += '\n';
    out.append(indent, ' ');
    column = indent;
  };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    std::size_t columns = utf8::width(text.substr(at, end - at));
    bool first = column == indent;
    if (!first && column + 1 + columns > width) {
      new_line();
      first = true;
    }
    if (!first) out += ' ', ++column;
    out += text.substr(at, end - at);
    column += columns;
    if (end < text.size() && text[end] == '\n') new_line();
    at = end + 1;
  }
  return out;
}

}  // namespace tutti
