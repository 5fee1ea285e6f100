#include "lang/cue/fix.h"

#include <algorithm>
#include <set>

#include "lang/cue/format/literal.h"
#include "lang/cue/format/walk.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

using ast::as;

namespace {

class Fixer {
 public:
  Fixer(Arena& arena, ast::File* f, const FixOptions& options) : arena_(arena), file_(f), options_(options) {}

  bool run() {
    for (ast::Node* d : file_->decls)
      if (d->kind == ast::Kind::kImport)
        for (ast::Node* s : as<ast::Import>(d)->specs) {
          auto* spec = as<ast::ImportSpec>(s);
          if (unquote(spec->path->text).text == "list") {
            has_list_ = true;
            if (spec->name) list_ = spec->name->name.text();
          }
        }
    for (ast::Node*& d : file_->decls) declaration(d, false);
    if (used_list_ && !has_list_) add_import();
    mark();
    return changed_;
  }

 private:
  // ---- lists

  // Is it surely a list? Only what is written as one; a reference may be to anything. Sums of lists are calls by now,
  // since operands are looked at before what they are operands of.
  bool is_list(const ast::Node* n) const {
    if (n->kind == ast::Kind::kList) return true;
    if (n->kind == ast::Kind::kParen) return is_list(as<ast::Paren>(n)->x);
    if (n->kind == ast::Kind::kBinary) return list_products_.count(n) > 0;
    if (n->kind == ast::Kind::kCall) {
      auto* c = as<ast::Call>(n);
      if (c->fun->kind != ast::Kind::kSelector) return false;
      auto* s = as<ast::Selector>(c->fun);
      if (s->x->kind != ast::Kind::kIdent || s->sel->kind != ast::Kind::kIdent) return false;
      std::string_view name = as<ast::Ident>(s->sel)->name.text();
      return as<ast::Ident>(s->x)->name.text() == "list" && (name == "Concat" || name == "Repeat");
    }
    return false;
  }

  ast::Node* call(std::string_view name, std::vector<ast::Node*> args, TokenPos at) {
    used_list_ = changed_ = true;
    ast::Node* fun = arena_.make<ast::Selector>(make_ident(arena_, list_, at), TokenPos{}, make_ident(arena_, name));
    return arena_.make<ast::Call>(fun, TokenPos{}, make_nodes(arena_, args), TokenPos{});
  }

  static ast::Node* placed(ast::Node* n, Rel rel) {
    if (TokenPos* at = ast::first_ref(n)) at->rel = rel;
    return n;
  }

  void expression(ast::Node*& n, bool in_definition) {
    if (!n) return;
    if (n->kind == ast::Kind::kStruct) return structure(n, in_definition);
    children(n, in_definition);
    if (n->kind != ast::Kind::kBinary) return;
    auto* b = as<ast::Binary>(n);
    if (b->op == Tok::kAdd && (is_list(b->x) || is_list(b->y))) {
      TokenPos at = ast::first(n);
      ast::Node* pair = make_list(arena_, {placed(b->x, Rel::kNoSpace), placed(b->y, Rel::kBlank)});
      n = call("Concat", {pair}, at);
    } else if (b->op == Tok::kMul && is_list(b->x) && is_list(b->y)) {
      list_products_.insert(n);
    } else if (b->op == Tok::kMul && (is_list(b->x) || is_list(b->y))) {
      TokenPos at = ast::first(n);
      bool first = is_list(b->x);
      ast::Node *list = first ? b->x : b->y, *count = first ? b->y : b->x;
      n = call("Repeat", {placed(list, Rel::kNoSpace), placed(count, Rel::kBlank)}, at);
    }
  }

  void each(ast::Nodes list, bool in_definition) {
    for (ast::Node*& x : list) declaration(x, in_definition);
  }

