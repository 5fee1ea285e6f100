#include <fmt/format.h>

#include <algorithm>

#include "lang/cue/builtin/registry.h"
#include "lang/cue/compile/compile.h"
#include "lang/cue/eval/error_code.h"
#include "lang/cue/eval/predeclared.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

using ast::as;
using AK = ast::Kind;

namespace {
Op op_of(Tok t) {
  switch (t) {
    case Tok::kAnd: return Op::kAnd;
    case Tok::kOr: return Op::kOr;
    case Tok::kAdd: return Op::kAdd;
    case Tok::kSub: return Op::kSub;
    case Tok::kMul: return Op::kMul;
    case Tok::kQuo: return Op::kQuo;
    case Tok::kLand: return Op::kLand;
    case Tok::kLor: return Op::kLor;
    case Tok::kEql: return Op::kEq;
    case Tok::kNeq: return Op::kNe;
    case Tok::kLss: return Op::kLt;
    case Tok::kLeq: return Op::kLe;
    case Tok::kGtr: return Op::kGt;
    case Tok::kGeq: return Op::kGe;
    case Tok::kMat: return Op::kMatch;
    case Tok::kNmat: return Op::kNotMatch;
    case Tok::kNot: return Op::kNot;
    default: return Op::kNone;
  }
}

// An operand in a message, where it is a name, a literal or one of them after an operator.
std::string source_text(const ast::Node* n) {
  switch (n->kind) {
    case AK::kIdent: return std::string(as<ast::Ident>(n)->name.text());
    case AK::kLit: return std::string(as<ast::Lit>(n)->text);
    case AK::kUnary: return std::string(token_text(as<ast::Unary>(n)->op)) + source_text(as<ast::Unary>(n)->x);
    default: return "_";
  }
}
}  // namespace

Node* Compiler::expr(ast::Node* n) {
  switch (n->kind) {
    case AK::kIdent: return resolve(as<ast::Ident>(n));
    case AK::kFunc: return store_.make<Top>(n);
    case AK::kStruct: {
      push(1);
      auto* s = store_.make<StructLit>(n);
      struct_body(s, as<ast::Struct>(n)->elts);
      pop();
      return s;
    }
    case AK::kList: {
      push(1);
      auto* l = store_.make<ListLit>(n);
      l->explicit_open = experiments_.explicit_open;
      std::vector<Node*> elems;
      for (ast::Node* e : as<ast::List>(n)->elts) {
        if (e->kind == AK::kEllipsis) {
          auto* x = as<ast::Ellipsis>(e);
          elems.push_back(store_.make<Ellipsis>(x->type ? expr(x->type) : nullptr, x));
        } else if (e->kind == AK::kComprehension) {
          elems.push_back(comprehension(as<ast::Comprehension>(e), true));
        } else {
          elems.push_back(expr(e));
        }
      }
      l->elems = store_.keep(elems);
      pop();
      return l;
    }
    case AK::kSelector: {
      auto* s = as<ast::Selector>(n);
      Node* x = expr(s->x);
      auto* out = store_.make<Selector>(x, label(s->sel), n);
      return out;
    }
    case AK::kIndex: {
      auto* i = as<ast::Index>(n);
      Node* x = expr(i->x);
      return store_.make<Index>(x, expr(i->index), n);
    }
    case AK::kSlice: {
      auto* s = as<ast::Slice>(n);
      Node* x = expr(s->x);
      Node* low = s->low ? expr(s->low) : nullptr;
      Node* high = s->high ? expr(s->high) : nullptr;
      return store_.make<Slice>(x, low, high, n);
    }
    case AK::kBottom: {
      auto* b = store_.make<Bottom>(Code::kLegacyUser);
      b->set_src(n);
      b->pos = as<ast::Bottom>(n)->pos.pos;
      auto* e = store_.arena().make<Error>();
      e->format = "explicit error (_|_ literal) in source";
      e->pos = b->pos;
      b->error = e;
      return b;
    }
    case AK::kBad: return bad(n, "invalid expression");
    case AK::kLit: return literal(as<ast::Lit>(n));
    case AK::kInterpolation: return interpolation(as<ast::Interpolation>(n));
    case AK::kParen: return expr(as<ast::Paren>(n)->x);
    case AK::kCall: {
      auto* c = as<ast::Call>(n);
      Node* fun = expr(c->fun);
      std::vector<Node*> args;
      for (ast::Node* a : c->args) args.push_back(expr(a));
      auto* out = store_.make<Call>(fun, store_.keep(args), n);
      return out;
    }
    case AK::kUnary: return unary(as<ast::Unary>(n));
    case AK::kBinary: return binary(as<ast::Binary>(n));
    case AK::kPostfix: return postfix(as<ast::Postfix>(n));
    case AK::kAlias: return bad(n, "alias values not allowed in this position");
    default: return bad(n, "values not allowed in this position");
  }
}

