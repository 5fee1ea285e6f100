// Files and declarations.
#include "lang/cue/format/literal.h"
#include "lang/cue/format/unfold.h"

namespace tutti::cue {

using namespace ast;

namespace {

bool known(TokenPos p) { return p || p.rel != Rel::kNone; }

bool begins_line(const Node* n) {
  Rel r = first(n).rel;
  return r == Rel::kNone || r >= Rel::kNewline;
}

const Ident* name_of(const Node* label) {
  if (label->kind == Kind::kAlias) label = as<Alias>(label)->x;
  return label->kind == Kind::kIdent ? as<Ident>(label) : nullptr;
}

bool is_definition(const Node* label) {
  const Ident* name = name_of(label);
  return name && (name->name.text().starts_with('#') || name->name.text().starts_with("_#"));
}

bool is_regular(const Node* label) {
  const Ident* name = name_of(label);
  return !name || !(name->name.text().starts_with('#') || name->name.text().starts_with('_'));
}

bool has_comments(const Node* d) {
  if (!d->comments().empty()) return true;
  switch (d->kind) {
    case Kind::kField: return !as<Field>(d)->label->comments().empty();
    case Kind::kAlias: return !as<Alias>(d)->ident->comments().empty();
    case Kind::kLet: return !as<Let>(d)->ident->comments().empty();
    default: return false;
  }
}

// How many labels stand in a row: only fields of as many are in one table. None where a struct has several fields.
int labels(const Node* d) {
  int n = 0;
  while (d->kind == Kind::kField) {
    const Node* value = as<Field>(d)->value;
    if (!value || value->kind != Kind::kStruct) return n + 1;
    if (as<Struct>(value)->elts.size() != 1) return n;
    ++n;
    d = as<Struct>(value)->elts[0];
  }
  return n;
}

// `...`, or `[string]: _`, which says no more
bool any_field(const Node* n) {
  if (n->kind == Kind::kEllipsis) return true;
  if (n->kind != Kind::kField) return false;
  const auto* f = as<Field>(n);
  auto is = [](const Node* x, std::string_view name) {
    return x && x->kind == Kind::kIdent && as<Ident>(x)->name.text() == name;
  };
  if (!is(f->value, "_") || f->label->kind != Kind::kList) return false;
  const auto* pattern = as<List>(f->label);
  return pattern->elts.size() == 1 && (is(pattern->elts[0], "string") || is(pattern->elts[0], "_"));
}

// A value with brackets or several lines in it stands in no column.
bool ends_table(const Node* n) {
  if (!n) return false;
  switch (n->kind) {
    case Kind::kStruct:
    case Kind::kList: return true;
    case Kind::kLit: return as<Lit>(n)->text.find('\n') != std::string_view::npos;
    case Kind::kParen: return ends_table(as<Paren>(n)->x);
    case Kind::kUnary: return ends_table(as<Unary>(n)->x);
    case Kind::kPostfix: return ends_table(as<Postfix>(n)->x);
    case Kind::kBinary: return ends_table(as<Binary>(n)->x) || ends_table(as<Binary>(n)->y);
    case Kind::kIndex: return ends_table(as<Index>(n)->x);
    case Kind::kSelector: return ends_table(as<Selector>(n)->x);
    case Kind::kCall:
      for (const Node* a : as<Call>(n)->args)
        if (ends_table(a)) return true;
      return false;
    default: return false;
  }
}

// Comments behind an import need no parentheses around it.
bool needs_parens(const Import* n) {
  if (n->specs.size() != 1 || known(n->lparen)) return true;
  for (const CommentGroup& g : n->specs[0]->comments())
    if (g.position <= 1) return true;
  return false;
}

}  // namespace

void Unfold::file(File* n) {
  source_ = n->source;
  inside(n, [&] { declarations(n->decls); });
  out_.end_of_file();
}

void Unfold::declarations(Nodes list) {
  inside(nullptr, [&] {
    int depth = 0;
    Node* open = nullptr;
    for (std::size_t i = 0; i < list.size(); ++i) {
      Node* d = list[i];
      if (i > 0) separate(list[i - 1], d, depth);
      if (options_.simplify && any_field(d)) {
        open = d;
        continue;
      }
      declaration(d);
      depth = labels(d);
      Node* value = i + 1 < list.size() && list[i + 1]->kind == Kind::kField ? as<Field>(list[i + 1])->value : nullptr;
      bool table_ends =
          value &&
          (value->kind == Kind::kList ||
           (value->kind == Kind::kStruct && (known(as<Struct>(value)->lbrace) || as<Struct>(value)->elts.size() != 1)));
      allow(table_ends ? table_end() : frame_.around);
    }
    if (!open) return;
    Ellipsis all{TokenPos{}};
    all.notes = open->notes;
    declaration(&all);
    allow(frame_.around);
  });
}

void Unfold::separate(Node* before, Node* next, int depth) {
  allow(kFieldComma);
  if (frame_.around == kLine && (depth == 0 || labels(next) != depth)) allow(table_end());
  if (has_comments(next) && (before->kind != Kind::kField || is_definition(as<Field>(before)->label))) allow(kSection);
}

void Unfold::own_line(Node* n) {
  if (begins_line(n)) allow(kNewTable);
}

void Unfold::declaration(Node* n) {
  inside(n, [&] {
    switch (n->kind) {
      case Kind::kField: return field(as<Field>(n));
      case Kind::kBadDecl: return;
      case Kind::kPackage: {
        word(as<Package>(n)->pos, "package");
        allow(kBlank);
        Ident* name = as<Package>(n)->name;
        if (!name->comments().empty()) return expression(name);
        out_.name(name->name.text());
        return allow(kSection | kFixed);
      }
      case Kind::kImport: return import(as<Import>(n));
      case Kind::kLet: {
        own_line(n);
        let(as<Let>(n));
        return allow(kFieldComma);
      }
      case Kind::kEmbed:
        own_line(n);
        expression(as<Embed>(n)->x);
        return allow(kLine);
      case Kind::kAttribute: out_.place(as<Attribute>(n)->at); return out_.attribute(as<Attribute>(n)->text);
      case Kind::kComprehension: own_line(n); return comprehension(as<Comprehension>(n));
      case Kind::kAlias: {
        auto* a = as<Alias>(n);
        own_line(n);
        expression(a->ident);
        allow(kBlank);
        token(a->equal, Tok::kBind);
        allow(kBlank);
        expression(a->x);
        return allow(kFieldComma);
      }
      default: plain(n, 0, 1);
    }
  });
}

// The field that follows a label on its line without braces between: in the source, or by simplification.
Field* Unfold::chained(const Field* n) const {
  if (!known(first(n->label)) && !(options_.simplify && is_regular(n->label))) return nullptr;
  if (!n->value || n->value->kind != Kind::kStruct || !n->attrs.empty()) return nullptr;
  const auto* s = as<Struct>(n->value);
  if (s->elts.size() != 1 || s->elts[0]->kind != Kind::kField || !s->comments().empty()) return nullptr;
  if (known(s->lbrace) && (!options_.simplify || has_comments(n))) return nullptr;
  auto* inner = as<Field>(s->elts[0]);
  return inner->attrs.empty() && !has_comments(inner) ? inner : nullptr;
}

void Unfold::field(Field* n) {
  label(n->label);
  if (n->alias) postfix_alias(n->alias);
  if (n->constraint != Tok::kIllegal) token(n->constraint);
  allow(kTight | kFixed);
  token(n->colon, Tok::kColon);
  comments(frame_.position);

  if (Field* next = chained(n)) {
    bool below = !options_.simplify && first(next->label).rel >= Rel::kNewline;
    allow(below ? kIndent | kNewTable : kBlank | kFixed);
    declaration(next);
    if (below) out_.outer_lines();
    return;
  }

  bool breaks = ends_table(n->value);
  Spaces before = breaks || out_.brace_on_line() ? kBlank : kCell;
  allow(before);
  if (!n->value) {
    pass();
  } else if (n->value->kind == Kind::kList || n->value->kind == Kind::kStruct) {
    expression(n->value);
  } else {
    allow(kIndent);
    expression(n->value);
    out_.end_level();
  }
  attributes(n->attrs, before);
  if (breaks) allow(kNewTable);
}

void Unfold::attributes(Nodes list, Spaces before) {
  for (Node* a : list) {
    inside(a, [&] {
      allow(before);
      out_.place(as<Attribute>(a)->at);
      out_.attribute(as<Attribute>(a)->text);
    });
    before = kBlank;
  }
}

void Unfold::label(Node* n) {
  inside(n, [&] {
    switch (n->kind) {
      case Kind::kIdent: {
        std::string_view name = as<Ident>(n)->name.text();
        return word(as<Ident>(n)->pos, is_identifier(name) ? std::string(name) : quote(name));
      }
      case Kind::kLit: {
        std::string text(as<Lit>(n)->text);
        if (text.starts_with("\"\"\"") || text.starts_with('#'))
          if (Unquoted u = unquote(text); u.ok()) text = quote(u.text);
        return word(as<Lit>(n)->pos, text);
      }
      default: return expression(n);
    }
  });
}

void Unfold::postfix_alias(PostfixAlias* n) {
  auto part = [&](TokenPos at, Tok t) {
    token(at, t);
    allow(kTight);
  };
  part(n->tilde, Tok::kTilde);
  part(n->lparen, Tok::kLparen);
  if (n->label) {
    expression(n->label);
    part(n->comma, Tok::kComma);
  }
  expression(n->field);
  part(n->rparen, Tok::kRparen);
}

void Unfold::bind(Ident* name, TokenPos equal, Node* x) {
  expression(name);
  allow(kBlank | kFixed);
  token(equal, Tok::kBind);
  allow(kBlank);
  expression(x);
}

void Unfold::let(Let* n) {
  token(n->pos, Tok::kLet);
  allow(kBlank | kFixed);
  bind(n->ident, n->equal, n->x);
}

void Unfold::import(Import* n) {
  word(n->pos, "import");
  allow(kBlank);
  if (n->specs.empty()) {
    token(n->lparen, Tok::kLparen);
    token(n->rparen, Tok::kRparen);
    return allow(kLine);
  }
  if (needs_parens(n)) {
    token(n->lparen, Tok::kLparen);
    allow(kLine | kIndent);
    import_specs(n->specs);
    allow(kUnindent | kLine);
    token(n->rparen, Tok::kRparen);
    allow(kLine);
  } else {
    import_specs(n->specs);
  }
  allow(kSection | kFixed);
}

void Unfold::import_specs(Nodes list) {
  inside(nullptr, [&] {
    for (Node* n : list) {
      if (n != list[0]) allow(kFieldComma);
      inside(n, [&] {
        auto* spec = as<ImportSpec>(n);
        if (spec->name) {
          label(spec->name);
          allow(kBlank);
        } else {
          pass();
        }
        expression(spec->path);
        allow(kLine);
      });
    }
  });
}

void Unfold::ellipsis(Ellipsis* n) {
  token(n->pos, Tok::kEllipsis);
  bool anything = !n->type || (n->type->kind == Kind::kIdent && as<Ident>(n->type)->name.text() == "_");
  if (!anything) expression(n->type);
}

void Unfold::comprehension(Comprehension* n) {
  inside(nullptr, [&] {
    for (std::size_t i = 0; i < n->clauses.size(); ++i) {
      inside(n->clauses[i], [&] {
        if (i > 0) allow(kBlank);
        clause(n->clauses[i]);
      });
    }
  });
  allow(kBlank | kFixed);
  expression(n->value);
  if (!n->fallback) return;
  bool guard = n->clauses.size() == 1 && n->clauses[0]->kind != Kind::kFor;
  allow(kBlank);
  token(n->fallback->pos, guard ? Tok::kElse : Tok::kOtherwise);
  allow(kBlank);
  expression(n->fallback->body);
}

void Unfold::clause(Node* n) {
  switch (n->kind) {
    case Kind::kFor: {
      auto* f = as<ForClause>(n);
      word(f->pos, "for");
      allow(kBlank | kIndent);
      if (f->key) {
        label(f->key);
        token(f->colon, Tok::kComma);
        allow(kBlank);
      } else {
        pass();
      }
      label(f->value);
      allow(kBlank);
      word(f->in, "in");
      allow(kBlank);
      expression(f->source);
      break;
    }
    case Kind::kIfClause:
      word(as<IfClause>(n)->pos, "if");
      allow(kBlank | kIndent);
      expression(as<IfClause>(n)->condition);
      break;
    case Kind::kTryClause: {
      auto* t = as<TryClause>(n);
      token(t->pos, Tok::kTry);
      if (!t->ident) return;
      allow(kBlank | kFixed | kIndent);
      bind(t->ident, t->equal, t->x);
      break;
    }
    default: {
      auto* l = as<Let>(n);
      token(l->pos, Tok::kLet);
      allow(kBlank | kFixed | kIndent);
      bind(l->ident, l->equal, l->x);
    }
  }
  out_.end_level();
}

}  // namespace tutti::cue
