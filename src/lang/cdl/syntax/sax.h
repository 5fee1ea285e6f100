#pragma once

#include <libxml/parser.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "lang/cdl/syntax/document.h"
#include "lang/cdl/syntax/path.h"
#include "tree/session.h"

namespace tutti::cdl {

// Builds a Document from libxml2's SAX events (syntax/parse.cpp drives it).
class DocumentBuilder {
 public:
  DocumentBuilder(Session& session, const Source& source, Document& document, bool schema_too);
  ~DocumentBuilder();  // after the parser is gone
  DocumentBuilder(const DocumentBuilder&) = delete;
  DocumentBuilder& operator=(const DocumentBuilder&) = delete;

  // Events.
  void start(xmlParserCtxt* parser, const xmlChar* local, const xmlChar* prefix, const xmlChar* uri, int ns_count,
             const xmlChar** namespaces, int attribute_count, const xmlChar** attributes);
  void end(xmlParserCtxt* parser);
  void text(const xmlChar* data, int size);
  void problem(xmlParserCtxt* parser, const xmlError& error);
  void doctype(xmlParserCtxt* parser, const xmlChar* name);
  bool failed() const { return failed_; }

 private:
  enum class Mode : u8 { kTop, kLists, kProperty, kExpression, kVariable, kTypes, kSkip };
  struct Frame {
    Mode mode;
    Element* element = nullptr;
    std::size_t first_item = 0;
    std::size_t text_from = 0;
    const Binding* scope = nullptr;
    std::size_t begin = 0;
    bool documentation = false;
  };
  struct Raw {
    QName name;
    Symbol prefix;
    std::string_view value;
  };

  std::size_t offset(xmlParserCtxt* parser) const;
  std::size_t tag_begin(xmlParserCtxt* parser) const;
  Symbol symbol(const xmlChar* interned);
  void stop(xmlParserCtxt* parser);
  void renew_dictionary(xmlParserCtxt* parser);

  void start_root(xmlParserCtxt* parser, Frame frame, QName name);
  Frame start_top(Frame frame, QName name);
  Frame start_property(Frame frame, QName name, Symbol prefix, Frame& outer);
  void refuse_unknown(Pos pos, std::string_view element, std::span<const std::string_view> known);
  void read_import(Pos pos);
  void property_attributes(Element& e);
  void insertion_attributes(Element& e);
  void expression_attributes(Element& e);
  void read_variable(Frame& expression, Pos pos, const Binding* scope);
  const Reference* read_reference(Element& at, std::string_view path, const Raw* root, Pos pos);
  bool read_boolean(const Element& e, std::string_view value, bool& out);
  bool read_name(const Element& e, std::string_view text, std::string_view attribute, WrittenName& out);
  void flush_text(Frame& frame);
  void finish_element(Frame& frame);
  void note_stretch(const Frame& frame, const Frame& outer, Stretch text);
  Element* make(Frame& frame, QName name, Symbol prefix, Mode mode);
  const Raw* raw(std::string_view local, bool cdl) const;

  Session& session_;
  Document& document_;
  const Source& source_;
  std::vector<xmlDict*> dictionaries_;  // that the parser had before; names in use still point into them
  bool schema_too_;
  bool failed_ = false;
  int rank_ = -1;
  std::vector<Frame> stack_;
  std::vector<Item> items_;
  std::vector<std::string_view> unused_;
  std::string text_;
  std::vector<Raw> raw_;
  std::vector<Attribute> kept_;
  std::vector<Reference> variables_;
  std::unordered_map<u32, std::size_t> variable_names_;  // where in variables_ each name is
  std::vector<std::pair<const xmlChar*, Symbol>> names_;
};

}  // namespace tutti::cdl
