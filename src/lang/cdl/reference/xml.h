#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/libxml2.h"

// What the rules of XML-CDL say of elements and attributes, in few words over libxml2's document.
namespace tutti::cdl::reference {

inline constexpr const char* kCdl = "http://www.gridforum.org/2004/12/CDDLM/XML-CDL/1.0";
using Nodes = std::vector<xmlNode*>;

inline const xmlChar* x(const char* s) { return reinterpret_cast<const xmlChar*>(s); }
inline const xmlChar* x(const std::string& s) { return x(s.c_str()); }
inline std::string str(const xmlChar* s) { return s ? reinterpret_cast<const char*>(s) : ""; }

inline std::string name_of(xmlNode* n) {
  return n->ns && n->ns->href && *n->ns->href ? "{" + str(n->ns->href) + "}" + str(n->name) : str(n->name);
}
inline bool is_cdl(xmlNode* n, const char* local) {
  return n->type == XML_ELEMENT_NODE && n->ns && str(n->ns->href) == kCdl && str(n->name) == local;
}
inline bool is_special(xmlNode* n) { return is_cdl(n, "ref") || is_cdl(n, "expression"); }
inline bool is_property(xmlNode* n) { return n->type == XML_ELEMENT_NODE && !is_special(n); }
inline bool is_text(xmlNode* n) { return n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE; }

inline std::optional<std::string> get(xmlNode* n, const char* local, bool qualified = true) {
  xmlChar* v = qualified ? libxml2().xmlGetNsProp(n, x(local), x(kCdl)) : libxml2().xmlGetNoNsProp(n, x(local));
  if (!v) return std::nullopt;
  std::string out = str(v);
  libxml2().xmlFree(v);
  return out;
}
inline xmlNs* cdl_ns(xmlNode* n) { return libxml2().xmlSearchNsByHref(n->doc, n, x(kCdl)); }
inline void set(xmlNode* n, const char* local, const std::string& value, bool qualified = true) {
  if (qualified) {
    libxml2().xmlSetNsProp(n, cdl_ns(n), x(local), x(value));
  } else {
    libxml2().xmlSetProp(n, x(local), x(value));
  }
}
inline void unset(xmlNode* n, const char* local, bool qualified = true) {
  if (qualified) {
    libxml2().xmlUnsetNsProp(n, cdl_ns(n), x(local));
  } else {
    libxml2().xmlUnsetProp(n, x(local));
  }
}

inline Nodes children(xmlNode* n, const std::function<bool(xmlNode*)>& which) {
  Nodes out;
  for (xmlNode* c = n->children; c; c = c->next) {
    if (which(c)) out.push_back(c);
  }
  return out;
}
inline void each(xmlNode* n, const std::function<void(xmlNode*)>& f) {
  f(n);
  for (xmlNode* c : children(n, [](xmlNode* m) { return m->type == XML_ELEMENT_NODE; })) each(c, f);
}
inline void remove(xmlNode* n) {
  libxml2().xmlUnlinkNode(n);
  libxml2().xmlFreeNode(n);
}
inline bool blank(const std::string& s) { return s.find_first_not_of(" \t\r\n") == std::string::npos; }
inline bool lazy(xmlNode* n) {
  std::string v = get(n, "lazy").value_or("");
  if (v.empty() && is_special(n)) v = get(n, "lazy", false).value_or("");
  return v == "true" || v == "1";
}

// The element as it stands, with its content: for people, so that a name that the resolver has written out
// (`{uri}name`) is shown as it was written, and namespaces are not declared.
std::string shown(xmlNode* n);
// `/Service/port`
std::string path_of(xmlNode* n);
// A path of references as the resolver keeps it (`?{uri}a|..|`) as it is written: `a/..`.
std::string written_path(xmlNode* n, const std::string& expanded);

}  // namespace tutti::cdl::reference
