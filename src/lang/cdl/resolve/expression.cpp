#include "lang/cdl/resolve/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "base/utf8.h"
#include "lang/cdl/resolve/expression_syntax.h"

namespace tutti::cdl {

std::string xpath_number(double n) {
  if (std::isnan(n)) return "NaN";
  if (std::isinf(n)) return n < 0 ? "-Infinity" : "Infinity";
  if (n == 0) return "0";
  char buffer[1100];  // the smallest double has some 1,080 digits
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, n, std::chars_format::fixed);
  return error == std::errc() ? std::string(buffer, end) : std::string("NaN");
}

// Number ::= '-'? (Digits ('.' Digits?)? | '.' Digits) with white space around it; anything else is NaN.
double xpath_parse_number(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t from = text.find_first_not_of(kSpace);
  double nan = std::numeric_limits<double>::quiet_NaN();
  if (from == std::string_view::npos) return nan;
  text = text.substr(from, text.find_last_not_of(kSpace) - from + 1);
  std::string_view digits = text;
  if (digits.front() == '-') digits.remove_prefix(1);
  bool any = false, point = false;
  for (char c : digits) {
    if (c >= '0' && c <= '9') {
      any = true;
    } else if (c == '.' && !point) {
      point = true;
    } else {
      return nan;
    }
  }
  if (!any) return nan;
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error == std::errc::result_out_of_range) return std::signbit(value) ? -HUGE_VAL : HUGE_VAL;
  return error == std::errc() ? value : nan;
}

std::string XPathValue::as_string() const {
  switch (kind) {
    case kNodes: return nodes.empty() ? std::string() : text_of(*nodes.front().content);
    case kString: return string;
    case kNumber: return xpath_number(number);
    case kBoolean: return boolean ? "true" : "false";
  }
  return {};
}

double XPathValue::as_number() const {
  if (kind == kNumber) return number;
  if (kind == kBoolean) return boolean ? 1 : 0;
  return xpath_parse_number(as_string());
}

bool XPathValue::as_boolean() const {
  switch (kind) {
    case kNodes: return !nodes.empty();
    case kString: return !string.empty();
    case kNumber: return number != 0 && !std::isnan(number);
    case kBoolean: return boolean;
  }
  return false;
}

namespace {

XPathValue of(double n) { return {.kind = XPathValue::kNumber, .number = n}; }
XPathValue of(bool b) { return {.kind = XPathValue::kBoolean, .boolean = b}; }
XPathValue of(std::string s) { return {.kind = XPathValue::kString, .string = std::move(s)}; }

struct EvaluationError {
  std::string message;
};

// round() of XPath: to the nearest, halves towards positive infinity.
double xpath_round(double n) { return std::isfinite(n) && std::floor(n) != n ? std::floor(n + 0.5) : n; }

std::vector<std::string> characters(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t from = at;
    utf8::decode(text, at);
    out.emplace_back(text.substr(from, at - from));
  }
  return out;
}

bool compare_numbers(XPathOp op, double a, double b) {
  switch (op) {
    case XPathOp::kEqual: return a == b;
    case XPathOp::kNotEqual: return a != b;
    case XPathOp::kLess: return a < b;
    case XPathOp::kLessEqual: return a <= b;
    case XPathOp::kGreater: return a > b;
    default: return a >= b;
  }
}

// Neither side a set of nodes, or only one of its members (section 3.4 of XPath).
bool compare_plain(XPathOp op, const XPathValue& a, const XPathValue& b) {
  bool equality = op == XPathOp::kEqual || op == XPathOp::kNotEqual;
  if (!equality) return compare_numbers(op, a.as_number(), b.as_number());
  bool same;
  if (a.kind == XPathValue::kBoolean || b.kind == XPathValue::kBoolean) {
    same = a.as_boolean() == b.as_boolean();
  } else if (a.kind == XPathValue::kNumber || b.kind == XPathValue::kNumber) {
    return compare_numbers(op, a.as_number(), b.as_number());
  } else {
    same = a.as_string() == b.as_string();
  }
  return same == (op == XPathOp::kEqual);
}

