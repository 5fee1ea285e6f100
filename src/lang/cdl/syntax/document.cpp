#include "lang/cdl/syntax/document.h"

#include <fmt/format.h>

#include <array>

namespace tutti::cdl {

bool is_cdl_namespace(Symbol uri) {
  static const std::array<Symbol, 3> known = {Symbol(kNamespace),
                                              Symbol("http://www.gridforum.org/namespaces/2005/02/cddlm/CDL-1.0"),
                                              Symbol("http://gridforge.org/cddlm/xml/2004/07/30/")};
  return uri == known[0] || uri == known[1] || uri == known[2];
}

bool is_schema_namespace(Symbol uri) {
  static const std::array<Symbol, 3> known = {Symbol(kSchemaNamespace), Symbol("http://www.w3.org/2000/10/XMLSchema"),
                                              Symbol("http://www.w3.org/1999/XMLSchema")};
  return uri == known[0] || uri == known[1] || uri == known[2];
}

std::string QName::text() const {
  return ns.empty() ? std::string(local.text()) : fmt::format("{{{}}}{}", ns.text(), local.text());
}

const Binding* find_prefix(const Binding* scope, Symbol prefix) {
  for (; scope; scope = scope->outer) {
    if (scope->prefix == prefix) return scope;
  }
  return nullptr;
}

Symbol default_namespace(const Binding* scope) {
  const Binding* b = find_prefix(scope, Symbol());
  return b ? b->uri : Symbol();
}

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

Span name_span(const Element& element) {
  if (!element.document || !element.document->source) return element.pos;
  const Source& source = *element.document->source;
  std::string_view text = source.text;
  std::size_t from = source.offset(element.pos);
  if (from >= text.size() || text[from] != '<') return element.pos;
  std::size_t to = ++from;
  while (to < text.size() && !is_space(text[to]) && text[to] != '>' && text[to] != '/') to++;
  return source.span(from, to);
}

Span attribute_span(const Element& element, std::string_view local_name) {
  Span name = name_span(element);
  if (name.begin == name.end) return name;
  const Source& source = *element.document->source;
  std::string_view text = source.text;
  std::size_t at = source.offset(name.end);
  while (at < text.size()) {
    while (at < text.size() && is_space(text[at])) at++;
    if (at >= text.size() || text[at] == '>' || text[at] == '/') return name;
    std::size_t from = at;
    while (at < text.size() && !is_space(text[at]) && text[at] != '=') at++;
    std::string_view written = text.substr(from, at - from);
    std::size_t quote = text.find_first_of("\"'", at);
    if (quote == std::string_view::npos) return name;
    std::size_t end = text.find(text[quote], quote + 1);
    if (end == std::string_view::npos) return name;
    at = end + 1;
    if (std::size_t colon = written.find(':'); colon != std::string_view::npos) written.remove_prefix(colon + 1);
    if (written == local_name) return source.span(from, at);
  }
  return name;
}

}  // namespace tutti::cdl
