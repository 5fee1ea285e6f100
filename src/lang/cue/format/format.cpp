#include "lang/cue/format/format.h"

#include "lang/cue/format/unfold.h"

namespace tutti::cue {

std::string format_node(ast::Node* node, const FormatOptions& options) {
  if (options.simplify) simplify_labels(node);
  Unfold unfold(options);
  unfold.node(node);
  return unfold.finish();
}

}  // namespace tutti::cue