Node* Compiler::unary(const ast::Unary* n) {
  switch (n->op) {
    case Tok::kNot:
    case Tok::kAdd:
    case Tok::kSub: {
      Op op = op_of(n->op);
      return store_.make<Unary>(op, expr(n->x), n);
    }
    case Tok::kMul: return bad(n, "preference mark not allowed at this position");
    default: return store_.make<BoundExpr>(op_of(n->op), expr(n->x), n);
  }
}

Node* Compiler::binary(const ast::Binary* n) {
  if (n->op == Tok::kOr) {
    std::vector<Disjunct> values;
    bool marked = false;
    disjuncts(values, marked, n->x, false);
    disjuncts(values, marked, n->y, false);
    auto* d = store_.make<DisjunctionExpr>(store_.keep(values), n);
    d->has_defaults = marked;
    return d;
  }
  Op op = op_of(n->op);
  Node* x = expr(n->x);
  Node* y = expr(n->y);
  if (op != Op::kAnd) {
    assert_concrete(n->x, op, x);
    assert_concrete(n->y, op, y);
  }
  auto* b = store_.make<Binary>(op, x, y, n);
  b->short_circuit = experiments_.short_circuit;
  return b;
}

void Compiler::disjuncts(std::vector<Disjunct>& out, bool& marked, ast::Node* n, bool mark) {
  if (n->kind == AK::kBinary && as<ast::Binary>(n)->op == Tok::kOr) {
    disjuncts(out, marked, as<ast::Binary>(n)->x, mark);
    disjuncts(out, marked, as<ast::Binary>(n)->y, mark);
    return;
  }
  if (n->kind == AK::kUnary && as<ast::Unary>(n)->op == Tok::kMul) {
    marked = true;
    disjuncts(out, marked, as<ast::Unary>(n)->x, true);
    return;
  }
  out.push_back({Ref(expr(n)), mark});
}

void Compiler::assert_concrete(const ast::Node* n, Op op, const Node* x) {
  bool possible = true;
  switch (x->type) {
    case NodeType::kBoundExpr:
    case NodeType::kTop:
    case NodeType::kBasicType:
    case NodeType::kBound:
    case NodeType::kConjunction:
    case NodeType::kDisjunction: possible = false; break;
    default: break;
  }
  if (possible) return;
  error(ast::first(n).pos,
        fmt::format("invalid operand {} ('{}' requires concrete value)", source_text(n), op_text(op)));
}

// What is part of the source need not be copied: it stays where it is as long as its places can be shown.
std::string_view Compiler::kept(std::string_view text) {
  std::less_equal<const char*> before;
  bool within =
      before(source_.data(), text.data()) && before(text.data() + text.size(), source_.data() + source_.size());
  return within ? text : store_.keep(text);
}

Node* Compiler::literal(const ast::Lit* n) {
  switch (n->tok) {
    case Tok::kString: {
      if (std::string_view inside; is_plain_string(n->text, inside)) return store_.make<String>(kept(inside), n);
      std::string message;
      auto q = parse_quotes(n->text, n->text, message);
      if (!q) return bad(n, message);
      auto u = unquote(n->text);
      if (!u.ok()) return bad(n, fmt::format("invalid string: {}", u.error));
      std::string_view text = store_.keep(std::string_view(u.text));
      if (q->bytes) return store_.make<Bytes>(text, n);
      return store_.make<String>(text, n);
    }
    case Tok::kInt:
    case Tok::kFloat: {
      Number num = parse_number(n->text);
      if (!num.ok()) return bad(n, fmt::format("parse error: {}", num.error));
      return store_.num(num.integer ? kIntKind : kFloatKind, num.value, n);
    }
    case Tok::kTrue: return store_.make<Bool>(true, n);
    case Tok::kFalse: return store_.make<Bool>(false, n);
    case Tok::kNull: return store_.make<Null>(n);
    default: return bad(n, "unknown literal type");
  }
}

