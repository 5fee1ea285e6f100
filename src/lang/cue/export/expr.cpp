// Expressions as syntax, with the names that their targets have in the output.
#include <algorithm>

#include "lang/cue/compile/compile.h"
#include "lang/cue/export/constraint.h"
#include "lang/cue/export/exporter.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

ast::Node* Exporter::expr(Environment* env, Node* x) {
  if (!x) return nullptr;
  switch (x->type) {
    case NodeType::kVertex: {
      auto* v = to<Vertex>(x);
      if (v->is_data_value()) return value(v, v);
      std::vector<Conj> list;
      for (const Conjunct& c : v->conjuncts) list.push_back({c, 0});
      return merge({}, v, list);
    }
    case NodeType::kStruct: return merge({}, nullptr, {{Conjunct{env, x, {}}, 0}});
    default: return x->is_value() ? value(x) : adt(env, x);
  }
}

void Exporter::pop() {
  for (auto& [bits, e] : top().fields)
    if (!e.alias.empty() && e.field) set_alias(arena_, e.field, e.alias);
  stack_.pop_back();
}

void Exporter::set_alias(Arena& arena, ast::Field* f, std::string_view name) {
  if (f->label->kind == ast::Kind::kAlias) return;
  auto* id = arena.make<ast::Ident>(TokenPos{}, Symbol(name));
  f->label = arena.make<ast::Alias>(id, TokenPos{}, f->label);
}

Exporter::Frame* Exporter::frame(i32 up, bool need_field) {
  for (std::size_t i = stack_.size(); i-- > 0;) {
    Frame& f = stack_[i];
    if (up <= f.up - 1 && (!need_field || f.field)) return &f;
    up -= f.up;
  }
  return nullptr;
}

std::string Exporter::unique_name(std::string_view base) {
  std::string name(base);
  if (used_.try_emplace(name, nullptr).second) return name;
  for (int i = 1;; ++i) {
    name = std::string(base) + "_" + std::to_string(i);
    if (used_.try_emplace(name, nullptr).second) return name;
  }
}

// Notes the lets of a struct, so that they can be written where they were once something uses them.
void Exporter::mark_lets(Node* x) {
  if (!x) return;
  switch (x->type) {
    case NodeType::kStruct:
      for (Node* d : to<StructLit>(x)->decls) {
        if (d->type == NodeType::kLetField) {
          Label l = to<LetField>(d)->label;
          auto* let = arena_.make<ast::Let>(TokenPos{}, nullptr, TokenPos{}, nullptr);
          lets_[l.bits()] = {let, false};
          top().scope.push_back(let);
        } else if (d->is_expr()) {
          mark_lets(d);
        }
      }
      break;
    case NodeType::kBinary:
      mark_lets(to<Binary>(x)->x);
      mark_lets(to<Binary>(x)->y);
      break;
    default: break;
  }
}

