#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tutti::cdl::reference {

// What a document without imports resolves to, by the letter of sections 7 and 11: transformations of the document
// itself, one at a time, until none applies. Slow, and kept that way. The readings of the specification's gaps are
// those of docs/cdl.md.
struct Outcome {
  std::set<std::string> errors;  // codes
  std::string text;              // the resolved cdl:system in the form of canonical_text(), when there are none
};

Outcome resolve(std::string_view document);

}  // namespace tutti::cdl::reference
