#pragma once

#include <string>
#include <string_view>

#include "base/arena.h"
#include "tree/value.h"

namespace tutti::smartfrog {

// The production language counts in Java's numbers, and shows them as Java does: 10.0, 1.5E10, NaN.
float java_parse_float(std::string_view text);
double java_parse_double(std::string_view text);
std::string java_text(float f);
std::string java_text(double d);

// As values of the tree: the text is kept, the tag says which type it has.
Value java_float(float f, Arena& arena);
Value java_double(double d, Arena& arena);

}  // namespace tutti::smartfrog
