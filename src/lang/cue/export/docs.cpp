// Comments and attributes of exported fields; whole files.
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
  return x->src && x->src->kind == ast::Kind::kField ? static_cast<const ast::Field*>(x->src) : nullptr;
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
    for (const Conjunct& c : p->conjuncts) {
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

void Exporter::set_docs(ast::Node* to, Vertex* v) {
  for (const ast::CommentGroup& g : docs(v)) ast::add_comment(arena_, to, g);
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
  if (src->kind == ast::Kind::kFile) {
    decls = static_cast<const ast::File*>(src)->decls;
    // What stands before the package and the imports is about the file.
    std::size_t body = 0;
    for (std::size_t i = 0; i < decls.size(); ++i)
      if (decls[i]->kind == ast::Kind::kPackage || decls[i]->kind == ast::Kind::kImport) body = i + 1;
    if (body == 0)
      while (body < decls.size() && decls[body]->kind == ast::Kind::kAttribute) ++body;
    decls = decls.subspan(body);
  } else if (src->kind == ast::Kind::kStruct) {
    decls = static_cast<const ast::Struct*>(src)->elts;
  }
  for (ast::Node* d : decls)
    if (d->kind == ast::Kind::kAttribute) add_attr(out, d);
}

std::vector<ast::Node*> Exporter::decl_attrs(Vertex* v) {
  std::vector<ast::Node*> out;
  for (const StructInfo& s : v->structs) decl_attrs(out, s.lit->src);
  return out;
}

namespace {

bool definition_reference(const ast::Node* x) {
  auto def = [](std::string_view n) { return n.starts_with('#') || n.starts_with("_#"); };
  switch (x->kind) {
    case ast::Kind::kIdent: return def(static_cast<const ast::Ident*>(x)->name.text());
    case ast::Kind::kSelector: {
      auto* s = static_cast<const ast::Selector*>(x);
      if (s->sel->kind == ast::Kind::kIdent && def(static_cast<const ast::Ident*>(s->sel)->name.text())) return true;
      return definition_reference(s->x);
    }
    case ast::Kind::kIndex: return definition_reference(static_cast<const ast::Index*>(x)->x);
    default: return false;
  }
}

}  // namespace

ast::File* Exporter::definition(Vertex* v) {
  bool def = v->closed_recursive;
  if (def) ++in_definition_;
  ast::Node* x = expr(nullptr, v);
  if (def) {
    --in_definition_;
    bool closed = false;
    if (x->kind == ast::Kind::kStruct)
      for (ast::Node* d : static_cast<ast::Struct*>(x)->elts)
        if (d->kind == ast::Kind::kEmbed && definition_reference(static_cast<ast::Embed*>(d)->x)) closed = true;
    if (!closed && v->kinds() == kStructKind && !p_.fragment)
      x = make_struct({arena_.make<ast::Embed>(ident("_#def")), make_field(arena_, ident("_#def"), x)}, true);
  }
  return finish(v, x);
}

ast::File* Exporter::finish(Vertex* v, ast::Node* x) {
  auto* file = arena_.make<ast::File>();
  std::vector<ast::Node*> decls;
  if (p_.add_package) {
    std::string name;
    std::vector<ast::CommentGroup> package_docs, file_docs;
    for (const Conjunct& c : v->conjuncts) {
      if (!c.x->src || c.x->src->kind != ast::Kind::kFile) continue;
      auto* f = static_cast<const ast::File*>(c.x->src);
      if (const ast::Package* p = f->package()) {
        name = p->name->name.text();
        if (p_.show_docs)
          for (const ast::CommentGroup& g : p->comments())
            if (g.doc || g.position == 0) package_docs.push_back(g);
      }
      if (p_.show_docs)
        for (const ast::CommentGroup& g : f->comments()) file_docs.push_back(g);
    }
    // Several package comments become one.
    auto merged = [&](std::vector<ast::CommentGroup> list) {
      std::vector<ast::CommentGroup> out;
      std::vector<ast::Comment> doc;
      for (const ast::CommentGroup& g : list) {
        if (!g.doc) {
          out.push_back(g);
          continue;
        }
        if (!doc.empty()) doc.push_back({TokenPos{}, "//"});
        doc.insert(doc.end(), g.list.begin(), g.list.end());
      }
      if (!doc.empty()) {
        ast::CommentGroup g;
        g.doc = true;
        g.list = arena_.copy(std::span<const ast::Comment>(doc));
        g.list[0].slash = {{}, Rel::kNewSection};
        out.insert(out.begin(), g);
      }
      return out;
    };
    if (!name.empty()) {
      auto* p = arena_.make<ast::Package>(TokenPos{{}, Rel::kNewSection}, ident(name));
      for (const ast::CommentGroup& g : merged(package_docs)) ast::add_comment(arena_, p, g);
      for (const ast::CommentGroup& g : file_docs) ast::add_comment(arena_, file, g);
      decls.push_back(p);
    } else {
      for (const ast::CommentGroup& g : merged(file_docs)) ast::add_comment(arena_, file, g);
    }
  }
  if (!imports_.empty()) {
    std::vector<ast::Node*> specs;
    for (const auto& [path, name] : imports_) {
      std::string last = path.substr(path.rfind('/') + 1);
      if (std::size_t at = last.find(':'); at != std::string::npos) last = last.substr(at + 1);
      if (std::size_t at = last.find('@'); at != std::string::npos) last = last.substr(0, at);
      TokenPos at{{}, imports_.size() > 1 ? Rel::kNewline : Rel::kNone};
      ast::Ident* renamed = name == last ? nullptr : ident(name);
      if (renamed) renamed->pos = at;
      auto* lit = make_lit(arena_, Tok::kString, "\"" + path + "\"", renamed ? TokenPos{{}, Rel::kBlank} : at);
      specs.push_back(arena_.make<ast::ImportSpec>(renamed, lit));
    }
    TokenPos paren{{}, imports_.size() > 1 ? Rel::kBlank : Rel::kNone};
    decls.push_back(arena_.make<ast::Import>(TokenPos{}, paren, make_nodes(arena_, specs), TokenPos{}));
  }
  if (x->kind == ast::Kind::kStruct)
    for (ast::Node* d : static_cast<ast::Struct*>(x)->elts) decls.push_back(d);
  else {
    if (TokenPos* at = ast::first_ref(x)) at->rel = Rel::kNoSpace;
    decls.push_back(arena_.make<ast::Embed>(x));
  }
  file->decls = make_nodes(arena_, decls);
  return file;
}

ast::File* export_value(Context& c, const Sources& sources, std::string_view package, Vertex* v,
                        const ExportProfile& p) {
  Exporter e(c, sources, package, p);
  e.mark_used(v);
  return e.finish(v, e.value(v, v));
}

ast::File* export_definition(Context& c, const Sources& sources, std::string_view package, Vertex* v,
                             const ExportProfile& p) {
  Exporter e(c, sources, package, p);
  e.mark_used(v);
  return e.definition(v);
}

ast::Node* export_expression(Context& c, const Sources& sources, Node* v, const ExportProfile& p) {
  Exporter e(c, sources, "", p);
  return v->is_value() ? e.value(v) : e.expr(nullptr, v);
}

ast::Node* as_expression(Arena& arena, ast::File* file) {
  if (file->decls.size() == 1 && file->decls[0]->kind == ast::Kind::kEmbed)
    return static_cast<ast::Embed*>(file->decls[0])->x;
  return arena.make<ast::Struct>(TokenPos{}, file->decls, TokenPos{});
}

}  // namespace tutti::cue
