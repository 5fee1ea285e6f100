#pragma once

#include <string>

#include "tree/session.h"

namespace tutti {

// A value in one short line, for people: 80, "text…", [3 values], {5 keys}; a secret is never shown.
std::string show(const Value& value, std::size_t widest = 60);

// How a value came to be, as lines for a reader: each step of its chain with the source line, the second party of a
// step indented below it. `most` steps at most.
std::string story(const Session& session, const Value& value, bool colour, std::size_t most = 40,
                  std::size_t indent = 2);

}  // namespace tutti
