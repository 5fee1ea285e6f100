// Expressions as they were written.
#include <algorithm>
#include <optional>

#include "lang/cue/export/constraint.h"
#include "lang/cue/export/exporter.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

ast::Node* Exporter::call(ast::Node* function, const std::vector<ast::Node*>& args) {
  return arena_.make<ast::Call>(function, TokenPos{}, make_nodes(arena_, args), TokenPos{});
}

ast::Node* Exporter::written(Environment* env, Node* x) {
  if (!x) return nullptr;
  if (x->type == NodeType::kVertex)
    return to<Vertex>(x)->is_data_value() ? value(x, to<Vertex>(x)) : fold(to<Vertex>(x));
  if (x->is_value()) return value(x);
  if (x->is_reference()) return reference(env, x);
  return operation(env, x);
}

ast::Node* Exporter::operation(Environment* env, Node* x) {
  auto at = [&](Node* part) { return written(env, part); };
  switch (x->type) {
    case NodeType::kStruct: return fold(nullptr, {{env, x}});
    case NodeType::kList: return list_literal(env, to<ListLit>(x));
    case NodeType::kLabelRef: return pattern_label(env, to<LabelRef>(x));
    case NodeType::kInterpolation: return interpolation(env, to<Interpolation>(x));
    case NodeType::kComprehension: return comprehension(env, to<Comprehension>(x));
    case NodeType::kUnary: return unary(op_token(to<Unary>(x)->op), at(to<Unary>(x)->x));
    case NodeType::kBoundExpr: return unary(op_token(to<BoundExpr>(x)->op), at(to<BoundExpr>(x)->x));
    case NodeType::kOpen: return arena_.make<ast::Postfix>(at(to<Open>(x)->x), Tok::kEllipsis, TokenPos{});
    case NodeType::kBinary: return chain(env, to<Binary>(x));
    case NodeType::kSlice: {
      auto* s = to<Slice>(x);
      ast::Node *of = at(s->x), *low = at(s->low), *high = at(s->high);
      return arena_.make<ast::Slice>(of, TokenPos{}, low, high, TokenPos{});
    }
    case NodeType::kCall: {
      ast::Node* function = at(to<Call>(x)->fun);  // first, as its package comes first among the imports
      std::vector<ast::Node*> args;
      for (Node* a : to<Call>(x)->args) args.push_back(at(a));
      return call(function, args);
    }
    case NodeType::kDisjunctionExpr: {
      std::vector<ast::Node*> arms;
      for (const Disjunct& d : to<DisjunctionExpr>(x)->values) {
        ast::Node* arm = at(d.value);
        arms.push_back(d.marked ? unary(Tok::kMul, arm) : arm);
      }
      return join(Tok::kOr, arms);
    }
    default: return ident("_");
  }
}

// Of a & b & c the operands are put in the order in which constraints are shown; `_` says nothing.
ast::Node* Exporter::chain(Environment* env, const Binary* x) {
  if (x->op != Op::kAnd && x->op != Op::kOr) {
    ast::Node *left = written(env, x->x), *right = written(env, x->y);
    return arena_.make<ast::Binary>(left, TokenPos{}, op_token(x->op), right);
  }
  std::vector<Node*> operands{x->x, x->y};
  for (std::size_t i = 0; i < operands.size();) {
    Node* n = operands[i];
    if (n->type != NodeType::kBinary || to<Binary>(n)->op != x->op) {
      ++i;
      continue;
    }
    operands[i] = to<Binary>(n)->y;
    operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(i), to<Binary>(n)->x);
  }
  std::stable_sort(operands.begin(), operands.end(), constraint_before);
  std::vector<ast::Node*> parts;
  for (Node* n : operands) {
    bool anything =
        n->type == NodeType::kTop || (n->type == NodeType::kBasicType && to<BasicType>(n)->kind == kTopKind);
    if (!anything) parts.push_back(written(env, n));
  }
  return parts.empty() ? ident("_") : join(op_token(x->op), parts);
}

// ---- literals

ast::Node* Exporter::list_literal(Environment* env, const ListLit* x) {
  Environment* inside = c_.new_env(env, c_.empty_node);
  std::vector<ast::Node*> items;
  for (Node* e : x->elems) items.push_back(element(inside, e));
  return make_list(arena_, items);
}

ast::Node* Exporter::element(Environment* env, Node* d) {
  if (d->type == NodeType::kEllipsis)
    return arena_.make<ast::Ellipsis>(TokenPos{}, written(env, to<Ellipsis>(d)->value));
  return d->type == NodeType::kComprehension ? comprehension(env, to<Comprehension>(d)) : written(env, d);
}

