#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/near.h"
#include "lang/cdl/resolve/expression_syntax.h"
#include "lang/cdl/syntax/path.h"

namespace tutti::cdl {
namespace {

constexpr XPathFunctionInfo kFunctions[] = {
    {"last", XPathFunction::kLast, 0, 0},
    {"position", XPathFunction::kPosition, 0, 0},
    {"count", XPathFunction::kCount, 1, 1},
    {"id", XPathFunction::kId, 1, 1},
    {"local-name", XPathFunction::kLocalName, 0, 1},
    {"namespace-uri", XPathFunction::kNamespaceUri, 0, 1},
    {"name", XPathFunction::kName, 0, 1},
    {"string", XPathFunction::kString, 0, 1},
    {"concat", XPathFunction::kConcat, 2, 255},
    {"starts-with", XPathFunction::kStartsWith, 2, 2},
    {"contains", XPathFunction::kContains, 2, 2},
    {"substring-before", XPathFunction::kSubstringBefore, 2, 2},
    {"substring-after", XPathFunction::kSubstringAfter, 2, 2},
    {"substring", XPathFunction::kSubstring, 2, 3},
    {"string-length", XPathFunction::kStringLength, 0, 1},
    {"normalize-space", XPathFunction::kNormalizeSpace, 0, 1},
    {"translate", XPathFunction::kTranslate, 3, 3},
    {"boolean", XPathFunction::kBoolean, 1, 1},
    {"not", XPathFunction::kNot, 1, 1},
    {"true", XPathFunction::kTrue, 0, 0},
    {"false", XPathFunction::kFalse, 0, 0},
    {"lang", XPathFunction::kLang, 1, 1},
    {"number", XPathFunction::kNumber, 0, 1},
    {"sum", XPathFunction::kSum, 1, 1},
    {"floor", XPathFunction::kFloor, 1, 1},
    {"ceiling", XPathFunction::kCeiling, 1, 1},
    {"round", XPathFunction::kRound, 1, 1},
};

struct Token {
  enum Kind : u8 { kEnd, kNumber, kLiteral, kVariable, kFunction, kOperator, kPunctuation, kPath, kBad } kind = kEnd;
  std::string_view text;
};

struct ParseError {
  std::string code, message;
  std::string_view at;
};

// Tokens as section 3.7 of XPath says: whether a name or `*` is an operator depends on what stands before it. What can
// only begin or go on with a location path becomes kPath.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      at_++;
    Token t = read();
    after_operand_ = t.kind == Token::kNumber || t.kind == Token::kLiteral || t.kind == Token::kVariable ||
                     (t.kind == Token::kPunctuation && (t.text == ")" || t.text == "]"));
    return t;
  }

 private:
  Token take(Token::Kind kind, std::size_t size) {
    Token t{kind, text_.substr(at_, size)};
    at_ += size;
    return t;
  }

  std::size_t name_end(std::size_t from) const {
    std::size_t end = from;
    while (end < text_.size()) {
      auto c = static_cast<unsigned char>(text_[end]);
      if (!(std::isalnum(c) || c == '_' || c == '-' || c == '.' || c >= 0x80)) break;
      end++;
    }
    return is_ncname(text_.substr(from, end - from)) ? end : from;
  }

