// What several conjuncts say about one field, as one expression.
#include <algorithm>

#include "lang/cue/export/exporter.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

// Literals, bounds and operators on them: the same anywhere.
bool self_contained(const Node* x) {
  switch (x->type) {
    case NodeType::kBinary: return self_contained(to<Binary>(x)->x) && self_contained(to<Binary>(x)->y);
    case NodeType::kUnary: return self_contained(to<Unary>(x)->x);
    case NodeType::kBoundExpr: return self_contained(to<BoundExpr>(x)->x);
    default: return x->is_value();
  }
}

// Structs with patterns, dynamic fields, comprehensions or aliased labels are printed as they were written.
bool complex(const StructLit* s) {
  for (const Node* d : s->decls) {
    switch (d->type) {
      case NodeType::kField:
        if (d->src && d->src->kind == ast::Kind::kField &&
            static_cast<const ast::Field*>(d->src)->label->kind == ast::Kind::kAlias)
          return true;
        break;
      case NodeType::kLetField: break;
      case NodeType::kEllipsis:
        if (to<Ellipsis>(d)->value) return true;
        break;
      default:
        if (!d->is_expr()) return true;
    }
  }
  return false;
}

bool is_top(const Node* n) {
  return n && (n->type == NodeType::kTop || (n->type == NodeType::kBasicType && to<BasicType>(n)->kind == kTopKind));
}

}  // namespace

void Exporter::add_value(Merged& m, Vertex* src, Environment* env, Node* x) {
  if (src && is_top(x) && !is_top(src->base)) return;
  if (!m.values) m.values = c_.new_vertex();
  m.values->conjuncts.push(arena_, Conjunct{env, x, {}});
}

void Exporter::add_field(Merged& m, Label l, ArcType t, Environment* env, Node* x) {
  auto [it, fresh] = m.fields.try_emplace(l.bits());
  if (fresh) m.order.push_back(l);
  if (t < it->second.arc_type) it->second.arc_type = t;
  it->second.conjuncts.push_back({Conjunct{env, x, {}}, top().up});
}

void Exporter::add_expr(Merged& m, Environment* env, Vertex* src, Node* x, bool embed) {
  switch (x->type) {
    case NodeType::kStruct: {
      auto* s = to<StructLit>(x);
      ++top().up;
      if (p_.show_attributes) decl_attrs(m.attrs, s->src);
      if (complex(s)) {
        push(src);
        m.embed.push_back(adt(env, s));
        pop();
        --top().up;
        return;
      }
      m.structs.push_back(s);
      Environment* inner_env = new_env(env);
      for (Node* d : s->decls) {
        switch (d->type) {
          case NodeType::kField: add_field(m, to<Field>(d)->label, to<Field>(d)->arc, inner_env, d); break;
          case NodeType::kLetField: break;
          case NodeType::kEllipsis: m.ellipsis = true; break;
          default: add_expr(m, inner_env, nullptr, d, true);
        }
      }
      --top().up;
      return;
    }
    case NodeType::kVertex: {
      auto* v = to<Vertex>(x);
      if (Bottom* b = v->bottom(); b && (!b->incomplete() || p_.final)) {
        add_expr(m, env, v, b, false);
        return;
      }
      if (!v->is_data_value()) {
        for (const Conjunct& c : v->conjuncts) add_expr(m, c.env, v, expression_of(c.x), false);
        return;
      }
      m.data = true;
      for (const StructInfo& s : v->structs) m.structs.push_back(s.lit);
      if (v->base && v->base->is_value()) add_value(m, src, env, v->base);
      for (Vertex* a : v->arcs) {
        if (a->arc_type > ArcType::kOptional || a->label.is_let()) continue;
        add_field(m, a->label, a->arc_type, env, a);
      }
      return;
    }
    case NodeType::kBinary:
      if (to<Binary>(x)->op == Op::kAnd && !embed) {
        add_expr(m, env, src, to<Binary>(x)->x, false);
        add_expr(m, env, src, to<Binary>(x)->y, false);
        return;
      }
      break;
    default:
      if (x->is_value()) {
        add_value(m, src, env, x);
        return;
      }
  }
  if (self_contained(x)) {
    add_value(m, src, env, x);
  } else if (ast::Node* e = expr(env, x)) {
    (embed ? m.embed : m.conjuncts).push_back(e);
  }
}

// Labels in the order in which the literals have them: a label comes once all literals have come to it.
std::vector<Label> Exporter::merged_order(const Merged& m) const {
  std::vector<std::vector<u32>> fronts;
  std::unordered_map<u32, int> counts;
  for (StructLit* s : m.structs) {
    std::vector<u32> front;
    for (Node* d : s->decls)
      if (d->type == NodeType::kField) front.push_back(to<Field>(d)->label.bits());
    if (front.empty()) continue;
    if (front.size() > 1)
      for (std::size_t i = 1; i < front.size(); ++i) ++counts[front[i]];
    fronts.push_back(std::move(front));
  }
  std::vector<std::size_t> at(fronts.size(), 0);
  int index = -1;
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < fronts.size() && !progress; ++i) {
      if (at[i] >= fronts[i].size()) continue;
      u32 f = fronts[i][at[i]];
      int n = counts[f];
      if (n > 0) continue;
      ++at[i];
      if (fronts[i].size() - at[i] > 1 && counts[fronts[i][at[i]]] > 0)
        --counts[fronts[i][at[i]]];
      else if (fronts[i].size() - at[i] == 1 && counts[fronts[i][at[i]]] > 0)
        --counts[fronts[i][at[i]]];
      if (n == 0) counts[f] = index--;
      progress = true;
    }
    if (progress) continue;
    for (std::size_t i = 0; i < fronts.size(); ++i)
      if (at[i] < fronts[i].size()) {
        counts[fronts[i][at[i]]] = 0;  // they wait for each other: any will do
        progress = true;
        break;
      }
  }
  std::vector<Label> out = m.order;
  auto rank = [&](Label l) {
    auto it = counts.find(l.bits());
    return it == counts.end() ? 0 : it->second;
  };
  std::stable_sort(out.begin(), out.end(), [&](Label a, Label b) {
    int x = rank(a), y = rank(b);
    if (x == 0 || y == 0) return x != 0 && y == 0;
    return x > y;
  });
  return out;
}

