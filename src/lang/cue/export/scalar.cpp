// Scalars, types and constraints as syntax.
#include <fmt/format.h>

#include "lang/cue/eval/print.h"
#include "lang/cue/export/constraint.h"
#include "lang/cue/export/exporter.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

Tok op_token(Op op) {
  static constexpr std::pair<Op, Tok> kTokens[] = {
      {Op::kAnd, Tok::kAnd}, {Op::kOr, Tok::kOr},   {Op::kAdd, Tok::kAdd},   {Op::kSub, Tok::kSub},
      {Op::kMul, Tok::kMul}, {Op::kQuo, Tok::kQuo}, {Op::kLand, Tok::kLand}, {Op::kLor, Tok::kLor},
      {Op::kEq, Tok::kEql},  {Op::kNe, Tok::kNeq},  {Op::kLt, Tok::kLss},    {Op::kLe, Tok::kLeq},
      {Op::kGt, Tok::kGtr},  {Op::kGe, Tok::kGeq},  {Op::kMatch, Tok::kMat}, {Op::kNotMatch, Tok::kNmat},
      {Op::kNot, Tok::kNot},
  };
  for (auto [o, t] : kTokens)
    if (o == op) return t;
  return Tok::kIllegal;
}

Tok arc_token(ArcType t) {
  return t == ArcType::kOptional ? Tok::kOption : t == ArcType::kRequired ? Tok::kNot : Tok::kIllegal;
}

ast::Node* Exporter::join(Tok op, const std::vector<ast::Node*>& list) {
  ast::Node* all = nullptr;
  for (ast::Node* x : list) all = all ? arena_.make<ast::Binary>(all, TokenPos{}, op, x) : x;
  return all;
}

ast::Struct* Exporter::make_struct(const std::vector<ast::Node*>& decls, bool brace) {
  TokenPos open{{}, brace ? Rel::kNoSpace : Rel::kNone, false};
  return arena_.make<ast::Struct>(open, make_nodes(arena_, decls), TokenPos{});
}

ast::Node* Exporter::label(Label l) {
  if (l.is_string()) return make_label(arena_, l.name());
  return l.is_int() ? static_cast<ast::Node*>(make_lit(arena_, Tok::kInt, std::to_string(l.index()))) : ident(l.name());
}

// Taken out of its quotes in the end, unless it would then catch a name that is meant for something further out.
ast::Node* Exporter::quoted_label(Label l) {
  quoted_labels_ = true;
  return make_lit(arena_, Tok::kString, quote(l.name()));
}

bool Exporter::written_in_quotes(const Node* declared) {
  if (!declared->src() || declared->src()->kind != ast::Kind::kField) return false;
  const ast::Node* l = ast::as<ast::Field>(declared->src())->label;
  if (l->kind == ast::Kind::kAlias) l = ast::as<ast::Alias>(l)->x;
  return l->kind == ast::Kind::kLit && ast::as<ast::Lit>(l)->tok == Tok::kString;
}

// A function under the name by which its package is imported.
ast::Node* Exporter::builtin(const Builtin* b) {
  if (b->package.empty()) return ident(predeclared_name(std::string(b->name)));
  std::string path(b->package), name = path.substr(path.rfind('/') + 1);
  import(path, name);
  return arena_.make<ast::Selector>(ident(name), TokenPos{}, ident(b->name));
}

ast::Node* Exporter::validator(const Validator* v) {
  std::vector<ast::Node*> args;
  ast::Node* function = builtin(v->builtin);
  for (std::size_t i = 0; i < v->args.size(); ++i) {
    Node* a = v->args[i];
    bool literal =
        v->builtin->non_concrete && v->call && i < v->call->args.size() && v->call->args[i]->type == NodeType::kList;
    args.push_back(literal && a->type == NodeType::kVertex ? schemas(to<Vertex>(a)) : value(a));
  }
  return call(function, args);
}

// The list of schemas that a value is matched with: they are not evaluated, and stand there as they were written.
ast::Node* Exporter::schemas(Vertex* list) {
  list = list->deref_value();
  scopes_.open(list);
  std::vector<ast::Node*> items;
  for (Vertex* a : list->arcs)
    if (a->label.is_int()) items.push_back(as_written(a));
  scopes_.close();
  return make_list(arena_, items);
}

