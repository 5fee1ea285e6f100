#include <algorithm>
#include <cctype>

#include "text/secret_forms.h"

namespace tutti {
namespace {

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::string in_hex(std::string_view word, std::string_view digits, std::string_view between) {
  std::string out;
  for (unsigned char c : word) {
    if (!out.empty()) out += between;
    out += {digits[c >> 4], digits[c & 15]};
  }
  return out;
}

// The digits that are the word's alone, where it begins `skip` bytes after a group does.
EncodedForm in_base64(std::string_view word, std::size_t skip, std::string_view last_two) {
  std::size_t bits = 8 * (skip + word.size()), first = (8 * skip + 5) / 6;
  auto bit = [&](std::size_t at) {
    return at < 8 * skip ? 0 : (static_cast<unsigned char>(word[at / 8 - skip]) >> (7 - at % 8)) & 1;
  };
  EncodedForm form{"", skip != 0, bits % 6 != 0};
  for (std::size_t digit = first; 6 * digit + 6 <= bits; ++digit) {
    unsigned value = 0;
    for (std::size_t i = 0; i < 6; ++i) value = value << 1 | static_cast<unsigned>(bit(6 * digit + i));
    form.digits += value < kBase64.size() ? kBase64[value] : last_two[value - kBase64.size()];
  }
  return form;
}

}  // namespace

bool is_base64_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '/' || c == '-' || c == '_';
}

std::vector<EncodedForm> encoded_forms(std::string_view word) {
  std::vector<EncodedForm> out;
  auto add = [&](EncodedForm form) {
    bool known = std::any_of(out.begin(), out.end(), [&](auto& one) { return one.digits == form.digits; });
    if (!known) out.push_back(std::move(form));
  };
  for (std::string_view digits : {"0123456789abcdef", "0123456789ABCDEF"})
    for (std::string_view between : {"", " ", ":"}) add({in_hex(word, digits, between)});  // as `od` and openssl do
  for (std::size_t skip : {0u, 1u, 2u})
    for (std::string_view last_two : {"+/", "-_"}) add(in_base64(word, skip, last_two));
  return out;
}

View without_breaks(std::string_view text) {
  View v;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n' || text[at] == '\r') continue;
    v.text += text[at];
    v.at.emplace_back(at, at + 1);
  }
  return v;
}

View without_percent(std::string_view text, bool plus) {
  View v;
  for (std::size_t at = 0; at < text.size(); ++at) {
    int high = text[at] == '%' && at + 2 < text.size() ? hex_digit(text[at + 1]) : -1;
    int low = high < 0 ? -1 : hex_digit(text[at + 2]);
    v.text += low >= 0 ? static_cast<char>(high << 4 | low) : plus && text[at] == '+' ? ' ' : text[at];
    std::size_t from = at;
    if (low >= 0) at += 2;
    v.at.emplace_back(from, at + 1);
  }
  return v;
}

}  // namespace tutti
