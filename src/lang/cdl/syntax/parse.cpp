#include "lang/cdl/syntax/parse.h"

#include <libxml/parserInternals.h>

#include "lang/cdl/syntax/sax.h"

namespace tutti::cdl {
namespace {

DocumentBuilder& builder(void* context) {
  return *static_cast<DocumentBuilder*>(static_cast<xmlParserCtxt*>(context)->_private);
}
xmlParserCtxt* parser(void* context) { return static_cast<xmlParserCtxt*>(context); }

void on_start(void* c, const xmlChar* local, const xmlChar* prefix, const xmlChar* uri, int ns_count,
              const xmlChar** namespaces, int attribute_count, int, const xmlChar** attributes) {
  builder(c).start(parser(c), local, prefix, uri, ns_count, namespaces, attribute_count, attributes);
}
void on_end(void* c, const xmlChar*, const xmlChar*, const xmlChar*) { builder(c).end(parser(c)); }
void on_text(void* c, const xmlChar* data, int size) { builder(c).text(data, size); }
void on_doctype(void* c, const xmlChar* name, const xmlChar*, const xmlChar*) { builder(c).doctype(parser(c), name); }
void on_problem(void* c, xmlError* error) {
  if (error) builder(c).problem(parser(c), *error);
}

// What libxml2 says while it has no parser to say it to; the parser's own problem follows.
void on_aside(void*, xmlError*) {}

}  // namespace

Document* parse_document(Session& session, const Source& source, std::vector<std::unique_ptr<Document>>& into,
                         bool schema_too) {
  auto document = std::make_unique<Document>();
  document->source = &source;
  document->pos = source.first;
  DocumentBuilder build(session, source, *document, schema_too);

  xmlSetStructuredErrorFunc(nullptr, on_aside);
  xmlParserCtxt* context = xmlCreateMemoryParserCtxt(source.text.data(), static_cast<int>(source.text.size()));
  if (!context) {
    session.diagnostics.error("CDL-NOT-WELL-FORMED", source.first, "the document is empty");
    return nullptr;
  }
  // No network; HUGE and BIG_LINES lift libxml2's own limits, ours hold instead (and without a document type there is
  // nothing that could grow).
  xmlCtxtUseOptions(context, XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_BIG_LINES);
  xmlSAXHandler handler{};
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = on_start;
  handler.endElementNs = on_end;
  handler.characters = on_text;
  handler.cdataBlock = on_text;
  handler.ignorableWhitespace = on_text;
  handler.internalSubset = on_doctype;
  handler.serror = on_problem;
  *context->sax = handler;
  context->_private = &build;
  xmlParseDocument(context);
  bool good = context->wellFormed && !build.failed();
  if (context->myDoc) xmlFreeDoc(context->myDoc);
  xmlFreeParserCtxt(context);
  if (!good) return nullptr;
  into.push_back(std::move(document));
  return into.back().get();
}

}  // namespace tutti::cdl