  void children(ast::Node* n, bool def) {
    switch (n->kind) {
      case ast::Kind::kInterpolation:
        for (ast::Node*& x : as<ast::Interpolation>(n)->parts) expression(x, def);
        break;
      case ast::Kind::kList:
        for (ast::Node*& x : as<ast::List>(n)->elts) declaration(x, def);
        break;
      case ast::Kind::kEllipsis: expression(as<ast::Ellipsis>(n)->type, def); break;
      case ast::Kind::kComprehension:
        for (ast::Node*& x : as<ast::Comprehension>(n)->clauses) expression(x, def);
        expression(as<ast::Comprehension>(n)->value, def);
        if (auto* f = as<ast::Comprehension>(n)->fallback) expression(f->body, def);
        break;
      case ast::Kind::kParen: expression(as<ast::Paren>(n)->x, def); break;
      case ast::Kind::kSelector: expression(as<ast::Selector>(n)->x, def); break;
      case ast::Kind::kIndex:
        expression(as<ast::Index>(n)->x, def);
        expression(as<ast::Index>(n)->index, def);
        break;
      case ast::Kind::kSlice:
        expression(as<ast::Slice>(n)->x, def);
        expression(as<ast::Slice>(n)->low, def);
        expression(as<ast::Slice>(n)->high, def);
        break;
      case ast::Kind::kCall:
        for (ast::Node*& x : as<ast::Call>(n)->args) expression(x, def);
        break;
      case ast::Kind::kUnary: expression(as<ast::Unary>(n)->x, def); break;
      case ast::Kind::kBinary:
        expression(as<ast::Binary>(n)->x, def);
        expression(as<ast::Binary>(n)->y, def);
        break;
      case ast::Kind::kPostfix: expression(as<ast::Postfix>(n)->x, def); break;
      case ast::Kind::kAlias: expression(as<ast::Alias>(n)->x, def); break;
      case ast::Kind::kFor: expression(as<ast::ForClause>(n)->source, def); break;
      case ast::Kind::kIfClause: expression(as<ast::IfClause>(n)->condition, def); break;
      case ast::Kind::kLet: expression(as<ast::Let>(n)->x, def); break;
      case ast::Kind::kTryClause: expression(as<ast::TryClause>(n)->x, def); break;
      default: break;
    }
  }

  void declaration(ast::Node*& d, bool in_definition) {
    if (d->kind == ast::Kind::kField) {
      auto* f = as<ast::Field>(d);
      if (options_.alias_v2) alias(f);
      bool def = in_definition;
      if (f->label->kind == ast::Kind::kIdent) {
        std::string_view name = as<ast::Ident>(f->label)->name.text();
        def = def || name.starts_with('#') || name.starts_with("_#");
      }
      expression(f->value, def);
    } else if (d->kind == ast::Kind::kEmbed) {
      expression(as<ast::Embed>(d)->x, in_definition);
    } else {
      expression(d, in_definition);
    }
  }

  // ---- explicitopen

  // Does the path of a reference name a definition, or may it be anything that is closed?
  static bool is_reference(const ast::Node* n) {
    if (n->kind == ast::Kind::kIdent) {
      std::string_view name = as<ast::Ident>(n)->name.text();
      static constexpr std::string_view kTypes[] = {"_",      "null",   "bool",  "int",    "float",
                                                    "number", "string", "bytes", "struct", "uint"};
      return std::find(std::begin(kTypes), std::end(kTypes), name) == std::end(kTypes);
    }
    return n->kind == ast::Kind::kSelector || n->kind == ast::Kind::kIndex;
  }
  static bool names_definition(const ast::Node* n) {
    if (n->kind == ast::Kind::kIdent) {
      std::string_view name = as<ast::Ident>(n)->name.text();
      return name.starts_with('#') || name.starts_with("_#");
    }
    if (n->kind == ast::Kind::kSelector) {
      auto* s = as<ast::Selector>(n);
      return names_definition(s->x) || (s->sel->kind == ast::Kind::kIdent && names_definition(s->sel));
    }
    return n->kind == ast::Kind::kIndex && names_definition(as<ast::Index>(n)->x);
  }

  void structure(ast::Node*& n, bool in_definition) {
    auto* s = as<ast::Struct>(n);
    each(s->elts, in_definition);
    if (!options_.explicit_open) return;
    bool embeds = false, definition = false;
    for (ast::Node* d : s->elts) {
      if (d->kind != ast::Kind::kEmbed) continue;
      auto* e = as<ast::Embed>(d);
      if (!is_reference(e->x)) continue;
      embeds = true;
      definition = definition || names_definition(e->x);
      auto* open = arena_.make<ast::Postfix>(e->x, Tok::kEllipsis, TokenPos{});
      open->notes = e->x->notes;
      e->x->notes = nullptr;
      e->x = open;
      changed_ = true;
    }
    // An embedded definition closed the whole literal; inside a definition it is closed anyway.
    if (!embeds || in_definition) return;
    std::string_view function = definition ? "__closeAll" : "__reclose";
    TokenPos at = ast::first(n);
    if (s->lbrace) s->lbrace.rel = Rel::kNoSpace;
    n = arena_.make<ast::Call>(make_ident(arena_, function, at), TokenPos{}, make_nodes(arena_, {n}), TokenPos{});
  }

  // ---- aliasv2

