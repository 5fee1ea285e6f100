#include "lang/cdl/resolve/node.h"

#include <algorithm>

namespace tutti::cdl {

bool Node::has_elements() const {
  return std::any_of(content, content + content_size, [](const Content& c) { return c.node != nullptr; });
}

void append_text(std::string& out, const Node& node) {
  for (const Content& c : node.items()) {
    if (c.node) {
      append_text(out, *c.node);
    } else {
      out += c.text;
    }
  }
}

std::string path_of(const Node& node) {
  std::vector<std::string_view> steps;
  for (const Node* n = node.place(); n && n->parent; n = n->parent) {
    steps.push_back(n->name().local.text());
  }
  std::string out;
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (!out.empty()) out += '/';
    out += steps[i];
  }
  return out;
}

}  // namespace tutti::cdl
