#pragma once

#include <optional>
#include <string>

#include "lang/smartfrog/language.h"

// For tests only.
namespace tutti::smartfrog {

// A tree on one line: {a:1, b:{}, c:[true, "x"]}; a reference as @a:b, a lazy value as ~x, typed numbers as 5:LONG.
std::string line_of(const Value& value);

struct Outcome {
  std::string tree;         // or "" after an error
  std::string text;         // with `out`: what is written in that format
  std::string codes;        // of all diagnostics, in order: "SF-5 SF-ORDER-CHANGED"
  std::string diagnostics;  // one a line
};

// Evaluates a text as `tutti export` (or, with `vet`, as `tutti vet`) would.
Outcome run_text(const std::string& text, std::string_view level, bool vet = false, Limits limits = {},
                 std::string_view out = {});

}  // namespace tutti::smartfrog
