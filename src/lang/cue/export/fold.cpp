// What several expressions say about one value, in one expression: `a: #A, a: {b: 1}, a: c: 2` is
// `a: #A & {b: 1, c: 2}`. First everything is sorted by how it can be shown, then it is written.
#include <algorithm>

#include "lang/cue/export/exporter.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

// Values and operators on values mean the same anywhere.
bool is_constant(const Node* x) {
  switch (x->type) {
    case NodeType::kUnary: return is_constant(to<Unary>(x)->x);
    case NodeType::kBoundExpr: return is_constant(to<BoundExpr>(x)->x);
    case NodeType::kBinary: return is_constant(to<Binary>(x)->x) && is_constant(to<Binary>(x)->y);
    default: return x->is_value();
  }
}

bool is_anything(const Node* n) {
  return n && (n->type == NodeType::kTop || (n->type == NodeType::kBasicType && to<BasicType>(n)->kind == kTopKind));
}

const ast::Field* source_field(const Node* x) {
  return x->src() && x->src()->kind == ast::Kind::kField ? ast::as<ast::Field>(x->src()) : nullptr;
}

// Can the declaration be told apart from its struct? What others of the struct refer to by an alias, and what makes
// fields rather than being one, cannot.
bool foldable(const Node* d) {
  switch (d->type) {
    case NodeType::kField: {
      const ast::Field* f = source_field(d);
      return !f || f->label->kind != ast::Kind::kAlias;
    }
    case NodeType::kLetField: return true;
    case NodeType::kEllipsis: return !to<Ellipsis>(d)->value;
    default: return d->is_expr();
  }
}

// The labels of several literals as one row. Each literal is a queue. A label leaves when it is at the front
// everywhere else too; the last one of a literal lets those of the others go first; when all wait for each other the
// first literal goes on.
class LabelQueues {
 public:
  explicit LabelQueues(std::span<StructLit* const> literals) {
    for (const StructLit* s : literals) {
      Queue q;
      for (const Node* d : s->decls)
        if (d->type == NodeType::kField) q.labels.push_back(to<Field>(d)->label.bits());
      for (std::size_t i = 1; i < q.labels.size(); ++i) ++behind_[q.labels[i]];
      if (!q.labels.empty()) queues_.push_back(std::move(q));
    }
  }

  std::vector<u32> row() {
    while (true) {
      auto open = std::find_if(queues_.begin(), queues_.end(), [](const Queue& q) { return !q.done(); });
      if (open == queues_.end()) return std::move(row_);
      auto ready =
          std::find_if(open, queues_.end(), [&](const Queue& q) { return !q.done() && behind_[q.front()] <= 0; });
      if (ready == queues_.end())
        behind_[open->front()] = 0;
      else
        advance(*ready);
    }
  }

 private:
  struct Queue {
    std::vector<u32> labels;
    std::size_t at = 0;
    bool done() const { return at == labels.size(); }
    u32 front() const { return labels[at]; }
  };

  void advance(Queue& q) {
    int& waiting = behind_[q.front()];
    if (waiting == 0) {
      row_.push_back(q.front());
      waiting = -1;  // it has left; further mentions pass
    }
    ++q.at;
    if (!q.done() && q.at + 1 < q.labels.size() && behind_[q.front()] > 0) --behind_[q.front()];
  }

  std::vector<Queue> queues_;
  std::unordered_map<u32, int> behind_;  // mentions that are not at the front of their literal
  std::vector<u32> row_;
};

}  // namespace

Exporter::Member& Exporter::Folded::member(Label l) {
  auto [it, fresh] = member_at.try_emplace(l.bits(), members.size());
  if (fresh) members.push_back({l, {}});
  return members[it->second];
}

// ---- sorting

void Exporter::sort_in(Folded& f, Said s, const Vertex* about, bool embedded) {
  if (s.x->type == NodeType::kStruct) return open_literal(f, s.env, to<StructLit>(s.x));
  if (s.x->type == NodeType::kVertex) return take_vertex(f, s.env, to<Vertex>(s.x), about);
  if (!embedded && s.x->type == NodeType::kBinary && to<Binary>(s.x)->op == Op::kAnd) {
    sort_in(f, {s.env, to<Binary>(s.x)->x}, about, false);
    sort_in(f, {s.env, to<Binary>(s.x)->y}, about, false);
  } else if (is_constant(s.x)) {
    bool nothing_new = about && is_anything(s.x) && !is_anything(about->base);
    if (!nothing_new) f.constants.push_back(s);
  } else {
    (embedded ? f.embedded : f.operands).push_back(s);
  }
}

