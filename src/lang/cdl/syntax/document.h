#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/symbol.h"
#include "text/source.h"

// A CDL document as written: elements with their namespaces, places and the meaning of their cdl: attributes, before
// any resolution. Comments, processing instructions and cdl:documentation are not data and are not here. Never changes
// once parsed; everything lives in the session's arena.
namespace tutti::cdl {

struct Document;
struct Element;
struct List;

// The namespace of the specification, and the two older ones that documents in the field use.
inline constexpr std::string_view kNamespace = "http://www.gridforum.org/2004/12/CDDLM/XML-CDL/1.0";
bool is_cdl_namespace(Symbol uri);
// An attribute `secret` of this namespace, true, marks a property whose value is not to be shown; it is inherited as
// all attributes are. What was encrypted is marked with it.
inline constexpr std::string_view kSecretNamespace = "urn:tutti:secret";
// An attribute `kind` of this namespace says what elements and text cannot: map (an empty one), list (the children are
// its items), text (an empty one), bytes (the text is them in hexadecimal), reference and link (the text is one, and
// stays one). Others hold what SmartFrog says of a value: `lazy` (the words for what it waits for), `data` and `tags`.
// Written by conversions of other languages.
inline constexpr std::string_view kKindNamespace = "urn:tutti:kind";
inline constexpr std::string_view kSchemaNamespace = "http://www.w3.org/2001/XMLSchema";
bool is_schema_namespace(Symbol uri);  // that one, or an older one: the specification itself writes that of 2000

// An expanded name.
struct QName {
  Symbol ns, local;
  u64 key() const { return (u64{ns.id()} << 32) | local.id(); }
  friend bool operator==(QName, QName) = default;
  std::string text() const;  // {ns}local
};

// A namespace declaration in force; the innermost first.
struct Binding {
  Symbol prefix, uri;
  const Binding* outer = nullptr;
};
const Binding* find_prefix(const Binding* scope, Symbol prefix);
Symbol default_namespace(const Binding* scope);

// A name as written in an attribute (cdl:extends, cdl:refroot, cdl:type): an unprefixed one is looked up in the default
// namespace first and then in none (an xsd:QName would say the former only, but documents rely on both).
struct WrittenName {
  QName name;
  bool prefixed = false;
};

struct Attribute {
  QName name;
  Symbol prefix;
  std::string_view value;
  const Binding* scope = nullptr;  // where it was written: prefixes in its value are these
};

struct PathStep {
  enum Kind : u8 { kHere, kUp, kName } kind = kHere;
  bool prefixed = false;
  QName name;
};

// Path ::= '/' | '/'? Step ('/' Step)*      Step ::= '.' | '..' | QName
struct RefPath {
  bool absolute = false;
  std::span<const PathStep> steps;
  std::string_view text;
};

// A value reference: @cdl:ref with @cdl:refroot, a cdl:ref element, or a cdl:variable.
struct Reference {
  RefPath path;
  bool rooted = false;  // has a refroot
  WrittenName root;
  Symbol variable;    // of a cdl:variable: its name
  bool lazy = false;  // of a cdl:variable
  const Element* at = nullptr;
  const Binding* scope = nullptr;
};

struct Extends {
  WrittenName name;
  std::string_view text;
  mutable const List* target = nullptr;  // found when all documents are loaded (resolve/library.h)
};

// One piece of an element's content.
struct Item {
  const Element* element = nullptr;  // or else text
  std::string_view text;
};

enum class ElementKind : u8 {
  kProperty,
  kInsertion,   // cdl:ref
  kExpression,  // cdl:expression
};

struct Element {
  QName name;
  Symbol prefix;
  Pos pos;  // of its `<`
  ElementKind kind = ElementKind::kProperty;
  bool lazy = false;  // cdl:lazy is true
  bool lazy_written = false;
  bool required = false;  // cdl:use="required"
  bool has_elements = false;
  u32 depth = 0;  // steps below the root of its list (or below cdl:system)
  const Element* parent = nullptr;
  const Document* document = nullptr;
  const Binding* scope = nullptr;
  std::span<const Item> items;            // white space between elements left out
  std::span<const Attribute> attributes;  // without cdl:extends, cdl:ref, cdl:refroot and declarations
  const Extends* extends = nullptr;
  const Reference* ref = nullptr;
  std::span<const Reference> variables;  // of an expression
  std::string_view value_of;
};

struct Import {
  Symbol ns;
  bool has_ns = false;
  std::string_view location;
  Pos pos;
};

// A stretch of the source.
struct Stretch {
  std::size_t from = 0, to = 0;
};

// The text of one child of cdl:types, to be read again by a schema processor.
struct TypesPart {
  Stretch text;
  const Binding* scope = nullptr;
};

// A cdl:documentation between the property lists of cdl:configuration or cdl:system.
struct Documentation {
  Stretch text;
  const Element* in = nullptr;
  std::size_t before = 0;  // the list that it stands before, counted from 0
};

struct Document {
  const Source* source = nullptr;  // as UTF-8, whatever encoding it was written in
  std::string directory;           // that relative locations start from, with its slash
  Symbol cdl_ns;                   // which of the CDL namespaces it is written in
  Symbol target_ns;
  bool is_schema = false;  // an XML Schema that was imported, not a CDL document
  const Binding* scope = nullptr;
  Pos pos;
  std::vector<Import> imports;
  std::vector<const Element*> lists;  // children of cdl:configuration
  const Element* configuration = nullptr;
  const Element* system = nullptr;
  std::vector<TypesPart> types;
  std::vector<Documentation> documentation;
  // Where the parts stand that resolution changes. All else of a document, with extensibility elements and the
  // documentation of the whole, is only ever copied.
  Stretch configuration_text, system_text, signature_text;
  Pos signature;  // of a ds:Signature, if it has one
  Pos encrypted;  // of the first part that is encrypted, if one is
};

// The place of an attribute of an element (name and value), or of the element's name where it has no such attribute.
// Found by reading the tag again, since this is wanted only for diagnostics.
Span attribute_span(const Element& element, std::string_view local_name);
Span name_span(const Element& element);

}  // namespace tutti::cdl
