// The file around what is exported: package, imports, their comments, and what a definition takes along.
#include <algorithm>

#include "lang/cue/compile/compile.h"
#include "lang/cue/export/exporter.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/format/walk.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

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
  self_contained_ = !p_.fragment;
  root_ = self_contained_ ? root_of(v) : v;
  // What is closed all the way down is shown as a definition that is embedded.
  bool wrapped =
      self_contained_ && !p_.guest_definitions && closed_by_definition(root_) && c_.kinds(root_) == kStructKind;
  if (wrapped) root_name_ = "_#def";
  if (self_contained_) {
    Exporter first(c_, sources_, package_, p_);
    first.surveying_ = first.self_contained_ = true;
    first.root_ = root_;
    first.root_name_ = root_name_;
    first.written(nullptr, root_);
    guests_ = std::move(first.guests_);
  }
  ast::Node* x = written(nullptr, root_);
  bool closes = false;  // by itself
  if (x->kind == ast::Kind::kStruct)
    for (ast::Node* d : ast::as<ast::Struct>(x)->elts)
      closes |= d->kind == ast::Kind::kEmbed && definition_reference(ast::as<ast::Embed>(d)->x);
  if (wrapped && !closes) {
    ast::Ident* embedded = ident(root_name_);
    embedded->pos.rel = Rel::kNewSection;
    x = make_struct({arena_.make<ast::Embed>(embedded), make_field(arena_, ident(root_name_), x)}, true);
  }
  if (std::vector<ast::Node*> others = guests(); !others.empty()) {
    std::vector<ast::Node*> decls;
    if (x->kind == ast::Kind::kStruct)
      decls.assign(ast::as<ast::Struct>(x)->elts.begin(), ast::as<ast::Struct>(x)->elts.end());
    else
      decls.push_back(arena_.make<ast::Embed>(x));
    decls.insert(decls.end(), others.begin(), others.end());
    x = make_struct(decls, true);
  }
  return finish(v, x);
}

void Exporter::import(std::string path, std::string name) {
  auto known = std::find_if(imports_.begin(), imports_.end(), [&](const auto& i) { return i.first == path; });
  if (known == imports_.end())
    imports_.emplace_back(std::move(path), std::move(name));
  else
    known->second = std::move(name);
}

namespace {

// What stands around the package clause of several files, put together.
struct Heading {
  std::string package;
  std::vector<ast::Comment> doc;            // of the package, or of files without one
  std::vector<ast::CommentGroup> of_files;  // above it
  std::vector<ast::CommentGroup> after;     // on its line and below

  void read(const ast::File* f) {
    const ast::Package* p = f->package();
    bool first = true;
    for (const ast::CommentGroup& g : f->comments()) {
      if (first && !p)
        add_doc(g);  // what a file without a package begins with
      else
        of_files.push_back(g);
      first = false;
    }
    if (!p) return;
    package = p->name->name.text();
    for (const ast::CommentGroup& g : p->comments()) {
      if (g.doc)
        add_doc(g);
      else
        (g.position == 0 ? of_files : after).push_back(g);
    }
    for (const ast::CommentGroup& g : p->name->comments()) after.push_back(g);
  }

 private:
  void add_doc(const ast::CommentGroup& g) {
    if (!doc.empty()) doc.push_back({TokenPos{}, "//"});
    doc.insert(doc.end(), g.list.begin(), g.list.end());
  }
};

}  // namespace

// Comments of several files have no common order of places: each is placed by how it follows what is before it.
ast::CommentGroup Exporter::placeless(const ast::CommentGroup& g, Rel rel) {
  ast::CommentGroup out = g;
  out.list = arena_.copy(std::span<const ast::Comment>(g.list));
  for (ast::Comment& c : out.list) c.slash = {{}, Rel::kNewline, false};
  out.list[0].slash.rel = rel;
  return out;
}

std::vector<ast::Node*> Exporter::heading(Vertex* v, ast::File* file) {
  Heading h;
  for (const KeptConjunct& c : v->conjuncts)
    if (c.x->src() && c.x->src()->kind == ast::Kind::kFile) h.read(ast::as<ast::File>(c.x->src()));
  if (!p_.package.empty()) h.package = p_.package;
  ast::Node* described = file;
  std::vector<ast::Node*> decls;
  if (!h.package.empty()) {
    decls.push_back(described = arena_.make<ast::Package>(TokenPos{{}, Rel::kNewSection}, ident(h.package)));
  }
  if (!p_.show_docs) return decls;
  ast::CommentGroup doc;
  doc.doc = true;
  doc.list = h.doc;
  if (!h.doc.empty()) ast::add_comment(arena_, described, placeless(doc, Rel::kNewSection));
  for (const ast::CommentGroup& g : h.of_files) ast::add_comment(arena_, file, placeless(g, Rel::kNewSection));
  if (described != file)
    for (const ast::CommentGroup& g : h.after)
      ast::add_comment(arena_, described, placeless(g, g.line ? Rel::kBlank : Rel::kNewSection));
  return decls;
}