// Names that appear in an expression: a let must not be given one of them.
void Exporter::mark_used(Node* x) {
  if (!x) return;
  auto name = [&](Label l) {
    if (!l.is_let() && l.valid() && !l.is_int()) used_.try_emplace(std::string(l.name()), nullptr);
  };
  auto all = [&](std::span<Node* const> list) {
    for (Node* n : list) mark_used(n);
  };
  switch (x->type) {
    case NodeType::kVertex:
      if (!to<Vertex>(x)->is_data_value())
        for (const Conjunct& c : to<Vertex>(x)->conjuncts) mark_used(c.x);
      break;
    case NodeType::kField: name(to<Field>(x)->label), mark_used(to<Field>(x)->value); break;
    case NodeType::kLetField: mark_used(to<LetField>(x)->value); break;
    case NodeType::kDynamicField: mark_used(to<DynamicField>(x)->key), mark_used(to<DynamicField>(x)->value); break;
    case NodeType::kPattern: mark_used(to<Pattern>(x)->filter), mark_used(to<Pattern>(x)->value); break;
    case NodeType::kEllipsis: mark_used(to<Ellipsis>(x)->value); break;
    case NodeType::kFieldRef: name(to<FieldRef>(x)->label); break;
    case NodeType::kSelector: mark_used(to<Selector>(x)->x), name(to<Selector>(x)->label); break;
    case NodeType::kIndex: mark_used(to<Index>(x)->x), mark_used(to<Index>(x)->index); break;
    case NodeType::kSlice:
      mark_used(to<Slice>(x)->x), mark_used(to<Slice>(x)->low), mark_used(to<Slice>(x)->high);
      break;
    case NodeType::kInterpolation: all(to<Interpolation>(x)->parts); break;
    case NodeType::kUnary: mark_used(to<Unary>(x)->x); break;
    case NodeType::kBinary: mark_used(to<Binary>(x)->x), mark_used(to<Binary>(x)->y); break;
    case NodeType::kBoundExpr: mark_used(to<BoundExpr>(x)->x); break;
    case NodeType::kOpen: mark_used(to<Open>(x)->x); break;
    case NodeType::kCall: mark_used(to<Call>(x)->fun), all(to<Call>(x)->args); break;
    case NodeType::kDisjunctionExpr:
      for (const Disjunct& d : to<DisjunctionExpr>(x)->values) mark_used(d.value);
      break;
    case NodeType::kStruct: all(to<StructLit>(x)->decls); break;
    case NodeType::kList: all(to<ListLit>(x)->elems); break;
    case NodeType::kComprehension:
      all(to<Comprehension>(x)->clauses);
      mark_used(to<Comprehension>(x)->value);
      mark_used(to<Comprehension>(x)->fallback);
      break;
    case NodeType::kFor:
      name(to<ForClause>(x)->key), name(to<ForClause>(x)->value), mark_used(to<ForClause>(x)->source);
      break;
    case NodeType::kIf: mark_used(to<IfClause>(x)->condition); break;
    case NodeType::kLet: name(to<LetClause>(x)->label), mark_used(to<LetClause>(x)->x); break;
    case NodeType::kTry: mark_used(to<TryClause>(x)->x); break;
    default: break;
  }
}

ast::Node* Exporter::resolve_let(Environment* env, const LetRef* x) {
  auto it = lets_.find(x->label.bits());
  if (it == lets_.end()) {
    // Its struct is not part of the output: the expression stands for it.
    for (u32 i = 0; i < x->up && env; ++i) env = env->up;
    if (env && env->vertex)
      if (Vertex* v = env->vertex->find_raw(x->label); v && !v->conjuncts.empty())
        return expr(v->conjuncts[0].env, expression_of(v->conjuncts[0].x));
    return ident(x->label.name());
  }
  LetInfo& info = it->second;
  if (!info.filled) {
    info.filled = true;
    info.let->ident = ident(unique_name(x->label.name()));
    Environment* at = env;
    for (u32 i = 0; i < x->up && at; ++i) at = at->up;
    Node* body = nullptr;
    Environment* body_env = at;
    if (at && at->vertex)
      if (Vertex* v = at->vertex->find_raw(x->label); v && !v->conjuncts.empty()) {
        body = expression_of(v->conjuncts[0].x);
        body_env = v->conjuncts[0].env;
      }
    ast::Node* e = body ? expr(body_env, body) : nullptr;
    // (filling it may have moved the table)
    lets_[x->label.bits()].let->x = e ? e : ident("_");
  }
  return ident(lets_[x->label.bits()].let->ident->name.text());
}

ast::Node* Exporter::field_ident(const ast::Node* src, Label l, u32 up) {
  std::string name(l.name());
  Frame* f = frame(static_cast<i32>(up), false);
  if (f) {
    Entry& e = f->fields[l.bits()];
    std::string written =
        src && src->kind == ast::Kind::kIdent ? std::string(static_cast<const ast::Ident*>(src)->name.text()) : "X";
    if (!e.alias.empty()) {
      name = e.alias;
    } else if (!is_identifier(name) || (l.is_string() && written != name)) {
      name = unique_name(written);
      e.alias = name;
    }
  } else if (!is_identifier(name) && src && src->kind == ast::Kind::kIdent) {
    name = static_cast<const ast::Ident*>(src)->name.text();
  }
  return ident(name);
}

