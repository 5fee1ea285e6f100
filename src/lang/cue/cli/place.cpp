// Data files into fields: -l, --list, --files, --with-context.
#include <fmt/format.h>

#include <filesystem>

#include "lang/cue/cli/plan.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

std::string cue_name(const std::string& file, std::size_t i) {
  if (file == "-") return file;
  std::string ext = fs::path(file).extension().string();
  std::string base = file.substr(0, file.size() - ext.size());
  if (i > 0) base += fmt::format("-{}", i);
  return base + ".cue";
}

ast::Node* expression_of_file(Arena& arena, ast::File* f) {
  std::vector<ast::Node*> decls;
  for (ast::Node* d : f->decls)
    if (d->kind != ast::Kind::kPackage) decls.push_back(d);
  if (decls.size() == 1 && decls[0]->kind == ast::Kind::kEmbed) return static_cast<ast::Embed*>(decls[0])->x;
  auto* s = arena.make<ast::Struct>(TokenPos{{}, Rel::kNoSpace}, make_nodes(arena, decls), TokenPos{});
  s->notes = f->notes;
  return s;
}

void set_package(Arena& arena, ast::File* f, const std::string& name) {
  if (name.empty() || f->package()) return;
  std::vector<ast::Node*> decls{arena.make<ast::Package>(TokenPos{}, make_ident(arena, name))};
  decls.insert(decls.end(), f->decls.begin(), f->decls.end());
  f->decls = make_nodes(arena, decls);
}

}  // namespace

std::vector<ast::Node*> Plan::labels_in(Vertex* scope) {
  std::vector<ast::Node*> labels;
  for (ast::Node* l : path) {
    if (l->kind != ast::Kind::kParen) {
      if (l->kind == ast::Kind::kLit && static_cast<ast::Lit*>(l)->tok == Tok::kString)
        labels.push_back(make_lit(p_.arena(), Tok::kString, static_cast<ast::Lit*>(l)->text));
      else if (l->kind == ast::Kind::kIdent)
        labels.push_back(make_ident(p_.arena(), static_cast<ast::Ident*>(l)->name.text()));
      else
        labels.push_back(l);
      continue;
    }
    ast::Node* x = static_cast<ast::Paren*>(l)->x;
    auto bad = [&](const std::string& why) {
      throw Stop{{{fmt::format("error evaluating label {}: {}", format_node(x), why), {}}}};
    };
    Vertex* v = nullptr;
    try {
      v = p_.build_expression(x, scope, "");
    } catch (const Stop& s) {
      bad(s.problems.empty() ? "" : s.problems[0].message);
    }
    Node* value = v->deref_value()->value();
    if (value) value = p_.context().default_of(value);
    if (!value || value->type != NodeType::kString) {
      if (Bottom* b = v->bottom()) {
        auto all = flatten(b);
        bad(all.empty() ? "error" : all[0].message);
      }
      bad(compact(value ? value : v));
    }
    labels.push_back(make_lit(p_.arena(), Tok::kString, quote(to<String>(value)->text)));
    if (!label_needs_quotes(to<String>(value)->text)) labels.back() = make_ident(p_.arena(), to<String>(value)->text);
  }
  return labels;
}

Vertex* Plan::place_value(Vertex* v) {
  if (path.empty() || !orphans.empty() || !imported.empty()) return v;
  std::vector<ast::Node*> labels = labels_in(v);
  // {a: {b: v}}
  Context& c = p_.context();
  Node* inner = v;
  for (std::size_t i = labels.size(); i-- > 0;) {
    std::string name = labels[i]->kind == ast::Kind::kIdent
                           ? std::string(static_cast<ast::Ident*>(labels[i])->name.text())
                           : unquote(static_cast<ast::Lit*>(labels[i])->text).text;
    auto* lit = c.store.make<StructLit>();
    std::vector<Node*> decls{c.store.make<Field>(Label::string(name), ArcType::kMember, inner, nullptr)};
    lit->decls = c.store.keep(decls);
    inner = lit;
  }
  Vertex* out = c.new_vertex();
  out->conjuncts.push(p_.arena(), Conjunct{p_.arena().make<Environment>(), inner, {}});
  c.finalize(out);
  return out;
}