ast::Node* Exporter::import_declaration() {
  bool several = imports_.size() > 1;
  std::vector<ast::Node*> specs;
  for (const auto& [path, name] : imports_) {
    TokenPos at{{}, several ? Rel::kNewline : Rel::kNone};
    ast::Ident* renamed = nullptr;
    if (name != import_name(path)) {
      renamed = ident(name);
      renamed->pos = at;
      at.rel = Rel::kBlank;
    }
    specs.push_back(arena_.make<ast::ImportSpec>(renamed, make_lit(arena_, Tok::kString, quote(path), at)));
  }
  TokenPos paren{{}, several ? Rel::kBlank : Rel::kNone};
  return arena_.make<ast::Import>(TokenPos{}, paren, make_nodes(arena_, specs), TokenPos{});
}

void Exporter::look_at_files(const Vertex* v) {
  for (const KeptConjunct& c : v->conjuncts)
    if (c.x->src() && c.x->src()->kind == ast::Kind::kFile)
      alias_v2_ = alias_v2_ || ast::as<ast::File>(c.x->src())->experiments.alias_v2;
}

namespace {

// X=a: 1, [K=string]: 2, a: X={}: in a file that says @experiment(aliasv2) the alias stands behind the label.
void put_aliases_behind(Arena& arena, ast::Node* n) {
  if (n->kind == ast::Kind::kField) {
    auto* f = ast::as<ast::Field>(n);
    ast::Ident *label = nullptr, *field = nullptr;
    if (f->label->kind == ast::Kind::kAlias) {
      field = ast::as<ast::Alias>(f->label)->ident;
      f->label = ast::as<ast::Alias>(f->label)->x;
    }
    if (f->label->kind == ast::Kind::kList && !ast::as<ast::List>(f->label)->elts.empty())
      if (ast::Node*& names = ast::as<ast::List>(f->label)->elts[0]; names->kind == ast::Kind::kAlias) {
        label = ast::as<ast::Alias>(names)->ident;
        names = ast::as<ast::Alias>(names)->x;
      }
    if (!field && f->value && f->value->kind == ast::Kind::kAlias) {
      field = ast::as<ast::Alias>(f->value)->ident;
      f->value = ast::as<ast::Alias>(f->value)->x;
    }
    if ((label || field) && !f->alias) {
      f->alias = arena.make<ast::PostfixAlias>(TokenPos{});
      f->alias->label = label;
      f->alias->field = field ? field : make_ident(arena, "_");
    }
  }
  for_children(n, [&](ast::Node* child) { put_aliases_behind(arena, child); });
}

bool says_alias_v2(std::span<ast::Node* const> decls) {
  return std::ranges::any_of(decls, [](const ast::Node* d) {
    if (d->kind != ast::Kind::kAttribute) return false;
    auto* a = ast::as<ast::Attribute>(d);
    return a->name() == "experiment" && a->body().find("aliasv2") != std::string_view::npos;
  });
}

}  // namespace

ast::File* Exporter::finish(Vertex* v, ast::Node* x) {
  auto* file = arena_.make<ast::File>();
  std::vector<ast::Node*> decls;
  if (p_.add_package) decls = heading(v, file);
  if (!imports_.empty()) decls.push_back(import_declaration());
  if (x->kind == ast::Kind::kStruct) {
    ast::Nodes fields = ast::as<ast::Struct>(x)->elts;
    // After comments on the file as such those of the first field stand apart.
    auto comments = fields.empty() ? std::span<ast::CommentGroup>{} : fields[0]->comments();
    if (decls.empty() && !comments.empty() && !file->comments().empty())
      comments[0].list[0].slash.rel = file->comments().back().doc ? Rel::kNewline : Rel::kNewSection;
    decls.insert(decls.end(), fields.begin(), fields.end());
  } else {
    if (TokenPos* at = ast::first_ref(x)) at->rel = Rel::kNoSpace;
    decls.push_back(arena_.make<ast::Embed>(x));
  }
  file->decls = make_nodes(arena_, decls);
  if (quoted_labels_) simplify_labels(file);
  if (alias_v2_ && says_alias_v2(decls)) put_aliases_behind(arena_, file);
  return file;
}

ast::File* export_value(Context& c, const Sources& sources, std::string_view package, Vertex* v,
                        const ExportProfile& p) {
  Exporter e(c, sources, package, p);
  e.look_at_files(v);
  e.reserve_names(v);
  return e.finish(v, e.value(v, v));
}

ast::File* export_definition(Context& c, const Sources& sources, std::string_view package, Vertex* v,
                             const ExportProfile& p) {
  Exporter e(c, sources, package, p);
  e.look_at_files(v);
  e.reserve_names(v);
  return e.definition(v);
}

Vertex* definition_root(Context& c, const Sources& sources, Vertex* v) {
  return Exporter(c, sources, "", {}).root_of(v);
}

ast::Node* export_expression(Context& c, const Sources& sources, Node* v, const ExportProfile& p) {
  Exporter e(c, sources, "", p);
  return v->is_value() ? e.value(v) : e.written(nullptr, v);
}

ast::Node* as_expression(Arena& arena, ast::File* file) {
  if (file->decls.size() == 1 && file->decls[0]->kind == ast::Kind::kEmbed)
    return static_cast<ast::Embed*>(file->decls[0])->x;
  return arena.make<ast::Struct>(TokenPos{}, file->decls, TokenPos{});
}

}  // namespace tutti::cue
