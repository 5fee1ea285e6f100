// Where the documents of data files go: -l, --list, --files, --with-context.
//
//   no flag         each document is a file as it is
//   -l path         document n at the labels that the path gives for it
//   --list          all documents with the same labels in one list
//   --files         a file for each document, its content as above
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lang/cue/cli/plan.h"
#include "lang/cue/eval/print.h"
#include "lang/cue/format/format.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

using Labels = std::vector<ast::Node*>;

struct Document {
  const Plan::Orphan& from;
  ast::File* file;
  ast::Node* original;
  std::size_t index, count;
};

// What a computed label can refer to with --with-context.
struct ContextField {
  const char* name;
  ast::Node* (*value)(Arena&, const Document&);
};
constexpr ContextField kContext[] = {
    {"data", [](Arena&, const Document& d) { return d.original; }},
    {"filename",
     [](Arena& a, const Document& d) -> ast::Node* { return make_lit(a, Tok::kString, quote(d.from.file.path)); }},
    {"index",
     [](Arena& a, const Document& d) -> ast::Node* { return make_lit(a, Tok::kInt, std::to_string(d.index)); }},
    {"recordCount",
     [](Arena& a, const Document& d) -> ast::Node* { return make_lit(a, Tok::kInt, std::to_string(d.count)); }},
};

ast::Node* context_of(Arena& arena, const Document& d) {
  std::vector<ast::Node*> fields;
  for (const ContextField& f : kContext)
    fields.push_back(make_field(arena, make_ident(arena, f.name), f.value(arena, d)));
  return make_struct(arena, fields);
}

// The value of a file: what it embeds, or its declarations in braces.
ast::Node* content(Arena& arena, const ast::File* file) {
  std::vector<ast::Node*> decls(file->decls.begin(), file->decls.end());
  std::erase_if(decls,
                [](const ast::Node* d) { return d->kind == ast::Kind::kPackage || d->kind == ast::Kind::kImport; });
  if (decls.size() == 1 && decls[0]->kind == ast::Kind::kEmbed) return ast::as<ast::Embed>(decls[0])->x;
  ast::Struct* s = make_struct(arena, decls);
  s->notes = file->notes;
  return s;
}

// Imports and the comment of a file that was made from a schema stay with the file, whereto its fields go.
struct Head {
  std::vector<ast::Node*> imports;
  std::vector<ast::CommentGroup> comments;

  void take(const ast::File* from, ast::Node* value) {
    value->notes = nullptr;
    comments.insert(comments.end(), from->comments().begin(), from->comments().end());
    for (ast::Node* d : from->decls) {
      if (d->kind != ast::Kind::kImport) continue;
      std::string text = format_node(d);
      if (std::none_of(imports.begin(), imports.end(), [&](ast::Node* o) { return format_node(o) == text; }))
        imports.push_back(d);
    }
  }
};

bool is_null(const ast::Node* n) { return n->kind == ast::Kind::kLit && ast::as<ast::Lit>(n)->tok == Tok::kNull; }

// The name of the file that an import writes.
std::string written_name(const std::string& from, std::size_t number) {
  if (from == "-") return from;
  std::filesystem::path p = from;
  std::string extension = p.extension().string(), stem = from.substr(0, from.size() - extension.size());
  return number == 0 ? stem + ".cue" : fmt::format("{}-{}.cue", stem, number);
}

// Values under labels, collected in the order of their first mention.
class Listing {
 public:
  void add(const Labels& labels, ast::Node* value, std::size_t from = 0) {
    if (from == labels.size()) {
      has_items_ = true;
      items_.push_back(value);
      return;
    }
    std::string key = format_node(labels[from]);
    for (Below& b : below_)
      if (b.key == key) return b.listing->add(labels, value, from + 1);
    below_.push_back({key, labels[from], std::make_unique<Listing>()});
    below_.back().listing->add(labels, value, from + 1);
  }

  // The fields below, or the list when there are none.
  std::vector<ast::Node*> declarations(Arena& arena) const {
    std::vector<ast::Node*> out;
    if (below_.empty()) out.push_back(arena.make<ast::Embed>(node(arena)));
    for (const Below& b : below_) out.push_back(make_field(arena, b.label, b.listing->node(arena)));
    return out;
  }

 private:
  struct Below {
    std::string key;
    ast::Node* label;
    std::unique_ptr<Listing> listing;
  };

  ast::Node* node(Arena& arena) const {
    TokenPos bracket{{}, Rel::kNoSpace, false};
    if (has_items_ || below_.empty()) return arena.make<ast::List>(bracket, make_nodes(arena, items_), bracket);
    return arena.make<ast::Struct>(TokenPos{}, make_nodes(arena, declarations(arena)), TokenPos{});
  }

  std::vector<Below> below_;
  std::vector<ast::Node*> items_;
  bool has_items_ = false;
};

void name_package(Arena& arena, ast::File* file, const std::string& name) {
  if (name.empty() || file->package()) return;
  std::vector<ast::Node*> decls(file->decls.begin(), file->decls.end());
  decls.insert(decls.begin(), arena.make<ast::Package>(TokenPos{}, make_ident(arena, name)));
  file->decls = make_nodes(arena, decls);
}

}  // namespace

// A label in parentheses is an expression about the document; it must be a string.
std::string Plan::computed_label(ast::Node* x, Vertex* scope) {
  std::string why;
  try {
    Vertex* v = p_.build_expression(x, scope, "");
    Node* value = v->deref_value()->value();
    if (value) value = p_.context().default_of(value);
    if (value && value->type == NodeType::kString) return std::string(to<String>(value)->text);
    Bottom* wrong = v->bottom();
    if (!wrong)
      why = compact(value ? value : v);
    else if (auto all = flatten(wrong); !all.empty())
      why = all[0].message;
    else
      why = "error";
  } catch (const Stop& s) {
    if (!s.problems.empty()) why = s.problems[0].message;
  }
  throw Stop{{{fmt::format("error evaluating label {}: {}", format_node(x), why), {}}}};
}