Node* Compiler::interpolation(const ast::Interpolation* n) {
  if (n->parts.size() == 1) return expr(n->parts[0]);
  std::string message;
  auto q = parse_quotes(as<ast::Lit>(n->parts.front())->text, as<ast::Lit>(n->parts.back())->text, message);
  if (!q) return bad(n, fmt::format("invalid interpolation: {}", message));
  std::vector<Node*> parts;
  parts.reserve(n->parts.size());
  for (std::size_t i = 0; i < n->parts.size(); ++i) {
    if (i % 2) {
      parts.push_back(expr(n->parts[i]));
      continue;
    }
    auto* l = as<ast::Lit>(n->parts[i]);
    std::string_view text = l->text;
    if (i > 0) {
      if (text.empty() || text[0] != ')') return bad(l, "invalid interpolation: unmatched ')'");
      text.remove_prefix(1);
    } else {
      text.remove_prefix(std::min(q->opening, text.size()));
    }
    auto u = unquote_part(*q, text);
    if (!u.ok()) return bad(l, fmt::format("invalid string: {}", u.error));
    parts.push_back(store_.make<String>(store_.keep(std::string_view(u.text)), l));
  }
  return store_.make<Interpolation>(q->bytes ? kBytesKind : kStringKind, store_.keep(parts), n);
}

Node* Compiler::postfix(const ast::Postfix* n) {
  if (n->op == Tok::kEllipsis) {
    if (!experiments_.explicit_open) return bad(n, "postfix ... operator requires @experiment(explicitopen)");
    return store_.make<Open>(expr(n->x), n);
  }
  if (!experiments_.try_clause)
    error(ast::first(n).pos, "optional marker (?) requires the try experiment (language version v0.16.0 or later)");
  else if (in_try_ == 0)
    error(ast::first(n).pos, "optional marker (?) is only valid within a try clause");
  Node* x = expr(n->x);
  switch (x->type) {
    case NodeType::kFieldRef: to<FieldRef>(x)->optional = true; return x;
    case NodeType::kSelector: to<Selector>(x)->optional = true; return x;
    case NodeType::kIndex: to<Index>(x)->optional = true; return x;
    case NodeType::kBottom: return x;
    default: return bad(n, "optional marker (?) can only be used on references");
  }
}

// ---- identifiers

Node* Compiler::resolve(const ast::Ident* n) {
  Symbol name = n->name;
  if (name.text() == "_") return store_.make<Top>(n);
  std::size_t k = 0;
  if (Entry* e = lookup(name, &k)) return reference(n, *e, k);
  Label l = label(n);
  u32 up = 0;
  for (auto& f : stack_) up += f.up;
  if (std::binary_search(file_scope_.begin(), file_scope_.end(), l,
                         [](Label a, Label b) { return a.bits() < b.bits(); }))
    return store_.make<FieldRef>(up, l, n);
  if (Node* p = predeclared(n)) return p;
  if (infer_packages_)
    if (std::string_view path = package_by_name(name.text()); !path.empty()) {
      imports_.push_back(Symbol(path));
      return store_.make<ImportRef>(Symbol(path), n);
    }
  return bad(n, fmt::format("reference \"{}\" not found", name.text()), meant(name));
}

// The name in scope that a name without meaning is nearest to.
std::string Compiler::meant(Symbol name) const {
  if (std::string_view path = package_by_name(name.text()); !path.empty()) return fmt::format("import \"{}\"", path);
  std::vector<std::string_view> names;
  for (auto f = stack_.rbegin(); f != stack_.rend(); ++f)
    for (auto& [known, entry] : f->names) {
      bool own = f->label_node && f->label_node->kind == AK::kIdent && as<ast::Ident>(f->label_node)->name == known;
      if (!own) names.push_back(known.text());  // the field whose value this is
    }
  for (Label l : file_scope_)
    if (!l.is_int()) names.push_back(l.name());
  for (std::string_view p : predeclared_names()) names.push_back(p);
  return meant_name(name.text(), names);
}

