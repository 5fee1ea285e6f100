#include "resource/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace tutti::resource {
namespace {

std::string quoted(const Shown& s) { return s.bare ? s.text : "'" + s.text + "'"; }

// "stopped (also called false), running (also called true)"
std::string listed(std::string_view words) {
  std::string out, open;
  for (std::size_t at = 0; at < words.size();) {
    std::size_t end = std::min(words.find(' ', at), words.size());
    std::string_view word = words.substr(at, end - at);
    at = end + 1;
    if (word[0] == '=') {
      out += fmt::format(" (also called {})", word.substr(1));
    } else {
      out += (out.empty() ? "" : ", ") + std::string(word);
    }
  }
  return out;
}

bool among(std::string_view word, std::string_view words) {
  for (std::size_t at = 0; at < words.size();) {
    std::size_t end = std::min(words.find(' ', at), words.size());
    std::string_view one = words.substr(at, end - at);
    if (one == word || (one[0] == '=' && one.substr(1) == word)) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

bool goes_on(const Context& c, const Change& change, const Failure& why) {
  if (!c.broken || why.code == ECONNRESET || (c.cancel && c.cancel->raised())) return false;
  c.broken(change, why);
  return true;
}

std::string too_many_files(const Params& params, const std::string& path, std::size_t entries) {
  double most = params.number("max_files", 0);
  if (most <= 0 || static_cast<double>(entries) <= most) return "";
  return fmt::format(
      "The directory '{}' contains {} entries, which exceeds the limit of {} specified by the max_files parameter for "
      "this resource.",
      path, entries, most);
}

bool is_number(const std::string& text, bool natural) {
  if (natural) return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0';
}

Change property_change(std::string property, const Shown& from, const Shown& to) {
  Change c;
  c.text = from.absent ? fmt::format("defined '{}' as {}", property, quoted(to))
           : to.absent ? fmt::format("undefined '{}' from {}", property, quoted(from))
                       : fmt::format("{} changed {} to {}", property, quoted(from), quoted(to));
  c.property = std::move(property);
  c.from = from.text;
  c.to = to.text;
  c.bare_from = from.bare;
  c.bare_to = to.bare;
  return c;
}

std::string wrong_name(const Resource& r) {
  std::string name = Params(r.parameters).text("name", r.title);
  return name.starts_with('-') ? fmt::format("its name cannot begin with `-`: {}", name) : "";
}

std::string wrong_value(const Params& params, std::span<const Rule> rules) {
  for (const Rule& rule : rules) {
    const Value* v = params.find(rule.parameter);
    if (!v || v->is(Kind::kMap)) continue;
    for (const std::string& text : params.list(rule.parameter)) {
      if (rule.words[0] == '#') {
        bool natural = rule.words == kNaturalWord;
        if (!is_number(text, natural))
          return fmt::format("{} must be a {}, not \"{}\"", rule.parameter, natural ? "whole number" : "number", text);
      } else if (!among(text, rule.words)) {
        return fmt::format("{}: Invalid value \"{}\". Valid values are {}.", rule.parameter, text, listed(rule.words));
      }
    }
  }
  return "";
}

}  // namespace tutti::resource
