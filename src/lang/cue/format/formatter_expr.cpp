// Expressions. Blanks around + - * / follow Go's rule: an expression of one level of precedence has them, a mixed one
// keeps them for the loosest operators, and inside indices and calls there are none. All looser operators always have
// them.
#include <algorithm>

#include "lang/cue/format/formatter.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

using namespace ast;

namespace {

struct Levels {
  bool six = false, seven = false;
  int problem = 0;  // an operator that would run into the unary one after it
};

Levels levels(Binary* e) {
  Levels r;
  int p = precedence(e->op);
  r.six = p == 6;
  r.seven = p == 7;
  auto merge = [&](Node* n, bool inside) {
    if (n->kind != ast::Kind::kBinary || !inside) return;
    Levels l = levels(as<Binary>(n));
    r.six |= l.six;
    r.seven |= l.seven;
    r.problem = std::max(r.problem, l.problem);
  };
  merge(e->x, e->x->kind == ast::Kind::kBinary && precedence(as<Binary>(e->x)->op) >= p);
  merge(e->y, e->y->kind == ast::Kind::kBinary && precedence(as<Binary>(e->y)->op) > p);
  if (e->y->kind == ast::Kind::kUnary) {
    Tok u = as<Unary>(e->y)->op;
    if (e->op == Tok::kQuo && u == Tok::kMul) r.problem = 8;
    if ((e->op == Tok::kAdd && u == Tok::kAdd) || (e->op == Tok::kSub && u == Tok::kSub))
      r.problem = std::max(r.problem, 6);
  }
  return r;
}

// Operators of this precedence and above stand without blanks.
int cutoff(Binary* e, int depth) {
  Levels l = levels(e);
  if (l.problem > 0) return l.problem + 1;
  if (l.six && l.seven) return depth == 1 ? 7 : 6;
  return depth == 1 ? 8 : 6;
}

int other_level(Node* n, int p) { return n->kind == ast::Kind::kBinary && precedence(as<Binary>(n)->op) == p ? 0 : 1; }

bool is_top(Node* n) { return n->kind == ast::Kind::kIdent && as<Ident>(n)->name.text() == "_"; }

// Lists may be written without commas at the ends of lines; then they are kept without.
bool without_commas(List* n) {
  if (n->elts.empty() || !n->lbrack) return false;
  for (std::size_t i = 1; i < n->elts.size(); ++i)
    if (!first(n->elts[i]).comma) return true;
  return n->elts.size() == 1 && !n->rbrack.comma;
}

}  // namespace

void Formatter::expr1(Node* n, int p, int depth) {
  before(n);
  expr_raw(n, p, depth);
  after();
}

void Formatter::expr_raw(Node* n, int outer, int depth) {
  switch (n->kind) {
    case ast::Kind::kBad:
      at(as<Bad>(n)->from);
      word("_|_");
      break;
    case ast::Kind::kBottom:
      at(as<Bottom>(n)->pos);
      tok(Tok::kBottom);
      break;
    case ast::Kind::kAlias:
      label(as<Alias>(n)->ident);
      at(as<Alias>(n)->equal);
      tok(Tok::kBind);
      expr(as<Alias>(n)->x);
      break;
    case ast::Kind::kIdent:
      at(as<Ident>(n)->pos);
      p_.word(as<Ident>(n)->name.text(), Tok::kIdent, false);
      break;
    case ast::Kind::kLit:
      at(as<Lit>(n)->pos);
      p_.literal(as<Lit>(n)->tok, as<Lit>(n)->text);
      break;
    case ast::Kind::kInterpolation: interpolation(as<Interpolation>(n), depth); break;
    case ast::Kind::kBinary: binary(as<Binary>(n), outer, cutoff(as<Binary>(n), depth), depth); break;
    case ast::Kind::kUnary:
      if (kUnaryPrecedence < outer) {
        tok(Tok::kLparen);
        sp(kSpNoOverride);
        expr(n);
        tok(Tok::kRparen);
      } else {
        at(as<Unary>(n)->op_pos);
        tok(as<Unary>(n)->op);
        sp(kSpNoOverride);
        expr1(as<Unary>(n)->x, kUnaryPrecedence, depth);
      }
      break;
    case ast::Kind::kPostfix:
      expr1(as<Postfix>(n)->x, kHighestPrecedence, depth);
      tok(as<Postfix>(n)->op);
      break;
    case ast::Kind::kParen:
      if (as<Paren>(n)->x->kind == ast::Kind::kParen) {
        expr1(as<Paren>(n)->x, 0, depth);
      } else {
        at(as<Paren>(n)->lparen);
        tok(Tok::kLparen);
        expr1(as<Paren>(n)->x, 0, std::max(1, depth - 1));
        at(as<Paren>(n)->rparen);
        tok(Tok::kRparen);
      }
      break;
    case ast::Kind::kSelector: selector(as<Selector>(n), depth); break;
    case ast::Kind::kIndex:
      expr1(as<Index>(n)->x, kHighestPrecedence, 1);
      at(as<Index>(n)->lbrack);
      tok(Tok::kLbrack);
      expr1(as<Index>(n)->index, 0, depth + 1);
      at(as<Index>(n)->rbrack);
      tok(Tok::kRbrack);
      break;
    case ast::Kind::kSlice: slice(as<Slice>(n), depth); break;
    case ast::Kind::kCall: call(as<Call>(n), depth); break;
    case ast::Kind::kStruct: struct_lit(as<Struct>(n)); break;
    case ast::Kind::kList: list_lit(as<List>(n)); break;
    case ast::Kind::kEllipsis: ellipsis(as<Ellipsis>(n)); break;
    case ast::Kind::kComprehension: comprehension(as<Comprehension>(n)); break;
    case ast::Kind::kEmbed: expr_raw(as<Embed>(n)->x, outer, depth); break;
    default: break;
  }
}