  Token read() {
    if (at_ >= text_.size()) return {Token::kEnd, text_.substr(text_.size())};
    char c = text_[at_];
    char following = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (is_digit(c) || (c == '.' && is_digit(following))) {
      std::size_t end = at_;
      while (end < text_.size() && is_digit(text_[end])) end++;
      if (end < text_.size() && text_[end] == '.') {
        end++;
        while (end < text_.size() && is_digit(text_[end])) end++;
      }
      return take(Token::kNumber, end - at_);
    }
    if (c == '"' || c == '\'') {
      std::size_t end = text_.find(c, at_ + 1);
      if (end == std::string_view::npos) return take(Token::kBad, text_.size() - at_);
      return take(Token::kLiteral, end + 1 - at_);
    }
    if (c == '$') {
      std::size_t end = name_end(at_ + 1);
      return end == at_ + 1 ? take(Token::kBad, 1) : take(Token::kVariable, end - at_);
    }
    switch (c) {
      case '(':
      case ')':
      case '[':
      case ']':
      case ',': return take(Token::kPunctuation, 1);
      case '|':
      case '+':
      case '-':
      case '=': return take(Token::kOperator, 1);
      case '!': return following == '=' ? take(Token::kOperator, 2) : take(Token::kBad, 1);
      case '<':
      case '>': return take(Token::kOperator, following == '=' ? 2 : 1);
      case '*': return take(after_operand_ ? Token::kOperator : Token::kPath, 1);
      case '/':
      case '@':
      case '.': return take(Token::kPath, c == '/' && following == '/' ? 2 : 1);
    }
    std::size_t end = name_end(at_);
    if (end == at_) return take(Token::kBad, 1);
    if (after_operand_) return take(Token::kOperator, end - at_);
    std::size_t paren = end;
    while (paren < text_.size() && (text_[paren] == ' ' || text_[paren] == '\t' || text_[paren] == '\n')) paren++;
    std::string_view name = text_.substr(at_, end - at_);
    bool node_type = name == "node" || name == "text" || name == "comment" || name == "processing-instruction";
    bool call = paren < text_.size() && text_[paren] == '(' && !node_type;
    return take(call ? Token::kFunction : Token::kPath, end - at_);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool after_operand_ = false;
};

struct Level {
  std::string_view text;
  XPathOp op;
  int level;
};
constexpr Level kOperators[] = {
    {"or", XPathOp::kOr, 1},       {"and", XPathOp::kAnd, 2},         {"=", XPathOp::kEqual, 3},
    {"!=", XPathOp::kNotEqual, 3}, {"<", XPathOp::kLess, 4},          {"<=", XPathOp::kLessEqual, 4},
    {">", XPathOp::kGreater, 4},   {">=", XPathOp::kGreaterEqual, 4}, {"+", XPathOp::kAdd, 5},
    {"-", XPathOp::kSubtract, 5},  {"*", XPathOp::kMultiply, 6},      {"div", XPathOp::kDivide, 6},
    {"mod", XPathOp::kModulo, 6},  {"|", XPathOp::kUnion, 8},
};
constexpr int kUnaryLevel = 7;

class Parser {
 public:
  Parser(Session& session, const Element& element) : session_(session), element_(element), lexer_(element.value_of) {
    advance();
  }

  const XPathNode* run() {
    const XPathNode* e = binary(1);
    if (token_.kind != Token::kEnd) unexpected();
    return e;
  }

 private:
  [[noreturn]] void fail(std::string code, std::string message, std::string_view at) {
    throw ParseError{std::move(code), std::move(message), at};
  }
  [[noreturn]] void unexpected() {
    if (token_.kind == Token::kPath) {
      fail("CDL-EXPRESSION-LOCATION-PATH",
           "an expression cannot contain a location path: refer to the property with a cdl:variable", token_.text);
    }
    fail("CDL-BAD-EXPRESSION",
         token_.kind == Token::kEnd ? "the expression ends too early"
                                    : fmt::format("`{}` is not expected here", token_.text),
         token_.text);
  }

  void advance() { token_ = lexer_.next(); }
  bool is(std::string_view punctuation) const {
    return token_.kind == Token::kPunctuation && token_.text == punctuation;
  }
  void expect(std::string_view punctuation) {
    if (!is(punctuation)) unexpected();
    advance();
  }

  XPathNode* make(XPathOp op, std::vector<const XPathNode*> arguments = {}) {
    XPathNode* n = session_.arena.make<XPathNode>();
    n->op = op;
    n->arguments = session_.arena.copy(std::span<const XPathNode* const>(arguments));
    return n;
  }

