// Expressions.
#include <utility>

#include "lang/cue/format/literal.h"
#include "lang/cue/format/unfold.h"

namespace tutti::cue {

using namespace ast;

namespace {

constexpr int kComparison = 5;  // the tightest of the operators that always have spaces around them

constexpr int kOperand = 8;  // tighter than all binary operators

// Trees that were made need not have the parentheses that their text needs.
bool needs_parens(const Node* n, int least) {
  return n->kind == Kind::kBinary && precedence(as<Binary>(n)->op) < least;
}

int loosest(const Node* n) {
  if (n->kind != Kind::kBinary) return kOperand;
  const auto* b = as<Binary>(n);
  int own = precedence(b->op), out = own;
  if (!needs_parens(b->x, own)) out = std::min(out, loosest(b->x));
  if (!needs_parens(b->y, own + 1)) out = std::min(out, loosest(b->y));
  return out;
}

TokenPos unplaced(TokenPos at) { return {at.pos, Rel::kNone, false}; }

// 1. as 1.0, .5 as 0.5, 1E3 as 1e3
std::string number_text(std::string_view text) {
  std::string out(text);
  if (text.starts_with("0x") || text.starts_with("0X")) return "0x" + out.substr(2);
  if (out.starts_with('.')) out.insert(0, "0");
  if (std::size_t e = out.find('E');
      e != std::string::npos && text.find('i') == std::string_view::npos && e + 1 < out.size())
    out[e] = 'e';
  std::size_t dot = out.find('.');
  if (dot != std::string::npos && (dot + 1 == out.size() || out[dot + 1] == 'e')) out.insert(dot + 1, "0");
  return out;
}

}  // namespace

// How the operators of one expression (up to brackets) are spaced: those of comparisons and looser ones always, an
// arithmetic one only where it is the loosest and nothing around asks for tight text.
struct Unfold::Operators {
  int spaced;  // precedences up to this one have spaces
  int tight;
  int outer;   // depth before the first operator
  bool begun;  // lines that continue it know how deep they are
};

void Unfold::expression(Node* n, int tight) {
  Inside inside(*this, n);
  bool hanging = std::exchange(hanging_, false);
  switch (n->kind) {
    case Kind::kBad: return put("_|_", as<Bad>(n)->from);
    case Kind::kBottom: return put("_|_", as<Bottom>(n)->pos);
    case Kind::kIdent: return put(as<Ident>(n)->name.text(), as<Ident>(n)->pos);
    case Kind::kLit: return literal(as<Lit>(n));
    case Kind::kInterpolation: return interpolation(as<Interpolation>(n));
    case Kind::kFunc: return function(as<Func>(n));
    case Kind::kStruct: return structure(as<Struct>(n), -1);
    case Kind::kList: return list(as<List>(n));
    case Kind::kEllipsis: return ellipsis(as<Ellipsis>(n));
    case Kind::kComprehension: return comprehension(as<Comprehension>(n));
    case Kind::kParen: {
      auto* p = as<Paren>(n);
      put("(", p->lparen);
      int depth = depth_;
      depth_ = line_depth_ + 1;
      gap(Gap::kNone, Gap::kLine);
      expression(p->x, std::max(0, tight - 1));
      comments_before(p->rparen);
      depth_ = depth;
      put(")", unplaced(p->rparen));
      return;
    }
    case Kind::kSelector:
      operand_of(as<Selector>(n)->x, kOperand, tight);
      put(".", unplaced(as<Selector>(n)->period));
      gap(Gap::kNone, Gap::kLine);
      return expression(as<Selector>(n)->sel);
    case Kind::kIndex: {
      auto* i = as<Index>(n);
      operand_of(i->x, kOperand, tight);
      put("[", unplaced(i->lbrack));
      gap(Gap::kNone);
      expression(i->index, tight + 1);
      return put("]", unplaced(i->rbrack));
    }
    case Kind::kSlice: return slice(as<Slice>(n), tight);
    case Kind::kCall: return call(as<Call>(n), tight);
    case Kind::kUnary: {
      auto* u = as<Unary>(n);
      put(token_text(u->op), u->op_pos);
      bool doubled = (u->op == Tok::kAdd || u->op == Tok::kSub) && u->x->kind == Kind::kUnary &&
                     as<Unary>(u->x)->op == u->op;  // -- and ++ are no operators
      gap(doubled ? Gap::kSpace : Gap::kNone);
      return operand_of(u->x, kOperand, tight);
    }
    case Kind::kBinary: {
      Operators chain{tight > 0 ? kComparison : std::max(kComparison, loosest(n)), tight, depth_, hanging};
      binary(as<Binary>(n), chain);
      depth_ = chain.outer;
      return;
    }
    case Kind::kPostfix: operand_of(as<Postfix>(n)->x, kOperand, tight); return put(token_text(as<Postfix>(n)->op));
    case Kind::kAlias: return alias(as<Alias>(n));
    case Kind::kPostfixAlias: return postfix_alias(as<PostfixAlias>(n));
    case Kind::kFor:
    case Kind::kIfClause:
    case Kind::kLet:
    case Kind::kTryClause: clause(n); return;
    case Kind::kFallbackClause: return expression(as<FallbackClause>(n)->body);
    case Kind::kField:
    case Kind::kEmbed:
    case Kind::kAttribute:
    case Kind::kPackage:
    case Kind::kImport:
    case Kind::kImportSpec:
    case Kind::kBadDecl:
    case Kind::kFile: return declaration(n);
  }
}

void Unfold::binary(Binary* n, Operators& chain) {
  int inner = chain.tight > 0 ? chain.tight + 1 : 0;
  auto operand = [&](Node* x, int least) {
    if (x->kind != Kind::kBinary || needs_parens(x, least)) return operand_of(x, least, inner);
    Inside inside(*this, x);
    binary(as<Binary>(x), chain);
  };
  operand(n->x, precedence(n->op));
  Gap around = precedence(n->op) <= chain.spaced ? Gap::kSpace : Gap::kNone;
  gap(around);
  put(token_text(n->op), unplaced(n->op_pos));
  if (!chain.begun) {
    chain.begun = true;
    depth_ = line_depth_ + 1;
  }
  gap(around, Gap::kLine);
  operand(n->y, precedence(n->op) + 1);
}

void Unfold::operand_of(Node* x, int least, int tight) {
  if (!needs_parens(x, least)) return expression(x, tight);
  put("(", {{}, first(x).rel, false});
  int depth = depth_;
  depth_ = line_depth_ + 1;
  gap(Gap::kNone);
  expression(x, std::max(0, tight - 1));
  depth_ = depth;
  put(")");
}

void Unfold::alias(Alias* n) {
  Gap around = n->equal.rel == Rel::kBlank ? Gap::kSpace : Gap::kNone;
  expression(n->ident);
  gap(around);
  put("=", unplaced(n->equal));
  gap(around);
  expression(n->x);
}

void Unfold::literal(Lit* n) {
  if (n->text.find('\n') != std::string_view::npos && !in_string_)
    put_lines(n->text, n->pos);
  else
    put(n->tok == Tok::kFloat || n->tok == Tok::kInt ? number_text(n->text) : std::string(n->text), n->pos);
}

void Unfold::interpolation(Interpolation* n) {
  bool outer = in_string_;
  for (std::size_t i = 0; i < n->parts.size(); ++i) {
    if (i > 0) gap(Gap::kNone);
    if (n->parts[i]->kind == Kind::kLit && i % 2 == 0) {
      Inside inside(*this, n->parts[i]);
      in_string_ = true;
      literal(as<Lit>(n->parts[i]));
    } else {
      in_string_ = outer;
      if (first(n->parts[i]).rel == Rel::kBlank) gap(Gap::kSpace);
      expression(n->parts[i], 1);
    }
  }
  in_string_ = outer;
}

// `base` is the depth at which it closes; that of the line it opens on for -1.
void Unfold::structure(Struct* n, int base) {
  put("{", n->lbrace);
  u32 began = line_;
  int outer = depth_;
  if (base < 0) base = line_depth_;
  // In a struct that was made the elements get a line each, wherever they came from.
  bool made = !n->lbrace && n->lbrace.rel != Rel::kBlank;
  bool flat = !made;
  for (Node* e : n->elts) flat = flat && first(e).rel != Rel::kNone && first(e).rel < Rel::kNewline;
  depth_ = base + 1;
  Gap usual = n->elts.empty() ? Gap::kNone : Gap::kLine;
  bool let_first = flat && !n->elts.empty() && n->elts[0]->kind == Kind::kLet;
  Gap least = let_first ? Gap::kSpace : Gap::kNone;  // `{ let`, as cue has it
  gap(made ? usual : least, Gap::kEmpty, usual);
  declarations(n->elts, !(flat && n->rbrace.rel < Rel::kNewline), made);
  comments_before(n->rbrace);
  depth_ = base;
  // The brace closes on its own line if there is more than one, but `]}` and `}}` that began on one line end on one.
  bool closes = last_ == '}' || last_ == ']' || last_ == ')';
  bool own_line = line_ != began && !(flat && closes);
  gap(own_line ? Gap::kLine : Gap::kNone, n->elts.empty() ? Gap::kNone : Gap::kLine);
  put("}", n->rbrace);
  depth_ = outer;
}

void Unfold::list(List* n) {
  put("[", n->lbrack);
  int outer = depth_, base = line_depth_;
  depth_ = base + 1;
  gap(Gap::kNone, Gap::kEmpty);
  for (std::size_t i = 0; i < n->elts.size(); ++i) {
    if (i > 0) {
      layout_.comma(Comma::kAlways);
      gap(Gap::kSpace, Gap::kEmpty);
    }
    expression(n->elts[i]);
    row_ = depth_ == line_depth_ ? line_ : line_ - 1;
  }
  // A single element gets no comma that it did not have.
  if (n->rbrack.comma || (n->elts.size() > 1 && n->elts.back()->kind != Kind::kEllipsis))
    layout_.comma(Comma::kBeforeBreak);
  comments_before(n->rbrack);
  depth_ = base;
  gap(Gap::kNone, n->elts.empty() ? Gap::kNone : Gap::kEmpty);
  put("]", n->rbrack);
  depth_ = outer;
}

void Unfold::call(Call* n, int tight) {
  operand_of(n->fun, kOperand, tight);
  put("(", unplaced(n->lparen));
  int outer = depth_;
  depth_ = line_depth_ + 1;
  gap(Gap::kNone, Gap::kLine);
  for (std::size_t i = 0; i < n->args.size(); ++i) {
    if (i > 0) {
      layout_.comma(Comma::kAlways);
      gap(Gap::kSpace, Gap::kLine);
    }
    expression(n->args[i], n->args.size() > 1 ? tight + 1 : tight);
    row_ = depth_ == line_depth_ ? line_ : line_ - 1;
  }
  if (!n->args.empty()) layout_.comma(Comma::kBeforeBreak);
  comments_before(n->rparen);
  gap(Gap::kNone, n->args.empty() ? Gap::kNone : Gap::kLine);
  put(")", n->rparen);
  depth_ = outer;
}

void Unfold::slice(Slice* n, int tight) {
  auto is_binary = [](Node* x) { return x && x->kind == Kind::kBinary; };
  Gap around = n->low && n->high && (is_binary(n->low) || is_binary(n->high)) ? Gap::kSpace : Gap::kNone;
  operand_of(n->x, kOperand, tight);
  put("[", unplaced(n->lbrack));
  gap(Gap::kNone);
  if (n->low) {
    expression(n->low, tight + 1);
    gap(around);
  }
  put(":");
  if (n->high) {
    gap(around);
    expression(n->high, tight + 1);
  }
  put("]", unplaced(n->rbrack));
}

void Unfold::comprehension(Comprehension* n) {
  int base = line_depth_;
  for (std::size_t i = 0; i < n->clauses.size(); ++i) {
    if (i > 0) gap(Gap::kSpace, Gap::kLine);
    Inside inside(*this, n->clauses[i]);
    base = clause(n->clauses[i]);
  }
  auto body = [&](Node* x) {
    gap(Gap::kSpace);
    Inside inside(*this, x);
    if (x->kind == Kind::kStruct)
      structure(as<Struct>(x), base);
    else
      expression(x);
  };
  body(n->value);
  if (n->fallback) {
    gap(Gap::kSpace);
    Inside inside(*this, n->fallback);
    bool guard = n->clauses.size() == 1 && n->clauses[0]->kind != Kind::kFor;
    put(token_text(guard ? Tok::kElse : Tok::kOtherwise), unplaced(n->fallback->pos));
    body(n->fallback->body);
  }
}

// Returns how deep the line is on which it begins.
int Unfold::clause(Node* n) {
  int base = 0;
  auto begin = [&](std::string_view word, TokenPos at) {
    put(word, at);
    base = line_depth_;
    gap(Gap::kSpace);
  };
  auto bind = [&](Ident* name, Node* x) {
    expression(name);
    gap(Gap::kSpace);
    put("=");
    gap(Gap::kSpace);
    expression(x);
  };
  switch (n->kind) {
    case Kind::kFor: {
      auto* f = as<ForClause>(n);
      begin("for", f->pos);
      if (f->key) {
        expression(f->key);
        put(",");
        gap(Gap::kSpace);
      }
      expression(f->value);
      gap(Gap::kSpace);
      put("in");
      gap(Gap::kSpace);
      expression(f->source);
      break;
    }
    case Kind::kIfClause:
      begin("if", as<IfClause>(n)->pos);
      expression(as<IfClause>(n)->condition);
      break;
    case Kind::kTryClause:
      begin("try", as<TryClause>(n)->pos);
      if (as<TryClause>(n)->ident) bind(as<TryClause>(n)->ident, as<TryClause>(n)->x);
      break;
    default:
      begin("let", as<Let>(n)->pos);
      bind(as<Let>(n)->ident, as<Let>(n)->x);
      break;
  }
  return base;
}

void Unfold::function(Func* n) {
  put("func", n->pos);
  put("(");
  for (std::size_t i = 0; i < n->args.size(); ++i) {
    if (i > 0) {
      put(",");
      gap(Gap::kSpace);
    }
    expression(n->args[i]);
  }
  put("):");
  gap(Gap::kSpace);
  expression(n->result);
}

}  // namespace tutti::cue
