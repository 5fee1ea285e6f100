// References, under the names that what they refer to has in the output.
#include <algorithm>

#include "lang/cue/compile/compile.h"
#include "lang/cue/export/exporter.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

// The identifier by which something was referred to.
std::string written_name(const Node* x, std::string_view otherwise) {
  bool named = x->src() && x->src()->kind == ast::Kind::kIdent;
  return std::string(named ? ast::as<ast::Ident>(x->src())->name.text() : otherwise);
}

template <class F>
void each_child(const Node* x, F&& f) {
  auto some = [&](auto... nodes) { (f(nodes), ...); };
  auto all = [&](std::span<Node* const> list) {
    for (Node* n : list) f(n);
  };
  switch (x->type) {
    case NodeType::kVertex:
      if (!to<Vertex>(x)->is_data_value())
        for (const KeptConjunct& c : to<Vertex>(x)->conjuncts) f(c.x);
      return;
    case NodeType::kSelector: return some(to<Selector>(x)->x);
    case NodeType::kIndex: return some(to<Index>(x)->x, to<Index>(x)->index);
    case NodeType::kBoundExpr: return some(to<BoundExpr>(x)->x);
    case NodeType::kSlice: return some(to<Slice>(x)->x, to<Slice>(x)->low, to<Slice>(x)->high);
    case NodeType::kInterpolation: return all(to<Interpolation>(x)->parts);
    case NodeType::kUnary: return some(to<Unary>(x)->x);
    case NodeType::kBinary: return some(to<Binary>(x)->x, to<Binary>(x)->y);
    case NodeType::kOpen: return some(to<Open>(x)->x);
    case NodeType::kCall: return some(to<Call>(x)->fun), all(to<Call>(x)->args);
    case NodeType::kDisjunctionExpr:
      for (const Disjunct& d : to<DisjunctionExpr>(x)->values) f(d.value);
      return;
    case NodeType::kStruct: return all(to<StructLit>(x)->decls);
    case NodeType::kList: return all(to<ListLit>(x)->elems);
    case NodeType::kComprehension:
      return all(to<Comprehension>(x)->clauses), some(to<Comprehension>(x)->value, to<Comprehension>(x)->fallback);
    case NodeType::kField: return some(to<Field>(x)->value);
    case NodeType::kLetField: return some(to<LetField>(x)->value);
    case NodeType::kDynamicField: return some(to<DynamicField>(x)->key, to<DynamicField>(x)->value);
    case NodeType::kPattern: return some(to<Pattern>(x)->filter, to<Pattern>(x)->value);
    case NodeType::kEllipsis: return some(to<Ellipsis>(x)->value);
    case NodeType::kFor: return some(to<ForClause>(x)->source);
    case NodeType::kIf: return some(to<IfClause>(x)->condition);
    case NodeType::kLet: return some(to<LetClause>(x)->x);
    case NodeType::kTry: return some(to<TryClause>(x)->x);
    default: return;
  }
}

}  // namespace

// A let or an alias must not be given a name that something else has.
void Exporter::reserve_names(const Node* x) {
  if (!x) return;
  auto label = [&](Label l) {
    if (l.valid() && !l.is_let() && !l.is_int()) scopes_.reserve(l.name());
  };
  switch (x->type) {
    case NodeType::kField: label(to<Field>(x)->label); break;
    case NodeType::kFieldRef: label(to<FieldRef>(x)->label); break;
    case NodeType::kSelector: label(to<Selector>(x)->label); break;
    case NodeType::kFor: label(to<ForClause>(x)->key), label(to<ForClause>(x)->value); break;
    case NodeType::kLet: label(to<LetClause>(x)->label); break;
    default: break;
  }
  each_child(x, [&](const Node* child) { reserve_names(child); });
}

void Exporter::set_alias(OutputScope::Name& n, std::string name) {
  n.alias = std::move(name);
  if (n.field && n.field->label->kind != ast::Kind::kAlias)
    n.field->label = arena_.make<ast::Alias>(ident(n.alias), TokenPos{}, n.field->label);
}

// A field is called by its label where that is an identifier and nothing hides it; else it is given an alias.
std::string Exporter::field_name(Environment* env, const FieldRef* x) {
  std::string name(x->label.name());
  OutputScope* scope = scopes_.find(env, x->up);
  if (!scope) return is_identifier(name) ? name : written_name(x, name);
  OutputScope::Name& known = scope->names[x->label.bits()];
  if (!known.alias.empty()) return known.alias;
  std::string as = written_name(x, "X");
  bool by_label = as == name || (alias_v2_ && known.field && known.field->label->kind == ast::Kind::kIdent);
  bool direct = is_identifier(name) && (!x->label.is_string() || by_label) && !scopes_.hidden(*scope, x->label.bits());
  if (!direct) set_alias(known, name = scopes_.fresh_name(as));
  return name;
}