ast::File* Plan::place_objects(const Orphan& o, std::span<ast::File* const> objects,
                               std::span<ast::Node* const> originals, const std::string& package) {
  Arena& arena = p_.arena();
  auto* file = arena.make<ast::File>();
  std::vector<ast::Node*> decls;
  // With --list: a tree of labels with lists at its leaves.
  struct Branch {
    std::vector<std::pair<std::string, std::unique_ptr<Branch>>> below;
    ast::Node* label = nullptr;
    std::vector<ast::Node*> items;
    bool leaf = false;
  } root;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    ast::Node* expr = expression_of_file(arena, objects[i]);
    std::vector<ast::Node*> labels;
    if (!path.empty()) {
      ast::Node* scope = expr;
      if (use_context) {
        scope = make_struct(
            arena, {make_field(arena, make_ident(arena, "data"), originals[i]),
                    make_field(arena, make_ident(arena, "filename"), make_lit(arena, Tok::kString, quote(o.file.path))),
                    make_field(arena, make_ident(arena, "index"), make_lit(arena, Tok::kInt, std::to_string(i))),
                    make_field(arena, make_ident(arena, "recordCount"),
                               make_lit(arena, Tok::kInt, std::to_string(objects.size())))});
      }
      bool is_null = expr->kind == ast::Kind::kLit && static_cast<ast::Lit*>(expr)->tok == Tok::kNull;
      Vertex* v = p_.build_files({p_.file_of(scope)}, "");
      p_.context().finalize(v);
      try {
        labels = labels_in(v);
      } catch (const Stop&) {
        if (is_null) continue;
        throw;
      }
    }
    if (use_list) {
      Branch* at = &root;
      for (ast::Node* l : labels) {
        std::string key = format_node(l);
        Branch* next = nullptr;
        for (auto& [k, x] : at->below)
          if (k == key) next = x.get();
        if (!next) {
          at->below.emplace_back(key, std::make_unique<Branch>());
          next = at->below.back().second.get();
          next->label = l;
        }
        at = next;
      }
      at->leaf = true;
      at->items.push_back(expr);
    } else if (labels.empty()) {
      if (expr->kind != ast::Kind::kStruct)
        p_.fail(expr->kind == ast::Kind::kList ? "expected struct as object root, did you mean to use the --list flag?"
                                               : "cannot map non-struct to object root");
      for (ast::Node* d : static_cast<ast::Struct*>(expr)->elts) decls.push_back(d);
    } else {
      ast::Node* value = expr;
      for (std::size_t k = labels.size(); k-- > 1;) value = make_struct(arena, {make_field(arena, labels[k], value)});
      auto* field = make_field(arena, labels[0], value);
      if (objects[i]->notes) {
        for (const ast::CommentGroup& g : objects[i]->comments())
          if (g.doc) ast::add_comment(arena, field, g);
      }
      decls.push_back(field);
    }
  }
  if (use_list) {
    std::function<ast::Node*(Branch&)> build = [&](Branch& x) -> ast::Node* {
      if (x.leaf)
        return arena.make<ast::List>(TokenPos{{}, Rel::kNoSpace}, make_nodes(arena, x.items),
                                     TokenPos{{}, Rel::kNoSpace});
      std::vector<ast::Node*> fields;
      for (auto& [k, b] : x.below) fields.push_back(make_field(arena, b->label, build(*b)));
      return arena.make<ast::Struct>(TokenPos{}, make_nodes(arena, fields), TokenPos{});
    };
    if (root.below.empty()) {
      decls.push_back(arena.make<ast::Embed>(root.leaf ? build(root) : make_list(arena, {})));
    } else {
      ast::Node* s = build(root);
      for (ast::Node* d : static_cast<ast::Struct*>(s)->elts) decls.push_back(d);
    }
  }
  file->decls = make_nodes(arena, decls);
  set_package(arena, file, package);
  return file;
}

std::vector<Plan::Imported> Plan::place(const std::vector<Orphan>& list, const std::string& existing,
                                        const std::string& flag) {
  std::string package = flag.empty() ? existing : flag;
  if (!flag.empty() && !existing.empty() && existing != flag && !p_.flags().on("force"))
    p_.fail(fmt::format("\"package\" flag clashes with existing package name ({} vs {})", flag, existing));
  std::vector<Imported> out;
  for (const Orphan& o : list) {
    if (per_file) {
      for (std::size_t i = 0; i < o.documents.size(); ++i)
        out.push_back(
            {place_objects(o, std::span(o.documents).subspan(i, 1), std::span(o.originals).subspan(i, 1), package),
             cue_name(o.file.path, i)});
      continue;
    }
    if (importing_ && o.documents.size() > 1 && path.empty() && !use_list)
      p_.fail(fmt::format("path, list, or files flag needed to handle multiple objects in file {}",
                          p_.loader().shown(p_.absolute(o.file.path))));
    if (!use_list && path.empty() && !use_context) {
      for (ast::File* f : o.documents) {
        if (!flag.empty()) set_package(p_.arena(), f, flag);
        out.push_back({f, cue_name(o.file.path, 0)});
      }
      continue;
    }
    out.push_back({place_objects(o, o.documents, o.originals, package), cue_name(o.file.path, 0)});
  }
  return out;
}

}  // namespace tutti::cue
