// Expressions.
#include "lang/cue/format/literal.h"
#include "lang/cue/format/unfold.h"
#include "lang/cue/format/walk.h"

namespace tutti::cue {

using namespace ast;

namespace {

constexpr int kAdditive = 6, kMultiplicative = 7, kUnary = 8, kOperand = 9;

// Which precedences the operators of one expression have, up to brackets, and whether one would run into a sign.
struct Operators {
  bool additive = false, multiplicative = false;
  int clash = 0;  // the tightest operator that does

  void add(const Binary* n) {
    int own = precedence(n->op);
    additive = additive || own == kAdditive;
    multiplicative = multiplicative || own == kMultiplicative;
    if (n->x->kind == Kind::kBinary && precedence(as<Binary>(n->x)->op) >= own) add(as<Binary>(n->x));
    if (n->y->kind == Kind::kBinary && precedence(as<Binary>(n->y)->op) > own) add(as<Binary>(n->y));
    if (n->y->kind != Kind::kUnary) return;
    Tok sign = as<Unary>(n->y)->op;
    if (n->op == Tok::kQuo && sign == Tok::kMul) clash = kUnary;
    if (n->op == sign && (sign == Tok::kAdd || sign == Tok::kSub)) clash = std::max(clash, kAdditive);
  }

  // Operators looser than this have spaces around them: comparisons always, arithmetic where it is not tight, and of
  // two kinds of arithmetic the looser one.
  int spaced(int depth) const {
    if (clash) return clash + 1;
    if (depth > 1) return kAdditive;
    return additive && multiplicative ? kMultiplicative : kUnary;
  }
};

bool is_binary(const Node* n) { return n && n->kind == Kind::kBinary; }

bool is_newline(const Node* n) { return first(n).rel >= Rel::kNewline; }

int looser(int depth) { return std::max(1, depth - 1); }

}  // namespace

void Unfold::expression(Node* n, int least, int depth) {
  inside(n, [&] { plain(n, least, depth); });
}

void Unfold::plain(Node* n, int least, int depth) {
  switch (n->kind) {
    case Kind::kBad: return word(as<Bad>(n)->from, "_|_");
    case Kind::kBottom: return token(as<Bottom>(n)->pos, Tok::kBottom);
    case Kind::kIdent: out_.place(as<Ident>(n)->pos); return out_.name(as<Ident>(n)->name.text());
    case Kind::kLit: out_.place(as<Lit>(n)->pos); return out_.literal(as<Lit>(n)->tok, as<Lit>(n)->text);
    case Kind::kInterpolation: return interpolation(as<Interpolation>(n), depth);
    case Kind::kFunc: return function(as<Func>(n));
    case Kind::kStruct: return structure(as<Struct>(n));
    case Kind::kList: return list(as<List>(n));
    case Kind::kEllipsis: return ellipsis(as<Ellipsis>(n));
    case Kind::kComprehension: return comprehension(as<Comprehension>(n));
    case Kind::kParen: {
      auto* p = as<Paren>(n);
      if (p->x->kind == Kind::kParen) return expression(p->x, 0, depth);
      token(p->lparen, Tok::kLparen);
      expression(p->x, 0, looser(depth));
      return token(p->rparen, Tok::kRparen);
    }
    case Kind::kSelector: selector(as<Selector>(n), depth); return;
    case Kind::kIndex: {
      auto* i = as<Index>(n);
      expression(i->x, kOperand, 1);
      token(i->lbrack, Tok::kLbrack);
      expression(i->index, 0, depth + 1);
      return token(i->rbrack, Tok::kRbrack);
    }
    case Kind::kSlice: return slice(as<Slice>(n), depth);
    case Kind::kCall: return call(as<Call>(n), depth);
    case Kind::kUnary: return unary(as<Unary>(n), least, depth);
    case Kind::kBinary: return binary(as<Binary>(n), least, depth);
    case Kind::kPostfix: expression(as<Postfix>(n)->x, kOperand, depth); return token(as<Postfix>(n)->op);
    case Kind::kAlias:
      label(as<Alias>(n)->ident);
      token(as<Alias>(n)->equal, Tok::kBind);
      return expression(as<Alias>(n)->x);
    case Kind::kPostfixAlias: return postfix_alias(as<PostfixAlias>(n));
    case Kind::kFor:
    case Kind::kIfClause:
    case Kind::kLet:
    case Kind::kTryClause: return clause(n);
    case Kind::kFallbackClause: return expression(as<FallbackClause>(n)->body);
    case Kind::kImportSpec: {
      Node* spec[] = {n};
      return import_specs(spec);
    }
    default: return declaration(n);
  }
}

// Trees that were made need not have the parentheses that their text needs.
void Unfold::binary(Binary* n, int least, int depth) {
  int own = precedence(n->op);
  if (own < least) {
    token(Tok::kLparen);
    allow(kFixed);
    expression(n, 0, looser(depth));
    return token(Tok::kRparen);
  }
  bool spaced = own < kAdditive;
  if (!spaced) {
    Operators all;
    all.add(n);
    spaced = own < all.spaced(depth);
  }
  int around = spaced ? kBlank : 0;
  expression(n->x, own, depth + (is_binary(n->x) && precedence(as<Binary>(n->x)->op) == own ? 0 : 1));
  allow(kFixed | around);
  token(n->op_pos, n->op);
  allow(is_newline(n->y) ? int{kNewTable} : kFixed | around);
  expression(n->y, own + 1, depth + 1);
}

void Unfold::unary(Unary* n, int least, int depth) {
  if (kUnary < least) {
    token(Tok::kLparen);
    allow(kFixed);
    expression(n);
    return token(Tok::kRparen);
  }
  token(n->op_pos, n->op);
  allow(kFixed);
  expression(n->x, kUnary, depth);
}

// Whether it goes on on another line, one level deeper.
bool Unfold::selector(Selector* n, int depth) {
  expression(n->x, kOperand, depth);
  token(Tok::kPeriod);
  bool below = is_newline(n->sel);
  allow(below ? kIndent | kNewTable : int{kTight});
  expression(n->sel);
  if (below) allow(kUnindent);
  return below;
}

bool Unfold::function_name(Node* n, int depth) {
  if (n->kind == Kind::kSelector && n->comments().empty()) return selector(as<Selector>(n), depth);
  expression(n, kOperand, depth);
  return false;
}

void Unfold::call(Call* n, int depth) {
  if (n->args.size() > 1) ++depth;
  bool below = function_name(n->fun, depth);
  token(n->lparen, Tok::kLparen);
  inside(nullptr, [&] {
    for (Node* a : n->args)
      inside(a, [&] {
        plain(a, 0, depth);
        allow(kComma | kBlank);
      });
  });
  allow(kLastComma | kTight);
  token(n->rparen, Tok::kRparen);
  if (below) allow(kUnindent);
}

void Unfold::slice(Slice* n, int depth) {
  expression(n->x, kOperand, 1);
  token(n->lbrack, Tok::kLbrack);
  if (n->low) expression(n->low, 0, depth + 1);
  int around = depth <= 1 && n->low && n->high && (is_binary(n->low) || is_binary(n->high)) ? kBlank : 0;
  allow(around);
  token(Tok::kColon);
  allow(around);
  if (n->high) expression(n->high, 0, depth + 1);
  token(n->rbrack, Tok::kRbrack);
}

void Unfold::structure(Struct* n) {
  int space = kTight, end = table_end();
  if (n->elts.empty()) {
    bool commented = false;
    for (const CommentGroup& g : n->comments()) commented = commented || g.position == 1;
    if (!commented) end = kBlank | kFixed;
  } else if (n->rbrace.rel == Rel::kNone || first(n->elts[0]).rel == Rel::kNone) {
    space |= kLine | kFixed;
  }
  token(n->lbrace, Tok::kLbrace);
  std::size_t line = out_.line();
  allow(space | end | kIndent);
  out_.brace(line);
  declarations(n->elts);
  allow(kUnindent | kTight);
  if (out_.line() != line) {
    allow(kLine);
    if (out_.last() != Tok::kRbrace && out_.last() != Tok::kRbrack) allow(kFixed);
  }
  token(n->rbrace, Tok::kRbrace);
}

void Unfold::list(List* n) {
  int space = kTight | kIndent;
  if (n->elts.empty()) {
    bool commented = false;
    for (const CommentGroup& g : n->comments()) commented = commented || g.position == 1;
    if (!commented) space |= kBlank | kFixed;
  }
  token(n->lbrack, Tok::kLbrack);
  allow(space);
  elements(n);
  allow(kLastComma | kTight);
  comments(frame_.position);
  allow(kUnindent | kTight);
  token(n->rbrack, Tok::kRbrack);
}

// Elements on lines of their own go without commas where one of the commas is not there.
void Unfold::elements(List* n) {
  bool commas = true;
  if (n->lbrack.scanned && !n->elts.empty()) {
    for (std::size_t i = 1; i < n->elts.size(); ++i) commas = commas && first(n->elts[i]).comma;
    if (n->elts.size() == 1) commas = n->rbrack.comma;
  }
  inside(nullptr, [&] {
    for (std::size_t i = 0; i < n->elts.size(); ++i) {
      Node* e = n->elts[i];
      if (i > 0 && !commas) allow(kFieldComma);
      Frame outer = enter(e);
      // Comments inside of the element, or after it, come after its comma.
      std::vector<CommentGroup> later;
      Pos begin = first(e).pos;
      auto keep = [&](const Node* of, Pos from) {
        for (const CommentGroup& g : of->comments())
          if (!g.list.empty() && (!g.list[0].slash || from < g.list[0].slash.pos)) later.push_back(g);
      };
      if (begin) {
        keep(e, begin);
        frame_.comments = {};
        if (e->kind == Kind::kEllipsis && as<Ellipsis>(e)->type)
          if (Node* type = as<Ellipsis>(e)->type; !type->comments().empty()) keep(type, first(type).pos);
      }
      element(e);
      if (commas) allow(kComma | kBlank);
      if (begin) frame_.comments = later;
      leave(outer);
    }
  });
}

void Unfold::element(Node* n) {
  switch (n->kind) {
    case Kind::kComprehension: return comprehension(as<Comprehension>(n));
    case Kind::kEllipsis: {
      auto* e = as<Ellipsis>(n);
      token(e->pos, Tok::kEllipsis);
      bool anything = !e->type || (e->type->kind == Kind::kIdent && as<Ident>(e->type)->name.text() == "_");
      if (!anything) plain(e->type, 0, 1);
      return;
    }
    case Kind::kAlias:
      expression(as<Alias>(n)->ident);
      token(as<Alias>(n)->equal, Tok::kBind);
      return expression(as<Alias>(n)->x);
    default: return plain(n, 0, 1);
  }
}

// In a string of one line nothing begins a line; in one of several an expression has lines of its own or stays inside.
void Unfold::interpolation(Interpolation* n, int depth) {
  std::string error;
  const auto* head = as<Lit>(n->parts.front());
  const auto* tail = as<Lit>(n->parts.back());
  std::optional<Quotes> quotes = parse_quotes(head->text, tail->text, error);
  bool lines = quotes && quotes->multiline;
  if (!lines) {
    auto join = [](auto& self, Node* x) -> void {
      if (TokenPos* at = first_ref(x); at && at->rel >= Rel::kNewline) at->rel = Rel::kNone;
      for_children(x, [&](Node* c) { self(self, c); });
    };
    for (Node* p : n->parts.subspan(1)) join(join, p);
  }
  auto begins_line = [](const Node* x) { return first(x).rel >= Rel::kNewline; };
  inside(nullptr, [&] {
    for (std::size_t i = 0; i < n->parts.size(); ++i) {
      if (lines && i > 0 && !begins_line(n->parts[i])) {
        // The other side of the expression is on a line of its own.
        std::size_t other = i % 2 ? i + 1 : i - 1;
        if (other < n->parts.size() && begins_line(n->parts[other])) allow(kLine | kFixed);
      }
      expression(n->parts[i], 0, depth + 1);
    }
  });
}

void Unfold::function(Func* n) {
  word(n->pos, "func");
  token(Tok::kLparen);
  for (std::size_t i = 0; i < n->args.size(); ++i) {
    if (i > 0) {
      token(Tok::kComma);
      allow(kBlank);
    }
    expression(n->args[i]);
  }
  token(Tok::kRparen);
  token(Tok::kColon);
  allow(kBlank);
  expression(n->result);
}

}  // namespace tutti::cue
