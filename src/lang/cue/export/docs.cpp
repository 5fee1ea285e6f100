// Comments and attributes of exported fields.
#include <algorithm>

#include "lang/cue/export/exporter.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

// The field inside `a: b: 1`, or nullptr.
const ast::Field* nested(const ast::Field* f) {
  if (!f->value || f->value->kind != ast::Kind::kStruct) return nullptr;
  auto* s = static_cast<const ast::Struct*>(f->value);
  if (s->elts.size() != 1 || s->lbrace || s->rbrace || s->elts[0]->kind != ast::Kind::kField) return nullptr;
  return static_cast<const ast::Field*>(s->elts[0]);
}

// Does `a: b: 1` continue with a label that has a name?
bool shorthand(const ast::Field* f) {
  const ast::Field* n = nested(f);
  if (!n) return false;
  const ast::Node* l = n->label;
  if (l->kind == ast::Kind::kAlias) l = static_cast<const ast::Alias*>(l)->x;
  return l->kind == ast::Kind::kIdent || (l->kind == ast::Kind::kLit);
}

bool same_text(const ast::CommentGroup& a, const ast::CommentGroup& b) {
  return std::equal(a.list.begin(), a.list.end(), b.list.begin(), b.list.end(),
                    [](const ast::Comment& x, const ast::Comment& y) { return x.text == y.text; });
}

void add_doc(std::vector<ast::CommentGroup>& docs, const ast::CommentGroup& g) {
  if (!g.doc) return;
  for (const ast::CommentGroup& d : docs)
    if (same_text(d, g)) return;
  docs.push_back(g);
}

const ast::Field* field_of(const Node* x) {
  return x->src() && x->src()->kind == ast::Kind::kField ? static_cast<const ast::Field*>(x->src()) : nullptr;
}

}  // namespace

std::vector<ast::CommentGroup> Exporter::docs_of(const std::vector<Conjunct>& list, Vertex* parent) {
  std::vector<ast::CommentGroup> out;
  std::vector<const ast::Field*> fields;
  for (const Conjunct& c : list) {
    if (c.x->type == NodeType::kVertex)
      for (const ast::CommentGroup& g : docs(to<Vertex>(c.x))) add_doc(out, g);
    const ast::Field* f = field_of(c.x);
    if (!f || shorthand(f)) continue;
    fields.push_back(f);
    for (const ast::CommentGroup& g : f->comments()) add_doc(out, g);
  }
  // A comment on `a: b: 1` belongs to b.
  for (Vertex* p = parent; p && !fields.empty(); p = p->parent) {
    std::vector<const ast::Field*> next;
    for (const KeptConjunct& c : p->conjuncts) {
      const ast::Field* f = field_of(c.x);
      if (!f || !shorthand(f)) continue;
      if (std::find(fields.begin(), fields.end(), nested(f)) == fields.end()) continue;
      next.push_back(f);
      for (const ast::CommentGroup& g : f->comments()) add_doc(out, g);
    }
    fields = std::move(next);
  }
  return out;
}

std::vector<ast::CommentGroup> Exporter::docs(Vertex* v) {
  std::vector<Conjunct> list(v->conjuncts.begin(), v->conjuncts.end());
  return docs_of(list, v->parent);
}

// Comments from several places are told apart by empty lines.
void Exporter::add_docs(ast::Node* to, const std::vector<ast::CommentGroup>& docs) {
  for (std::size_t i = 0; i < docs.size(); ++i) {
    ast::CommentGroup g = docs[i];
    g.list = arena_.copy(std::span<const ast::Comment>(g.list));
    if (i > 0) g.list[0].slash.rel = Rel::kNewSection;
    ast::add_comment(arena_, to, g);
  }
}

// What comes first in a struct has no empty line before it.
void Exporter::close_up(const std::vector<ast::Node*>& decls) {
  if (decls.empty() || decls[0]->comments().empty()) return;
  ast::CommentGroup& g = decls[0]->comments()[0];
  if (g.doc && g.rel() == Rel::kNewSection) g.list[0].slash.rel = Rel::kNewline;
}

namespace {

void add_attr(std::vector<ast::Node*>& out, ast::Node* a) {
  for (ast::Node* o : out)
    if (static_cast<ast::Attribute*>(o)->text == static_cast<ast::Attribute*>(a)->text) return;
  out.push_back(a);
}

}  // namespace

void Exporter::field_attrs(std::vector<ast::Node*>& out, const Node* x) {
  if (const ast::Field* f = field_of(x))
    for (ast::Node* a : f->attrs) add_attr(out, a);
}

void Exporter::decl_attrs(std::vector<ast::Node*>& out, const ast::Node* src) {
  if (!src) return;
  ast::Nodes decls;
  if (src->kind == ast::Kind::kFile && !static_cast<const ast::File*>(src)->source) {
    decls = static_cast<const ast::File*>(src)->decls;  // made from data or a schema
  } else if (src->kind == ast::Kind::kFile) {
    decls = static_cast<const ast::File*>(src)->decls;
    // What stands before the package and the imports is about the file.
    std::size_t body = 0;
    for (std::size_t i = 0; i < decls.size(); ++i)
      if (decls[i]->kind == ast::Kind::kPackage || decls[i]->kind == ast::Kind::kImport) body = i + 1;
    decls = decls.subspan(body);
  } else if (src->kind == ast::Kind::kStruct) {
    decls = static_cast<const ast::Struct*>(src)->elts;
  }
  for (ast::Node* d : decls)
    if (d->kind == ast::Kind::kAttribute) add_attr(out, d);
}

std::vector<ast::Node*> Exporter::decl_attrs(Vertex* v) {
  std::vector<ast::Node*> out;
  for (const StructInfo& s : v->structs()) decl_attrs(out, s.lit->src());
  return out;
}

}  // namespace tutti::cue
