#include "base/libxml2.h"

#include "base/library.h"

namespace tutti {
namespace {

LibXml2 load() {
  Library library("libxml2.so.2", "XML-LIBRARY", "XML cannot be read");
  LibXml2 l;
#define F(name) library.find(#name, l.name);
  TUTTI_LIBXML2(F)
#undef F
  library.find("xmlFree", l.free_function);
  // No text names another file that is then opened: document types, entities, schemas, style sheets.
  l.xmlSetExternalEntityLoader([](const char*, const char*, xmlParserCtxt*) -> xmlParserInput* { return nullptr; });
  return l;
}

}  // namespace

const LibXml2& libxml2() {
  static const LibXml2 loaded = load();
  return loaded;
}

}  // namespace tutti
