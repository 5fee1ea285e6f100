// Declarations: files, fields, imports, comprehensions, comments.
#include "lang/cue/format/formatter.h"

#include "lang/cue/format/literal.h"

namespace tutti::cue {

using namespace ast;

namespace {

// How many labels `a: b: c: 1` has; 0 where the last value is a struct of several fields. Fields of one depth share a
// table.
int nesting(Node* n) {
  if (n->kind != ast::Kind::kField) return 0;
  Node* value = as<Field>(n)->value;
  if (!value || value->kind != ast::Kind::kStruct) return 1;
  Nodes elts = as<Struct>(value)->elts;
  if (elts.size() != 1) return 0;
  return elts[0]->kind == ast::Kind::kField ? 1 + nesting(elts[0]) : 1;
}

bool has_doc(Node* n) {
  if (!n->comments().empty()) return true;
  switch (n->kind) {
    case ast::Kind::kField: return !as<Field>(n)->label->comments().empty();
    case ast::Kind::kAlias: return !as<Alias>(n)->ident->comments().empty();
    case ast::Kind::kLet: return !as<Let>(n)->ident->comments().empty();
    default: return false;
  }
}

bool is_definition(Node* label) {
  if (label->kind == ast::Kind::kAlias) label = as<Alias>(label)->x;
  if (label->kind != ast::Kind::kIdent) return false;
  std::string_view s = as<Ident>(label)->name.text();
  return s.starts_with('#') || s.starts_with("_#");
}

bool is_top(Node* n) { return n->kind == ast::Kind::kIdent && as<Ident>(n)->name.text() == "_"; }

// `...`, or a pattern that says the same.
bool opens(Node* n) {
  if (n->kind == ast::Kind::kEllipsis) return true;
  if (n->kind != ast::Kind::kField) return false;
  auto* f = as<Field>(n);
  if (!f->value || !is_top(f->value) || f->label->kind != ast::Kind::kList) return false;
  Nodes elts = as<List>(f->label)->elts;
  if (elts.size() != 1 || elts[0]->kind != ast::Kind::kIdent) return false;
  std::string_view name = as<Ident>(elts[0])->name.text();
  return name == "string" || name == "_";
}

// A value that may take several lines ends the table of its field.
bool breaks_table(Node* n) {
  if (!n) return false;
  switch (n->kind) {
    case ast::Kind::kStruct:
    case ast::Kind::kList: return true;
    case ast::Kind::kLit: return as<Lit>(n)->text.find('\n') != std::string_view::npos;
    case ast::Kind::kParen: return breaks_table(as<Paren>(n)->x);
    case ast::Kind::kUnary: return breaks_table(as<Unary>(n)->x);
    case ast::Kind::kPostfix: return breaks_table(as<Postfix>(n)->x);
    case ast::Kind::kBinary: return breaks_table(as<Binary>(n)->x) || breaks_table(as<Binary>(n)->y);
    case ast::Kind::kIndex: return breaks_table(as<Index>(n)->x);
    case ast::Kind::kSelector: return breaks_table(as<Selector>(n)->x);
    case ast::Kind::kCall:
      for (Node* a : as<Call>(n)->args)
        if (breaks_table(a)) return true;
      return false;
    default: return false;
  }
}

}  // namespace

int Formatter::line_of(Pos pos) const {
  const Source* s = source_;
  if (!s || pos < s->first || pos.at > s->first.at + s->text.size())
    s = options_.sources ? options_.sources->find(pos) : nullptr;
  if (!s) return 0;
  std::string_view text(s->text.data(), std::min(s->offset(pos), s->text.size()));
  int n = 1;
  for (char c : text) n += c == '\n';
  return n;
}

bool Formatter::on_one_line(Node* n) const {
  TokenPos a = first(n);
  Pos b = ast::end(n);
  if (!a || !b) return false;
  const Source* s = source_;
  if (!s || a.pos < s->first || b.at > s->first.at + s->text.size())
    s = options_.sources ? options_.sources->find(a.pos) : nullptr;
  if (!s || b.at > s->first.at + s->text.size()) return false;
  return std::string_view(s->text).substr(s->offset(a.pos), b.at - a.pos.at).find('\n') == std::string_view::npos;
}

void Formatter::before(Node* n) {
  stack_.push_back(current_);
  current_.groups = {};
  current_.pos = 0;
  current_.parent_sep = current_.node_sep;
  if (!n) return;
  if (n->kind == ast::Kind::kStruct && as<Struct>(n)->elts.size() <= 1 && current_.node_sep != kSpBlank &&
      on_one_line(n))
    current_.node_sep = kSpBlank;
  current_.groups = n->comments();
  comments_until(0);
}

void Formatter::after() {
  comments_until(127);
  current_ = stack_.back();
  stack_.pop_back();
  ++current_.pos;
  comments_until(current_.pos);
}

void Formatter::comments_until(int pos) {
  bool printed = false;
  while (!current_.groups.empty() && current_.groups[0].position <= pos) {
    if (printed) sp(kSpNewSection);
    printed = true;
    print_comment(current_.groups[0]);
    current_.groups = current_.groups.subspan(1);
  }
}

void Formatter::print_comment(const CommentGroup& group) {
  p_.comment_place(group);
  if (group.doc && !p_.empty()) sp(kSpNewline);
  for (const Comment& c : group.list) {
    if (p_.column() > 1) sp(kSpColumn);  // comments at the ends of lines form a column
    at(c.slash);
    p_.comment(c.text);
    p_.set_in_comment();
    sp(kSpNewline);
    if (group.doc) sp(kSpNoOverride);
  }
}

void Formatter::file(File* file) {
  before(file);
  decls(file->decls);
  after();
  p_.end_of_file();
}

void Formatter::decls(Nodes list) {
  before(nullptr);
  int depth = 0;
  Node* open = nullptr;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Node* x = list[i];
    if (i > 0) {
      sp(kSpDeclComma);
      if (current_.parent_sep == kSpNewline && (depth == 0 || nesting(x) != depth)) sp(form_feed());
      if (has_doc(x) && (list[i - 1]->kind != ast::Kind::kField || is_definition(as<Field>(list[i - 1])->label)))
        sp(kSpNewSection);
    }
    if (options_.simplify && opens(x)) {
      open = x;
      continue;
    }
    decl(x);
    depth = nesting(x);
    if (i + 1 < list.size() && list[i + 1]->kind == ast::Kind::kField) {
      Node* v = as<Field>(list[i + 1])->value;
      if (v && (v->kind == ast::Kind::kList ||
                (v->kind == ast::Kind::kStruct && (valid(as<Struct>(v)->lbrace) || as<Struct>(v)->elts.size() != 1)))) {
        sp(form_feed());
        continue;
      }
    }
    sp(current_.parent_sep);
  }
  if (open) {
    Ellipsis e{TokenPos{}};
    e.notes = open->notes;
    decl(&e);
    sp(current_.parent_sep);
  }
  after();
}

