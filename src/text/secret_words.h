#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/types.h"

namespace tutti {

// Texts that must not be shown, and where they stand in others: as they are, as programs quote them, in base64 wherever
// in a longer text they begin, in hexadecimal digits, in URLs, and in lines that were cut to a width. Everything that
// hides secrets asks this one: excerpts and messages (Sources), trees (tree/secret.h) and what commands print
// (resource/scrub.h). Texts of up to three letters would be found everywhere and hide nothing: they are not looked for.
// It takes time that grows with the text looked at, not with the number of secrets.
class SecretWords {
 public:
  SecretWords() = default;
  ~SecretWords();
  SecretWords(SecretWords&&) = default;
  SecretWords& operator=(SecretWords&&) = default;
  SecretWords(const SecretWords&) = default;
  SecretWords& operator=(const SecretWords&) = default;

  void add(std::string_view word);
  // Each of its lines too, for what is shown line by line.
  void add_lines(std::string_view text);
  bool empty() const { return forms_.empty(); }
  bool is_one(std::string_view text) const { return words_.count(std::string(text)) > 0; }
  bool in(std::string_view text) const { return !places(text).empty(); }
  std::string hidden(std::string_view text) const;   // with `(secret)` in their place
  std::string starred(std::string_view text) const;  // with as many stars, so that places stay

 private:
  struct Form {
    std::string text;
    bool encoded = false, before = false, after = false;
  };
  void know(Form form);
  template <class Found>
  void look(std::string_view text, Found found) const;
  std::vector<std::pair<std::size_t, std::size_t>> places(std::string_view text) const;

  std::unordered_set<std::string> words_;
  std::unordered_map<u32, std::vector<Form>> forms_;  // by the first four bytes
  std::vector<bool> begins_;                          // which of those there may be, to pass over all others quickly
};

}  // namespace tutti
