#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace tutti {

// Where groups matched: pairs of byte offsets, group 0 first; -1 for a group that took no part.
using Groups = std::vector<i32>;

// A regular expression as Ruby's engine reads it (Oniguruma, Ruby syntax, UTF-8), with limits on backtracking so that a
// hostile pattern ends in an error and not in an afternoon.
class Regex {
 public:
  // Compiled once per thread and kept. nullptr with a message when the pattern is wrong.
  static const Regex* get(std::string_view pattern, std::string* error);

  // The first match at or after `from`. Throws LimitError when the match takes too long.
  bool search(std::string_view text, std::size_t from, Groups* groups = nullptr) const;
  int group_count() const;
  bool has_names() const;  // where groups have names, those without are none, and numbers mean nothing in replacements
  // The number of a named group, or -1.
  int group_number(std::string_view name) const;

  ~Regex();
  Regex(const Regex&) = delete;

 private:
  Regex() = default;
  void* regex_ = nullptr;
};

std::string regexp_escape(std::string_view text);  // a pattern that matches the text and nothing else

}  // namespace tutti