// An error with what it says beside it.
ast::Node* Exporter::bottom(const Bottom* b) {
  auto* out = arena_.make<ast::Bottom>(TokenPos{});
  if (!b->error) return out;
  std::vector<FlatError> all = flatten(b);
  std::string text = "// ";
  if (!all.empty()) text += all[0].told;
  if (all.size() > 1) text += fmt::format(" (and {} more errors)", all.size() - 1);
  ast::Comment comment{TokenPos{}, arena_.copy(text)};
  ast::CommentGroup group;
  group.list = arena_.copy(std::span<const ast::Comment>(&comment, 1));
  group.line = true;
  group.position = 2;
  ast::add_comment(arena_, out, group);
  return out;
}

namespace {
// What a conjunct is written as; of an element that a function took over what that is.
const ast::Node* source_of(const Node* x) {
  if (x->type == NodeType::kVertex)
    if (const Node* base = to<Vertex>(const_cast<Node*>(x))->deref_value()->base; base && base->is_value()) x = base;
  return x->src();
}
}  // namespace

// A number or text as it was written for this very field, else in its plainest form.
ast::Node* Exporter::literal(const Node* n, const Vertex* field) {
  if (field)
    for (const KeptConjunct& c : field->conjuncts)
      if (const ast::Node* written = source_of(c.x); written && written->kind == ast::Kind::kLit) {
        const auto* l = ast::as<ast::Lit>(written);
        return make_lit(arena_, l->tok, l->text);
      }
  if (n->type == NodeType::kNum) {
    const auto* number = to<Num>(n);
    std::string text = number->value.text();
    if (number->kind & kIntKind) return make_lit(arena_, Tok::kInt, text);
    if (text.find_first_of("eE.") == std::string::npos) text += '.';
    return make_lit(arena_, Tok::kFloat, text);
  }
  QuoteStyle style;
  style.bytes = n->type == NodeType::kBytes;
  style.tabs = static_cast<int>(scopes_.depth());
  return make_lit(arena_, Tok::kString, quote(style.bytes ? to<Bytes>(n)->text : to<String>(n)->text, style));
}

ast::Node* Exporter::conjunction(const Conjunction* n) {
  if (n->values.empty()) return ident("_");
  if (n->values.size() == 1) return p_.simplify ? written(nullptr, n->values[0]) : value(n->values[0]);
  std::vector<ast::Node*> parts;
  for (const ConstraintTerm& t : constraint_terms(n->values, p_.simplify))
    parts.push_back(!t.type.empty() ? ident(predeclared_name(std::string(t.type)))
                    : t.bound       ? written(nullptr, t.constraint)
                                    : value(t.constraint));
  return join(Tok::kAnd, parts);
}

ast::Node* Exporter::disjunction(const Disjunction* n) {
  std::vector<ast::Node*> parts;
  for (Node* v : n->values) {
    ast::Node* x = p_.simplify ? value(v) : written(nullptr, v);
    parts.push_back(parts.size() < n->defaults ? unary(Tok::kMul, x) : x);
  }
  return join(Tok::kOr, parts);
}

ast::Node* Exporter::value(Node* n, const Vertex* field) {
  if (p_.take_defaults) n = c_.default_of(n);
  switch (n->type) {
    case NodeType::kVertex: return vertex(to<Vertex>(n));
    case NodeType::kConjunction: return conjunction(to<Conjunction>(n));
    case NodeType::kDisjunction: return disjunction(to<Disjunction>(n));
    case NodeType::kBottom: return bottom(to<Bottom>(n));
    case NodeType::kBuiltin: return builtin(to<Builtin>(n));
    case NodeType::kValidator: return validator(to<Validator>(n));
    case NodeType::kBound: return unary(op_token(to<Bound>(n)->op), value(to<Bound>(n)->value));
    case NodeType::kNum:
    case NodeType::kString:
    case NodeType::kBytes: return literal(n, field);
    case NodeType::kNull: return make_lit(arena_, Tok::kNull, "null");
    case NodeType::kBool:
      return to<Bool>(n)->value ? make_lit(arena_, Tok::kTrue, "true") : make_lit(arena_, Tok::kFalse, "false");
    case NodeType::kBasicType:
      if (Kinds k = to<BasicType>(n)->kind; k != kTopKind) return ident(predeclared_name(kinds_text(k)));
      break;
    default: break;
  }
  return ident("_");
}

}  // namespace tutti::cue
