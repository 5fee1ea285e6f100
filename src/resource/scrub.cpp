#include "resource/scrub.h"

#include <algorithm>

#include "resource/secret_forms.h"
#include "tree/secret_mark.h"

namespace tutti::resource {
namespace {

// A word of three letters would be found everywhere, and hides nothing.
constexpr std::size_t kTooShort = 3;

u32 key_at(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return static_cast<u32>(static_cast<unsigned char>(text[at + i])); };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}
u32 bit_of(u32 key) { return (key * 2654435761u) >> 16; }

}  // namespace

void Scrubber::know(Form form) {
  if (form.text.size() <= kTooShort) return;
  u32 key = key_at(form.text, 0);
  if (begins_.empty()) begins_.resize(1u << 16);
  begins_[bit_of(key)] = true;
  auto& same = forms_[key];
  constexpr std::size_t kFew = 64;  // of more it is not worth while to ask
  bool known =
      same.size() < kFew && std::any_of(same.begin(), same.end(), [&](auto& one) { return one.text == form.text; });
  if (!known) same.push_back(std::move(form));
}

void Scrubber::add(std::string_view word) {
  if (word.size() <= kTooShort) return;
  know({std::string(word)});
  for (const std::string& form : quoted_forms(word)) know({form});
  for (EncodedForm& form : encoded_forms(word)) know({std::move(form.digits), true, form.before, form.after});
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
  if (secret_itself(v)) whole_.emplace(text);
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

// Every place where one begins, each taken as far as the longest goes.
void Scrubber::look(std::string_view text, const std::function<void(std::size_t, std::size_t)>& found) const {
  if (begins_.empty()) return;
  for (std::size_t at = 0; at + 4 <= text.size(); ++at) {
    u32 key = key_at(text, at);
    if (!begins_[bit_of(key)]) continue;
    auto same = forms_.find(key);
    if (same == forms_.end()) continue;
    for (const Form& f : same->second) {
      if (text.substr(at, f.text.size()) != f.text) continue;
      std::size_t from = at, to = at + f.text.size();
      if (f.before && from > 0 && is_base64_digit(text[from - 1])) --from;
      if (f.after && to < text.size() && is_base64_digit(text[to])) ++to;
      for (int pads = 0; f.encoded && f.after && pads < 2 && to < text.size() && text[to] == '='; ++pads) ++to;
      found(from, to);
    }
  }
}

// Also in lines that were cut to a width, and in what a URL writes with `%` and `+`.
std::vector<std::pair<std::size_t, std::size_t>> Scrubber::places(std::string_view text) const {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  if (begins_.empty()) return out;
  look(text, [&](std::size_t from, std::size_t to) { out.emplace_back(from, to); });
  auto in = [&](const View& view) {
    look(view.text,
         [&](std::size_t from, std::size_t to) { out.emplace_back(view.at[from].first, view.at[to - 1].second); });
  };
  if (text.find('\n') != std::string_view::npos) in(without_breaks(text));
  if (text.find('%') != std::string_view::npos) in(without_percent(text, false));
  if (text.find('+') != std::string_view::npos) in(without_percent(text, true));
  std::sort(out.begin(), out.end());
  return out;
}

bool Scrubber::has_secret(std::string_view text) const { return !places(text).empty(); }

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

std::string Scrubber::clean(std::string_view text) const {
  std::string out;
  std::size_t done = 0;
  for (auto [from, to] : places(text)) {
    if (to <= done) continue;
    if (from >= done) {  // what overlaps is one
      out += text.substr(done, from - done);
      out += "(secret)";
    }
    done = to;
  }
  out += text.substr(done);
  return out;
}

void hide_secrets(Command& command, const Value& parameters) {
  std::vector<std::string>& argv = command.argv;
  if (argv.size() != 3 || argv[0] != "/bin/sh" || argv[1] != "-c" || !Scrubber(parameters).has_secret(argv[2])) return;
  command.environment.emplace_back("TUTTI_COMMAND", std::move(argv[2]));
  argv[2] = "tutti_command=$TUTTI_COMMAND; unset TUTTI_COMMAND; eval \"$tutti_command\"";
}

}  // namespace tutti::resource
