#include "resource/scrub.h"

#include <algorithm>

namespace tutti::resource {

void Scrubber::collect(const Value& v, bool secret) {
  secret = secret || v.secret();
  if (v.is(Kind::kList))
    for (const Value& i : v.items()) collect(i, secret);
  if (v.is(Kind::kMap))
    for (const Entry& e : v.entries()) collect(e.value, secret);
  bool number = v.is(Kind::kInt) || v.is(Kind::kDecimal);
  if (!secret || (!v.is(Kind::kString) && !number)) return;
  auto add = [&](std::string_view word) {
    // A word of three letters would be found everywhere, and hides nothing.
    if (word.size() > 3) words_.emplace_back(word);
  };
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
