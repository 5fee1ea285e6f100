#include "lang/cue/load/attribute.h"

#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t' || s.front() == '\n')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\n')) s.remove_suffix(1);
  return s;
}

bool is_quoted(std::string_view s) {
  std::size_t i = s.find_first_not_of('#');
  return i != std::string_view::npos && (s[i] == '"' || s[i] == '\'');
}

std::string plain(std::string_view s, bool& good) {
  s = trim(s);
  if (!is_quoted(s)) return std::string(s);
  Unquoted u = unquote(s);
  good = good && u.ok();
  return u.text;
}

}  // namespace

std::vector<AttributeArg> parse_attribute(std::string_view body, bool* good) {
  std::vector<AttributeArg> out;
  bool fine = true;
  std::size_t from = 0, equal = std::string_view::npos;
  int depth = 0;
  auto add = [&](std::size_t to) {
    AttributeArg a;
    if (equal != std::string_view::npos) {
      a.key = trim(body.substr(from, equal - from));
      a.value = plain(body.substr(equal + 1, to - equal - 1), fine);
    } else {
      a.value = plain(body.substr(from, to - from), fine);
    }
    out.push_back(std::move(a));
    from = to + 1;
    equal = std::string_view::npos;
  };
  for (std::size_t i = 0; i < body.size(); ++i) {
    char c = body[i];
    if (c == '"' || c == '\'') {
      for (++i; i < body.size() && body[i] != c; ++i)
        if (body[i] == '\\') ++i;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth > 0) continue;
    if (c == '=' && equal == std::string_view::npos) equal = i;
    if (c == ',') add(i);
  }
  if (from < body.size() || !out.empty()) add(body.size());
  if (good) *good = fine;
  return out;
}

const std::string* attribute_value(const std::vector<AttributeArg>& args, std::string_view key, std::size_t from) {
  for (std::size_t i = from; i < args.size(); ++i)
    if (args[i].key == key) return &args[i].value;
  return nullptr;
}

bool attribute_flag(const std::vector<AttributeArg>& args, std::string_view flag, std::size_t from) {
  for (std::size_t i = from; i < args.size(); ++i)
    if (args[i].key.empty() && args[i].value == flag) return true;
  return false;
}

}  // namespace tutti::cue
