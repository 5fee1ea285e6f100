#include "lang/cdl/resolve/canonical.h"

#include <map>

namespace tutti::cdl {
namespace {

void write(const Node& n, std::string& out) {
  out += "<" + n.name().text();
  std::map<std::string, std::string> attributes;
  for (const Attribute& a : n.attrs()) {
    std::string value(a.value);
    if (is_cdl_namespace(a.name.ns) && a.name.local.text() == "type") {
      std::size_t colon = value.find(':');
      const Binding* b = find_prefix(a.scope, colon == std::string::npos ? Symbol() : Symbol(value.substr(0, colon)));
      value = "{" + std::string(b ? b->uri.text() : "") + "}" +
              (colon == std::string::npos ? value : value.substr(colon + 1));
    }
    attributes[a.name.text()] = value;
  }
  for (const auto& [name, value] : attributes) out += " " + name + "=" + value;
  if (n.ref) out += " open";
  out += ">";
  for (const Content& c : n.items()) {
    if (!c.node) {
      out += c.text;
    } else if (c.node->source->kind == ElementKind::kProperty) {
      write(*c.node, out);
    } else if (c.node->settled) {
      for (const Content& i : c.node->items()) {
        if (i.node) {
          write(*i.node, out);
        } else {
          out += i.text;
        }
      }
    } else {
      out += c.node->source->kind == ElementKind::kInsertion ? "<ref/>" : "<expression/>";
    }
  }
  out += "</>";
}

}  // namespace

std::string canonical_text(const Node& node) {
  std::string out;
  write(node, out);
  return out;
}

}  // namespace tutti::cdl
