#include <fmt/format.h>

#include <algorithm>

#include "base/libxml2.h"
#include "lang/cdl/resolve/library.h"

// The catalog of --catalog: an OASIS XML catalog, of which `uri`, `system` and `rewriteURI` entries count (also within
// groups). What it maps to is relative to xml:base where there is one, else to the catalog.
namespace tutti::cdl {
namespace {

std::string attribute(xmlNode* node, const char* name) {
  xmlChar* value = libxml2().xmlGetNoNsProp(node, reinterpret_cast<const xmlChar*>(name));
  std::string out = value ? reinterpret_cast<const char*>(value) : "";
  libxml2().xmlFree(value);
  return out;
}

}  // namespace

bool Library::load_catalog() {
  if (options_.catalog.empty()) return true;
  const Source* source = session_.open(options_.catalog);
  if (!source) return false;
  xmlDoc* doc = libxml2().xmlReadMemory(source->text.data(), static_cast<int>(source->text.size()), nullptr, nullptr,
                                        XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  xmlNode* root = doc ? libxml2().xmlDocGetRootElement(doc) : nullptr;
  if (!root || std::string_view(reinterpret_cast<const char*>(root->name)) != "catalog") {
    session_.diagnostics.error("CDL-BAD-CATALOG", source->first, "this is no XML catalog");
    libxml2().xmlFreeDoc(doc);
    return false;
  }
  if (doc->intSubset && doc->intSubset->entities) {
    session_.diagnostics.error("CDL-BAD-CATALOG", source->first, "a catalog with entities is not read");
    libxml2().xmlFreeDoc(doc);
    return false;
  }
  // A name relative to the folder of `from`.
  auto join = [](const std::string& from, std::string target) {
    if (target.starts_with("file://")) target.erase(0, 7);
    if (target.starts_with('/')) return target;
    return from.substr(0, from.rfind('/') + 1) + target;
  };
  auto file = [&](xmlNode* at, const std::string& target) {
    xmlChar* written = libxml2().xmlNodeGetBase(doc, at);  // xml:base, of it or around it
    std::string base =
        written ? join(options_.catalog, reinterpret_cast<const char*>(written)) : std::string(options_.catalog);
    libxml2().xmlFree(written);
    return join(base, target);
  };
  std::vector<xmlNode*> open{root};
  while (!open.empty()) {
    xmlNode* parent = open.back();
    open.pop_back();
    for (xmlNode* n = parent->children; n; n = n->next) {
      if (n->type != XML_ELEMENT_NODE) continue;
      std::string_view name = reinterpret_cast<const char*>(n->name);
      if (name == "group") open.push_back(n);
      if (name == "uri") catalog_.try_emplace(attribute(n, "name"), file(n, attribute(n, "uri")));
      if (name == "system") catalog_.try_emplace(attribute(n, "systemId"), file(n, attribute(n, "uri")));
      if (name == "rewriteURI")
        rewrites_.emplace_back(attribute(n, "uriStartString"), file(n, attribute(n, "rewritePrefix")));
    }
  }
  // The longest start that fits counts, wherever it stands.
  std::stable_sort(rewrites_.begin(), rewrites_.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  libxml2().xmlFreeDoc(doc);
  return true;
}

}  // namespace tutti::cdl