Node* Compiler::predeclared(const ast::Ident* n) {
  std::string_view name = n->name.text();
  if (name == "self" || name == "__self") {
    if (!experiments_.alias_v2)
      return bad(n, fmt::format("predeclared identifier \"{}\" requires @experiment(aliasv2)", name));
    return store_.make<ValueRef>(1, n);
  }
  if (name == "__test_experiment")
    return predeclared_function(experiments_.testing ? "testExperiment+" : "testExperiment");
  return predeclared_value(store_, name, n);
}

// A let may use other lets but not, through them, itself.
void Compiler::check_let(Entry& e, std::size_t frame, const ast::Ident* n) {
  e.used = true;
  if (e.let_state == Entry::kDone) return;
  if (e.let_state == Entry::kCompiling) {
    error(n->pos.pos, "cyclic references in let clause or alias");
    return;
  }
  e.let_state = Entry::kCompiling;
  auto* let = as<ast::Let>(e.node);
  std::vector<Frame> above;
  while (stack_.size() > frame + 1) {
    above.push_back(std::move(stack_.back()));
    stack_.pop_back();
  }
  bool saved_var = refers_to_variable_;
  auto saved_hidden = hidden_;
  std::erase_if(hidden_, [&](auto& h) { return h.first >= frame; });
  hidden_.push_back({frame, let});
  labeled(let, let->x);  // only to follow its references: the let itself is made where it is declared
  hidden_ = std::move(saved_hidden);
  refers_to_variable_ = saved_var;
  e.let_state = Entry::kDone;
  while (!above.empty()) {
    stack_.push_back(std::move(above.back()));
    above.pop_back();
  }
}

Node* Compiler::reference(const ast::Ident* n, Entry& e, std::size_t k) {
  u32 up = depth_to(k);
  Frame& f = stack_[k];
  if (f.comprehension_var) refers_to_variable_ = true;
  switch (e.kind) {
    case EntryKind::kImport: {
      e.used = true;
      if (std::find(imports_.begin(), imports_.end(), e.import_path) == imports_.end())
        imports_.push_back(e.import_path);
      return store_.make<ImportRef>(e.import_path, n);
    }
    case EntryKind::kField:
    case EntryKind::kClause: return store_.make<FieldRef>(up, label(n), n);
    case EntryKind::kLet: {
      Label l = e.let_label;
      check_let(e, k, n);
      return store_.make<LetRef>(up, l, n);
    }
    case EntryKind::kValueAlias: e.used = true; return store_.make<ValueRef>(up, n);
    case EntryKind::kLabel: {
      e.used = true;
      const ast::Field* field = e.field;
      if (field->alias && field->alias->label == e.node) {
        const ast::Node* l = field->label;
        if (l->kind == AK::kIdent) {
          std::string_view name = as<ast::Ident>(l)->name.text();
          if (name.find('#') < 2 || name[0] == '_')
            return bad(e.node, "label alias cannot reference definition or hidden field");
          return store_.make<String>(name, l);
        }
        if (l->kind == AK::kLit) return literal(as<ast::Lit>(l));
      }
      return store_.make<LabelRef>(up, n);
    }
    case EntryKind::kAlias: {
      e.used = true;
      const ast::Node* l = e.field->label;
      if (l->kind == AK::kAlias) l = as<ast::Alias>(l)->x;
      switch (l->kind) {
        case AK::kList: return store_.make<DynamicRef>(up, store_.make<LabelRef>(0, n), n);
        case AK::kIdent:
        case AK::kLit: return store_.make<FieldRef>(up, label(l), n);
        default:
          if (!e.label_expr) return bad(n, "cyclic reference in field alias");
          return store_.make<DynamicRef>(up, e.label_expr, n);
      }
    }
  }
  return nullptr;
}

}  // namespace tutti::cue
