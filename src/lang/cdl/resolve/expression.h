#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lang/cdl/resolve/node.h"
#include "tree/session.h"

// XPath 1.0 without location paths, which is what cdl:expression allows (7.3.6): all operators, all functions of the
// core library, variables, predicates on them. libxml2's evaluator is not used for it since it takes location paths,
// prints large numbers with exponents (XPath has none) and knows no places to report; tests hold the two against each
// other.
namespace tutti::cdl {

// Where a value stands in the resolved document: the root it is under, then its place among the content of each element
// on the way. Values are shared by all who refer to them, but each of these has nodes of its own (7.3.2).
using XPathWay = std::vector<std::uintptr_t>;

// A node of a set. Sets are kept in document order.
struct XPathMember {
  const Content* content = nullptr;
  const XPathWay* way = nullptr;  // of the element that holds it; null where it does not matter
};

struct XPathValue {
  enum Kind : u8 { kNodes, kString, kNumber, kBoolean } kind = kString;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<XPathMember> nodes;

  std::string as_string() const;
  double as_number() const;
  bool as_boolean() const;
};

// string(number) of XPath 1.0: no exponent, no trailing zeros, NaN, Infinity.
std::string xpath_number(double n);
double xpath_parse_number(std::string_view text);

struct XPathNode;

// Parses; reports and returns null where it is not such an expression or uses a variable that `element` does not
// declare.
const XPathNode* compile_expression(Session& session, const Element& element);

// Whether it joins sets of nodes, so that it matters which are the same and which come first.
bool joins_sets(const XPathNode& expression);

// The value, with variables bound by their names; nullopt (and a diagnostic) when a function got what it cannot take.
using Variables = std::function<const XPathValue*(Symbol)>;
std::optional<XPathValue> evaluate_expression(Session& session, const Element& element, const XPathNode& expression,
                                              const Variables& variables);

}  // namespace tutti::cdl
