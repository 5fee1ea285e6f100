#include "lang/cdl/syntax/parse.h"

#include <optional>

#include "base/libxml2.h"
#include "base/xml_tags.h"
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

// The name that the declaration gives for the encoding, or "".
std::string declared_encoding(std::string_view text) {
  if (!text.starts_with("<?xml")) return {};
  std::string_view declaration = text.substr(0, text.find("?>"));
  std::size_t at = declaration.find("encoding");
  if (at == std::string_view::npos) return {};
  std::size_t quote = declaration.find_first_of("\"'", at);
  if (quote == std::string_view::npos) return {};
  std::size_t end = declaration.find(declaration[quote], quote + 1);
  return end == std::string_view::npos ? std::string() : std::string(declaration.substr(quote + 1, end - quote - 1));
}

// A text in another encoding as UTF-8, so that places in it are those of what diagnostics quote. Nothing where it is
// UTF-8 already, or cannot be converted (then the parser says why).
std::optional<std::string> as_utf8(std::string_view text) {
  xmlCharEncoding encoding = libxml2().xmlDetectCharEncoding(reinterpret_cast<const unsigned char*>(text.data()),
                                                             static_cast<int>(std::min<std::size_t>(text.size(), 4)));
  xmlCharEncodingHandler* handler = nullptr;
  if (encoding == XML_CHAR_ENCODING_NONE || encoding == XML_CHAR_ENCODING_UTF8) {
    std::string name = declared_encoding(text);
    encoding = name.empty() ? XML_CHAR_ENCODING_UTF8 : libxml2().xmlParseCharEncoding(name.c_str());
    if (encoding == XML_CHAR_ENCODING_UTF8 || encoding == XML_CHAR_ENCODING_ASCII) return std::nullopt;
    // UTF-16 that can be read as this far is not.
    if (encoding == XML_CHAR_ENCODING_UTF16LE || encoding == XML_CHAR_ENCODING_UTF16BE) return std::nullopt;
    handler = libxml2().xmlFindCharEncodingHandler(name.c_str());
  } else {
    handler = libxml2().xmlGetCharEncodingHandler(encoding);
  }
  if (!handler) return std::nullopt;
  xmlBuffer* in = libxml2().xmlBufferCreate();
  xmlBuffer* out = libxml2().xmlBufferCreate();
  libxml2().xmlBufferAdd(in, reinterpret_cast<const xmlChar*>(text.data()), static_cast<int>(text.size()));
  std::optional<std::string> converted;
  if (libxml2().xmlCharEncInFunc(handler, out, in) >= 0 && libxml2().xmlBufferLength(in) == 0) {
    converted.emplace(reinterpret_cast<const char*>(libxml2().xmlBufferContent(out)),
                      static_cast<std::size_t>(libxml2().xmlBufferLength(out)));
    if (converted->starts_with("\xEF\xBB\xBF")) converted->erase(0, 3);
  }
  libxml2().xmlCharEncCloseFunc(handler);
  libxml2().xmlBufferFree(in);
  libxml2().xmlBufferFree(out);
  return converted;
}

}  // namespace

Document* parse_document(Session& session, const Source& given, std::vector<std::unique_ptr<Document>>& into,
                         bool schema_too) {
  const Source* converted = nullptr;
  if (std::optional<std::string> text = as_utf8(given.text)) {
    if (Result<const Source*> added = session.sources->add(given.name, std::move(*text))) converted = *added;
  }
  const Source& source = converted ? *converted : given;
  auto document = std::make_unique<Document>();
  document->source = &source;
  document->pos = source.first;
  DocumentBuilder build(session, source, *document, schema_too);
  check_attribute_counts(source.text, source.first.at);

  libxml2().xmlSetStructuredErrorFunc(nullptr, on_aside);
  xmlParserCtxt* context =
      libxml2().xmlCreateMemoryParserCtxt(source.text.data(), static_cast<int>(source.text.size()));
  if (!context) {
    session.diagnostics.error("CDL-NOT-WELL-FORMED", source.first, "the document is empty");
    return nullptr;
  }
  // No network; HUGE and BIG_LINES lift libxml2's own limits, ours hold instead (and without a document type there is
  // nothing that could grow).
  libxml2().xmlCtxtUseOptions(
      context, XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_BIG_LINES | (converted ? XML_PARSE_IGNORE_ENC : 0));
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
  libxml2().xmlParseDocument(context);
  bool good = context->wellFormed && !build.failed();
  if (context->myDoc) libxml2().xmlFreeDoc(context->myDoc);
  libxml2().xmlFreeParserCtxt(context);
  if (!good) return nullptr;
  into.push_back(std::move(document));
  return into.back().get();
}

}  // namespace tutti::cdl