void Formatter::binary(Binary* n, int outer, int limit, int depth) {
  int p = precedence(n->op);
  if (p < outer) {
    tok(Tok::kLparen);
    sp(kSpNoOverride);
    expr1(n, 0, std::max(1, depth - 1));
    tok(Tok::kRparen);
    return;
  }
  bool blank = p < limit;
  expr1(n->x, p, depth + other_level(n->x, p));
  sp(kSpNoOverride);
  if (blank) sp(kSpBlank);
  at(n->op_pos);
  tok(n->op);
  if (p_.rel(first(n->y)) >= Rel::kNewline) {
    sp(kSpFormFeed);
    blank = false;
  } else {
    sp(kSpNoOverride);
  }
  if (blank) sp(kSpBlank);
  expr1(n->y, p + 1, depth + 1);
}

// True when the name after the point is on a line of its own.
bool Formatter::selector(Selector* n, int depth) {
  expr1(n->x, kHighestPrecedence, depth);
  tok(Tok::kPeriod);
  if (p_.rel(first(n->sel)) >= Rel::kNewline) {
    sp(kSpIndent | kSpFormFeed);
    expr(n->sel);
    sp(kSpUnindent);
    return true;
  }
  sp(kSpNoBlank);
  expr(n->sel);
  return false;
}

void Formatter::slice(Slice* n, int depth) {
  expr1(n->x, kHighestPrecedence, 1);
  at(n->lbrack);
  tok(Tok::kLbrack);
  if (n->low) expr1(n->low, 0, depth + 1);
  bool wide =
      depth <= 1 && n->low && n->high && (n->low->kind == ast::Kind::kBinary || n->high->kind == ast::Kind::kBinary);
  if (wide) sp(kSpBlank);
  tok(Tok::kColon);
  if (wide) sp(kSpBlank);
  if (n->high) expr1(n->high, 0, depth + 1);
  at(n->rbrack);
  tok(Tok::kRbrack);
}

void Formatter::call(Call* n, int depth) {
  if (n->args.size() > 1) ++depth;
  bool indented = false;
  if (n->fun->kind == ast::Kind::kSelector)
    indented = selector(as<Selector>(n->fun), depth);
  else
    expr1(n->fun, kHighestPrecedence, depth);
  at(n->lparen);
  tok(Tok::kLparen);
  before(nullptr);
  for (Node* a : n->args) {
    before(a);
    expr_raw(a, 0, depth);
    sp(kSpComma | kSpBlank);
    after();
  }
  after();
  sp(kSpTrailComma | kSpNoBlank);
  at(n->rparen);
  tok(Tok::kRparen);
  if (indented) sp(kSpUnindent);
}

