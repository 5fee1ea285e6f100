#include <fmt/format.h>

#include "lang/cue/syntax/parser_impl.h"

namespace tutti::cue {

using namespace ast;

namespace {
constexpr int kMostNesting = 10'000;
}

Parser::Nest::Nest(Parser& p) : parser(p) {
  if (++p.nesting_ > kMostNesting) {
    p.error(p.pos_, fmt::format("expression exceeds maximum nesting depth of {}", kMostNesting));
    throw TooManyErrors{};
  }
}

// Errors on the line of the one before are most often its consequence and not told.
void Parser::error(TokenPos at, std::string message) {
  if (!errors_.empty()) {
    Pos last = errors_.back().pos;
    if (last.at >= source_.first.at) {
      std::size_t a = source_.offset(last), b = source_.offset(at.pos);
      if (a > b) std::swap(a, b);
      if (b <= source_.text.size() && source_.text.find('\n', a) >= b) return;
    }
    if (errors_.size() > 10) throw TooManyErrors{};
  }
  errors_.push_back({at.pos, std::move(message)});
}

void Parser::expected(TokenPos at, std::string_view what) {
  if (at.pos != pos_.pos) return error(at, fmt::format("expected {}", what));
  if (auto_comma()) return error(at, fmt::format("expected {}, found newline", what));
  if (is_literal(tok_))
    error(at, fmt::format("expected {}, found '{}' {}", what, token_text(tok_), text_));
  else
    error(at, fmt::format("expected {}, found '{}'", what, token_text(tok_)));
}

TokenPos Parser::not_found(Tok t) {
  expected(pos_, fmt::format("'{}'", token_text(t)));
  return {};
}

TokenPos Parser::expect_closing(Tok t, std::string_view context) {
  if (tok_ != t && auto_comma()) {
    error(pos_, fmt::format("missing ',' before newline in {}", context));
    next();
  }
  return expect(t);
}

void Parser::expect_comma() {
  if (tok_ == Tok::kComma) return next();
  if (tok_ == Tok::kRparen || tok_ == Tok::kRbrace || tok_ == Tok::kEof) return;
  expected(pos_, "','");
  sync();
}

bool Parser::at_comma(std::string_view context, std::initializer_list<Tok> follow) {
  if (tok_ == Tok::kComma) return true;
  for (Tok t : follow)
    if (tok_ == t) return false;
  if (text_ == "\n")
    error(pos_, "missing ',' before newline");
  else
    error(pos_, fmt::format("missing ',' in {}", context));
  return true;
}

// On to the next comma; at most ten times at the same place, so that the parser always ends.
void Parser::sync() {
  for (; tok_ != Tok::kEof; next()) {
    if (tok_ != Tok::kComma) continue;
    if (pos_.pos == sync_pos_.pos && sync_count_ < 10) {
      ++sync_count_;
      return;
    }
    if (pos_.pos > sync_pos_.pos) {
      sync_pos_ = pos_;
      sync_count_ = 0;
      return;
    }
  }
}

Ident* Parser::ident() {
  Frame* f = open();
  std::string_view name = text_;
  TokenPos at = expect(Tok::kIdent);
  return close(f, make<Ident>(at, Symbol(at ? name : "_")));
}

void Parser::check_declared(const Ident* i) {
  if (i->name.text().substr(0, 2) == "__") error(i->pos, "identifiers starting with '__' are reserved");
}

Ident* Parser::declared_ident() {
  Ident* i = ident();
  check_declared(i);
  return i;
}

Ident* Parser::key_ident() {
  Frame* f = open();
  TokenPos at = pos_;
  Symbol name(text_);
  next();
  return close(f, make<Ident>(at, name));
}

Node* Parser::optional_mark(Node* x) {
  if (tok_ != Tok::kOption) return x;
  TokenPos at = pos_;
  next();
  return make<Postfix>(x, Tok::kOption, at);
}

Node* Parser::operand() {
  switch (tok_) {
    case Tok::kIdent: {
      Ident* i = ident();
      if (tok_ == Tok::kOption) {
        peek();
        if (peeked_->tok != Tok::kColon) return optional_mark(i);
      }
      return i;
    }
    case Tok::kLbrace: return struct_literal();
    case Tok::kLbrack: return list();
    case Tok::kBottom: {
      Frame* f = open();
      auto* x = make<Bottom>(pos_);
      next();
      return close(f, x);
    }
    case Tok::kNull:
    case Tok::kTrue:
    case Tok::kFalse:
    case Tok::kInt:
    case Tok::kFloat:
    case Tok::kString: {
      Frame* f = open();
      auto* x = make<Lit>(tok_, pos_, text_);
      next();
      return close(f, x);
    }
    case Tok::kInterpolation: return interpolation();
    case Tok::kLparen: {
      Frame* f = open();
      TokenPos left = pos_;
      next();
      open_list();
      Node* x = rhs();
      close_list();
      TokenPos right = expect(Tok::kRparen);
      return close(f, make<Paren>(left, x, right));
    }
    default:
      if (is_keyword(tok_)) return key_ident();
  }
  Frame* f = open();
  TokenPos at = pos_;
  expected(at, "operand");
  sync();
  return close(f, make<Bad>(at, pos_));
}

Node* Parser::index_or_slice(Node* x) {
  Frame* f = open();
  f->pos = 1;
  TokenPos left = expect(Tok::kLbrack);
  Node *low = nullptr, *high = nullptr;
  if (tok_ != Tok::kColon) low = rhs();
  bool slice = tok_ == Tok::kColon;
  if (slice) {
    next();
    if (tok_ != Tok::kColon && tok_ != Tok::kRbrack && tok_ != Tok::kEof) high = rhs();
  } else if (tok_ == Tok::kComma) {
    next();
  }
  TokenPos right = expect(Tok::kRbrack);
  if (slice) return close(f, make<Slice>(x, left, low, high, right));
  return close(f, optional_mark(make<Index>(x, left, low, right)));
}

Node* Parser::call(Node* fun) {
  Frame* f = open();
  open_list();
  TokenPos left = expect(Tok::kLparen);
  Gathered args(*this);
  while (tok_ != Tok::kRparen && tok_ != Tok::kEof) {
    args.push_back(rhs());
    if (!at_comma("argument list", {Tok::kRparen})) break;
    next();
  }
  TokenPos right = expect_closing(Tok::kRparen, "argument list");
  close_list();
  return close(f, make<Call>(fun, left, args.kept(), right));
}

Node* Parser::list() {
  TokenPos left = expect(Tok::kLbrack);
  Gathered elts(*this);
  open_list();
  for (bool more = true; more && tok_ != Tok::kRbrack && tok_ != Tok::kEllipsis && tok_ != Tok::kEof;)
    elts.push_back(list_element(more));
  close_list();
  if (tok_ == Tok::kEllipsis) {
    auto* e = make<Ellipsis>(pos_);
    elts.push_back(e);
    next();
    if (tok_ != Tok::kComma && tok_ != Tok::kRbrack) e->type = rhs();
    if (at_comma("list literal", {Tok::kRbrack})) next();
  }
  TokenPos right = expect_closing(Tok::kRbrack, "list literal");
  return make<List>(left, elts.kept(), right);
}

Node* Parser::list_element(bool& more) {
  Frame* f = open();
  Node* x = nullptr;
  if (tok_ == Tok::kFor || tok_ == Tok::kIf || tok_ == Tok::kTry) {
    TokenPos at = pos_;
    Symbol word(token_text(tok_));
    std::vector<Node*> parts;
    Frame* word_frame = nullptr;
    if (clauses(parts, word_frame)) {
      Frame* s = open();
      Node* value = close(s, struct_literal());
      FallbackClause* otherwise = nullptr;
      if (tok_ == Tok::kElse || tok_ == Tok::kFallback || tok_ == Tok::kOtherwise) otherwise = fallback(parts);
      if (at_comma("list literal", {Tok::kRbrack})) next();
      return close(f, make<Comprehension>(keep_nodes(parts), value, otherwise));
    }
    x = close(word_frame, make<Ident>(at, word));
  } else {
    x = unary();
  }
  x = binary_tail(1, x);
  x = alias(x);
  more = at_comma("list literal", {Tok::kRbrack, Tok::kFor, Tok::kIf});
  if (more) next();
  return close(f, x);
}

Node* Parser::alias(Node* left) {
  if (tok_ != Tok::kBind) return left;
  TokenPos at = pos_;
  if (experiments_.alias_v2) {
    error(at, "old-style alias syntax (=) is not allowed with @experiment(aliasv2); use postfix syntax (~X or ~(K,V))");
    next();
    return rhs();
  }
  next();
  Node* x = rhs();
  if (left->kind == Kind::kIdent) {
    check_declared(as<Ident>(left));
    return make<Alias>(as<Ident>(left), at, x);
  }
  expected(pos_, "identifier for alias");
  return x;
}

PostfixAlias* Parser::postfix_alias() {
  if (tok_ != Tok::kTilde) return nullptr;
  auto* a = make<PostfixAlias>(pos_);
  if (!experiments_.alias_v2) error(pos_, "postfix alias syntax requires @experiment(aliasv2)");
  next();
  if (tok_ == Tok::kIdent) {
    a->field = ident();
    return a;
  }
  if (tok_ != Tok::kLparen) {
    expected(pos_, "identifier or '('");
    return nullptr;
  }
  a->lparen = pos_;
  next();
  if (tok_ != Tok::kIdent) {
    expected(pos_, "identifier for label alias");
    return nullptr;
  }
  a->field = ident();
  if (tok_ == Tok::kRparen) {
    a->rparen = pos_;
    next();
    return a;
  }
  a->comma = expect(Tok::kComma);
  if (!a->comma) return a;
  a->label = a->field;
  if (tok_ != Tok::kIdent) {
    expected(pos_, "identifier for field alias");
    return a;
  }
  a->field = ident();
  a->rparen = expect(Tok::kRparen);
  return a;
}

// Only what can stand as a value; aliases, comprehensions and the like cannot.
Node* Parser::checked(Node* x) {
  Node* inner = x;
  while (inner->kind == Kind::kParen) inner = as<Paren>(inner)->x;
  switch (inner->kind) {
    case Kind::kAlias:
    case Kind::kComprehension:
    case Kind::kEllipsis: expected(first(x), "expression"); return make<Bad>(first(x), TokenPos{end(x)});
    default: return x;
  }
}

Node* Parser::primary() { return primary_tail(operand()); }

Node* Parser::primary_tail(Node* x) {
  while (true) {
    switch (tok_) {
      case Tok::kPeriod: {
        TokenPos period = pos_;
        if (Node* name = plain_name()) {
          x = make<Selector>(checked(x), period, name);
          top_->last_child = x;
          top_->last_pos = 3;
          ++top_->pos;
          break;
        }
        Frame* f = open();
        f->pos = 1;
        next();
        if (tok_ == Tok::kIdent) {
          x = checked(x);
          Node* sel = ident();
          x = optional_mark(make<Selector>(x, period, sel));
        } else if (tok_ == Tok::kString && text_.substr(0, 1) == "\"" && text_.substr(0, 2) != "\"\"") {
          Node* sel = make<Lit>(Tok::kString, pos_, text_);
          next();
          x = optional_mark(make<Selector>(checked(x), period, sel));
        } else if (is_keyword(tok_)) {
          x = checked(x);
          Node* sel = key_ident();
          x = optional_mark(make<Selector>(x, period, sel));
        } else {
          TokenPos at = pos_;
          expected(at, "selector");
          next();
          x = make<Selector>(x, period, make<Ident>(at, Symbol("_")));
        }
        close(f, x);
        break;
      }
      case Tok::kLbrack: x = index_or_slice(checked(x)); break;
      case Tok::kLparen: x = call(checked(x)); break;
      case Tok::kEllipsis: {
        TokenPos at = pos_;
        if (experiments_.explicit_open) {
          Frame* f = open();
          next();
          x = close(f, make<Postfix>(checked(x), Tok::kEllipsis, at));
        } else {
          next();
          errors_.push_back({at.pos, "postfix ... operator requires @experiment(explicitopen)"});
          x = make<Bad>(at, pos_);
        }
        break;
      }
      default: return x;
    }
  }
}

Node* Parser::unary() {
  Nest nest(*this);
  switch (tok_) {
    case Tok::kEql:
    case Tok::kAdd:
    case Tok::kSub:
    case Tok::kNot:
    case Tok::kMul:
    case Tok::kLss:
    case Tok::kLeq:
    case Tok::kGeq:
    case Tok::kGtr:
    case Tok::kNeq:
    case Tok::kMat:
    case Tok::kNmat: {
      TokenPos at = pos_;
      Tok op = tok_;
      Frame* f = open();
      next();
      Node* x = checked(unary());
      return close(f, make<Unary>(at, op, x));
    }
    default: return primary();
  }
}

Node* Parser::binary(int least) {
  open_list();
  Node* x = binary_tail(least, unary());
  close_list();
  return x;
}

Node* Parser::binary_tail(int least, Node* x) {
  while (true) {
    Tok op = tok_;
    int level = precedence(op);
    if (level < least) return x;
    Frame* f = open();
    f->pos = 1;
    TokenPos at = expect(op);
    x = checked(x);
    Node* y = checked(binary(level + 1));
    x = close(f, make<Binary>(x, at, op, y));
  }
}

Node* Parser::interpolation() {
  Frame* f = open();
  open_list();
  Frame* part = open();
  Gathered parts(*this);
  auto* last = make<Lit>(Tok::kString, pos_, text_);
  next();
  parts.push_back(last);
  while (!last->text.empty() && last->text.back() == '(') {
    f->pos = 1;
    expect(Tok::kLparen);
    close(part, last);
    parts.push_back(rhs());
    part = open();
    if (auto_comma()) next();
    if (tok_ != Tok::kRparen) {
      expected(pos_, "')' for string interpolation");
      if (tok_ == Tok::kEof) {
        last = make<Lit>(Tok::kString, pos_, ")\"");
        parts.push_back(last);
        break;
      }
    }
    std::string_view text = scanner_.resume();
    TokenPos at = pos_;
    next();
    last = make<Lit>(Tok::kString, at, text);
    parts.push_back(last);
  }
  close(part, last);
  close_list();
  return close(f, make<Interpolation>(parts.kept()));
}

namespace {
// After one of these there is no more of an expression.
bool ends_expression(Tok t) {
  return t == Tok::kComma || t == Tok::kColon || t == Tok::kRbrace || t == Tok::kRbrack || t == Tok::kRparen;
}
}  // namespace

bool Parser::comments_wait() const { return lead_ || (top_->list > 0 && !top_->groups.empty()); }

// A name after a point with another point or the end of the expression behind it, and no comment between: the frames
// of a selector would be opened and closed again for nothing. nullptr, and nothing read, when there may be more.
Node* Parser::plain_name() {
  if (comments_wait()) return nullptr;
  peek();
  if (peeked_->tok != Tok::kIdent) return nullptr;
  char after = scanner_.ahead();
  if (after != '.' && after != ',' && after != ')' && after != '}' && after != ']') return nullptr;
  advance();
  Node* name = make<Ident>(pos_, Symbol(text_));
  advance();
  return name;
}

// Most expressions are one token, without a comment before or after: the frames of what they might have been would be
// opened and closed again for nothing. nullptr when there is more.
Node* Parser::single() {
  bool name = tok_ == Tok::kIdent;
  bool literal = tok_ == Tok::kString || tok_ == Tok::kInt || tok_ == Tok::kFloat || tok_ >= Tok::kTrue;
  if (!(name || literal) || comments_wait()) return nullptr;
  Nest nest(*this);
  peek();
  if (!ends_expression(peeked_->tok)) return nullptr;
  Node* x = name ? static_cast<Node*>(make<Ident>(pos_, Symbol(text_))) : make<Lit>(tok_, pos_, text_);
  advance();
  top_->last_child = x;
  top_->last_pos = 1;
  ++top_->pos;
  return x;
}

Node* Parser::expression() {
  if (Node* x = single()) return x;
  Frame* f = open();
  return close(f, binary(1));
}

Node* Parser::rhs() { return checked(expression()); }

}  // namespace tutti::cue