std::string Exporter::value_name(const ValueRef* x) const {
  std::string name = written_name(x, "self");
  OutputScope* named = scopes_.search([&](const OutputScope& s) { return s.alias_written == name; });
  return named ? named->alias : name;
}

// A predeclared name is written with underscores where a field hides it.
std::string Exporter::predeclared_name(std::string name) const {
  auto declared = [](const KeptConjunct& c) {
    const ast::Node* f = c.x->src();
    return f && f->kind == ast::Kind::kField && ast::as<ast::Field>(f)->label->kind == ast::Kind::kIdent;
  };
  auto hides = [&](const OutputScope& s) {
    const Vertex* field = s.shows ? s.shows->find_raw(Label::string(name)) : nullptr;
    return field && std::ranges::any_of(field->conjuncts.begin(), field->conjuncts.end(), declared);
  };
  return scopes_.search(hides) ? "__" + name : name;
}

std::string Exporter::import_name_of(const ImportRef* x) {
  std::string path(x->path.text()), name = written_name(x, import_name(path));
  import(path, name);
  return name;
}

// The label that a pattern matched: the pattern gets an alias for it.
ast::Node* Exporter::pattern_label(Environment* env, const LabelRef* x) {
  OutputScope* scope = scopes_.find(env, x->up);
  ast::Node* brackets = scope && scope->pattern ? scope->pattern->label : nullptr;
  if (brackets && brackets->kind == ast::Kind::kAlias) brackets = ast::as<ast::Alias>(brackets)->x;
  if (!brackets || brackets->kind != ast::Kind::kList) {
    // The pattern is not shown, only what it gave one field.
    const Environment* at = outer_scope(env, x->up);
    if (at && at->dynamic_label.is_string()) return make_string(arena_, at->dynamic_label.name());
    return ident("string");
  }
  ast::Node*& filter = ast::as<ast::List>(brackets)->elts[0];
  if (filter->kind != ast::Kind::kAlias)
    filter = arena_.make<ast::Alias>(ident(scopes_.fresh_name(written_name(x, "X"))), TokenPos{}, filter);
  return ident(ast::as<ast::Alias>(filter)->ident->name.text());
}

ast::Node* Exporter::let_name(Environment* env, const LetRef* x) {
  auto* at = const_cast<Environment*>(outer_scope(env, x->up));
  auto is_it = [&](const OutputScope::Let& l) { return l.label == x->label; };
  OutputScope* scope = scopes_.search([&](const OutputScope& s) { return std::ranges::any_of(s.lets, is_it); });
  if (!scope) {
    // Its struct is not part of the output: what it says stands for it.
    Vertex* let = at && at->vertex ? at->vertex->find_raw(x->label) : nullptr;
    if (!let || let->conjuncts.empty()) return ident(x->label.name());
    return written(let->conjuncts[0].env, expression_of(let->conjuncts[0].x));
  }
  auto found = std::ranges::find_if(scope->lets, is_it);
  if (!found->written) {
    // Named before its expression is written, which may refer to other lets.
    auto* let = arena_.make<ast::Let>(TokenPos{}, ident(scopes_.fresh_name(x->label.name())), TokenPos{}, nullptr);
    found->written = let;
    let->x = written(at, found->body);
    return ident(let->ident->name.text());
  }
  return ident(found->written->ident->name.text());
}

ast::Node* Exporter::reference(Environment* env, Node* x) {
  if (self_contained_)
    if (Vertex* v = outside(env, x)) return brought_in(v);
  auto maybe = [&](ast::Node* n, bool optional) -> ast::Node* {
    return optional ? arena_.make<ast::Postfix>(n, Tok::kOption, TokenPos{}) : n;
  };
  switch (x->type) {
    case NodeType::kFieldRef: return maybe(ident(field_name(env, to<FieldRef>(x))), to<FieldRef>(x)->optional);
    case NodeType::kValueRef: return ident(value_name(to<ValueRef>(x)));
    case NodeType::kDynamicRef: return ident(written_name(x, "X"));
    case NodeType::kImportRef: return ident(import_name_of(to<ImportRef>(x)));
    case NodeType::kLetRef: return let_name(env, to<LetRef>(x));
    case NodeType::kSelector: {
      auto* s = to<Selector>(x);
      return maybe(arena_.make<ast::Selector>(written(env, s->x), TokenPos{}, label(s->label)), s->optional);
    }
    case NodeType::kIndex: {
      auto* i = to<Index>(x);
      ast::Node *of = written(env, i->x), *at = written(env, i->index);
      return maybe(arena_.make<ast::Index>(of, TokenPos{}, at, TokenPos{}), i->optional);
    }
    default: return ident("_");
  }
}

}  // namespace tutti::cue
