#include "lang/cdl/syntax/sax.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/libxml2.h"
#include "base/near.h"

namespace tutti::cdl {
namespace {

std::string_view view(const xmlChar* text) { return text ? reinterpret_cast<const char*>(text) : std::string_view(); }

bool is_blank(std::string_view text) { return text.find_first_not_of(kSpace) == std::string_view::npos; }

bool is_encrypted(QName name) {
  static const QName kEncrypted{Symbol("http://www.w3.org/2001/04/xmlenc#"), Symbol("EncryptedData")};
  return name == kEncrypted;
}

}  // namespace

DocumentBuilder::DocumentBuilder(Session& session, const Source& source, Document& document, bool schema_too)
    : session_(session), document_(document), source_(source), schema_too_(schema_too) {
  names_.resize(256);
}

std::size_t DocumentBuilder::offset(xmlParserCtxt* parser) const {
  const xmlParserInput* in = parser->input;
  if (!in) return 0;
  return std::min(in->consumed + static_cast<std::size_t>(in->cur - in->base), source_.text.size());
}

// The parser has read the tag up to its end, and an attribute cannot hold a `<`: the last one is where the tag begins.
std::size_t DocumentBuilder::tag_begin(xmlParserCtxt* parser) const {
  std::size_t at = offset(parser);
  if (at == 0) return at;
  std::size_t begin = std::string_view(source_.text).rfind('<', at - 1);
  return begin == std::string_view::npos ? at : begin;
}

// libxml2 interns names in its own dictionary, so a small cache by address saves most of ours.
Symbol DocumentBuilder::symbol(const xmlChar* interned) {
  if (!interned) return Symbol();
  auto address = reinterpret_cast<std::uintptr_t>(interned);
  auto& slot = names_[(address ^ (address >> 8)) & (names_.size() - 1)];
  if (slot.first != interned) slot = {interned, Symbol(view(interned))};
  return slot.second;
}

DocumentBuilder::~DocumentBuilder() {
  for (xmlDict* dictionary : dictionaries_) libxml2().xmlDictFree(dictionary);
}

// Before its version 2.12 the table of libxml2's dictionary does not grow beyond some thousands of cells, so that
// reading a document with very many different names takes time by the square of their number. The parser gets another
// dictionary from time to time. It finds a prefix by its address, so the namespaces in force move along; all else that
// it holds it compares by letters, or only hands out.
void DocumentBuilder::renew_dictionary([[maybe_unused]] xmlParserCtxt* parser) {
#if LIBXML_VERSION < 21200
  constexpr int kNames = 16'384;
  if (libxml2().xmlDictSize(parser->dict) < kNames) return;
  xmlDict* fresh = libxml2().xmlDictCreate();
  if (!fresh) return;
  auto move = [&](const xmlChar*& name) {
    if (name) name = libxml2().xmlDictLookup(fresh, name, -1);
  };
  for (int i = 0; i < parser->nsNr; i++) move(parser->nsTab[i]);
  for (const xmlChar** known : {&parser->str_xml, &parser->str_xmlns, &parser->str_xml_ns}) move(*known);
  dictionaries_.push_back(parser->dict);
  parser->dict = fresh;
#endif
}

void DocumentBuilder::stop(xmlParserCtxt* parser) {
  failed_ = true;
  libxml2().xmlStopParser(parser);
}

void DocumentBuilder::problem(xmlParserCtxt* parser, const xmlError& error) {
  if (failed_ || error.level < XML_ERR_ERROR) return;
  failed_ = true;
  std::string_view message = trim(error.message ? error.message : "");
  std::string text(message);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  session_.diagnostics.error("CDL-NOT-WELL-FORMED", source_.pos(offset(parser)), text);
}

void DocumentBuilder::doctype(xmlParserCtxt* parser, const xmlChar*) {
  std::size_t at = std::string_view(source_.text).rfind("<!DOCTYPE", offset(parser));
  session_.diagnostics
      .error("CDL-DOCTYPE", source_.pos(at == std::string_view::npos ? 0 : at),
             "a document type declaration is not accepted: entities and external subsets are never read")
      .suggest("remove the declaration; write the characters themselves or `&#...;`");
  stop(parser);
}

void DocumentBuilder::text(const xmlChar* data, int size) {
  if (failed_ || stack_.empty() || stack_.back().mode == Mode::kSkip || stack_.back().mode == Mode::kTypes) return;
  text_.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
}

// Text so far becomes a piece of the innermost element's content.
void DocumentBuilder::flush_text(Frame& frame) {
  if (text_.empty()) return;
  if (frame.mode == Mode::kProperty) {
    items_.push_back({nullptr, session_.arena.copy(std::string_view(text_))});
  } else if (!is_blank(text_)) {
    session_.diagnostics.error("CDL-UNEXPECTED-TEXT", source_.pos(frame.begin),
                               "text is not allowed directly in this element");
  }
  text_.clear();
}

void DocumentBuilder::start(xmlParserCtxt* parser, const xmlChar* local, const xmlChar* prefix, const xmlChar* uri,
                            int ns_count, const xmlChar** namespaces, int attribute_count, const xmlChar** attributes) {
  if (failed_) return;
  renew_dictionary(parser);
  if (!stack_.empty()) flush_text(stack_.back());
  Frame frame;
  frame.begin = stack_.empty() || stack_.back().mode != Mode::kSkip ? tag_begin(parser) : 0;
  frame.scope = stack_.empty() ? nullptr : stack_.back().scope;
  if (stack_.size() >= session_.budget.limits().depth) {
    session_.diagnostics.error("LIMIT-DEPTH", source_.pos(frame.begin), "elements are nested too deeply");
    return stop(parser);
  }
  session_.budget.node();
  if (!stack_.empty() && (stack_.back().mode == Mode::kSkip || stack_.back().mode == Mode::kTypes)) {
    if (stack_.back().mode == Mode::kTypes) {
      for (int i = 0; i < ns_count; i++) {
        frame.scope =
            session_.arena.make<Binding>(symbol(namespaces[2 * i]), Symbol(view(namespaces[2 * i + 1])), frame.scope);
      }
    }
    frame.mode = Mode::kSkip;
    stack_.push_back(frame);
    return;
  }
  for (int i = 0; i < ns_count; i++) {
    frame.scope =
        session_.arena.make<Binding>(symbol(namespaces[2 * i]), Symbol(view(namespaces[2 * i + 1])), frame.scope);
  }
  raw_.clear();
  for (int i = 0; i < attribute_count; i++) {
    const xmlChar** a = attributes + 5 * i;
    std::string_view value(reinterpret_cast<const char*>(a[3]), static_cast<std::size_t>(a[4] - a[3]));
    raw_.push_back({{symbol(a[2]), symbol(a[0])}, symbol(a[1]), session_.arena.copy(value)});
  }
  QName name{symbol(uri), symbol(local)};
  if (stack_.empty()) return start_root(parser, frame, name);
  Frame& outer = stack_.back();
  switch (outer.mode) {
    case Mode::kTop: stack_.push_back(start_top(frame, name)); break;
    case Mode::kLists:
    case Mode::kProperty: stack_.push_back(start_property(frame, name, symbol(prefix), outer)); break;
    case Mode::kExpression:
      frame.mode = Mode::kSkip;
      if (is_cdl_namespace(name.ns) && name.local == Symbol("variable")) {
        read_variable(outer, source_.pos(frame.begin), frame.scope);
      } else if (!is_cdl_namespace(name.ns) || name.local != Symbol("documentation")) {
        session_.diagnostics.error("CDL-UNEXPECTED-ELEMENT", source_.pos(frame.begin),
                                   "a cdl:expression holds cdl:variable elements only");
      }
      stack_.push_back(frame);
      break;
    default: frame.mode = Mode::kSkip; stack_.push_back(frame);
  }
}

void DocumentBuilder::start_root(xmlParserCtxt* parser, Frame frame, QName name) {
  document_.scope = frame.scope;
  document_.pos = source_.pos(frame.begin);
  if (schema_too_ && name == QName{Symbol(kSchemaNamespace), Symbol("schema")}) {
    document_.is_schema = true;
    for (const Raw& a : raw_) {
      if (a.name == QName{Symbol(), Symbol("targetNamespace")}) document_.target_ns = Symbol(a.value);
    }
    frame.mode = Mode::kSkip;
    stack_.push_back(frame);
    return;
  }
  if (!is_cdl_namespace(name.ns) || name.local != Symbol("cdl")) {
    session_.diagnostics
        .error("CDL-WRONG-ROOT", document_.pos, fmt::format("the root element is {}, not cdl:cdl", name.text()))
        .note(fmt::format("the namespace of CDL is {}", kNamespace));
    return stop(parser);
  }
  document_.cdl_ns = name.ns;
  for (const Raw& a : raw_) {
    bool own = a.name.ns.empty() || is_cdl_namespace(a.name.ns);
    if (own && (a.name.local == Symbol("targetNamespace") || a.name.local == Symbol("targetNameSpace"))) {
      document_.target_ns = Symbol(trim(a.value));
    }
  }
  static constexpr std::string_view kKnown[] = {"targetNamespace", "targetNameSpace"};
  refuse_unknown(document_.pos, "cdl", kKnown);
  frame.mode = Mode::kTop;
  stack_.push_back(frame);
}

// A child of cdl:cdl: documentation, imports, types, configuration and system in this order; others may stand anywhere.
DocumentBuilder::Frame DocumentBuilder::start_top(Frame frame, QName name) {
  Pos pos = source_.pos(frame.begin);
  frame.mode = Mode::kSkip;
  if (name == QName{Symbol("http://www.w3.org/2000/09/xmldsig#"), Symbol("Signature")}) document_.signature = pos;
  if (is_encrypted(name) && !document_.encrypted) document_.encrypted = pos;
  static constexpr std::string_view kOrder[] = {"import", "types", "configuration", "system"};
  std::string_view local = name.local.text();
  if (!is_cdl_namespace(name.ns)) {
    if (name.ns.empty() && std::find(std::begin(kOrder), std::end(kOrder), local) != std::end(kOrder)) {
      session_.diagnostics
          .warning("CDL-UNEXPECTED-ELEMENT", pos, fmt::format("`{}` has no namespace and means nothing here", local))
          .did_you_mean(fmt::format("cdl:{}", local));
    }
    return frame;
  }
  if (local == "documentation") return frame;
  int rank = static_cast<int>(std::find(std::begin(kOrder), std::end(kOrder), local) - std::begin(kOrder));
  if (rank == 4) {
    session_.diagnostics.error("CDL-UNEXPECTED-ELEMENT", pos, fmt::format("cdl:{} is not known here", local))
        .did_you_mean(nearest(local, kOrder));
    return frame;
  }
  if (rank < rank_ || (rank == rank_ && rank > 0)) {
    session_.diagnostics.error("CDL-ELEMENT-ORDER", pos,
                               rank == rank_ ? fmt::format("there can be only one cdl:{}", local)
                                             : fmt::format("cdl:{} must come before cdl:{}", local, kOrder[rank_]));
    return frame;
  }
  rank_ = rank;
  if (rank == 0) {
    read_import(pos);
  } else if (rank == 1) {
    frame.mode = Mode::kTypes;
  } else {
    Element* e = make(frame, name, Symbol(), Mode::kLists);
    std::vector<Attribute> attributes;
    for (const Raw& a : raw_) {
      if (is_cdl_namespace(a.name.ns)) {
        session_.diagnostics.error(a.name.local == Symbol("extends") ? "CDL-SYSTEM-EXTENDS" : "CDL-MISPLACED-ATTRIBUTE",
                                   attribute_span(*e, a.name.local.text()),
                                   fmt::format("cdl:{} cannot have cdl:{}", local, a.name.local.text()));
      } else {
        attributes.push_back({a.name, a.prefix, a.value, frame.scope});
        if (rank == 2 && a.name.ns.empty())
          session_.diagnostics.warning("CDL-UNKNOWN-ATTRIBUTE", attribute_span(*e, a.name.local.text()),
                                       fmt::format("{} means nothing of cdl:configuration", a.name.local.text()));
      }
    }
    e->attributes = session_.arena.copy(std::span<const Attribute>(attributes));
    (rank == 2 ? document_.configuration : document_.system) = e;
  }
  return frame;
}

Element* DocumentBuilder::make(Frame& frame, QName name, Symbol prefix, Mode mode) {
  Element* e = session_.arena.make<Element>();
  e->name = name;
  e->prefix = prefix;
  e->pos = source_.pos(frame.begin);
  e->document = &document_;
  e->scope = frame.scope;
  frame.mode = mode;
  frame.element = e;
  frame.first_item = items_.size();
  return e;
}

DocumentBuilder::Frame DocumentBuilder::start_property(Frame frame, QName name, Symbol prefix, Frame& outer) {
  Pos pos = source_.pos(frame.begin);
  frame.mode = Mode::kSkip;
  Element& parent = *outer.element;
  if (is_encrypted(name)) {
    if (!document_.encrypted) document_.encrypted = pos;
    return frame;
  }
  if (is_cdl_namespace(name.ns)) {
    std::string_view local = name.local.text();
    if (local == "documentation") {
      frame.documentation = true;
      return frame;
    }
    bool insertion = local == "ref", expression = local == "expression";
    if (outer.mode == Mode::kLists || (!insertion && !expression)) {
      static constexpr std::string_view kKnown[] = {"ref", "expression", "documentation"};
      session_.diagnostics.error("CDL-UNEXPECTED-ELEMENT", pos, fmt::format("cdl:{} cannot stand here", local))
          .did_you_mean(nearest(local, kKnown));
      return frame;
    }
    Element* e = make(frame, name, prefix, expression ? Mode::kExpression : Mode::kSkip);
    e->parent = &parent;
    e->depth = parent.depth;
    if (expression) {
      e->kind = ElementKind::kExpression;
      variables_.clear();
      variable_names_.clear();
      expression_attributes(*e);
    } else {
      e->kind = ElementKind::kInsertion;
      insertion_attributes(*e);
    }
    items_.push_back({e, {}});
    frame.first_item = items_.size();
    return frame;
  }
  Element* e = make(frame, name, prefix, Mode::kProperty);
  e->parent = &parent;
  // A child of cdl:configuration is the root of its list; in cdl:system the root is the system itself.
  e->depth = outer.mode == Mode::kLists && &parent == document_.configuration ? 0 : parent.depth + 1;
  property_attributes(*e);
  parent.has_elements = true;
  if (outer.mode == Mode::kLists && &parent == document_.configuration) document_.lists.push_back(e);
  items_.push_back({e, {}});
  frame.first_item = items_.size();
  return frame;
}

void DocumentBuilder::end(xmlParserCtxt* parser) {
  if (failed_ || stack_.empty()) return;
  Frame frame = stack_.back();
  flush_text(frame);
  stack_.pop_back();
  if (frame.element && frame.mode != Mode::kSkip) finish_element(frame);
  if (!stack_.empty() && stack_.back().mode != Mode::kSkip)
    note_stretch(frame, stack_.back(), {frame.begin, offset(parser)});
}

void DocumentBuilder::note_stretch(const Frame& frame, const Frame& outer, Stretch text) {
  if (outer.mode == Mode::kTypes) {
    document_.types.push_back({text, outer.scope});
  } else if (outer.mode == Mode::kLists && frame.documentation) {
    document_.documentation.push_back({text, outer.element, items_.size() - outer.first_item});
  } else if (outer.mode == Mode::kTop) {
    if (frame.element && frame.element == document_.configuration) document_.configuration_text = text;
    if (frame.element && frame.element == document_.system) document_.system_text = text;
    if (document_.signature && document_.signature == source_.pos(frame.begin)) document_.signature_text = text;
  }
}

// White space is layout between elements, and where a value that is nothing else is spread over lines and not marked
// as text.
void DocumentBuilder::finish_element(Frame& frame) {
  Element& e = *frame.element;
  if (frame.mode == Mode::kExpression) {
    e.variables = session_.arena.copy(std::span<const Reference>(variables_));
    return;
  }
  std::span<Item> all(items_.data() + frame.first_item, items_.size() - frame.first_item);
  bool special = std::any_of(all.begin(), all.end(), [](const Item& i) { return i.element != nullptr; });
  std::size_t kept = 0;
  static const QName kKind{Symbol(kKindNamespace), Symbol("kind")};
  auto is_text = [](const Attribute& a) { return a.name == kKind && a.value == "text"; };
  for (const Item& item : all) {
    if (!item.element && is_blank(item.text) && std::none_of(e.attributes.begin(), e.attributes.end(), is_text)) {
      if (e.has_elements || e.extends || e.ref || item.text.find('\n') != std::string_view::npos) continue;
      if (special && frame.mode == Mode::kLists) continue;
    }
    all[kept++] = item;
  }
  e.items = session_.arena.copy(std::span<const Item>(all.data(), kept));
  items_.resize(frame.first_item);
  if (e.ref && e.kind == ElementKind::kProperty) {
    for (const Item& item : e.items) {
      if (!item.element) continue;
      session_.diagnostics
          .error("CDL-REF-WITH-CHILDREN", name_span(e), "an element with cdl:ref cannot have child elements")
          .relate(name_span(*item.element), "such as this one");
      break;
    }
  }
}

}  // namespace tutti::cdl
