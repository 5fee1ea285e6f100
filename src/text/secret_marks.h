#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace tutti {

// What a source marks as secret, found by its letters alone: a file in error has no tree that could say what is secret
// in it, and its lines are shown all the same. It knows the marks of all languages (`@secret()`, `[sfSecret]`,
// `Sensitive(...)`, `s:secret="true"`, `!secret`, `secrets:` and `secret: [...]` of a component), errs on the side of
// stars, and decides nothing but what is shown of the text.
struct SecretMarks {
  std::vector<std::pair<u32, u32>> spans;  // in order of their beginnings: not shown where the text itself is
  std::vector<std::string> words;          // nor these in what is said about it
};
SecretMarks secret_marks(std::string_view text);

// Whether there may be a mark in it at all: one without a text beside it, too, such as `pw: string @secret()`.
bool has_secret_mark(std::string_view text);

}  // namespace tutti
