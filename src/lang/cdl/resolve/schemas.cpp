#include "lang/cdl/resolve/schemas.h"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>

#include "base/file.h"
#include "base/libxml2.h"

namespace tutti::cdl {
namespace {

const xmlChar* x(std::string_view s) { return reinterpret_cast<const xmlChar*>(s.data()); }
std::string str(const xmlChar* s) { return s ? reinterpret_cast<const char*>(s) : ""; }

// libxml2 has one loader for the whole program. Ours gives it the texts of the schemas being compiled in this thread
// and local files, and refuses all else. No catalog of the machine has a say.
thread_local const std::map<std::string, const std::string*>* texts_now = nullptr;
thread_local std::deque<std::string>* kept_now = nullptr;  // the texts of files, for as long as they are parsed

// A file as a schemaLocation names it: absolute, with %HH for what cannot stand in a URI.
std::string location_of(const std::string& path) {
  std::error_code ignored;
  std::string full = std::filesystem::absolute(path, ignored).lexically_normal().string();
  xmlChar* escaped = libxml2().xmlURIEscapeStr(x(full), x("/"));
  std::string out = str(escaped);
  libxml2().xmlFree(escaped);
  return out;
}

// The text of a local file without a document type: libxml2 expands the entities of a schema's, and would open what
// they name.
std::optional<std::string> text_that_may_be_read(const std::string& url) {
  xmlChar* unescaped = reinterpret_cast<xmlChar*>(libxml2().xmlURIUnescapeString(url.c_str(), 0, nullptr));
  std::string path = str(unescaped);
  libxml2().xmlFree(unescaped);
  if (path.starts_with("file://")) path.erase(0, 7);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  Result<std::string> text = read_file(path, u64{1} << 28);
  xmlParserCtxt* parser = text && !text->empty()
                              ? libxml2().xmlCreateMemoryParserCtxt(text->data(), static_cast<int>(text->size()))
                              : nullptr;
  if (!parser) return std::nullopt;
  bool found = false;
  xmlSAXHandler handler{};
  handler.initialized = XML_SAX2_MAGIC;
  handler.internalSubset = [](void* c, const xmlChar*, const xmlChar*, const xmlChar*) {
    *static_cast<bool*>(static_cast<xmlParserCtxt*>(c)->_private) = true;
    libxml2().xmlStopParser(static_cast<xmlParserCtxt*>(c));
  };
  *parser->sax = handler;
  parser->_private = &found;
  libxml2().xmlParseDocument(parser);
  libxml2().xmlFreeParserCtxt(parser);
  return found ? std::nullopt : std::optional(std::move(*text));
}

xmlParserInput* load(const char* url, const char*, xmlParserCtxt* context) {
  if (!texts_now) return nullptr;
  std::string name = url ? url : "";
  if (auto it = texts_now->find(name); it != texts_now->end()) {
    xmlParserInput* in = libxml2().xmlNewStringInputStream(context, x(*it->second));
    if (in) in->filename = reinterpret_cast<char*>(libxml2().xmlStrdup(x(name)));
    return in;
  }
  std::optional<std::string> text = text_that_may_be_read(name);
  if (!text) return nullptr;
  // What was looked at is what is parsed: the file is not opened a second time. The parser copies it.
  std::string& kept = kept_now->emplace_back(std::move(*text));
  xmlParserInput* in = libxml2().xmlNewStringInputStream(context, x(kept));
  if (in) in->filename = reinterpret_cast<char*>(libxml2().xmlStrdup(x(name)));
  return in;
}

void install_loader() {
  static std::once_flag once;
  std::call_once(once, [] { libxml2().xmlSetExternalEntityLoader(load); });
}

bool is_schema_element(xmlNode* n, const char* local) {
  return n->type == XML_ELEMENT_NODE && n->ns && str(n->ns->href) == kSchemaNamespace && str(n->name) == local;
}

struct Complaints {
  std::vector<std::string> all;
};

void complain(void* context, xmlError* error) {
  std::string message = error && error->message ? error->message : "";
  while (!message.empty() && message.back() == '\n') message.pop_back();
  static_cast<Complaints*>(context)->all.push_back(message);
}

}  // namespace

Schemas::Schemas(Session& session, const Library& library) : session_(session) {
  install_loader();
  for (const auto& document : library.documents()) {
    if (document->is_schema) {
      add_file(*document);
      continue;
    }
    for (const TypesPart& part : document->types) add_inline(*document, part);
  }
}

Schemas::~Schemas() {
  if (schema_) libxml2().xmlSchemaFree(schema_);
}

void Schemas::note_names(xmlNode* schema, Part& part) {
  for (xmlNode* c = schema->children; c; c = c->next) {
    if (is_schema_element(c, "include") || is_schema_element(c, "redefine")) part.whole = false;
    if (!is_schema_element(c, "simpleType") && !is_schema_element(c, "complexType")) continue;
    xmlChar* name = libxml2().xmlGetNoNsProp(c, x("name"));
    names_[QName{part.ns, Symbol(str(name))}.key()] = true;
    libxml2().xmlFree(name);
  }
  if (!part.whole) open_namespaces_.insert(part.ns.id());
}

// A child of cdl:types on its own: the namespaces in force where it stands are declared on it, and the document's
// target namespace is its own where it names none (6.1).
void Schemas::add_inline(const Document& document, const TypesPart& types) {
  std::string wrapped = "<w";
  std::set<u32> seen;
  for (const Binding* b = types.scope; b; b = b->outer) {
    if (!seen.insert(b->prefix.id()).second) continue;
    std::string uri(b->uri.text());
    for (std::size_t at = 0; (at = uri.find_first_of("&<\"", at)) != std::string::npos; at++) uri[at] = '_';
    wrapped +=
        b->prefix.empty() ? fmt::format(" xmlns=\"{}\"", uri) : fmt::format(" xmlns:{}=\"{}\"", b->prefix.text(), uri);
  }
  wrapped += ">" + document.source->text.substr(types.text.from, types.text.to - types.text.from) + "</w>";
  xmlDoc* doc = libxml2().xmlReadMemory(wrapped.data(), static_cast<int>(wrapped.size()), nullptr, nullptr,
                                        XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  xmlNode* root = doc ? libxml2().xmlDocGetRootElement(doc) : nullptr;
  xmlNode* schema = root ? root->children : nullptr;
  while (schema && schema->type != XML_ELEMENT_NODE) schema = schema->next;
  if (!schema || !is_schema_element(schema, "schema")) {
    libxml2().xmlFreeDoc(doc);
    return;  // documentation, or some other type system
  }
  Part part;
  part.pos = document.source->pos(types.text.from);
  xmlNs** scope = libxml2().xmlGetNsList(doc, schema);
  xmlDoc* alone = libxml2().xmlNewDoc(x("1.0"));
  xmlNode* copy = libxml2().xmlDocCopyNode(schema, alone, 1);
  libxml2().xmlDocSetRootElement(alone, copy);
  for (xmlNs** ns = scope; ns && *ns; ns++)
    libxml2().xmlNewNs(copy, (*ns)->href, (*ns)->prefix);  // null where it is there already
  libxml2().xmlFree(scope);
  xmlChar* target = libxml2().xmlGetNoNsProp(copy, x("targetNamespace"));
  if (target) {
    part.ns = Symbol(str(target));
    libxml2().xmlFree(target);
  } else if (!document.target_ns.empty()) {
    part.ns = document.target_ns;
    libxml2().xmlSetProp(copy, x("targetNamespace"), x(std::string(document.target_ns.text())));
  }
  note_names(copy, part);
  xmlChar* text = nullptr;
  int size = 0;
  libxml2().xmlDocDumpMemory(alone, &text, &size);
  part.text.assign(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  // Beside the document, so that what it includes is found from there.
  part.location = location_of(fmt::format("{}cdl:types-{}", document.directory, parts_.size()));
  libxml2().xmlFree(text);
  libxml2().xmlFreeDoc(alone);
  libxml2().xmlFreeDoc(doc);
  parts_.push_back(std::move(part));
}

void Schemas::add_file(const Document& document) {
  xmlDoc* doc = libxml2().xmlReadMemory(document.source->text.data(), static_cast<int>(document.source->text.size()),
                                        nullptr, "UTF-8", XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
  Part part;
  part.ns = document.target_ns;
  part.pos = document.pos;
  part.location = location_of(document.source->name);
  if (doc) note_names(libxml2().xmlDocGetRootElement(doc), part);
  libxml2().xmlFreeDoc(doc);
  parts_.push_back(std::move(part));
}

Schemas::Known Schemas::known(QName type) const {
  if (names_.count(type.key()) || open_namespaces_.count(type.ns.id())) return Known::kYes;
  for (const Part& part : parts_) {
    if (part.ns == type.ns) return Known::kNo;
  }
  return Known::kNoSchema;
}

bool Schemas::compile(std::vector<QName>& types) {
  std::vector<std::string> complaints, more;
  if (compile(types, complaints)) return true;
  if (compile({}, more)) {  // one of the types is not there: those of a namespace need not be known by name
    for (QName& type : types)
      if (!compile({type}, more)) type = {};
    if (compile(types, more)) return true;
  }
  Diagnostic& d = session_.diagnostics.error("CDL-BAD-SCHEMA", parts_.empty() ? Pos() : parts_[0].pos,
                                             "the types cannot be used: their schema is wrong");
  for (const std::string& c : complaints) d.note(c);
  return false;
}

bool Schemas::compile(const std::vector<QName>& types, std::vector<std::string>& told) {
  libxml2().xmlSchemaFree(schema_);
  std::map<std::string, const std::string*> texts;
  std::map<u32, std::vector<const Part*>> by_namespace;
  for (const Part& part : parts_) {
    if (!part.text.empty()) texts[part.location] = &part.text;
    by_namespace[part.ns.id()].push_back(&part);
  }
  std::vector<std::string> groups;
  groups.reserve(by_namespace.size());
  std::string text = fmt::format("<xs:schema xmlns:xs=\"{}\"", kSchemaNamespace);
  std::string imports, elements;
  for (const auto& [id, parts] : by_namespace) {
    std::string uri(Symbol::from_id(id).text());
    if (id == 0) {
      for (const Part* p : parts) imports += fmt::format("<xs:include schemaLocation=\"{}\"/>", p->location);
      continue;
    }
    text += fmt::format(" xmlns:q{}=\"{}\"", id, uri);
    std::string location = parts[0]->location;
    if (parts.size() > 1) {
      std::string group = fmt::format("<xs:schema xmlns:xs=\"{}\" targetNamespace=\"{}\">", kSchemaNamespace, uri);
      for (const Part* p : parts) group += fmt::format("<xs:include schemaLocation=\"{}\"/>", p->location);
      groups.push_back(group + "</xs:schema>");
      location = fmt::format("/tutti-schema-group-{}", id);  // a path: locations are taken to be relative to it
      texts[location] = &groups.back();
    }
    imports += fmt::format("<xs:import namespace=\"{}\" schemaLocation=\"{}\"/>", uri, location);
  }
  for (std::size_t i = 0; i < types.size(); i++) {
    if (types[i].local.empty()) continue;
    std::string name(types[i].local.text());
    if (!types[i].ns.empty()) name = fmt::format("q{}:{}", types[i].ns.id(), name);
    elements += fmt::format("<xs:element name=\"t{}\" type=\"{}\"/>", i, name);
  }
  text += ">" + imports + elements + "</xs:schema>";

  Complaints complaints;
  std::deque<std::string> kept;
  kept_now = &kept;
  texts_now = &texts;
  xmlSchemaParserCtxt* parser = libxml2().xmlSchemaNewMemParserCtxt(text.data(), static_cast<int>(text.size()));
  libxml2().xmlSchemaSetParserStructuredErrors(parser, complain, &complaints);
  schema_ = libxml2().xmlSchemaParse(parser);
  libxml2().xmlSchemaFreeParserCtxt(parser);
  texts_now = nullptr;
  kept_now = nullptr;
  told = std::move(complaints.all);
  return schema_ != nullptr;
}

}  // namespace tutti::cdl
