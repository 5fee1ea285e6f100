#include "lang/cdl/resolve/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/budget.h"

namespace tutti::cdl {

bool Node::has_elements() const {
  return std::any_of(content, content + content_size, [](const Content& c) { return c.node != nullptr; });
}

void mark_done(Node& node) {
  node.done = true;
  node.secret_below = node.secret || std::any_of(node.content, node.content + node.content_size,
                                                 [](const Content& c) { return c.node && c.node->secret_below; });
}

void check_length(std::size_t bytes, u32 at) {
  if (bytes > (std::size_t{1} << 28)) throw LimitError("LIMIT-TEXT", "the text of a property is too large", at);
}

namespace {

void append_text(std::string& out, const Node& node, u64& left) {
  for (const Content& c : node.items()) {
    if (--left == 0) throw LimitError("LIMIT-TEXT", "the text of a property is too large", node.source->pos.at);
    check_length(out.size(), node.source->pos.at);
    if (c.node) {
      append_text(out, *c.node, left);
    } else {
      out += c.text;
    }
  }
}

}  // namespace

void append_text(std::string& out, const Node& node) {
  u64 left = 100'000'000;
  append_text(out, node, left);
}

std::string path_of(const Node& node) {
  std::vector<std::string_view> steps;
  const Node* n = node.place();
  for (; n->parent; n = n->parent) steps.push_back(n->name().local.text());
  std::string out;
  if (!is_cdl_namespace(n->name().ns)) out = fmt::format("@{}", n->name().local.text());
  for (std::size_t i = steps.size(); i-- > 0;) {
    if (!out.empty()) out += '/';
    out += steps[i];
  }
  return out;
}

}  // namespace tutti::cdl
