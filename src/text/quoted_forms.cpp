#include <fmt/format.h>

#include <cctype>

#include "base/utf8.h"
#include "text/secret_forms.h"

namespace tutti {
namespace {

// A text within quotes of JSON, with or without what is not ASCII as numbers.
std::string in_json(std::string_view text, bool ascii) {
  constexpr std::string_view kLetters = "\b\t\n\f\r", kNames = "btnfr";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t from = at;
    char32_t c = utf8::decode(text, at);
    std::size_t letter = c < 0x20 ? kLetters.find(static_cast<char>(c)) : std::string_view::npos;
    if (c == utf8::kInvalid)
      out += text[from];
    else if (c == '"' || c == '\\')
      out += {'\\', static_cast<char>(c)};
    else if (letter != std::string_view::npos)
      out += {'\\', kNames[letter]};
    else if (ascii && c > 0xffff)
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
    else if (c < 0x20 || (ascii && c > 0x7e))
      out += fmt::format("\\u{:04x}", static_cast<u32>(c));
    else
      out += text.substr(from, at - from);
  }
  return out;
}

// With a text before every character that is one of these.
template <class Which>
std::string escaped(std::string_view text, std::string_view before, std::string_view after, Which which) {
  std::string out;
  for (char c : text) {
    bool special = which(c);
    if (special) out += before;
    out += c;
    if (special) out += after;
  }
  return out;
}

// As a shell prints it that was not told to keep it in one word: what is white is one blank.
std::string in_words(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool white = c == ' ' || c == '\t' || c == '\n';
    if (!white)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace

// As a program writes it that quotes what it prints: JSON, and the ways of shells.
std::set<std::string> quoted_forms(std::string_view word) {
  auto any_of = [](std::string_view these) { return [these](char c) { return these.find(c) != these.npos; }; };
  auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) || c == '_'; };
  return {in_words(word),
          in_json(word, false),
          in_json(word, true),
          escaped(word, "'\\", "'", any_of("'")),    // 'it'\''s'
          escaped(word, "'\"", "\"'", any_of("'")),  // 'it'"'"'s'
          escaped(word, "\\", "", any_of("\"$`\\")),
          escaped(word, "\\", "", [&](char c) {
            return !plain(c) && std::string_view("%+,-./:=@").find(c) == std::string_view::npos;
          })};
}

}  // namespace tutti
