#include "resource/scrub.h"

#include "tree/secret_mark.h"

namespace tutti::resource {

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
  words_.add_lines(text);  // output is shown line by line: so is a secret of several lines
  if (secret_itself(v)) whole_.emplace(text);
  if (std::size_t equals = text.find('='); equals != std::string_view::npos)
    words_.add(text.substr(equals + 1));  // NAME=VALUE
}

Value Scrubber::marked(const Value& v, const TreeBuilder& b) const {
  if (v.is(Kind::kString) || v.is(Kind::kInt) || v.is(Kind::kDecimal)) {
    std::string digits = v.is(Kind::kString) ? "" : v.number_text();
    std::string_view text = v.is(Kind::kString) ? v.text() : digits;
    if (v.secret() || !has_secret(text)) return v;
    return whole_.count(std::string(text)) ? v.as_secret() : made_of_secret(v);
  }
  if (v.is(Kind::kList)) {
    std::vector<Value> items;
    for (const Value& i : v.items()) items.push_back(marked(i, b));
    return secret_like(b.list(items), v);
  }
  if (v.is(Kind::kMap)) {
    MapDraft m;
    for (const Entry& e : v.entries()) m.set(e.key, marked(e.value, b), e.field);
    return secret_like(m.build(b), v);
  }
  return v;
}

void hide_secrets(Command& command, const Value& parameters) {
  std::vector<std::string>& argv = command.argv;
  if (argv.size() != 3 || argv[0] != "/bin/sh" || argv[1] != "-c" || !Scrubber(parameters).has_secret(argv[2])) return;
  command.environment.emplace_back("TUTTI_COMMAND", std::move(argv[2]));
  argv[2] = "tutti_command=$TUTTI_COMMAND; unset TUTTI_COMMAND; eval \"$tutti_command\"";
}

}  // namespace tutti::resource
