// What must not be shown is found by its first four bytes: a bit for each of them that may begin one, a table for those
// that do. Looking for one word after the other would take the product of words and text.
#include "text/secret_words.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>

#include "text/secret_forms.h"

namespace tutti {
namespace {

constexpr std::size_t kTooShort = 3;
// What is looked for is a part of a secret then, and short parts stand in texts that have nothing to do with it: a line
// of a file ("line 2"), or the digits of a few bytes without the edges that depend on what stands beside them.
constexpr std::size_t kTooShortPart = 7;

u32 key_at(std::string_view text, std::size_t at) {
  auto byte = [&](std::size_t i) { return static_cast<u32>(static_cast<unsigned char>(text[at + i])); };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}
// From the first secret on, the process leaves no image of its memory behind, nor lets itself be looked into. What it
// starts is not bound by that.
void keep_out_of_dumps() { [[maybe_unused]] static const int kept = ::prctl(PR_SET_DUMPABLE, 0); }

u32 bit_of(u32 key) { return (key * 2654435761u) >> 16; }

}  // namespace

// The memory that held them is given back without them.
SecretWords::~SecretWords() {
  for (auto& [key, same] : forms_)
    for (Form& form : same) ::explicit_bzero(form.text.data(), form.text.size());
  while (!words_.empty()) {
    auto node = words_.extract(words_.begin());
    ::explicit_bzero(node.value().data(), node.value().size());
  }
}

void SecretWords::know(Form form) {
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

void SecretWords::add(std::string_view word) {
  if (word.size() <= kTooShort || !words_.emplace(word).second) return;
  keep_out_of_dumps();
  know({std::string(word)});
  for (const std::string& form : quoted_forms(word)) know({form});
  for (EncodedForm& form : encoded_forms(word))
    if (form.digits.size() > kTooShortPart) know({std::move(form.digits), true, form.before, form.after});
}

void SecretWords::add_lines(std::string_view text) {
  add(text);
  if (text.find('\n') == std::string_view::npos) return;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.size() > kTooShortPart) add(line);
    at = end + 1;
  }
}

// Every place where one begins, each taken as far as the longest goes.
template <class Found>
void SecretWords::look(std::string_view text, Found found) const {
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
std::vector<std::pair<std::size_t, std::size_t>> SecretWords::places(std::string_view text) const {
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

std::string SecretWords::hidden(std::string_view text) const {
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

std::string SecretWords::starred(std::string_view text) const {
  std::string out(text);
  for (auto [from, to] : places(text)) std::fill(out.begin() + from, out.begin() + to, '*');
  return out;
}

}  // namespace tutti