ast::Node* Exporter::resolve(Environment* env, Node* x) {
  auto optional = [&](ast::Node* n, bool is) -> ast::Node* {
    return is ? arena_.make<ast::Postfix>(n, Tok::kOption, TokenPos{}) : n;
  };
  switch (x->type) {
    case NodeType::kFieldRef: {
      auto* r = to<FieldRef>(x);
      return optional(field_ident(r->src, r->label, r->up), r->optional);
    }
    case NodeType::kValueRef: {
      // Through the alias of a value: the name it was given in the output.
      std::string name = "self";
      if (x->src && x->src->kind == ast::Kind::kIdent) {
        name = static_cast<const ast::Ident*>(x->src)->name.text();
        for (const auto& [alias, now] : value_alias_)
          if (static_cast<const ast::Alias*>(alias)->ident->name.text() == name) name = now;
      }
      return ident(name);
    }
    case NodeType::kDynamicRef: {
      std::string name = x->src && x->src->kind == ast::Kind::kIdent
                             ? std::string(static_cast<const ast::Ident*>(x->src)->name.text())
                             : "X";
      for (std::size_t i = stack_.size(); i-- > 0;)
        for (auto& [alias, f] : stack_[i].dynamic)
          if (alias == name) set_alias(arena_, f, name);
      return ident(name);
    }
    case NodeType::kImportRef: {
      std::string path(to<ImportRef>(x)->path.text());
      std::string name = x->src && x->src->kind == ast::Kind::kIdent
                             ? std::string(static_cast<const ast::Ident*>(x->src)->name.text())
                             : import_name(path);
      imports_[path] = name;
      return ident(name);
    }
    case NodeType::kLetRef: return resolve_let(env, to<LetRef>(x));
    case NodeType::kSelector: {
      auto* s = to<Selector>(x);
      return optional(arena_.make<ast::Selector>(inner(env, s->x), TokenPos{}, label(s->label)), s->optional);
    }
    case NodeType::kIndex: {
      auto* i = to<Index>(x);
      return optional(arena_.make<ast::Index>(inner(env, i->x), TokenPos{}, inner(env, i->index), TokenPos{}),
                      i->optional);
    }
    default: return ident("_");
  }
}

ast::Node* Exporter::sorted_binary(Environment* env, const Binary* x) {
  std::vector<Node*> flat;
  std::vector<Node*> work{x->y, x->x};
  while (!work.empty()) {
    Node* n = work.back();
    work.pop_back();
    if (n->type == NodeType::kBinary && to<Binary>(n)->op == x->op) {
      work.push_back(to<Binary>(n)->y);
      work.push_back(to<Binary>(n)->x);
    } else {
      flat.push_back(n);
    }
  }
  std::stable_sort(flat.begin(), flat.end(), constraint_before);
  std::vector<ast::Node*> parts;
  for (Node* n : flat) {
    if (n->type == NodeType::kTop || (n->type == NodeType::kBasicType && to<BasicType>(n)->kind == kTopKind)) continue;
    if (ast::Node* e = inner(env, n)) parts.push_back(e);
  }
  if (parts.empty()) return ident("_");
  return join(op_token(x->op), parts);
}