  void alias(ast::Field* f) {
    ast::Node* l = f->label;
    ast::Ident *label = nullptr, *field = nullptr;
    if (l->kind == ast::Kind::kAlias) {
      field = as<ast::Alias>(l)->ident;
      f->label = as<ast::Alias>(l)->x;
      if (TokenPos* at = ast::first_ref(f->label)) at->rel = field->pos.rel;
    } else if (l->kind == ast::Kind::kList && as<ast::List>(l)->elts.size() == 1 &&
               as<ast::List>(l)->elts[0]->kind == ast::Kind::kAlias) {
      auto* a = as<ast::Alias>(as<ast::List>(l)->elts[0]);
      label = a->ident;
      as<ast::List>(l)->elts[0] = a->x;
    }
    if (label || field) {
      auto* p = arena_.make<ast::PostfixAlias>(TokenPos{});
      if (label) {
        p->label = make_ident(arena_, label->name.text());
        p->field = make_ident(arena_, "_");
      } else {
        p->field = make_ident(arena_, field->name.text());
      }
      f->alias = p;
      changed_ = true;
    }
    // a: X={...} is a: {let X = self, ...}
    if (f->value && f->value->kind == ast::Kind::kAlias && as<ast::Alias>(f->value)->x->kind == ast::Kind::kStruct) {
      auto* a = as<ast::Alias>(f->value);
      auto* s = as<ast::Struct>(a->x);
      std::vector<ast::Node*> decls{arena_.make<ast::Let>(TokenPos{{}, Rel::kNewline},
                                                          make_ident(arena_, a->ident->name.text()), TokenPos{},
                                                          make_ident(arena_, "self"))};
      decls.insert(decls.end(), s->elts.begin(), s->elts.end());
      s->elts = make_nodes(arena_, decls);
      if (s->elts.size() > 1)
        if (TokenPos* at = ast::first_ref(s->elts[1]); at && at->rel < Rel::kNewline) at->rel = Rel::kNewline;
      f->value = s;
      changed_ = true;
    }
  }

  // ---- the head of the file

  void add_import() {
    for (ast::Node* d : file_->decls) {
      if (d->kind != ast::Kind::kImport) continue;
      auto* i = as<ast::Import>(d);
      std::vector<ast::Node*> specs(i->specs.begin(), i->specs.end());
      auto* path = make_lit(arena_, Tok::kString, "\"list\"", TokenPos{{}, Rel::kNewline});
      specs.insert(specs.begin(), arena_.make<ast::ImportSpec>(nullptr, path));
      for (ast::Node* s : specs)
        if (TokenPos* at = ast::first_ref(s); at && at->rel < Rel::kNewline) at->rel = Rel::kNewline;
      i->specs = make_nodes(arena_, specs);
      if (!i->lparen) i->lparen = TokenPos{i->pos.pos, Rel::kBlank};
      return;
    }
    std::vector<ast::Node*> out;
    auto* decl = arena_.make<ast::Import>(
        TokenPos{{}, Rel::kNewSection}, TokenPos{},
        make_nodes(arena_, {arena_.make<ast::ImportSpec>(nullptr, make_lit(arena_, Tok::kString, "\"list\""))}),
        TokenPos{});
    std::size_t at = 0;
    for (std::size_t i = 0; i < file_->decls.size(); ++i)
      if (file_->decls[i]->kind == ast::Kind::kPackage || file_->decls[i]->kind == ast::Kind::kImport) at = i + 1;
    if (at == 0)
      while (at < file_->decls.size() && file_->decls[at]->kind == ast::Kind::kAttribute) ++at;
    if (at < file_->decls.size())
      if (TokenPos* first = ast::first_ref(file_->decls[at])) first->rel = Rel::kNewSection;
    out.assign(file_->decls.begin(), file_->decls.end());
    out.insert(out.begin() + static_cast<long>(at), decl);
    file_->decls = make_nodes(arena_, out);
  }

  void mark() {
    std::vector<std::string> missing = options_.mark;
    for (ast::Node* d : file_->decls) {
      if (d->kind != ast::Kind::kAttribute) continue;
      auto* a = as<ast::Attribute>(d);
      if (a->name() != "experiment") continue;
      std::string body(a->body());
      for (const std::string& e : options_.mark)
        if (body.find(e) != std::string::npos) std::erase(missing, e);
    }
    if (missing.empty()) return;
    std::string list;
    for (const std::string& e : missing) list += (list.empty() ? "" : ",") + e;
    std::vector<ast::Node*> out{arena_.make<ast::Attribute>(
        TokenPos{{}, Rel::kNewline}, arena_.copy(std::string_view("@experiment(" + list + ")")))};
    if (!file_->decls.empty())
      if (TokenPos* first = ast::first_ref(file_->decls[0])) first->rel = Rel::kNewSection;
    out.insert(out.end(), file_->decls.begin(), file_->decls.end());
    file_->decls = make_nodes(arena_, out);
    changed_ = true;
  }

  Arena& arena_;
  ast::File* file_;
  const FixOptions& options_;
  std::string list_ = "list";
  std::set<const ast::Node*> list_products_;  // a list times a list, which no call stands for
  bool has_list_ = false, used_list_ = false, changed_ = false;
};

}  // namespace

bool fix_file(Arena& arena, ast::File* f, const FixOptions& options) { return Fixer(arena, f, options).run(); }

}  // namespace tutti::cue