void Formatter::struct_lit(Struct* n) {
  Space ws = kSpNoBlank, feed = form_feed();
  if (n->elts.empty()) {
    Space closed = kSpBlank | kSpNoOverride;
    for (const CommentGroup& g : n->comments())
      if (g.position == 1) {
        closed = feed;
        break;
      }
    feed = closed;
  } else if (n->rbrace.rel == Rel::kNone || first(n->elts[0]).rel == Rel::kNone) {
    ws |= kSpNewline | kSpNoOverride;
  }
  at(n->lbrace);
  tok(Tok::kLbrace);
  int line = p_.line();
  sp(ws | feed | kSpIndent);
  p_.set_brace_on_line(true);
  decls(n->elts);
  sp(kSpUnindent);
  ws = kSpNoBlank;
  if (p_.line() != line) {
    ws |= kSpNewline;
    if (p_.last() != Tok::kRbrace && p_.last() != Tok::kRbrack) ws |= kSpNoOverride;
  }
  sp(ws);
  at(n->rbrace);
  tok(Tok::kRbrace);
}

void Formatter::list_lit(List* n) {
  Space ws = kSpNoBlank | kSpIndent;
  if (n->elts.empty()) {
    bool commented = false;
    for (const CommentGroup& g : n->comments()) commented |= g.position == 1;
    if (!commented) ws |= kSpBlank | kSpNoOverride;
  }
  at(n->lbrack);
  tok(Tok::kLbrack);
  sp(ws);
  list_elements(n);
  sp(kSpTrailComma | kSpNoBlank);
  comments_until(current_.pos);
  sp(kSpUnindent);
  sp(kSpNoBlank);
  at(n->rbrack);
  tok(Tok::kRbrack);
}

void Formatter::list_elements(List* list) {
  before(nullptr);
  bool bare = without_commas(list);
  for (std::size_t i = 0; i < list->elts.size(); ++i) {
    Node* x = list->elts[i];
    if (i > 0 && bare) sp(kSpDeclComma);
    before(x);
    // Comments behind the element come after its comma.
    std::vector<CommentGroup> behind;
    TokenPos start = first(x);
    bool split = valid(start);
    auto collect = [&](Node* n) {
      for (const CommentGroup& g : n->comments())
        if (!g.list.empty() && first(n) && g.list[0].slash && first(n).pos < g.list[0].slash.pos) behind.push_back(g);
    };
    if (split) {
      collect(x);
      current_.groups = {};
    }
    switch (x->kind) {
      case ast::Kind::kComprehension: comprehension(as<Comprehension>(x)); break;
      case ast::Kind::kEllipsis: {
        auto* e = as<Ellipsis>(x);
        at(e->pos);
        tok(Tok::kEllipsis);
        if (e->type && !is_top(e->type)) {
          collect(e->type);
          expr_raw(e->type, 0, 1);
        }
        break;
      }
      case ast::Kind::kAlias:
        expr(as<Alias>(x)->ident);
        at(as<Alias>(x)->equal);
        tok(Tok::kBind);
        expr(as<Alias>(x)->x);
        break;
      default: expr_raw(x, 0, 1);
    }
    if (!bare) sp(kSpComma | kSpBlank);
    if (split) current_.groups = behind;
    after();
  }
  after();
}

// The expressions of a single-line string stay on its line. In a multi-line string a line break before an expression
// goes with one after it.
void Formatter::interpolation(Interpolation* n, int depth) {
  before(nullptr);
  std::string error;
  std::string_view head = as<Lit>(n->parts.front())->text, tail = as<Lit>(n->parts.back())->text;
  std::optional<Quotes> quotes = parse_quotes(head, tail, error);
  bool lines = quotes ? quotes->multiline : head.find("\"\"\"") != std::string_view::npos;
  std::vector<bool> forced(n->parts.size(), false);
  if (lines) {
    for (std::size_t i = 1; i + 1 < n->parts.size(); i += 2) {
      Pos a = ast::end(n->parts[i - 1]), d = first(n->parts[i + 1]).pos;
      Pos b = first(n->parts[i]).pos, c = ast::end(n->parts[i]);
      if (!a || !b || !c || !d) continue;
      bool leading = line_of(b) > line_of(a), trailing = line_of(d) > line_of(c);
      if (leading != trailing) forced[leading ? i + 1 : i] = true;
    }
  }
  for (std::size_t i = 0; i < n->parts.size(); ++i) {
    if (forced[i]) sp(kSpNewline | kSpNoOverride);
    if (!lines && i == 1) p_.flat(1);
    expr1(n->parts[i], 0, depth + 1);
  }
  if (!lines && n->parts.size() > 1) p_.flat(-1);
  after();
}

}  // namespace tutti::cue