// Whether the comparison holds for some member of the one with some member of the other, in time by their sizes.
bool compare_sets(XPathOp op, const XPathValue& a, const XPathValue& b) {
  if (a.nodes.empty() || b.nodes.empty()) return false;
  if (op == XPathOp::kEqual || op == XPathOp::kNotEqual) {
    std::unordered_set<std::string> texts;
    for (const XPathMember& x : a.nodes) texts.insert(text_of(*x.content));
    for (const XPathMember& y : b.nodes) {
      bool there = texts.count(text_of(*y.content)) != 0;
      // Where either has two different texts, whatever the other has differs from one of them.
      if (op == XPathOp::kEqual ? there : !there || texts.size() > 1) return true;
    }
    return false;
  }
  // What is not a number compares with nothing; of the others the extremes decide.
  bool less = op == XPathOp::kLess || op == XPathOp::kLessEqual;
  auto extreme = [](const XPathValue& set, bool least) {
    double found = std::numeric_limits<double>::quiet_NaN();
    for (const XPathMember& m : set.nodes) {
      double n = xpath_parse_number(text_of(*m.content));
      if (std::isnan(found) || (least ? n < found : n > found)) found = n;
    }
    return found;
  };
  return compare_numbers(op, extreme(a, less), extreme(b, !less));
}

bool compare(XPathOp op, const XPathValue& a, const XPathValue& b) {
  bool a_nodes = a.kind == XPathValue::kNodes, b_nodes = b.kind == XPathValue::kNodes;
  if (!a_nodes && !b_nodes) return compare_plain(op, a, b);
  bool equality = op == XPathOp::kEqual || op == XPathOp::kNotEqual;
  if (a.kind == XPathValue::kBoolean || b.kind == XPathValue::kBoolean) {
    if (equality) return compare_plain(op, of(a.as_boolean()), of(b.as_boolean()));
    return compare_numbers(op, a.as_boolean(), b.as_boolean());
  }
  if (a_nodes && b_nodes) return compare_sets(op, a, b);
  for (const XPathMember& x : (a_nodes ? a : b).nodes) {
    XPathValue member = of(text_of(*x.content));
    if (a_nodes ? compare_plain(op, member, b) : compare_plain(op, a, member)) return true;
  }
  return false;
}

// Document order.
bool comes_before(const XPathMember& a, const XPathMember& b) {
  static const XPathWay kNone;
  const XPathWay &x = a.way ? *a.way : kNone, &y = b.way ? *b.way : kNone;
  auto address = [](const Content* c) { return reinterpret_cast<std::uintptr_t>(c); };
  auto [i, j] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
  if (i == x.end() && j == y.end()) return address(a.content) < address(b.content);
  std::uintptr_t left = i == x.end() ? address(a.content) : *i, right = j == y.end() ? address(b.content) : *j;
  return left != right ? left < right : x.size() < y.size();
}

class Evaluator {
 public:
  Evaluator(Session& session, const Variables& variables, u32 place)
      : session_(session), variables_(variables), place_(place) {}