void Exporter::open_literal(Folded& f, Environment* env, StructLit* s) {
  if (p_.show_attributes) decl_attrs(f.attributes, s->src());
  if (!std::all_of(s->decls.begin(), s->decls.end(), foldable)) {
    f.embedded.push_back({env, s});
    return;
  }
  f.opened.push_back(s);
  OutputScope& here = scopes_.innermost();
  Environment* inside = c_.new_env(env, here.shows ? const_cast<Vertex*>(here.shows) : c_.empty_node);
  scopes_.bind(inside, here);
  for (Node* d : s->decls) {
    if (d->type == NodeType::kField)
      f.member(to<Field>(d)->label).said.push_back({inside, d});
    else if (d->type == NodeType::kEllipsis)
      f.ellipsis = true;
    else if (d->is_expr())
      sort_in(f, {inside, d}, nullptr, true);
  }
}

void Exporter::take_vertex(Folded& f, Environment* env, Vertex* v, const Vertex* about) {
  if (Bottom* b = v->bottom(); b && (!b->incomplete() || p_.final)) {
    f.constants.push_back({env, b});
    return;
  }
  if (!v->is_data_value()) {
    for (const KeptConjunct& c : v->conjuncts) sort_in(f, {c.env, expression_of(c.x)}, v, false);
    return;
  }
  f.data = true;
  for (const StructInfo& s : v->structs()) f.opened.push_back(s.lit);
  if (v->base && v->base->is_value()) sort_in(f, {env, v->base}, about, false);
  for (Vertex* a : v->arcs)
    if (a->arc_type <= ArcType::kOptional && !a->label.is_let()) f.member(a->label).said.push_back({env, a});
}

// The lets of the literals an expression is made of belong to the scope that is written for them.
void Exporter::note_lets(const Node* x) {
  if (x->type == NodeType::kBinary) {
    note_lets(to<Binary>(x)->x);
    note_lets(to<Binary>(x)->y);
  }
  if (x->type != NodeType::kStruct) return;
  for (const Node* d : to<StructLit>(x)->decls) {
    if (d->type == NodeType::kLetField)
      scopes_.innermost().lets.push_back({to<LetField>(d)->label, to<LetField>(d)->value});
    else if (d->is_expr())
      note_lets(d);
  }
}

// a: X={...}: the first alias of the value is kept, others are called the same.
void Exporter::name_value(const std::vector<Said>& said) {
  OutputScope& here = scopes_.innermost();
  for (const Said& s : said) {
    const ast::Field* f = source_field(s.x);
    if (!f || !f->value || f->value->kind != ast::Kind::kAlias) continue;
    std::string written(ast::as<ast::Alias>(f->value)->ident->name.text());
    if (here.alias.empty()) {
      here.alias = scopes_.fresh_name(written);
      here.alias_written = written;
    }
  }
}

bool Exporter::uses_lets() {
  return std::ranges::any_of(scopes_.innermost().lets, [](const OutputScope::Let& l) { return l.written; });
}

// ---- writing

// Lets that something refers to, then the declarations.
ast::Node* Exporter::take_scope() {
  OutputScope& here = scopes_.innermost();
  std::vector<ast::Node*> decls;
  for (const OutputScope::Let& l : here.lets)
    if (l.written) decls.push_back(l.written);
  decls.insert(decls.end(), here.decls.begin(), here.decls.end());
  close_up(decls);
  return make_struct(decls);
}

ast::Node* Exporter::closed_if(ast::Node* x, const Folded& f, const Vertex* about) {
  bool closed = about && about->closed_once && !f.ellipsis;
  return closed ? call(ident("close"), {x}) : x;
}

ast::Field* Exporter::member(const Member& m, Vertex* about) {
  Vertex* arc = about ? about->find_raw(m.label) : nullptr;
  ast::Field* f = make_field(arena_, label(m.label, m.said), nullptr);
  OutputScope::Name& name = scopes_.innermost().names[m.label.bits()];
  name.field = f;
  if (!name.alias.empty()) set_alias(name, name.alias);
  f->value = fold(arc, m.said);
  ArcType type = ArcType::kNotPresent;
  std::vector<Conjunct> conjuncts;
  for (const Said& s : m.said) {
    type = std::min(type, s.x->type == NodeType::kField ? to<Field>(s.x)->arc : to<Vertex>(s.x)->arc_type);
    conjuncts.push_back({s.env, s.x, {}});
  }
  f->constraint = arc_token(arc ? arc->arc_type : type);
  if (p_.show_docs) add_docs(f, docs_of(conjuncts, nullptr));
  if (p_.show_attributes) {
    std::vector<ast::Node*> attributes;
    for (const Said& s : m.said) field_attrs(attributes, s.x);
    f->attrs = make_nodes(arena_, attributes);
  }
  return f;
}

