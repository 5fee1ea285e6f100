#pragma once

#include <string>
#include <vector>

#include "lang/cue/eval/vertex.h"

// A schema that only has definitions says nothing of the data beside it: `vet schema.cue data.yaml` passes whatever
// the data is, since nobody said which definition is meant. That is the language's rule and stays so; but whoever does
// not know it takes the silence for a result, and so it is told.
//
// Looked at is what was written at the top of the schema's files, before anything is evaluated: what is embedded or
// made by a comprehension there may say something, and counts as if it did.
namespace tutti::cue {

// The names of the schema's definitions, in their order, if it says nothing else.
std::vector<std::string> only_definitions(const Vertex& schema);

// "nothing was checked: ..." with the way out; "" when the schema says something.
std::string unchecked_note(const Vertex& schema);

}  // namespace tutti::cue