  XPathValue run(const XPathNode& e) {
    Budget::Level depth(session_.budget);
    session_.budget.step();
    switch (e.op) {
      case XPathOp::kOr: return of(run(*e.arguments[0]).as_boolean() || run(*e.arguments[1]).as_boolean());
      case XPathOp::kAnd: return of(run(*e.arguments[0]).as_boolean() && run(*e.arguments[1]).as_boolean());
      case XPathOp::kEqual:
      case XPathOp::kNotEqual:
      case XPathOp::kLess:
      case XPathOp::kLessEqual:
      case XPathOp::kGreater:
      case XPathOp::kGreaterEqual: return of(compare(e.op, run(*e.arguments[0]), run(*e.arguments[1])));
      case XPathOp::kAdd: return of(number(e, 0) + number(e, 1));
      case XPathOp::kSubtract: return of(number(e, 0) - number(e, 1));
      case XPathOp::kMultiply: return of(number(e, 0) * number(e, 1));
      case XPathOp::kDivide: return of(number(e, 0) / number(e, 1));
      case XPathOp::kModulo: return of(std::fmod(number(e, 0), number(e, 1)));
      case XPathOp::kNegate: return of(-number(e, 0));
      case XPathOp::kUnion: {
        XPathValue a = nodes(*e.arguments[0], "`|`"), b = nodes(*e.arguments[1], "`|`");
        XPathValue both{.kind = XPathValue::kNodes};
        std::set_union(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), std::back_inserter(both.nodes),
                       comes_before);
        return both;
      }
      case XPathOp::kPredicate: return filter(e);
      case XPathOp::kLiteral: return of(std::string(e.text));
      case XPathOp::kNumber: return of(e.number);
      case XPathOp::kVariable: {
        const XPathValue* v = variables_(e.variable);
        return v ? *v : of(std::string());
      }
      case XPathOp::kCall: return call(e);
    }
    return {};
  }

 private:
  double number(const XPathNode& e, std::size_t i) { return run(*e.arguments[i]).as_number(); }
  std::string string(const XPathNode& e, std::size_t i) {
    if (i < e.arguments.size()) return run(*e.arguments[i]).as_string();
    return item_ ? text_of(*item_) : std::string();  // of the context node, which there is in a predicate only
  }
  XPathValue nodes(const XPathNode& e, std::string_view who) {
    XPathValue v = run(e);
    if (v.kind != XPathValue::kNodes) {
      throw EvaluationError{fmt::format("{} needs the value of a property, not a {}", who,
                                        v.kind == XPathValue::kNumber   ? "number"
                                        : v.kind == XPathValue::kString ? "string"
                                                                        : "boolean")};
    }
    return v;
  }

  XPathValue filter(const XPathNode& e) {
    XPathValue set = nodes(*e.arguments[0], "a predicate"), out{.kind = XPathValue::kNodes};
    auto saved = std::tuple(item_, position_, size_);
    size_ = set.nodes.size();
    for (std::size_t i = 0; i < set.nodes.size(); i++) {
      item_ = set.nodes[i].content;
      position_ = i + 1;
      XPathValue keep = run(*e.arguments[1]);
      bool yes = keep.kind == XPathValue::kNumber ? keep.number == static_cast<double>(position_) : keep.as_boolean();
      if (yes) out.nodes.push_back(set.nodes[i]);
    }
    std::tie(item_, position_, size_) = saved;
    return out;
  }

  // xml:lang of the context node, which there is in a predicate only, or of the nearest element around it.
  bool in_language(std::string_view wanted) const {
    static const QName kLang{Symbol("http://www.w3.org/XML/1998/namespace"), Symbol("lang")};
    for (const Node* n = item_ ? item_->node : nullptr; n; n = n->parent) {
      for (const Attribute& a : n->attrs()) {
        if (a.name != kLang) continue;
        auto same = [](char x, char y) {
          return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
        };
        return a.value.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), a.value.begin(), same) &&
               (a.value.size() == wanted.size() || a.value[wanted.size()] == '-');
      }
    }
    return false;
  }

  XPathValue name_of(const XPathNode& e) {
    const Content* c = item_;
    if (!e.arguments.empty()) {
      XPathValue set = nodes(*e.arguments[0], fmt::format("{}()", e.text));
      c = set.nodes.empty() ? nullptr : set.nodes.front().content;
    }
    if (!c || !c->node) return of(std::string());
    QName name = c->node->name();
    if (e.function == XPathFunction::kNamespaceUri) return of(std::string(name.ns.text()));
    std::string_view prefix = c->node->source->prefix.text();
    if (e.function == XPathFunction::kLocalName || prefix.empty()) return of(std::string(name.local.text()));
    return of(fmt::format("{}:{}", prefix, name.local.text()));
  }

  static std::string substring(const std::string& text, double from, double length) {
    std::string out;
    double position = 1, first = xpath_round(from), end = first + xpath_round(length);
    for (const std::string& c : characters(text)) {
      if (position >= first && position < end) out += c;
      position++;
    }
    return out;
  }

  static std::string normalize(const std::string& text) {
    std::string out;
    bool gap = false;
    for (char c : text) {
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        gap = !out.empty();
      } else {
        if (gap) out += ' ';
        gap = false;
        out += c;
      }
    }
    return out;
  }

  static std::string translate(const std::string& text, const std::string& from, const std::string& to) {
    std::vector<std::string> f = characters(from), t = characters(to);
    std::string out;
    for (const std::string& c : characters(text)) {
      auto at = static_cast<std::size_t>(std::find(f.begin(), f.end(), c) - f.begin());
      if (at == f.size()) {
        out += c;
      } else if (at < t.size()) {
        out += t[at];
      }
    }
    return out;
  }

  XPathValue call(const XPathNode& e) {
    switch (e.function) {
      case XPathFunction::kLast: return of(static_cast<double>(size_));
      case XPathFunction::kPosition: return of(static_cast<double>(position_));
      case XPathFunction::kCount: return of(static_cast<double>(nodes(*e.arguments[0], "count()").nodes.size()));
      case XPathFunction::kId: return {.kind = XPathValue::kNodes};  // there is no document type, hence no ids
      case XPathFunction::kLocalName:
      case XPathFunction::kNamespaceUri:
      case XPathFunction::kName: return name_of(e);
      case XPathFunction::kString: return of(string(e, 0));
      case XPathFunction::kConcat: {
        std::string out;
        for (std::size_t i = 0; i < e.arguments.size(); i++) {
          out += string(e, i);
          check_length(out.size(), place_);
        }
        return of(std::move(out));
      }
      case XPathFunction::kStartsWith: return of(string(e, 0).starts_with(string(e, 1)));
      case XPathFunction::kContains: return of(string(e, 0).find(string(e, 1)) != std::string::npos);
      case XPathFunction::kSubstringBefore: {
        std::string text = string(e, 0);
        std::size_t at = text.find(string(e, 1));
        return of(at == std::string::npos ? std::string() : text.substr(0, at));
      }
      case XPathFunction::kSubstringAfter: {
        std::string text = string(e, 0), mark = string(e, 1);
        std::size_t at = text.find(mark);
        return of(at == std::string::npos ? std::string() : text.substr(at + mark.size()));
      }
      case XPathFunction::kSubstring:
        return of(substring(string(e, 0), number(e, 1), e.arguments.size() > 2 ? number(e, 2) : HUGE_VAL));
      case XPathFunction::kStringLength: return of(static_cast<double>(utf8::length(string(e, 0))));
      case XPathFunction::kNormalizeSpace: return of(normalize(string(e, 0)));
      case XPathFunction::kTranslate: return of(translate(string(e, 0), string(e, 1), string(e, 2)));
      case XPathFunction::kBoolean: return of(run(*e.arguments[0]).as_boolean());
      case XPathFunction::kNot: return of(!run(*e.arguments[0]).as_boolean());
      case XPathFunction::kTrue: return of(true);
      case XPathFunction::kFalse: return of(false);
      case XPathFunction::kLang: return of(in_language(string(e, 0)));
      case XPathFunction::kNumber: return of(e.arguments.empty() ? xpath_parse_number(string(e, 0)) : number(e, 0));
      case XPathFunction::kSum: {
        double sum = 0;
        for (const XPathMember& m : nodes(*e.arguments[0], "sum()").nodes)
          sum += xpath_parse_number(text_of(*m.content));
        return of(sum);
      }
      case XPathFunction::kFloor: return of(std::floor(number(e, 0)));
      case XPathFunction::kCeiling: return of(std::ceil(number(e, 0)));
      case XPathFunction::kRound: return of(xpath_round(number(e, 0)));
    }
    return {};
  }

  Session& session_;
  const Variables& variables_;
  u32 place_;
  const Content* item_ = nullptr;
  std::size_t position_ = 1, size_ = 1;
};

}  // namespace

bool joins_sets(const XPathNode& e) {
  return e.op == XPathOp::kUnion ||
         std::any_of(e.arguments.begin(), e.arguments.end(), [](const XPathNode* a) { return joins_sets(*a); });
}

std::optional<XPathValue> evaluate_expression(Session& session, const Element& element, const XPathNode& expression,
                                              const Variables& variables) {
  try {
    return Evaluator(session, variables, element.pos.at).run(expression);
  } catch (const EvaluationError& e) {
    session.diagnostics.error("CDL-BAD-EXPRESSION", attribute_span(element, "value-of"), e.message);
    return std::nullopt;
  }
}

}  // namespace tutti::cdl