std::vector<ast::Node*> Plan::labels_in(Vertex* scope) {
  Labels out;
  for (ast::Node* l : path) {
    // Labels of the command line have no place in a file.
    if (l->kind == ast::Kind::kParen)
      out.push_back(make_label(p_.arena(), computed_label(ast::as<ast::Paren>(l)->x, scope)));
    else if (l->kind == ast::Kind::kIdent)
      out.push_back(make_ident(p_.arena(), ast::as<ast::Ident>(l)->name.text()));
    else if (l->kind == ast::Kind::kLit && ast::as<ast::Lit>(l)->tok == Tok::kString)
      out.push_back(make_lit(p_.arena(), Tok::kString, ast::as<ast::Lit>(l)->text));
    else
      out.push_back(l);
  }
  return out;
}

// An evaluated value below the labels of -l: {a: {b: v}}.
Vertex* Plan::place_value(Vertex* v) {
  if (path.empty() || !orphans.empty() || !imported.empty()) return v;
  Context& c = p_.context();
  Node* inner = v;
  Labels labels = labels_in(v);
  for (auto l = labels.rbegin(); l != labels.rend(); ++l) {
    std::vector<Node*> field{c.store.make<Field>(Label::string(label_name(*l)), ArcType::kMember, inner, nullptr)};
    auto* around = c.store.make<StructLit>();
    around->decls = c.store.keep(field);
    inner = around;
  }
  Vertex* out = c.new_vertex();
  out->conjuncts.push(p_.arena(), Conjunct{p_.arena().make<Environment>(), inner, {}});
  c.finalize(out);
  return out;
}

// Documents [from, from + count) of a data file in one file.
ast::File* Plan::gather(const Orphan& o, std::size_t from, std::size_t count, const std::string& package) {
  Arena& arena = p_.arena();
  std::vector<ast::Node*> decls;
  Listing listing;
  Head head;
  bool is_schema = !o.interpretation.empty();
  for (std::size_t i = 0; i < count; ++i) {
    Document d{o, o.documents[from + i], o.originals[from + i], i, count};
    ast::Node* value = content(arena, d.file);
    Labels labels;
    if (!path.empty()) {
      Vertex* scope = p_.build_files({use_context ? p_.file_of(context_of(arena, d)) : d.file}, "");
      p_.context().finalize(scope);
      try {
        labels = labels_in(scope);
      } catch (const Stop&) {
        if (is_null(value)) continue;  // an empty document need not have what the labels ask for
        throw;
      }
    }
    if (is_schema) head.take(d.file, value);
    if (use_list) {
      listing.add(labels, value);
    } else if (!labels.empty()) {
      if (labels.size() == 1 && value->kind == ast::Kind::kStruct && value->comments().empty())
        value = arena.make<ast::Struct>(TokenPos{}, ast::as<ast::Struct>(value)->elts, TokenPos{});
      for (std::size_t k = labels.size(); k-- > 1;) value = make_struct(arena, {make_field(arena, labels[k], value)});
      ast::Field* field = make_field(arena, labels[0], value);
      for (const ast::CommentGroup& g : d.file->comments())
        if (g.doc && !is_schema) ast::add_comment(arena, field, g);
      decls.push_back(field);
    } else if (value->kind == ast::Kind::kStruct) {
      ast::Nodes fields = ast::as<ast::Struct>(value)->elts;
      decls.insert(decls.end(), fields.begin(), fields.end());
    } else {
      p_.fail(value->kind == ast::Kind::kList ? "expected struct as object root, did you mean to use the --list flag?"
                                              : "cannot map non-struct to object root");
    }
  }
  auto* file = arena.make<ast::File>();
  if (use_list) decls = listing.declarations(arena);
  decls.insert(decls.begin(), head.imports.begin(), head.imports.end());
  file->decls = make_nodes(arena, decls);
  for (ast::CommentGroup g : head.comments) {
    g.doc = g.doc && package.empty();  // what is said of the schema is not said of the package
    ast::add_comment(arena, file, g);
  }
  name_package(arena, file, package);
  return file;
}

std::vector<Plan::Imported> Plan::place(const std::vector<Orphan>& list, const std::string& existing,
                                        const std::string& flag) {
  if (!flag.empty() && !existing.empty() && existing != flag && !p_.flags().on("force"))
    p_.fail(fmt::format("\"package\" flag clashes with existing package name ({} vs {})", flag, existing));
  const std::string& package = flag.empty() ? existing : flag;
  bool as_is = !per_file && !use_list && !use_context && path.empty();
  std::vector<Imported> out;
  for (const Orphan& o : list) {
    bool many = o.documents.size() > 1 && path.empty() && !use_list && !per_file;
    if (importing_ && many)
      p_.fail(fmt::format("path, list, or files flag needed to handle multiple objects in file {}",
                          p_.loader().shown(p_.absolute(o.file.path))));
    if (as_is) {
      for (ast::File* f : o.documents) {
        name_package(p_.arena(), f, flag);
        out.push_back({f, written_name(o.file.path, 0)});
      }
    } else if (per_file) {
      for (std::size_t i = 0; i < o.documents.size(); ++i)
        out.push_back({gather(o, i, 1, package), written_name(o.file.path, i)});
    } else {
      out.push_back({gather(o, 0, o.documents.size(), package), written_name(o.file.path, 0)});
    }
  }
  return out;
}

}  // namespace tutti::cue