// The only field of the struct that is the value, where `a: {b: 1}` is to be shown as `a: b: 1`.
Field* Formatter::inlined(Field* n) const {
  bool regular = n->label->kind != ast::Kind::kList && !is_definition(n->label);
  if (regular && n->label->kind == ast::Kind::kIdent && as<Ident>(n->label)->name.text().starts_with('_'))
    regular = false;
  if (!valid(first(n->label)) && !(options_.simplify && regular)) return nullptr;
  if (!n->value || n->value->kind != ast::Kind::kStruct || !n->attrs.empty()) return nullptr;
  auto* s = as<Struct>(n->value);
  if (s->elts.size() != 1) return nullptr;
  if (valid(s->lbrace) && (!options_.simplify || has_doc(n))) return nullptr;
  if (s->elts[0]->kind != ast::Kind::kField) return nullptr;
  auto* inner = as<Field>(s->elts[0]);
  return inner->attrs.empty() && !has_doc(inner) ? inner : nullptr;
}

void Formatter::field(Field* n) {
  label(n->label);
  if (PostfixAlias* a = n->alias) {
    at(a->tilde);
    tok(Tok::kTilde);
    sp(kSpNoBlank);
    at(a->lparen);
    tok(Tok::kLparen);
    sp(kSpNoBlank);
    if (a->label) {
      expr(a->label);
      at(a->comma);
      tok(Tok::kComma);
      sp(kSpNoBlank);
    }
    expr(a->field);
    at(a->rparen);
    tok(Tok::kRparen);
    sp(kSpNoBlank);
  }
  if (n->constraint != Tok::kIllegal) tok(n->constraint);
  sp(kSpNoBlank | kSpNoOverride);
  at(n->colon);
  tok(Tok::kColon);
  comments_until(current_.pos);

  if (Field* inner = inlined(n)) {
    if (!options_.simplify && p_.rel(first(inner->label)) >= Rel::kNewline) {
      sp(kSpIndent | kSpFormFeed);
      decl(inner);
      p_.less_indent();
    } else {
      sp(kSpBlank | kSpNoOverride);
      decl(inner);
    }
    return;
  }

  bool breaks = breaks_table(n->value);
  Space column = breaks || p_.brace_on_line() ? kSpBlank : kSpColumn;
  sp(column);
  if (!n->value) {
    comments_until(++current_.pos);
  } else if (n->value->kind == ast::Kind::kList || n->value->kind == ast::Kind::kStruct) {
    expr(n->value);
  } else {
    sp(kSpIndent);
    expr(n->value);
    p_.drop_indent();
  }
  for (Node* a : n->attrs) {
    before(a);
    sp(column);
    at(as<Attribute>(a)->at);
    p_.word(as<Attribute>(a)->text, Tok::kAttribute, true);
    after();
    column = kSpBlank;
  }
  if (breaks) sp(kSpFormFeed);
}

