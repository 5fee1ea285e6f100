#include "lang/cue/builtin/template_tree.h"

#include "lang/cue/builtin/support.h"

namespace tutti::cue {

namespace {

std::string joined_nodes(const std::vector<TemplateNode::Own>& nodes, std::string_view between) {
  std::string out;
  for (const auto& n : nodes) {
    if (&n != &nodes.front()) out += between;
    bool in_parentheses = n->kind == TemplateNode::kPipe && between == " ";
    out += in_parentheses ? "(" + n->written() + ")" : n->written();
  }
  return out;
}

std::string dotted(const std::vector<std::string>& names, bool first) {
  std::string out;
  for (const std::string& n : names) {
    if (first || &n != &names.front()) out += '.';
    out += n;
  }
  return out;
}

}  // namespace

std::string TemplateNode::written() const {
  switch (kind) {
    case kText:
    case kIdentifier:
    case kNumber:
    case kString:
    case kBool: return text;
    case kDot: return ".";
    case kNil: return "nil";
    case kElse: return "{{else}}";
    case kEnd: return "{{end}}";
    case kBreak: return "{{break}}";
    case kContinue: return "{{continue}}";
    case kField: return dotted(names, true);
    case kVariable: return dotted(names, false);
    case kChain:
      return (parts[0]->kind == kPipe ? "(" + parts[0]->written() + ")" : parts[0]->written()) + dotted(names, true);
    case kCommand: return joined_nodes(parts, " ");
    case kList: return joined_nodes(parts, "");
    case kPipe: {
      std::string out = joined_nodes(declared, ", ");
      if (!declared.empty()) out += assigns ? " = " : " := ";
      return out + joined_nodes(parts, " | ");
    }
    case kAction: return "{{" + pipe->written() + "}}";
    case kTemplate: return "{{template " + go_quote(text) + (pipe ? " " + pipe->written() : "") + "}}";
    case kIf:
    case kRange:
    case kWith: break;
  }
  std::string out = kind == kIf ? "{{if " : kind == kRange ? "{{range " : "{{with ";
  out += pipe->written() + "}}" + body->written();
  if (otherwise) out += "{{else}}" + otherwise->written();
  return out + "{{end}}";
}

}  // namespace tutti::cue
