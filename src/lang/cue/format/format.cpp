#include "lang/cue/format/format.h"

#include "lang/cue/format/unfold.h"

namespace tutti::cue {

std::string format_node(ast::Node* node, const FormatOptions& options) {
  if (options.simplify) simplify_labels(node);
  Unfold unfold(options);
  unfold.declaration(node);
  std::string out = unfold.render();
  if (node->kind != ast::Kind::kFile || out.empty()) return out;
  // A file that was made may ask for an empty line before what it embeds.
  ast::Nodes decls = ast::as<ast::File>(node)->decls;
  bool lowered = !decls.empty() && decls[0]->kind == ast::Kind::kEmbed && !ast::first(decls[0]) &&
                 ast::first(decls[0]).rel == Rel::kNewSection;
  return (lowered ? "\n" : "") + out + "\n";
}

}  // namespace tutti::cue