void Formatter::decl(Node* n) {
  if (!n) return;
  before(n);
  bool fresh = first(n).rel == Rel::kNone || p_.rel(first(n)) >= Rel::kNewline;
  switch (n->kind) {
    case ast::Kind::kField: field(as<Field>(n)); break;
    case ast::Kind::kBadDecl:
      at(as<Bad>(n)->from);
      word("*bad decl*");
      sp(kSpDeclComma);
      break;
    case ast::Kind::kPackage:
      at(as<Package>(n)->pos);
      word("package");
      sp(kSpBlank);
      p_.word(as<Package>(n)->name->name.text(), Tok::kIdent, false);
      sp(kSpNewSection | kSpNoOverride);
      break;
    case ast::Kind::kImport: import_decl(as<Import>(n)); break;
    case ast::Kind::kLet: {
      auto* l = as<Let>(n);
      if (fresh) sp(kSpFormFeed);
      at(l->pos);
      tok(Tok::kLet);
      sp(kSpBlank | kSpNoOverride);
      expr(l->ident);
      sp(kSpBlank | kSpNoOverride);
      at(l->equal);
      tok(Tok::kBind);
      sp(kSpBlank);
      expr(l->x);
      sp(kSpDeclComma);
      break;
    }
    case ast::Kind::kEmbed:
      if (fresh) sp(kSpFormFeed);
      expr(as<Embed>(n)->x);
      sp(kSpNewline);
      break;
    case ast::Kind::kAttribute:
      at(as<Attribute>(n)->at);
      p_.word(as<Attribute>(n)->text, Tok::kAttribute, true);
      break;
    default: embedding(n);
  }
  after();
}

void Formatter::embedding(Node* n) {
  bool fresh = first(n).rel == Rel::kNone || p_.rel(first(n)) >= Rel::kNewline;
  switch (n->kind) {
    case ast::Kind::kComprehension:
      if (fresh) sp(kSpFormFeed);
      comprehension(as<Comprehension>(n));
      break;
    case ast::Kind::kEllipsis: ellipsis(as<Ellipsis>(n)); break;
    case ast::Kind::kAlias: {
      auto* a = as<Alias>(n);
      if (fresh) sp(kSpFormFeed);
      expr(a->ident);
      sp(kSpBlank);
      at(a->equal);
      tok(Tok::kBind);
      sp(kSpBlank);
      expr(a->x);
      sp(kSpDeclComma);
      break;
    }
    default: expr_raw(n, 0, 1);
  }
}

void Formatter::comprehension(Comprehension* n) {
  before(nullptr);
  for (std::size_t i = 0; i < n->clauses.size(); ++i) {
    before(n->clauses[i]);
    if (i > 0) sp(kSpBlank);
    clause(n->clauses[i]);
    after();
  }
  after();
  sp(kSpBlank | kSpNoOverride);
  expr(n->value);
  if (n->fallback) {
    bool otherwise = n->clauses.size() > 1 || n->clauses[0]->kind == ast::Kind::kFor;
    sp(kSpBlank);
    at(n->fallback->pos);
    tok(otherwise ? Tok::kOtherwise : Tok::kElse);
    sp(kSpBlank);
    expr(n->fallback->body);
  }
}