ast::Node* Exporter::interpolation(Environment* env, const Interpolation* x) {
  bool bytes = x->kind & kBytesKind, lines = false;
  auto text_of = [](const Node* n) -> std::string_view {
    return n->type == NodeType::kString  ? to<String>(n)->text
           : n->type == NodeType::kBytes ? to<Bytes>(n)->text
                                         : std::string_view{};
  };
  for (std::size_t i = 0; i < x->parts.size(); i += 2)
    lines |= text_of(x->parts[i]).find('\n') != std::string_view::npos;
  std::string mark(lines ? 3 : 1, bytes ? '\'' : '"');
  int tabs = static_cast<int>(stack_.size());
  std::string indent(static_cast<std::size_t>(tabs), '\t');
  std::vector<ast::Node*> parts;
  for (std::size_t i = 0; i < x->parts.size(); ++i) {
    if (i % 2 == 1) {
      parts.push_back(inner(env, x->parts[i]));
      continue;
    }
    bool first = i == 0, last = i + 1 == x->parts.size();
    // The escaped text without its quotes.
    std::string body;
    std::string_view s = text_of(x->parts[i]);
    if (lines) {
      std::string q = s.empty() ? "" : quote(s, {.bytes = bytes, .tabs = tabs, .always_lines = true});
      if (!s.empty()) {
        std::size_t from = q.find('\n') + 1, to = q.rfind('\n');
        body = q.substr(from, to - from);
        if (body.starts_with(indent)) body.erase(0, indent.size());
      }
    } else {
      std::string q = quote(s, {.bytes = bytes});
      body = q.substr(1, q.size() - 2);
    }
    std::string out = first ? mark + (lines ? "\n" + indent : "") : ")";
    out += body;
    if (last) {
      if (lines) out += "\n" + indent;
      out += mark;
    } else {
      if (lines && out.ends_with('\n')) out += indent;
      out += "\\(";
    }
    parts.push_back(make_lit(arena_, Tok::kString, out));
  }
  return arena_.make<ast::Interpolation>(make_nodes(arena_, parts));
}

ast::Node* Exporter::adt(Environment* env, Node* x) {
  if (x->is_value()) return expr(env, x);
  if (x->is_reference()) return resolve(env, x);
  switch (x->type) {
    case NodeType::kList: {
      Environment* inner_env = new_env(env);
      std::vector<ast::Node*> elts;
      for (Node* e : to<ListLit>(x)->elems) elts.push_back(elem(inner_env, e));
      return make_list(arena_, elts);
    }
    case NodeType::kStruct: {
      Environment* inner_env = new_env(env);
      std::vector<ast::Node*> decls;
      for (Node* d : to<StructLit>(x)->decls) {
        std::string alias;
        const ast::Node* aliased = nullptr;
        if (d->src && d->src->kind == ast::Kind::kField) {
          aliased = static_cast<const ast::Field*>(d->src)->value;
          if (aliased && aliased->kind == ast::Kind::kAlias) {
            alias = static_cast<const ast::Alias*>(aliased)->ident->name.text();
            value_alias_[aliased] = alias;
          }
        }
        ast::Node* n = decl(inner_env, d);
        if (!n) continue;
        if (p_.show_docs && d->src)
          for (const ast::CommentGroup& g : d->src->comments())
            if (g.doc) ast::add_comment(arena_, n, g);
        if (!alias.empty() && n->kind == ast::Kind::kField) {
          auto* f = static_cast<ast::Field*>(n);
          f->value = arena_.make<ast::Alias>(ident(alias), TokenPos{}, f->value);
        }
        decls.push_back(n);
      }
      return make_struct(decls);
    }
    case NodeType::kLabelRef: {
      Frame* f = frame(static_cast<i32>(to<LabelRef>(x)->up), true);
      if (!f) return ident("string");
      auto* list = static_cast<ast::List*>(f->field->label);
      if (list->kind != ast::Kind::kList || list->elts.empty()) return ident("string");
      if (list->elts[0]->kind == ast::Kind::kAlias)
        return ident(static_cast<ast::Alias*>(list->elts[0])->ident->name.text());
      std::string name = x->src && x->src->kind == ast::Kind::kIdent
                             ? std::string(static_cast<const ast::Ident*>(x->src)->name.text())
                             : "X";
      name = unique_name(name);
      list->elts[0] = arena_.make<ast::Alias>(ident(name), TokenPos{}, list->elts[0]);
      return ident(name);
    }
    case NodeType::kSlice: {
      auto* s = to<Slice>(x);
      return arena_.make<ast::Slice>(inner(env, s->x), TokenPos{}, inner(env, s->low), inner(env, s->high), TokenPos{});
    }
    case NodeType::kInterpolation: return interpolation(env, to<Interpolation>(x));
    case NodeType::kBoundExpr: return unary(op_token(to<BoundExpr>(x)->op), inner(env, to<BoundExpr>(x)->x));
    case NodeType::kUnary: return unary(op_token(to<Unary>(x)->op), inner(env, to<Unary>(x)->x));
    case NodeType::kOpen: return arena_.make<ast::Postfix>(inner(env, to<Open>(x)->x), Tok::kEllipsis, TokenPos{});
    case NodeType::kBinary: {
      auto* b = to<Binary>(x);
      if (b->op == Op::kAnd || b->op == Op::kOr) return sorted_binary(env, b);
      ast::Node *l = inner(env, b->x), *r = inner(env, b->y);
      return arena_.make<ast::Binary>(l, TokenPos{}, op_token(b->op), r);
    }
    case NodeType::kCall: {
      auto* call = to<Call>(x);
      std::vector<ast::Node*> args;
      for (Node* a : call->args) args.push_back(inner(env, a));
      ast::Node* fun = inner(env, call->fun);
      return arena_.make<ast::Call>(fun, TokenPos{}, make_nodes(arena_, args), TokenPos{});
    }
    case NodeType::kDisjunctionExpr: {
      std::vector<ast::Node*> parts;
      for (const Disjunct& d : to<DisjunctionExpr>(x)->values) {
        ast::Node* v = expr(env, d.value);
        parts.push_back(d.marked ? unary(Tok::kMul, v) : v);
      }
      return join(Tok::kOr, parts);
    }
    case NodeType::kComprehension: return comprehension(env, to<Comprehension>(x));
    default: return ident("_");
  }
}

