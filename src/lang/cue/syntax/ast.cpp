#include "lang/cue/syntax/ast.h"

namespace tutti::cue::ast {

std::string_view Attribute::name() const {
  std::size_t open = text.find('(');
  if (open == std::string_view::npos || text.empty() || text[0] != '@' || text.back() != ')') return {};
  return text.substr(1, open - 1);
}

std::string_view Attribute::body() const {
  std::size_t open = text.find('(');
  if (open == std::string_view::npos || text.empty() || text[0] != '@' || text.back() != ')') return {};
  return text.substr(open + 1, text.size() - open - 2);
}

const Package* File::package() const {
  for (Node* d : decls)
    if (d->kind == Kind::kPackage) return as<Package>(d);
  return nullptr;
}

TokenPos* first_ref(Node* n) {
  switch (n->kind) {
    case Kind::kBad:
    case Kind::kBadDecl: return &as<Bad>(n)->from;
    case Kind::kBottom: return &as<Bottom>(n)->pos;
    case Kind::kIdent: return &as<Ident>(n)->pos;
    case Kind::kLit: return &as<Lit>(n)->pos;
    case Kind::kInterpolation: return first_ref(as<Interpolation>(n)->parts[0]);
    case Kind::kFunc: return &as<Func>(n)->pos;
    case Kind::kStruct: {
      auto* s = as<Struct>(n);
      if (!s->lbrace && !s->elts.empty()) return first_ref(s->elts[0]);
      return &s->lbrace;
    }
    case Kind::kList: return &as<List>(n)->lbrack;
    case Kind::kEllipsis: return &as<Ellipsis>(n)->pos;
    case Kind::kComprehension: return first_ref(as<Comprehension>(n)->clauses[0]);
    case Kind::kParen: return &as<Paren>(n)->lparen;
    case Kind::kSelector: return first_ref(as<Selector>(n)->x);
    case Kind::kIndex: return first_ref(as<Index>(n)->x);
    case Kind::kSlice: return first_ref(as<Slice>(n)->x);
    case Kind::kCall: return first_ref(as<Call>(n)->fun);
    case Kind::kUnary: return &as<Unary>(n)->op_pos;
    case Kind::kBinary: return first_ref(as<Binary>(n)->x);
    case Kind::kPostfix: return first_ref(as<Postfix>(n)->x);
    case Kind::kAlias: return &as<Alias>(n)->ident->pos;
    case Kind::kPostfixAlias: return &as<PostfixAlias>(n)->tilde;
    case Kind::kFor: return &as<ForClause>(n)->pos;
    case Kind::kIfClause: return &as<IfClause>(n)->pos;
    case Kind::kLet: return &as<Let>(n)->pos;
    case Kind::kTryClause: return &as<TryClause>(n)->pos;
    case Kind::kFallbackClause: return &as<FallbackClause>(n)->pos;
    case Kind::kField: return first_ref(as<Field>(n)->label);
    case Kind::kEmbed: return first_ref(as<Embed>(n)->x);
    case Kind::kAttribute: return &as<Attribute>(n)->at;
    case Kind::kPackage: return &as<Package>(n)->pos;
    case Kind::kImport: return &as<Import>(n)->pos;
    case Kind::kImportSpec: {
      auto* s = as<ImportSpec>(n);
      return s->name ? &s->name->pos : &s->path->pos;
    }
    case Kind::kFile: return as<File>(n)->decls.empty() ? nullptr : first_ref(as<File>(n)->decls[0]);
  }
  return nullptr;
}

TokenPos first(const Node* n) {
  TokenPos* p = n ? first_ref(const_cast<Node*>(n)) : nullptr;
  return p ? *p : TokenPos{};
}

Pos start(const Node* n) {
  if (!n) return {};
  switch (n->kind) {
    case Kind::kBinary: return as<Binary>(n)->begin;
    case Kind::kSelector: return as<Selector>(n)->begin;
    case Kind::kIndex: return as<Index>(n)->begin;
    case Kind::kSlice: return as<Slice>(n)->begin;
    case Kind::kCall: return as<Call>(n)->begin;
    default: return first(n).pos;
  }
}

namespace {
Pos past(TokenPos p, std::size_t n) { return p.pos ? Pos{p.pos.at + static_cast<u32>(n)} : Pos{}; }
}  // namespace

Pos end(const Node* n) {
  if (!n) return {};
  switch (n->kind) {
    case Kind::kBad:
    case Kind::kBadDecl: return as<Bad>(n)->to.pos;
    case Kind::kBottom: return past(as<Bottom>(n)->pos, 3);
    case Kind::kIdent: return past(as<Ident>(n)->pos, as<Ident>(n)->name.text().size());
    case Kind::kLit: return past(as<Lit>(n)->pos, as<Lit>(n)->text.size());
    case Kind::kInterpolation: return end(as<Interpolation>(n)->parts.back());
    case Kind::kFunc: return end(as<Func>(n)->result);
    case Kind::kStruct: {
      auto* s = as<Struct>(n);
      if (!s->rbrace && !s->elts.empty()) return end(s->elts.back());
      return past(s->rbrace, 1);
    }
    case Kind::kList: return past(as<List>(n)->rbrack, 1);
    case Kind::kEllipsis: return as<Ellipsis>(n)->type ? end(as<Ellipsis>(n)->type) : past(as<Ellipsis>(n)->pos, 3);
    case Kind::kComprehension: {
      auto* c = as<Comprehension>(n);
      return end(c->fallback ? c->fallback->body : c->value);
    }
    case Kind::kParen: return past(as<Paren>(n)->rparen, 1);
    case Kind::kSelector: return end(as<Selector>(n)->sel);
    case Kind::kIndex: return past(as<Index>(n)->rbrack, 1);
    case Kind::kSlice: return past(as<Slice>(n)->rbrack, 1);
    case Kind::kCall: return past(as<Call>(n)->rparen, 1);
    case Kind::kUnary: return end(as<Unary>(n)->x);
    case Kind::kBinary: return end(as<Binary>(n)->y);
    case Kind::kPostfix: return past(as<Postfix>(n)->op_pos, as<Postfix>(n)->op == Tok::kOption ? 1 : 3);
    case Kind::kAlias: return end(as<Alias>(n)->x);
    case Kind::kPostfixAlias: {
      auto* a = as<PostfixAlias>(n);
      return a->rparen ? past(a->rparen, 1) : end(a->field);
    }
    case Kind::kFor: return end(as<ForClause>(n)->source);
    case Kind::kIfClause: return end(as<IfClause>(n)->condition);
    case Kind::kLet: return end(as<Let>(n)->x);
    case Kind::kTryClause: return as<TryClause>(n)->x ? end(as<TryClause>(n)->x) : past(as<TryClause>(n)->pos, 3);
    case Kind::kFallbackClause: return end(as<FallbackClause>(n)->body);
    case Kind::kField: {
      auto* f = as<Field>(n);
      return f->attrs.empty() ? end(f->value) : end(f->attrs.back());
    }
    case Kind::kEmbed: return end(as<Embed>(n)->x);
    case Kind::kAttribute: return past(as<Attribute>(n)->at, as<Attribute>(n)->text.size());
    case Kind::kPackage: return end(as<Package>(n)->name);
    case Kind::kImport: {
      auto* i = as<Import>(n);
      if (i->rparen) return past(i->rparen, 1);
      return i->specs.empty() ? Pos{} : end(i->specs[0]);
    }
    case Kind::kImportSpec: return end(as<ImportSpec>(n)->path);
    case Kind::kFile: return as<File>(n)->decls.empty() ? Pos{} : end(as<File>(n)->decls.back());
  }
  return {};
}

void add_comment(Arena& arena, Node* n, const CommentGroup& group) {
  if (!n->notes) n->notes = arena.make<Comments>();
  Comments& c = *n->notes;
  if (c.size == c.capacity) {
    u32 capacity = c.capacity ? c.capacity * 2 : 2;
    auto* bigger = arena.array<CommentGroup>(capacity);
    for (u32 i = 0; i < c.size; ++i) bigger[i] = c.groups[i];
    c.groups = bigger;
    c.capacity = capacity;
  }
  u32 at = c.size++;
  for (; at > 0 && c.groups[at - 1].position > group.position; --at) c.groups[at] = c.groups[at - 1];
  c.groups[at] = group;
}

}  // namespace tutti::cue::ast