void Formatter::clause(Node* n) {
  switch (n->kind) {
    case ast::Kind::kFor: {
      auto* c = as<ForClause>(n);
      at(c->pos);
      word("for");
      sp(kSpBlank);
      sp(kSpIndent);
      if (c->key) {
        label(c->key);
        at(c->colon);
        tok(Tok::kComma);
        sp(kSpBlank);
      } else {
        comments_until(++current_.pos);
      }
      label(c->value);
      sp(kSpBlank);
      at(c->in);
      word("in");
      sp(kSpBlank);
      expr(c->source);
      p_.drop_indent();
      break;
    }
    case ast::Kind::kIfClause:
      at(as<IfClause>(n)->pos);
      word("if");
      sp(kSpBlank);
      sp(kSpIndent);
      expr(as<IfClause>(n)->condition);
      p_.drop_indent();
      break;
    case ast::Kind::kLet:
      at(as<Let>(n)->pos);
      tok(Tok::kLet);
      sp(kSpBlank | kSpNoOverride);
      sp(kSpIndent);
      expr(as<Let>(n)->ident);
      sp(kSpBlank | kSpNoOverride);
      at(as<Let>(n)->equal);
      tok(Tok::kBind);
      sp(kSpBlank);
      expr(as<Let>(n)->x);
      p_.drop_indent();
      break;
    case ast::Kind::kTryClause: {
      auto* t = as<TryClause>(n);
      at(t->pos);
      tok(Tok::kTry);
      if (!t->ident) break;
      sp(kSpBlank | kSpNoOverride | kSpIndent);
      expr(t->ident);
      sp(kSpBlank | kSpNoOverride);
      at(t->equal);
      tok(Tok::kBind);
      sp(kSpBlank);
      expr(t->x);
      p_.drop_indent();
      break;
    }
    default: break;
  }
}

void Formatter::import_decl(Import* n) {
  at(n->pos);
  word("import");
  if (n->specs.empty()) {
    sp(kSpBlank);
    at(n->lparen);
    tok(Tok::kLparen);
    at(n->rparen);
    tok(Tok::kRparen);
    sp(kSpNewline);
    return;
  }
  bool plain = n->specs.size() == 1 && !valid(n->lparen);
  if (plain)
    for (const CommentGroup& g : n->specs[0]->comments())
      if (g.position <= 1) plain = false;
  sp(kSpBlank);
  if (!plain) {
    at(n->lparen);
    tok(Tok::kLparen);
    sp(kSpNewline | kSpIndent);
  }
  before(nullptr);
  for (Node* s : n->specs) {
    before(s);
    import_spec(as<ImportSpec>(s));
    after();
  }
  after();
  if (!plain) {
    sp(kSpUnindent | kSpNewline);
    at(n->rparen);
    tok(Tok::kRparen);
    sp(kSpNewline);
  }
  sp(kSpNewSection | kSpNoOverride);
}

void Formatter::import_spec(ImportSpec* n) {
  if (n->name) {
    label(n->name);
    sp(kSpBlank);
  } else {
    comments_until(++current_.pos);
  }
  expr(n->path);
  sp(kSpNewline);
}

void Formatter::label(Node* n) {
  before(n);
  switch (n->kind) {
    case ast::Kind::kIdent: {
      std::string_view name = as<Ident>(n)->name.text();
      at(as<Ident>(n)->pos);
      word(is_identifier(name) ? std::string(name) : quote(name));
      break;
    }
    case ast::Kind::kLit: {
      std::string text(as<Lit>(n)->text);
      if (text.starts_with("\"\"\"") || text.starts_with('#'))
        if (Unquoted u = unquote(text); u.ok()) text = quote(u.text);
      at(as<Lit>(n)->pos);
      word(text);
      break;
    }
    default: expr_raw(n, 0, 1);
  }
  after();
}

void Formatter::ellipsis(Ellipsis* n) {
  at(n->pos);
  tok(Tok::kEllipsis);
  if (n->type && !is_top(n->type)) expr(n->type);
}

std::string format_node(Node* node, const FormatOptions& options) {
  if (options.simplify) simplify_labels(node);
  const Source* source = node->kind == ast::Kind::kFile ? as<File>(node)->source : nullptr;
  if (!source && options.sources)
    if (TokenPos p = first(node)) source = options.sources->find(p.pos);
  Formatter f(options, source);
  switch (node->kind) {
    case ast::Kind::kFile: f.file(as<File>(node)); break;
    case ast::Kind::kField:
    case ast::Kind::kEmbed:
    case ast::Kind::kAttribute:
    case ast::Kind::kPackage:
    case ast::Kind::kImport:
    case ast::Kind::kLet:
    case ast::Kind::kBadDecl: f.decl(node); break;
    default: f.expr(node);
  }
  return f.finish();
}

std::string format_decls(Nodes list, const FormatOptions& options) {
  Formatter f(options, nullptr);
  f.decls(list);
  return f.finish();
}

}  // namespace tutti::cue