ast::Node* Exporter::elem(Environment* env, Node* d) {
  if (d->type == NodeType::kEllipsis) {
    Node* v = to<Ellipsis>(d)->value;
    return arena_.make<ast::Ellipsis>(TokenPos{}, v ? expr(env, v) : nullptr);
  }
  if (d->type == NodeType::kComprehension) return comprehension(env, to<Comprehension>(d));
  return expr(env, d);
}

ast::Node* Exporter::decl(Environment* env, Node* d) {
  auto attrs = [&](ast::Field* f) {
    std::vector<ast::Node*> list;
    field_attrs(list, d);
    f->attrs = make_nodes(arena_, list);
  };
  auto label_alias = [&]() -> std::string {
    if (!d->src || d->src->kind != ast::Kind::kField) return "";
    const ast::Node* l = static_cast<const ast::Field*>(d->src)->label;
    return l->kind == ast::Kind::kAlias ? std::string(static_cast<const ast::Alias*>(l)->ident->name.text()) : "";
  };
  switch (d->type) {
    case NodeType::kField: {
      auto* x = to<Field>(d);
      auto* f = arena_.make<ast::Field>(label(x->label));
      f->constraint = arc_token(x->arc);
      Frame* at = frame(0, false);
      if (at) {
        Entry& e = at->fields[x->label.bits()];
        e.field = f;
        if (std::string a = label_alias(); !a.empty() && e.alias.empty()) e.alias = a;
      }
      attrs(f);
      if (x->value->type == NodeType::kStruct) {
        Vertex* src = at && at->node ? at->node->find_raw(x->label) : nullptr;
        f->value = merge({}, src, {{Conjunct{env, x->value, {}}, 0}});
      } else {
        f->value = expr(env, x->value);
      }
      return f;
    }
    case NodeType::kLetField: return nullptr;
    case NodeType::kPattern: {
      auto* x = to<Pattern>(d);
      Frame* at = frame(0, false);
      auto* f = arena_.make<ast::Field>(make_list(arena_, {inner(env, x->filter)}));
      if (at) {
        at->field = f;
        if (std::string a = label_alias(); !a.empty()) at->dynamic.emplace_back(a, f);
      }
      f->value = expr(env, x->value);
      attrs(f);
      return f;
    }
    case NodeType::kDynamicField: {
      auto* x = to<DynamicField>(d);
      ast::Node* key = inner(env, x->key);
      if (key->kind != ast::Kind::kInterpolation && key->kind != ast::Kind::kLit)
        key = arena_.make<ast::Paren>(TokenPos{}, key, TokenPos{});
      auto* f = arena_.make<ast::Field>(key);
      f->constraint = arc_token(x->arc);
      if (Frame* at = frame(0, false)) at->dynamic.emplace_back(label_alias(), f);
      f->value = expr(env, x->value);
      attrs(f);
      return f;
    }
    default: {
      ast::Node* e = elem(env, d);
      if (e && (e->kind == ast::Kind::kComprehension || e->kind == ast::Kind::kEllipsis)) return e;
      return e ? arena_.make<ast::Embed>(e) : nullptr;
    }
  }
}

