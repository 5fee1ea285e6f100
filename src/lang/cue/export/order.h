#pragma once

#include <vector>

#include "lang/cue/eval/vertex.h"

namespace tutti::cue {

// The order in which the fields of a struct are shown. Declarations of one file follow each other as they are written,
// a label where it is mentioned first; an embedded literal or a comprehension is one by itself, placed by its last
// field. Operands of `&`, embedded references and files stand side by side: of the labels that may come next the
// smallest by name does, and labels that would each have to come before the other come together, by name. Labels
// without a field are in it too where a literal declares them.
std::vector<Label> field_order(const Sources& sources, Vertex* v);

// The arcs of a struct in that order, without list elements and lets.
std::vector<Vertex*> ordered_arcs(const Sources& sources, Vertex* v);

}  // namespace tutti::cue