// A struct with everything that stands in it, for what cannot be folded into other structs.
ast::Node* Exporter::struct_literal(Environment* env, const StructLit* x, const Vertex* about) {
  Environment* inside = c_.new_env(env, about ? const_cast<Vertex*>(about) : c_.empty_node);
  scopes_.bind(inside, scopes_.open(about));
  std::vector<ast::Node*> decls;
  for (Node* d : x->decls) {
    if (d->type == NodeType::kLetField) continue;
    ast::Node* n = declaration(inside, d);
    if (p_.show_docs && d->src())
      for (const ast::CommentGroup& g : d->src()->comments())
        if (g.doc) ast::add_comment(arena_, n, g);
    decls.push_back(n);
  }
  scopes_.close();
  return make_struct(decls);
}

namespace {

const ast::Alias* label_alias(const Node* declared) {
  if (!declared->src() || declared->src()->kind != ast::Kind::kField) return nullptr;
  const ast::Node* l = ast::as<ast::Field>(declared->src())->label;
  return l->kind == ast::Kind::kAlias ? ast::as<ast::Alias>(l) : nullptr;
}

const ast::Alias* value_alias(const Node* declared) {
  if (!declared->src() || declared->src()->kind != ast::Kind::kField) return nullptr;
  const ast::Node* v = ast::as<ast::Field>(declared->src())->value;
  return v && v->kind == ast::Kind::kAlias ? ast::as<ast::Alias>(v) : nullptr;
}

}  // namespace

ast::Node* Exporter::declaration(Environment* env, Node* d) {
  ast::Field* f = nullptr;
  switch (d->type) {
    case NodeType::kField: f = declared_field(env, to<Field>(d)); break;
    case NodeType::kPattern: f = declared_pattern(env, to<Pattern>(d)); break;
    case NodeType::kDynamicField: f = declared_dynamic(env, to<DynamicField>(d)); break;
    default: {
      ast::Node* e = element(env, d);
      bool declares = e->kind == ast::Kind::kComprehension || e->kind == ast::Kind::kEllipsis;
      return declares ? e : arena_.make<ast::Embed>(e);
    }
  }
  std::vector<ast::Node*> attributes;
  field_attrs(attributes, d);
  f->attrs = make_nodes(arena_, attributes);
  if (const ast::Alias* a = value_alias(d))
    f->value = arena_.make<ast::Alias>(ident(a->ident->name.text()), TokenPos{}, f->value);
  return f;
}

ast::Field* Exporter::declared_field(Environment* env, const Field* x) {
  OutputScope& here = scopes_.innermost();
  ast::Field* f = make_field(arena_, written_in_quotes(x) ? quoted_label(x->label) : label(x->label), nullptr);
  f->constraint = arc_token(x->arc);
  OutputScope::Name& name = here.names[x->label.bits()];
  name.field = f;
  const ast::Alias* alias = label_alias(x);
  if (!name.alias.empty())
    set_alias(name, name.alias);
  else if (alias)
    set_alias(name, std::string(alias->ident->name.text()));
  Vertex* about = here.shows && x->value->type == NodeType::kStruct ? here.shows->find_raw(x->label) : nullptr;
  f->value = about ? fold(about, {{env, x->value}}) : written(env, x->value);
  return f;
}

ast::Field* Exporter::declared_pattern(Environment* env, const Pattern* x) {
  ast::Node* brackets = make_list(arena_, {written(env, x->filter)});
  if (const ast::Alias* a = label_alias(x))
    brackets = arena_.make<ast::Alias>(ident(a->ident->name.text()), TokenPos{}, brackets);
  ast::Field* f = make_field(arena_, brackets, nullptr);
  OutputScope& here = scopes_.innermost();
  here.pattern = f;
  f->value = written(env, x->value);
  here.pattern = nullptr;
  return f;
}

namespace {
// The text of an interpolation of nothing but literals.
std::optional<std::string> constant_text(const Node* key) {
  if (key->type != NodeType::kInterpolation) return {};
  std::string out;
  for (const Node* p : to<Interpolation>(key)->parts) {
    if (p->type == NodeType::kString)
      out += to<String>(p)->text;
    else if (p->type == NodeType::kNum)
      out += to<Num>(p)->value.text();
    else if (p->type == NodeType::kBool)
      out += to<Bool>(p)->value ? "true" : "false";
    else
      return {};
  }
  return out;
}
}  // namespace

ast::Field* Exporter::declared_dynamic(Environment* env, const DynamicField* x) {
  std::optional<std::string> text = constant_text(x->key);
  ast::Node* key = text ? make_string(arena_, *text) : written(env, x->key);
  if (key->kind != ast::Kind::kInterpolation && key->kind != ast::Kind::kLit)
    key = arena_.make<ast::Paren>(TokenPos{}, key, TokenPos{});
  if (const ast::Alias* a = label_alias(x))
    key = arena_.make<ast::Alias>(ident(a->ident->name.text()), TokenPos{}, key);
  ast::Field* f = make_field(arena_, key, nullptr);
  f->constraint = arc_token(x->arc);
  f->value = written(env, x->value);
  return f;
}

// ---- comprehensions

