#pragma once

#include <functional>
#include <set>
#include <vector>

#include "lang/cue/eval/vertex.h"
#include "lang/cue/syntax/ast.h"

namespace tutti::cue {

class Context;

// Takes out of files what the rest of the configuration says already: a field written at its own place is superfluous
// when what reaches that place otherwise (a definition, a pattern, a comprehension) comes to the same value.
//
// `root` is the evaluated instance, `added` what embedding put into the files, which stays; `own` tells which of its
// files may change. `rebuild` compiles files to a root again: every set of removals is tried, and only those after
// which the configuration still means the same are kept. Returns the files, those that changed as new trees.
std::vector<ast::File*> trim_files(Context& c, Arena& arena, Vertex* root, const std::vector<ast::File*>& files,
                                   const std::set<const ast::Node*>& added,
                                   const std::function<bool(const ast::File*)>& own,
                                   const std::function<Vertex*(const std::vector<ast::File*>&)>& rebuild);

// The files as they are written, without what stands in `added` (PackageLoader::added).
std::vector<ast::File*> without_added(Arena& arena, const std::vector<ast::File*>& files,
                                      const std::set<const ast::Node*>& added);

}  // namespace tutti::cue