ast::Node* Exporter::wrap_close(const Merged& m, ast::Node* s, Vertex* v) {
  if (m.ellipsis || !v || !v->closed_once) return s;
  return arena_.make<ast::Call>(ident("close"), TokenPos{}, make_nodes(arena_, {s}), TokenPos{});
}

ast::Node* Exporter::merge(Label, Vertex* src, const std::vector<Conj>& list) {
  push(src);
  Merged m;
  std::string alias;
  for (const Conj& c : list) {
    const ast::Node* s = c.c.x->src;
    if (s && s->kind == ast::Kind::kField) {
      const ast::Node* v = static_cast<const ast::Field*>(s)->value;
      if (v && v->kind == ast::Kind::kAlias) {
        if (alias.empty()) alias = unique_name(static_cast<const ast::Alias*>(v)->ident->name.text());
        value_alias_[v] = alias;
      }
    }
    mark_lets(expression_of(c.c.x));
  }
  bool has_alias = !top().scope.empty();
  std::vector<const Node*> seen;
  for (const Conj& c : list) {
    top().up = c.up;
    Node* x = expression_of(c.c.x);
    if (std::find(seen.begin(), seen.end(), x) != seen.end()) continue;
    seen.push_back(x);
    add_expr(m, c.c.env, src, x, false);
  }
  if (src)
    for (Vertex* a : src->arcs)
      if (auto it = m.fields.find(a->label.bits()); it != m.fields.end()) {
        it->second.arc = a;
        it->second.arc_type = a->arc_type;
      }
  auto done = [&](ast::Node* x) -> ast::Node* {
    if (!alias.empty()) x = arena_.make<ast::Alias>(ident(alias), TokenPos{}, x);
    pop();
    return x;
  };
  for (ast::Node* a : m.attrs) top().scope.push_back(a);
  if (m.values) {
    c_.finalize(m.values);
    m.embed.push_back(value(m.values, m.values));
  }
  auto scope_struct = [&] { return take_scope(); };
  if (m.fields.empty() && !m.ellipsis) {
    std::size_t n = m.embed.size() + m.conjuncts.size();
    if (n == 0 && m.attrs.empty()) {
      if (!m.structs.empty() || m.data) return done(wrap_close(m, scope_struct(), src));
      return done(ident("_"));
    }
    if (n == 1) {
      ast::Node* x = m.conjuncts.size() == 1 ? m.conjuncts[0] : m.embed[0];
      bool lets = false;
      for (ast::Node* d : top().scope) lets |= d->kind == ast::Kind::kLet && static_cast<ast::Let*>(d)->x;
      if (m.attrs.empty() && !(has_alias && lets)) return done(x);
      if (x->kind == ast::Kind::kStruct) {
        for (ast::Node* d : static_cast<ast::Struct*>(x)->elts) top().scope.push_back(d);
        return done(wrap_close(m, scope_struct(), src));
      }
    }
  }
  for (ast::Node* x : m.embed) top().scope.push_back(arena_.make<ast::Embed>(x));
  for (Label l : merged_order(m)) {
    if (l.is_let()) continue;
    Merged::FieldInfo& info = m.fields[l.bits()];
    if (l.is_def()) ++in_definition_;
    auto* d = arena_.make<ast::Field>(label(l));
    Entry& entry = top().fields[l.bits()];
    entry.field = d;
    if (!entry.alias.empty()) set_alias(arena_, d, entry.alias);
    d->value = merge(l, info.arc, info.conjuncts);
    if (l.is_def()) --in_definition_;
    d->constraint = arc_token(info.arc_type);
    std::vector<Conjunct> all;
    for (const Conj& c : info.conjuncts) all.push_back(c.c);
    if (p_.show_docs)
      for (const ast::CommentGroup& g : docs_of(all, nullptr)) ast::add_comment(arena_, d, g);
    if (p_.show_attributes) {
      std::vector<ast::Node*> attrs;
      for (const Conjunct& c : all) field_attrs(attrs, c.x);
      d->attrs = make_nodes(arena_, attrs);
    }
    top().scope.push_back(d);
  }
  if (m.ellipsis) top().scope.push_back(arena_.make<ast::Ellipsis>(TokenPos{}));
  ast::Node* s = wrap_close(m, scope_struct(), src);
  if (m.conjuncts.empty()) return done(s);
  if (!m.structs.empty() || !top().scope.empty()) m.conjuncts.push_back(s);
  return done(join(Tok::kAnd, m.conjuncts));
}

}  // namespace tutti::cue