ast::Node* Exporter::fold(Vertex* v) {
  std::vector<Said> said;
  for (const KeptConjunct& c : v->conjuncts) said.push_back({c.env, c.x});
  return fold(v, said);
}

ast::Node* Exporter::fold(Vertex* about, const std::vector<Said>& said) {
  OutputScope& here = scopes_.open(about);
  name_value(said);
  for (const Said& s : said) note_lets(expression_of(s.x));
  Folded f;
  std::vector<const Node*> seen;
  for (const Said& s : said) {
    Node* x = expression_of(s.x);
    if (std::find(seen.begin(), seen.end(), x) != seen.end()) continue;
    seen.push_back(x);
    sort_in(f, {s.env, x}, about, false);
  }

  // One literal hides what it hid before; several in one may hide more.
  if (f.opened.size() > 1)
    for (const Member& m : f.members)
      if (!std::ranges::all_of(m.said, [](const Said& s) { return written_in_quotes(s.x); }))
        here.declares.push_back(m.label.bits());
  std::ranges::sort(here.declares);

  std::vector<ast::Node*> inside, beside;
  for (const Said& s : f.embedded)
    inside.push_back(s.x->type == NodeType::kStruct ? struct_literal(s.env, to<StructLit>(s.x), about)
                                                    : written(s.env, s.x));
  for (const Said& s : f.operands) beside.push_back(written(s.env, s.x));
  if (!f.constants.empty()) {
    Vertex* all = c_.new_vertex();
    for (const Said& s : f.constants) all->conjuncts.push(c_.arena, Conjunct{s.env, s.x, {}});
    c_.finalize(all);
    inside.push_back(value(all, all));
  }

  ast::Node* out = f.members.empty() && !f.ellipsis ? shown_alone(f, inside, beside, about) : nullptr;
  if (!out) {
    here.decls = f.attributes;
    for (ast::Node* x : inside) here.decls.push_back(arena_.make<ast::Embed>(x));
    std::unordered_map<u32, bool> done;
    auto add = [&](u32 bits) {
      if (done.emplace(bits, true).second) here.decls.push_back(member(f.members[f.member_at[bits]], about));
    };
    for (u32 bits : LabelQueues(f.opened).row())
      if (f.member_at.count(bits)) add(bits);
    for (std::size_t i = 0; i < f.members.size(); ++i) add(f.members[i].label.bits());
    if (f.ellipsis) here.decls.push_back(arena_.make<ast::Ellipsis>(TokenPos{}));
    bool any = !f.opened.empty() || !here.decls.empty() || uses_lets();
    if (any || beside.empty()) beside.push_back(closed_if(take_scope(), f, about));
    out = join(Tok::kAnd, beside);
  }
  if (!here.alias.empty()) out = arena_.make<ast::Alias>(ident(here.alias), TokenPos{}, out);
  scopes_.close();
  return out;
}

// Without fields there may be no need for a struct around; nullptr when there is.
ast::Node* Exporter::shown_alone(Folded& f, std::vector<ast::Node*>& inside, std::vector<ast::Node*>& beside,
                                 const Vertex* about) {
  if (f.nothing() && f.attributes.empty())
    return f.opened.empty() && !f.data ? ident("_") : closed_if(take_scope(), f, about);
  if (inside.size() + beside.size() != 1) return nullptr;
  ast::Node* only = beside.empty() ? inside[0] : beside[0];
  // a check beside {} has a value, alone it has none
  if (!f.opened.empty() && only->kind == ast::Kind::kCall && !beside.empty()) return nullptr;
  if (f.attributes.empty() && !uses_lets()) return only;
  if (only->kind != ast::Kind::kStruct) return nullptr;
  OutputScope& here = scopes_.innermost();
  here.decls = f.attributes;
  for (ast::Node* d : ast::as<ast::Struct>(only)->elts) here.decls.push_back(d);
  return closed_if(take_scope(), f, about);
}

}  // namespace tutti::cue