  const XPathNode* binary(int level) {
    Budget::Level depth(session_.budget);
    const XPathNode* left = unary(level);
    for (;;) {
      if (token_.kind != Token::kOperator) return left;
      const Level* op = std::find_if(std::begin(kOperators), std::end(kOperators),
                                     [&](const Level& l) { return l.text == token_.text; });
      if (op == std::end(kOperators)) unexpected();
      if (op->level < level) return left;
      advance();
      left = make(op->op, {left, binary(op->level + 1)});
    }
  }

  const XPathNode* unary(int level) {
    if (token_.kind == Token::kOperator && token_.text == "-" && level <= kUnaryLevel) {
      advance();
      Budget::Level depth(session_.budget);
      return make(XPathOp::kNegate, {binary(kUnaryLevel)});
    }
    const XPathNode* e = primary();
    while (is("[")) {
      advance();
      const XPathNode* predicate = binary(1);
      expect("]");
      e = make(XPathOp::kPredicate, {e, predicate});
    }
    return e;
  }

  const XPathNode* primary() {
    Token t = token_;
    switch (t.kind) {
      case Token::kNumber: {
        advance();
        XPathNode* n = make(XPathOp::kNumber);
        n->number = xpath_parse_number(t.text);
        return n;
      }
      case Token::kLiteral: {
        advance();
        XPathNode* n = make(XPathOp::kLiteral);
        n->text = t.text.substr(1, t.text.size() - 2);
        return n;
      }
      case Token::kVariable: return variable(t);
      case Token::kFunction: return call(t);
      default:
        if (!is("(")) unexpected();
        advance();
        const XPathNode* e = binary(1);
        expect(")");
        return e;
    }
  }

  const XPathNode* variable(const Token& t) {
    Symbol name(t.text.substr(1));
    std::vector<std::string_view> known;
    bool found = false;
    for (const Reference& v : element_.variables) {
      found |= v.variable == name;
      known.push_back(v.variable.text());
    }
    if (!found) {
      std::string_view near = nearest(name.text(), known);
      fail("CDL-UNBOUND-VARIABLE",
           fmt::format("there is no variable `{}`{}", name.text(),
                       near.empty() ? "" : fmt::format("; did you mean `{}`?", near)),
           t.text);
    }
    advance();
    XPathNode* n = make(XPathOp::kVariable);
    n->variable = name;
    return n;
  }

  const XPathNode* call(const Token& t) {
    const XPathFunctionInfo* f = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                              [&](const XPathFunctionInfo& i) { return i.name == t.text; });
    if (f == std::end(kFunctions)) {
      std::vector<std::string_view> known;
      for (const XPathFunctionInfo& i : kFunctions) known.push_back(i.name);
      std::string_view near = nearest(t.text, known);
      fail("CDL-BAD-EXPRESSION",
           fmt::format("there is no function `{}`{}", t.text,
                       near.empty() ? "" : fmt::format("; did you mean `{}`?", near)),
           t.text);
    }
    advance();
    expect("(");
    std::vector<const XPathNode*> arguments;
    while (!is(")")) {
      if (!arguments.empty()) expect(",");
      arguments.push_back(binary(1));
    }
    advance();
    if (arguments.size() < f->least || arguments.size() > f->most) {
      fail("CDL-BAD-EXPRESSION", fmt::format("{}() cannot take {} arguments", t.text, arguments.size()), t.text);
    }
    XPathNode* n = make(XPathOp::kCall, std::move(arguments));
    n->function = f->function;
    n->text = f->name;
    return n;
  }

  Session& session_;
  const Element& element_;
  Lexer lexer_;
  Token token_;
};

}  // namespace

std::span<const XPathFunctionInfo> xpath_functions() { return kFunctions; }

const XPathNode* compile_expression(Session& session, const Element& element) {
  if (element.value_of.data() == nullptr) return nullptr;  // said already
  try {
    return Parser(session, element).run();
  } catch (const ParseError& e) {
    auto column = static_cast<std::size_t>(e.at.data() - element.value_of.data()) + 1;
    session.diagnostics.error(e.code, attribute_span(element, "value-of"), e.message)
        .note(fmt::format("at character {} of `{}`", column, element.value_of));
    return nullptr;
  }
}

}  // namespace tutti::cdl
