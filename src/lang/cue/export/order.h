#pragma once

#include <vector>

#include "lang/cue/eval/vertex.h"

namespace tutti::cue {

// The order in which the fields of a struct are shown. Each struct literal that became part of it is a chain of labels;
// literals written for this very field one after the other (or embedded) follow each other, operands of `&` and
// literals of other files do not. Of the labels that may come next the smallest by name does; labels that would each
// have to come before the other come together, by name. Labels without a field are in it too where a literal declares
// them.
std::vector<Label> field_order(const Sources& sources, Vertex* v);

// The arcs of a struct in that order, without list elements and lets.
std::vector<Vertex*> ordered_arcs(const Sources& sources, Vertex* v);

}  // namespace tutti::cue
