#include "lang/cdl/reference/xml.h"

#include <fmt/format.h>

namespace tutti::cdl::reference {
namespace {

std::string qualified(xmlNs* ns, const xmlChar* name) {
  return ns && ns->prefix ? fmt::format("{}:{}", str(ns->prefix), str(name)) : str(name);
}

std::string without_uri(const std::string& name) {
  std::size_t brace = name.find('}');
  return brace == std::string::npos ? name : name.substr(brace + 1);
}

std::string shown_attribute(xmlNode* n, xmlAttr* a) {
  xmlChar* v = libxml2().xmlNodeListGetString(n->doc, a->children, 1);
  std::string value = str(v), local = str(a->name);
  libxml2().xmlFree(v);
  if (local == "ref") value = written_path(n, value);
  if (local == "refroot" || local == "extends" || local == "type") value = without_uri(value);
  return fmt::format(" {}=\"{}\"", qualified(a->ns, a->name), value);
}

void show(xmlNode* n, std::size_t depth, std::string& out) {
  std::string indent(2 * depth, ' ');
  if (!out.empty()) out += "\n";
  std::string name = qualified(n->ns, n->name);
  out += indent + "<" + name;
  for (xmlAttr* a = n->properties; a; a = a->next) out += shown_attribute(n, a);
  if (!n->children) {
    out += "/>";
    return;
  }
  out += ">";
  bool elements = false;
  for (xmlNode* c = n->children; c; c = c->next) {
    if (c->type == XML_ELEMENT_NODE) {
      elements = true;
      show(c, depth + 1, out);
    } else if (!blank(str(c->content))) {
      out += str(c->content);
    }
  }
  if (elements) out += "\n" + indent;
  out += "</" + name + ">";
}

}  // namespace

std::string shown(xmlNode* n) {
  std::string out;
  show(n, 0, out);
  return out;
}

std::string path_of(xmlNode* n) {
  std::string out;
  for (; n && n->parent && n->parent->type == XML_ELEMENT_NODE; n = n->parent)
    out = "/" + (is_cdl(n, "system") || is_cdl(n, "configuration") ? str(n->name) : qualified(n->ns, n->name)) + out;
  return out;
}

std::string written_path(xmlNode* n, const std::string& expanded) {
  std::string rest = expanded, out;
  if (rest.starts_with("self|")) {  // the way through the property itself, from what is around it
    xmlNode* holder = is_special(n) || is_cdl(n, "variable") ? n->parent : n;
    while (holder && (is_special(holder) || is_cdl(holder, "variable"))) holder = holder->parent;
    rest.replace(0, 4, str(holder->name));
  }
  bool absolute = rest.starts_with("/");
  if (absolute) rest.erase(0, 1);
  while (!rest.empty()) {
    std::string step = rest.substr(0, rest.find('|'));
    rest.erase(0, step.size() + 1);
    bool bound = step[0] == '{' && step.find('}') > 1;
    if (bound) {
      std::string uri = step.substr(1, step.find('}') - 1);
      xmlNs* ns = libxml2().xmlSearchNsByHref(n->doc, n, x(uri));
      step = qualified(ns, x(without_uri(step)));
    } else {
      step = without_uri(step);
    }
    out += (out.empty() ? "" : "/") + step;
  }
  return absolute ? "/" + out : out;
}

}  // namespace tutti::cdl::reference
