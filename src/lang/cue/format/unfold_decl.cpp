// Files and declarations.
#include "lang/cue/format/literal.h"
#include "lang/cue/format/unfold.h"
#include "lang/cue/format/walk.h"

namespace tutti::cue {

using namespace ast;

namespace {

bool on_same_line(Rel r) { return r == Rel::kNoSpace || r == Rel::kBlank; }

bool plain_literal(const Node* n) { return n->kind == Kind::kStruct || n->kind == Kind::kList; }

bool has_lines(const Node* n) { return n->kind == Kind::kLit && as<Lit>(n)->text.find('\n') != std::string_view::npos; }

// A value with brackets or several lines in it stands in no column.
bool fits_column(Node* n) {
  if (plain_literal(n) || has_lines(n)) return false;
  if (n->kind == Kind::kAlias || n->kind == Kind::kInterpolation) return true;
  bool fits = true;
  for_children(n, [&](Node* c) { fits = fits && fits_column(c); });
  return fits;
}

// `[string]: _`, which says no more than `...`
bool any_field(const Node* n) {
  if (n->kind != Kind::kField || !n->comments().empty()) return false;
  const auto* f = as<Field>(n);
  if (f->alias || !f->attrs.empty() || f->constraint != Tok::kIllegal || f->label->kind != Kind::kList) return false;
  const auto* pattern = as<List>(f->label);
  auto is = [](const Node* x, std::string_view name) {
    return x && x->kind == Kind::kIdent && as<Ident>(x)->name.text() == name;
  };
  return pattern->elts.size() == 1 && is(pattern->elts[0], "string") && is(f->value, "_");
}

}  // namespace

void Unfold::file(File* n) {
  Inside inside(*this, n);
  declarations(n->decls, true, !first(n));
}

void Unfold::declarations(Nodes list, bool aligned, bool own_lines) {
  bool was_aligned = aligned_;
  aligned_ = aligned;
  Node* before = nullptr;
  bool open = false;
  for (Node* d : list) {
    if (options_.simplify && any_field(d)) {
      open = true;
      continue;
    }
    if (open && d->kind == Kind::kEllipsis) open = false;
    if (before) separate(before, d, own_lines);
    declaration(d);
    before = d;
  }
  if (open) {
    if (before) {
      layout_.comma(Comma::kOnOneLine);
      gap(Gap::kLine);
    }
    put("...");
  }
  aligned_ = was_aligned;
}

void Unfold::separate(Node* before, Node* next, bool own_line) {
  layout_.comma(Comma::kOnOneLine);
  bool head = before->kind == Kind::kPackage || before->kind == Kind::kImport;
  if (head)
    gap(Gap::kEmpty);
  else if (!own_line && on_same_line(first(next).rel))
    gap(Gap::kSpace, Gap::kEmpty);
  else
    gap(Gap::kLine, Gap::kEmpty);
  // Only fields with as many labels, or other declarations of one kind, stand in the same columns.
  auto labels = [&](Node* d) {
    int n = 0;
    for (Field* f = d->kind == Kind::kField ? as<Field>(d) : nullptr; f; f = chained(f)) ++n;
    return n;
  };
  if (before->kind != next->kind || labels(before) != labels(next)) layout_.section();
}

void Unfold::declaration(Node* n) {
  auto begin_row = [&] { row_ = line_ + (breaks(least_) || ended_ ? 1 : 0); };
  begin_row();
  switch (n->kind) {
    case Kind::kField: return field(as<Field>(n));
    case Kind::kEmbed: {
      Inside inside(*this, n);
      hanging_ = true;  // what continues an embedded value is as deep as it
      return expression(as<Embed>(n)->x);
    }
    case Kind::kLet: return let(as<Let>(n));
    case Kind::kImport: return import(as<Import>(n));
    case Kind::kPackage: {
      Inside inside(*this, n);
      put("package", as<Package>(n)->pos);
      gap(Gap::kSpace);
      return expression(as<Package>(n)->name);
    }
    case Kind::kAttribute: {
      Inside inside(*this, n);
      return put(as<Attribute>(n)->text, as<Attribute>(n)->at);
    }
    case Kind::kBadDecl: return;
    case Kind::kFile: return file(as<File>(n));
    default: return expression(n);
  }
}

namespace {
bool hidden_or_definition(const Ident* label) {
  return label->name.text().starts_with('#') || label->name.text().starts_with('_');
}
}  // namespace

// The field that follows a label on its line without braces between: in the source, or by simplification.
Field* Unfold::chained(const Field* n) const {
  if (!n->value || n->value->kind != Kind::kStruct) return nullptr;
  auto* s = as<Struct>(n->value);
  if (s->elts.size() != 1 || s->elts[0]->kind != Kind::kField) return nullptr;
  // Without a place it was made, and has the braces that it does not show.
  bool braces = s->lbrace || s->lbrace.rel != Rel::kNone || !first(s->elts[0]);
  if (options_.braces_of_definitions && !s->lbrace && !first(s->elts[0]) && n->label->kind == Kind::kIdent &&
      hidden_or_definition(as<Ident>(n->label)))
    return nullptr;
  if (braces && !(options_.simplify && n->attrs.empty() && braces_go(s))) return nullptr;
  return as<Field>(s->elts[0]);
}

bool Unfold::braces_go(const Struct* s) const {
  auto* inner = as<Field>(s->elts[0]);
  return s->comments().empty() && inner->comments().empty() && inner->label->comments().empty() &&
         inner->attrs.empty() && !any_field(inner);
}

void Unfold::field(Field* n) {
  Inside inside(*this, n);
  label(n->label);
  if (n->alias) postfix_alias(n->alias);
  if (n->constraint != Tok::kIllegal) put(token_text(n->constraint));
  put(":", {n->colon.pos, Rel::kNone, false});
  row_ = line_;
  if (Field* next = chained(n)) {
    int depth = depth_;
    depth_ = line_depth_ + 1;  // after a comment between them
    Inside inner(*this, n->value);
    gap(Gap::kSpace);
    field(next);
    depth_ = depth;
  } else if (n->value) {
    bool fits = fits_column(n->value);
    if (n->label->kind == Kind::kList)
      for (Node* e : as<List>(n->label)->elts) fits = fits && fits_column(e);
    value(n->value, aligned_ && fits ? Gap::kCell : Gap::kSpace);
    if (!fits) row_ = line_ - 1;
  }
  Gap before = aligned_ && row_ == line_ ? Gap::kCell : Gap::kSpace;
  for (Node* a : n->attrs) {
    gap(before);
    declaration(a);
    row_ = line_;
    before = Gap::kSpace;
  }
}

// What follows `:` or `=`. It may begin a line, one deeper unless a bracket shows where it begins and ends.
void Unfold::value(Node* n, Gap before) {
  int depth = depth_;
  if (!plain_literal(n)) depth_ = line_depth_ + 1;
  hanging_ = first(n).rel >= Rel::kNewline;
  gap(before, Gap::kLine);
  expression(n);
  depth_ = depth;
}

void Unfold::label(Node* n) {
  switch (n->kind) {
    case Kind::kAlias: {
      Inside inside(*this, n);
      expression(as<Alias>(n)->ident);
      put("=", {as<Alias>(n)->equal.pos, Rel::kNone, false});
      return label(as<Alias>(n)->x);
    }
    case Kind::kLit:
      if (has_lines(n)) {
        Inside inside(*this, n);
        if (Unquoted u = unquote(as<Lit>(n)->text); u.ok()) return put(quote(u.text), as<Lit>(n)->pos);
      }
      return expression(n);
    default: expression(n);
  }
}

void Unfold::postfix_alias(PostfixAlias* n) {
  Inside inside(*this, n);
  put("~");
  bool parens = n->lparen || (n->label && n->field);
  if (parens) put("(");
  if (n->label) expression(n->label);
  if (n->label && n->field) {
    put(",");
    gap(Gap::kSpace);
  }
  if (n->field) expression(n->field);
  if (parens) put(")");
}

void Unfold::let(Let* n) {
  Inside inside(*this, n);
  put("let", n->pos);
  gap(Gap::kSpace);
  expression(n->ident);
  gap(Gap::kSpace);
  put("=", {n->equal.pos, Rel::kNone, false});
  value(n->x, Gap::kSpace);
}

void Unfold::import(Import* n) {
  Inside inside(*this, n);
  put("import", n->pos);
  gap(Gap::kSpace);
  bool parens = n->lparen || n->lparen.rel != Rel::kNone || n->specs.size() != 1;
  int outer = depth_;
  u32 began = line_;
  if (parens) {
    put("(", {n->lparen.pos, Rel::kNone, false});
    depth_ = line_depth_ + 1;
    gap(Gap::kNone, Gap::kLine, Gap::kLine);
  }
  for (std::size_t i = 0; i < n->specs.size(); ++i) {
    if (i > 0) {
      layout_.comma(Comma::kOnOneLine);
      gap(on_same_line(first(n->specs[i]).rel) ? Gap::kSpace : Gap::kLine, Gap::kEmpty);
    }
    row_ = line_ + (breaks(least_) || ended_ ? 1 : 0);
    auto* spec = as<ImportSpec>(n->specs[i]);
    Inside inner(*this, spec);
    if (spec->name) {
      expression(spec->name);
      gap(Gap::kSpace);
    }
    expression(spec->path);
    row_ = line_;
  }
  if (!parens) return;
  comments_before(n->rparen);
  depth_ = outer;
  gap(line_ != began ? Gap::kLine : Gap::kNone, Gap::kLine, line_ != began ? Gap::kLine : Gap::kNone);
  put(")", n->rparen);
}

void Unfold::ellipsis(Ellipsis* n) {
  Inside inside(*this, n);
  put("...", n->pos);
  if (n->type) expression(n->type);
}

}  // namespace tutti::cue
