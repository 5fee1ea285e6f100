#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tree/steps.h"

namespace tutti::cdl::reference {

// What a document without imports resolves to, by the letter of sections 7 and 11: transformations of the document
// itself, one at a time, until none applies. Slow, and kept that way. The readings of the specification's gaps are
// those of docs/cdl.md.
struct Outcome {
  std::map<std::string, int> errors;  // codes, each with the line of its first place (0: not known)
  std::string text;                   // the resolved cdl:system in the form of canonical_text(), when there are none
  std::string document;               // all of it, resolved, as a document
  std::string outside;                // what of it these sections do not speak of; nothing was done then
};

Outcome resolve(std::string_view document, Steps* steps = nullptr);

}  // namespace tutti::cdl::reference