// The variable of a clause is in a scope of its own, around all that follows.
Environment* Exporter::clause_scope(Environment* env) {
  Environment* inside = c_.new_env(env, c_.empty_node);
  scopes_.bind(inside, scopes_.open(nullptr));
  return inside;
}

ast::Node* Exporter::clause(Environment*& env, const Node* x) {
  TokenPos at;  // on a line of its own if it was
  if (x->src()) at.rel = ast::first(x->src()).rel;
  switch (x->type) {
    case NodeType::kIf: return arena_.make<ast::IfClause>(at, written(env, to<IfClause>(x)->condition));
    case NodeType::kFor: {
      auto* f = to<ForClause>(x);
      ast::Node* source = written(env, f->source);
      ast::Ident* key = f->key.valid() ? ident(f->key.name()) : nullptr;
      if (!key && f->src() && ast::as<ast::ForClause>(f->src())->key) key = ident("_");  // for _, x in y
      ast::Ident* item = ident(f->value.valid() ? f->value.name() : "_");
      env = clause_scope(env);
      return arena_.make<ast::ForClause>(at, key, TokenPos{}, item, TokenPos{}, source);
    }
    case NodeType::kLet: {
      auto* l = to<LetClause>(x);
      ast::Node* bound = written(env, l->x);
      env = clause_scope(env);
      return arena_.make<ast::Let>(at, ident(l->label.name()), TokenPos{}, bound);
    }
    default: {
      auto* t = to<TryClause>(x);
      auto* out = arena_.make<ast::TryClause>(at);
      if (!t->label.valid()) return out;
      out->ident = ident(t->label.name());
      out->x = written(env, t->x);
      env = clause_scope(env);
      return out;
    }
  }
}

ast::Node* Exporter::comprehension(Environment* env, const Comprehension* x) {
  std::size_t depth = scopes_.depth();
  Environment* inside = env;
  std::vector<ast::Node*> clauses;
  for (const Node* y : x->clauses) clauses.push_back(clause(inside, y));
  ast::Node* body = written(inside, x->value);
  if (body->kind != ast::Kind::kStruct) body = make_struct({arena_.make<ast::Embed>(body)}, true);
  while (scopes_.depth() > depth) scopes_.close();
  ast::FallbackClause* otherwise = nullptr;
  if (x->fallback)
    if (ast::Node* other = written(env, x->fallback); other->kind == ast::Kind::kStruct)
      otherwise = arena_.make<ast::FallbackClause>(TokenPos{}, other);
  return arena_.make<ast::Comprehension>(make_nodes(arena_, clauses), body, otherwise);
}

// ---- interpolation

namespace {

std::string_view text_of(const Node* n) {
  if (n->type == NodeType::kString) return to<String>(n)->text;
  return n->type == NodeType::kBytes ? to<Bytes>(n)->text : std::string_view{};
}

// How the pieces of text between the expressions are quoted: on one line, or on several when one has a line break.
struct PieceQuoting {
  bool bytes, lines;
  int tabs;
  std::string indent = lines ? "\n" + std::string(static_cast<std::size_t>(tabs), '\t') : "";
  std::string mark = std::string(lines ? 3 : 1, bytes ? '\'' : '"');

  // What stands between the quotes of the text.
  std::string body(std::string_view text) const {
    if (text.empty()) return "";
    std::string whole = quote(text, {.bytes = bytes, .tabs = lines ? tabs : -1, .always_lines = lines});
    if (!lines) return whole.substr(1, whole.size() - 2);
    std::size_t begin = whole.find('\n') + 1;
    if (whole.compare(begin, indent.size() - 1, indent, 1) == 0) begin += indent.size() - 1;
    return whole.substr(begin, whole.rfind('\n') - begin);
  }
  std::string piece(std::string_view text, bool first, bool last) const {
    std::string out = (first ? mark + indent : ")") + body(text);
    if (last) return out + indent + mark;
    if (out.ends_with('\n')) out += indent.substr(1);  // the expression begins a line
    return out + "\\(";
  }
};

}  // namespace

ast::Node* Exporter::interpolation(Environment* env, const Interpolation* x) {
  bool lines = false;
  for (std::size_t i = 0; i < x->parts.size(); i += 2)
    lines |= text_of(x->parts[i]).find('\n') != std::string_view::npos;
  PieceQuoting quoting{(x->kind & kBytesKind) != 0, lines, static_cast<int>(scopes_.depth())};
  std::vector<ast::Node*> parts;
  std::size_t last = x->parts.size() - 1;
  for (std::size_t i = 0; i <= last; ++i)
    parts.push_back(i % 2 == 1
                        ? written(env, x->parts[i])
                        : make_lit(arena_, Tok::kString, quoting.piece(text_of(x->parts[i]), i == 0, i == last)));
  return arena_.make<ast::Interpolation>(make_nodes(arena_, parts));
}

}  // namespace tutti::cue
