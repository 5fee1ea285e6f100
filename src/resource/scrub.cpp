#include "resource/scrub.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/utf8.h"

namespace tutti::resource {
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

// As a program writes it that quotes what it prints: JSON, and the ways of shells.
std::set<std::string> written_as(std::string_view word) {
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

}  // namespace

void Scrubber::add(std::string_view word) {
  // A word of three letters would be found everywhere, and hides nothing.
  if (word.size() <= 3) return;
  words_.emplace_back(word);
  std::set<std::string> forms = written_as(word);
  forms.erase(std::string(word));
  std::erase_if(forms, [](const std::string& form) { return form.size() <= 3; });
  words_.insert(words_.end(), forms.begin(), forms.end());
}

void Scrubber::collect(const Value& v, bool secret) {
  secret = secret || v.secret();
  if (v.is(Kind::kList))
    for (const Value& i : v.items()) collect(i, secret);
  if (v.is(Kind::kMap))
    for (const Entry& e : v.entries()) collect(e.value, secret);
  bool number = v.is(Kind::kInt) || v.is(Kind::kDecimal);
  if (!secret || (!v.is(Kind::kString) && !number)) return;
  std::string digits = number ? v.number_text() : "";
  std::string_view text = number ? digits : v.text();
  add(text);
  if (text.size() > 3) whole_.emplace_back(text);
  if (std::size_t equals = text.find('='); equals != std::string_view::npos)
    add(text.substr(equals + 1));  // NAME=VALUE
  // Output is shown line by line: so is a secret of several lines.
  if (text.find('\n') != std::string_view::npos)
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = std::min(text.find('\n', at), text.size());
      add(text.substr(at, end - at));
      at = end + 1;
    }
}

bool Scrubber::has_secret(std::string_view text) const {
  return std::any_of(words_.begin(), words_.end(),
                     [&](const std::string& word) { return text.find(word) != std::string_view::npos; });
}

bool Scrubber::is_secret(std::string_view text) const {
  auto inner = [&](const std::string& word) {
    return word.size() < text.size() && text.find(word) != std::string_view::npos;
  };
  return std::find(whole_.begin(), whole_.end(), text) != whole_.end() &&
         std::none_of(whole_.begin(), whole_.end(), inner);
}

Value Scrubber::marked(const Value& v, const TreeBuilder& b) const {
  auto as = [&](const Value& now) { return v.secret() ? now.as_secret() : now; };
  if (v.is(Kind::kString)) return has_secret(v.text()) ? v.as_secret() : v;
  if (v.is(Kind::kInt) || v.is(Kind::kDecimal)) return has_secret(v.number_text()) ? v.as_secret() : v;
  if (v.is(Kind::kList)) {
    std::vector<Value> items;
    for (const Value& i : v.items()) items.push_back(marked(i, b));
    return as(b.list(items));
  }
  if (v.is(Kind::kMap)) {
    MapDraft m;
    for (const Entry& e : v.entries()) m.set(e.key, marked(e.value, b), e.field);
    return as(m.build(b));
  }
  return v;
}

std::string Scrubber::clean(std::string_view text) const {
  std::string out(text);
  for (const std::string& word : words_)
    for (std::size_t at = out.find(word); at != std::string::npos; at = out.find(word, at)) {
      out.replace(at, word.size(), "(secret)");
      at += 8;
    }
  return out;
}

void hide_secrets(Command& command, const Value& parameters) {
  std::vector<std::string>& argv = command.argv;
  if (argv.size() != 3 || argv[0] != "/bin/sh" || argv[1] != "-c" || !Scrubber(parameters).has_secret(argv[2])) return;
  command.environment.emplace_back("TUTTI_COMMAND", std::move(argv[2]));
  argv[2] = "tutti_command=$TUTTI_COMMAND; unset TUTTI_COMMAND; eval \"$tutti_command\"";
}

}  // namespace tutti::resource