ast::Node* Exporter::comprehension(Environment* env, const Comprehension* x) {
  std::vector<ast::Node*> clauses;
  Environment* outer = env;
  int frames = 0;
  auto scope = [&] {
    env = c_.new_env(env, c_.empty_node);
    return env;
  };
  auto enter = [&] {
    push(c_.empty_node);
    top().up = 1;
    ++frames;
  };
  for (Node* y : x->clauses) {
    switch (y->type) {
      case NodeType::kFor: {
        auto* f = to<ForClause>(y);
        ast::Node* source = inner(env, f->source);
        scope();
        bool key = f->key.valid();
        auto* clause = arena_.make<ast::ForClause>(TokenPos{}, key ? ident(f->key.name()) : nullptr, TokenPos{},
                                                   ident(f->value.valid() ? f->value.name() : "_"), TokenPos{}, source);
        if (y->src) clause->pos.rel = ast::first(y->src).rel;
        clauses.push_back(clause);
        enter();
        break;
      }
      case NodeType::kIf: {
        auto* clause = arena_.make<ast::IfClause>(TokenPos{}, inner(env, to<IfClause>(y)->condition));
        if (y->src) clause->pos.rel = ast::first(y->src).rel;
        clauses.push_back(clause);
        break;
      }
      case NodeType::kLet: {
        auto* l = to<LetClause>(y);
        ast::Node* e = inner(env, l->x);
        scope();
        auto* clause = arena_.make<ast::Let>(TokenPos{}, ident(l->label.name()), TokenPos{}, e);
        if (y->src) clause->pos.rel = ast::first(y->src).rel;
        clauses.push_back(clause);
        enter();
        break;
      }
      case NodeType::kTry: {
        auto* t = to<TryClause>(y);
        auto* clause = arena_.make<ast::TryClause>(TokenPos{});
        if (t->label.valid()) {
          clause->x = inner(env, t->x);
          clause->ident = ident(t->label.name());
          scope();
          enter();
        }
        clauses.push_back(clause);
        break;
      }
      default: break;
    }
  }
  ast::Node* v = expr(env, x->value);
  if (v->kind != ast::Kind::kStruct) v = make_struct({arena_.make<ast::Embed>(v)}, true);
  for (; frames > 0; --frames) pop();
  ast::FallbackClause* fallback = nullptr;
  if (x->fallback) {
    ast::Node* body = expr(outer, x->fallback);
    if (body->kind == ast::Kind::kStruct) fallback = arena_.make<ast::FallbackClause>(TokenPos{}, body);
  }
  return arena_.make<ast::Comprehension>(make_nodes(arena_, clauses), v, fallback);
}

}  // namespace tutti::cue
