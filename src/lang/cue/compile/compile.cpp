#include "lang/cue/compile/compile.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

#include "lang/cue/format/literal.h"

namespace tutti::cue {

using ast::as;
using AK = ast::Kind;

namespace {

std::string nfc(std::string_view s) {
  if (std::all_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(s);
  utf8proc_uint8_t* out = nullptr;
  auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(s.data()), static_cast<utf8proc_ssize_t>(s.size()),
                        &out, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (n < 0) return std::string(s);
  std::string text(reinterpret_cast<char*>(out), static_cast<std::size_t>(n));
  free(out);
  return text;
}

ast::Node* unwrap_alias(ast::Node* label) { return label->kind == AK::kAlias ? as<ast::Alias>(label)->x : label; }

ArcType arc_of(Tok t) {
  return t == Tok::kOption ? ArcType::kOptional : t == Tok::kNot ? ArcType::kRequired : ArcType::kMember;
}

// The name by which a label can be referred to; empty for strings, patterns and computed labels.
Symbol bound_name(const ast::Node* label) {
  if (label->kind == AK::kIdent) return as<ast::Ident>(label)->name;
  if (label->kind == AK::kLit) {
    auto* l = as<ast::Lit>(label);
    if (l->tok == Tok::kNull || l->tok == Tok::kTrue || l->tok == Tok::kFalse) return Symbol(l->text);
  }
  return {};
}

bool blank(const ast::Ident* i) { return !i || i->name.text() == "_"; }

}  // namespace

std::string import_name(std::string_view path) {
  if (auto colon = path.rfind(':'); colon != std::string_view::npos) return std::string(path.substr(colon + 1));
  if (auto at = path.find('@'); at != std::string_view::npos) path = path.substr(0, at);
  return std::string(path.substr(path.rfind('/') + 1));
}

// ---- scopes

Compiler::Frame& Compiler::push(u32 up) {
  stack_.emplace_back();
  stack_.back().up = up;
  return stack_.back();
}

void Compiler::pop() {
  for (auto& [name, e] : stack_.back().names) {
    bool tracked = e.kind == EntryKind::kAlias || e.kind == EntryKind::kLet || e.kind == EntryKind::kValueAlias;
    if (tracked && !e.used) {
      Pos at = e.kind == EntryKind::kLet ? as<ast::Let>(e.node)->pos.pos : ast::first(e.node).pos;
      error(at, fmt::format("unreferenced alias or let clause {}", name.text()));
    }
  }
  stack_.pop_back();
}

Compiler::Entry* Compiler::find(Frame& f, Symbol name) {
  if (f.index.empty()) {
    for (auto& [n, e] : f.names)
      if (n == name) return &e;
    return nullptr;
  }
  std::size_t mask = f.index.size() - 1;
  for (std::size_t i = name.id() * 0x9E3779B1u & mask;; i = (i + 1) & mask) {
    if (f.index[i].second == 0) return nullptr;
    if (f.index[i].first == name.id()) return &f.names[f.index[i].second - 1].second;
  }
}

Compiler::Entry* Compiler::lookup(Symbol name, std::size_t* frame) {
  if (name == anything_) return nullptr;
  for (std::size_t k = stack_.size(); k-- > 0;)
    if (Entry* e = find(stack_[k], name)) {
      if (e->kind == EntryKind::kLet && is_hidden(e->node)) continue;
      if (frame) *frame = k;
      return e;
    }
  return nullptr;
}

bool Compiler::is_hidden(const ast::Node* let) const {
  for (auto& h : hidden_)
    if (h.second == let) return true;
  return false;
}

void Compiler::insert(const ast::Node* at, Symbol name, Entry entry) {
  if (name.empty()) return;
  Frame& f = stack_.back();
  auto is_let = [](const Entry& e, const Frame& in) {
    return in.is_field || e.kind == EntryKind::kLet || e.kind == EntryKind::kAlias || e.kind == EntryKind::kLabel ||
           e.kind == EntryKind::kValueAlias;
  };
  auto unique = [&](const Entry& e, const Frame& in) { return is_let(e, in) || e.kind == EntryKind::kImport; };
  std::size_t k = 0;
  if (Entry* old = lookup(name, &k)) {
    Frame& of = stack_[k];
    if (is_let(entry, f) != is_let(*old, of)) {
      error(ast::first(at).pos,
            fmt::format("cannot have both alias and field with name \"{}\" in same scope", name.text()));
      return;
    }
    if ((unique(entry, f) || unique(*old, of)) && k + 1 == stack_.size()) {
      if (old->kind != EntryKind::kImport)
        error(ast::first(at).pos, fmt::format("alias \"{}\" redeclared in same scope", name.text()));
      return;
    }
    if (k + 1 == stack_.size()) {
      *old = entry;
      return;
    }
  }
  f.names.emplace_back(name, entry);
  std::size_t n = f.names.size();
  if (n < 12) return;
  if (f.index.size() < n * 2) {
    std::size_t size = 32;
    while (size < n * 4) size *= 2;
    f.index.assign(size, {0, 0});
    for (std::size_t j = 0; j < n; ++j) {
      std::size_t i = f.names[j].first.id() * 0x9E3779B1u & (size - 1);
      while (f.index[i].second) i = (i + 1) & (size - 1);
      f.index[i] = {f.names[j].first.id(), static_cast<u32>(j + 1)};
    }
  } else {
    std::size_t mask = f.index.size() - 1;
    std::size_t i = name.id() * 0x9E3779B1u & mask;
    while (f.index[i].second) i = (i + 1) & mask;
    f.index[i] = {name.id(), static_cast<u32>(n)};
  }
}

void Compiler::error(Pos at, std::string message, std::string near) {
  for (auto& e : errors_)
    if (e.pos == at && e.message == message) return;
  errors_.push_back({at, path(), std::move(message), std::move(near)});
}

Node* Compiler::bad(const ast::Node* n, std::string message, std::string near) {
  error(n ? ast::first(n).pos : Pos{}, std::move(message), std::move(near));
  return store_.make<Bottom>(Code::kEval);
}

std::string Compiler::path() const {
  std::string out;
  for (auto& f : stack_) {
    if (!f.label_node) continue;
    std::string text;
    const ast::Node* n = f.label_node;
    switch (n->kind) {
      case AK::kFor: text = "for[]"; break;
      case AK::kLet: text = "let[]"; break;
      case AK::kTryClause: text = "try[]"; break;
      case AK::kField: {
        const ast::Node* l = unwrap_alias(as<ast::Field>(n)->label);
        if (l->kind == AK::kIdent)
          text = as<ast::Ident>(l)->name.text();
        else if (l->kind == AK::kLit) {
          text = as<ast::Lit>(l)->text;
          if (auto u = unquote(text); as<ast::Lit>(l)->tok == Tok::kString && u.ok() && !label_needs_quotes(u.text))
            text = u.text;
        } else
          text = l->kind == AK::kList ? "[]" : l->kind == AK::kParen ? "<unknown>" : "?";
        break;
      }
      default: continue;
    }
    if (!out.empty()) out += '.';
    out += text;
  }
  return out;
}

u32 Compiler::depth_to(std::size_t frame) const {
  u32 up = 0;
  for (std::size_t k = stack_.size(); k-- > frame + 1;) up += stack_[k].up;
  return up;
}

// ---- files

std::vector<StructLit*> Compiler::files(const CompileInput& input) {
  package_ = input.package;
  package_name_ = input.package_name;
  data_ = input.data;
  file_scope_.clear();
  for (ast::File* f : input.files) {
    if (!f->package() || f->package()->name->name.text() == "_") continue;
    for (ast::Node* d : f->decls)
      if (d->kind == AK::kField) {
        ast::Node* l = unwrap_alias(as<ast::Field>(d)->label);
        if (l->kind == AK::kIdent) file_scope_.push_back(label(l));
      }
  }
  std::sort(file_scope_.begin(), file_scope_.end(), [](Label a, Label b) { return a.bits() < b.bits(); });
  std::vector<StructLit*> out;
  for (ast::File* f : input.files) {
    experiments_ = f->experiments;
    source_ = f->source ? std::string_view(f->source->text) : std::string_view();
    push(0);
    auto* s = store_.make<StructLit>(f);
    s->is_file = true;
    // imports first: they are seen by the whole file
    for (ast::Node* d : f->decls) {
      if (d->kind != AK::kImport) continue;
      for (ast::Node* n : as<ast::Import>(d)->specs) {
        auto* spec = as<ast::ImportSpec>(n);
        auto path = unquote(spec->path->text);
        if (!path.ok()) continue;
        std::string name = spec->name ? std::string(spec->name->name.text()) : import_name(path.text);
        if (!spec->name && path.text.find(':') == std::string::npos && package_name_) {
          if (std::string declared = package_name_(path.text); !declared.empty()) name = declared;
        }
        Entry e{EntryKind::kImport};
        e.node = spec;
        e.import_path = Symbol(path.text);
        insert(spec, Symbol(name), e);
      }
    }
    struct_body(s, f->decls);
    for (auto& [name, e] : stack_.back().names)
      if (e.kind == EntryKind::kImport && !e.used) {
        auto* spec = as<ast::ImportSpec>(e.node);
        std::string text = fmt::format("imported and not used: {}", spec->path->text);
        if (spec->name) text += fmt::format(" as {}", spec->name->name.text());
        error(ast::first(spec).pos, text);
      }
    pop();
    out.push_back(s);
  }
  return out;
}

Node* Compiler::expression(ast::Node* x, const CompileInput* scope) {
  if (scope) {
    package_ = scope->package;
    file_scope_.clear();
    for (ast::File* f : scope->files)
      for (ast::Node* d : f->decls)
        if (d->kind == AK::kField) {
          ast::Node* l = unwrap_alias(as<ast::Field>(d)->label);
          if (l->kind == AK::kIdent) file_scope_.push_back(label(l));
        }
    std::sort(file_scope_.begin(), file_scope_.end(), [](Label a, Label b) { return a.bits() < b.bits(); });
  }
  push(0);
  Node* n = expr(x);
  pop();
  return n;
}

// ---- declarations

void Compiler::declare_postfix(const ast::Field* f, const ast::PostfixAlias* a) {
  bool has_field = !blank(a->field);
  if (!a->label) {
    if (!has_field)
      error(a->tilde.pos, fmt::format("single postfix alias \"{}\" field cannot be the blank identifier", "_"));
    else {
      Entry e{EntryKind::kAlias, a, f};
      insert(f, a->field->name, e);
    }
    return;
  }
  bool has_label = !blank(a->label);
  if (!has_field && !has_label)
    return error(a->tilde.pos, "both label and field in postfix alias cannot be the blank identifier");
  if (has_label) {
    Entry e{EntryKind::kLabel, a->label, f};
    insert(f, a->label->name, e);
  }
  if (has_field) {
    Entry e{EntryKind::kAlias, a, f};
    insert(f, a->field->name, e);
  }
}

void Compiler::declare(ast::Nodes decls) {
  for (ast::Node* d : decls) {
    if (d->kind == AK::kField) {
      auto* f = as<ast::Field>(d);
      ast::Node* l = f->label;
      if (l->kind == AK::kAlias) {
        auto* a = as<ast::Alias>(l);
        if (blank(a->ident)) error(a->ident->pos.pos, "cannot use _ as alias or let clause");
        if (f->alias) error(ast::first(f).pos, "field has both label alias and postfix alias");
        if (a->x->kind != AK::kList && !blank(a->ident)) {
          Entry e{EntryKind::kAlias, a, f};
          insert(f, a->ident->name, e);
        }
        l = a->x;
      }
      if (l->kind != AK::kList && f->alias) declare_postfix(f, f->alias);
      if (Symbol name = bound_name(l); !name.empty()) {
        if (auto& names = stack_.back().names; names.capacity() == 0) names.reserve(decls.size());
        Entry e{EntryKind::kField, f->value, f};
        insert(f, name, e);
      }
    } else if (d->kind == AK::kLet) {
      auto* l = as<ast::Let>(d);
      if (blank(l->ident)) {
        error(l->ident->pos.pos, "cannot use _ as alias or let clause");
        continue;
      }
      static thread_local u32 number = 0;
      Entry e{EntryKind::kLet, l};
      e.let_label = Label::let(l->ident->name.text(), ++number);
      insert(l, l->ident->name, e);
    }
  }
}

// The labels of dynamic fields with an alias are needed by whatever refers to the alias.
void Compiler::dynamic_aliases(ast::Nodes decls) {
  for (ast::Node* d : decls) {
    if (d->kind != AK::kField) continue;
    auto* f = as<ast::Field>(d);
    const ast::Ident* name = nullptr;
    if (f->label->kind == AK::kAlias)
      name = as<ast::Alias>(f->label)->ident;
    else if (f->alias && !blank(f->alias->field))
      name = f->alias->field;
    if (!name) continue;
    ast::Node* l = unwrap_alias(f->label);
    if (l->kind != AK::kInterpolation && l->kind != AK::kParen) continue;
    Node* x = expr(l);
    if (Entry* e = find(stack_.back(), name->name)) e->label_expr = x;
  }
}

void Compiler::struct_body(StructLit* s, ast::Nodes decls) {
  s->explicit_open = experiments_.explicit_open;
  if (!data_) {
    declare(decls);
    dynamic_aliases(decls);
  }
  std::size_t from = gathered_.size();
  for (ast::Node* d : decls)
    if (Node* n = decl(d)) {
      if (n->type == NodeType::kComprehension || n->is_expr()) s->has_embedding = true;
      gathered_.push_back(n);
    }
  s->decls = store_.arena().copy(std::span<Node* const>(gathered_).subspan(from));
  gathered_.resize(from);
}

Node* Compiler::labeled(const ast::Node* label_node, ast::Node* value) {
  std::size_t k = stack_.size() - 1;
  const ast::Node* saved = stack_[k].label_node;
  bool saved_in = stack_[k].in_field;
  stack_[k].label_node = label_node;
  stack_[k].in_field = true;
  Node* x = expr(value);
  stack_[k].label_node = saved;
  stack_[k].in_field = saved_in;
  return x;
}

void Compiler::check_pattern_names(ast::Node* n) {
  if (!n) return;
  switch (n->kind) {
    case AK::kIdent:
      for (std::size_t k = stack_.size(); k-- > 0 && !stack_[k].in_field;)
        if (const Entry* e = find(stack_[k], as<ast::Ident>(n)->name); e && e->kind != EntryKind::kImport)
          error(ast::first(n).pos,
                fmt::format("reference \"{}\" in label expression refers to field against which it would be matched",
                            as<ast::Ident>(n)->name.text()));
      break;
    case AK::kParen: check_pattern_names(as<ast::Paren>(n)->x); break;
    case AK::kUnary: check_pattern_names(as<ast::Unary>(n)->x); break;
    case AK::kBinary:
      check_pattern_names(as<ast::Binary>(n)->x);
      check_pattern_names(as<ast::Binary>(n)->y);
      break;
    case AK::kSelector: check_pattern_names(as<ast::Selector>(n)->x); break;
    case AK::kIndex:
      check_pattern_names(as<ast::Index>(n)->x);
      check_pattern_names(as<ast::Index>(n)->index);
      break;
    case AK::kCall:
      check_pattern_names(as<ast::Call>(n)->fun);
      for (ast::Node* a : as<ast::Call>(n)->args) check_pattern_names(a);
      break;
    case AK::kInterpolation:
      for (ast::Node* a : as<ast::Interpolation>(n)->parts) check_pattern_names(a);
      break;
    default: break;
  }
}

Node* Compiler::field(const ast::Field* f) {
  ast::Node* l = unwrap_alias(f->label);
  std::size_t frames = stack_.size();
  Node* filter = nullptr;
  if (l->kind == AK::kList) {
    auto elts = as<ast::List>(l)->elts;
    if (elts.size() != 1) return bad(f, "list label must have one element");
    push(0).is_field = true;
    if (f->label->kind == AK::kAlias) {
      auto* a = as<ast::Alias>(f->label);
      Entry e{EntryKind::kAlias, a, f};
      insert(f, a->ident->name, e);
    }
    ast::Node* x = elts[0];
    if (x->kind == AK::kAlias) {
      auto* a = as<ast::Alias>(x);
      if (f->alias) error(ast::first(f).pos, "pattern constraint has both label alias and postfix alias");
      x = a->x;
      Entry e{EntryKind::kLabel, a->x, f};
      insert(f, a->ident->name, e);
    } else if (f->alias) {
      declare_postfix(f, f->alias);
    }
    check_pattern_names(x);
    filter = expr(x);
  }
  ast::Node* v = f->value;
  if (v->kind == AK::kAlias) {
    auto* a = as<ast::Alias>(v);
    push(0).is_field = true;
    Entry e{EntryKind::kValueAlias, a, f};
    if (blank(a->ident))
      error(a->ident->pos.pos, "cannot use _ as alias or let clause");
    else
      insert(f, a->ident->name, e);
    v = a->x;
  }
  Node* value = labeled(f, v);
  while (stack_.size() > frames) pop();
  switch (l->kind) {
    case AK::kIdent:
    case AK::kLit: {
      Label name = label(l);
      if (!name.valid()) return bad(f, "cannot use _ as label");
      auto* out = store_.make<Field>(name, arc_of(f->constraint), value, f);
      out->told_where_used = f->from_schema && name.is_def();
      return out;
    }
    case AK::kList: return store_.make<Pattern>(filter, value, f);
    case AK::kParen:
    case AK::kInterpolation: {
      auto* d = store_.make<DynamicField>(arc_of(f->constraint), expr(l), value, f);
      d->binds_label = f->alias && f->alias->label;
      return d;
    }
    default: return bad(f, "invalid label");
  }
}

Node* Compiler::decl(ast::Node* d) {
  switch (d->kind) {
    case AK::kField: return field(as<ast::Field>(d));
    case AK::kLet: {
      auto* l = as<ast::Let>(d);
      Entry* e = find(stack_.back(), l->ident->name);
      if (!e || e->kind != EntryKind::kLet || e->node != l) return nullptr;
      Label name = e->let_label;
      bool saved = refers_to_variable_;
      refers_to_variable_ = false;
      // a let does not see itself: its name may mean something further out
      hidden_.push_back({stack_.size() - 1, l});
      Node* value = labeled(l, l->x);
      hidden_.pop_back();
      auto* out = store_.make<LetField>(name, value, l);
      out->multi = refers_to_variable_;
      refers_to_variable_ = saved || out->multi;
      return out;
    }
    case AK::kEllipsis: {
      auto* e = as<ast::Ellipsis>(d);
      return store_.make<Ellipsis>(e->type ? expr(e->type) : nullptr, e);
    }
    case AK::kComprehension: return comprehension(as<ast::Comprehension>(d), false);
    case AK::kEmbed: return expr(as<ast::Embed>(d)->x);
    case AK::kBadDecl: return bad(d, "invalid declaration");
    case AK::kAlias: return bad(d, "old-style alias no longer supported: use let clause; use cue fix to update.");
    default: return nullptr;
  }
}

Node* Compiler::comprehension(const ast::Comprehension* c, bool in_list) {
  std::vector<Node*> clauses;
  std::size_t frames = stack_.size();
  bool has_try = false;
  Node* failed = nullptr;
  auto variable = [&](const ast::Node* scope, bool is_variable) -> Frame& {
    Frame& f = push(1);
    f.label_node = scope;
    f.comprehension_var = is_variable;
    return f;
  };
  for (ast::Node* n : c->clauses) {
    switch (n->kind) {
      case AK::kFor: {
        auto* x = as<ast::ForClause>(n);
        Node* source = expr(x->source);
        Label key = x->key ? label(x->key) : Label();
        clauses.push_back(store_.make<ForClause>(key, label(x->value), source, x));
        variable(x, !in_list);
        if (x->key && !blank(x->key)) insert(x->key, x->key->name, Entry{EntryKind::kClause, x->key});
        if (!blank(x->value)) insert(x->value, x->value->name, Entry{EntryKind::kClause, x->value});
        break;
      }
      case AK::kIfClause: {
        auto* x = as<ast::IfClause>(n);
        clauses.push_back(store_.make<IfClause>(expr(x->condition), x));
        break;
      }
      case AK::kLet: {
        auto* x = as<ast::Let>(n);
        bool saved = refers_to_variable_;
        refers_to_variable_ = false;
        Node* value = expr(x->x);
        bool uses = refers_to_variable_;
        refers_to_variable_ = saved || uses;
        clauses.push_back(store_.make<LetClause>(label(x->ident), value, x));
        variable(x, !in_list && uses);
        insert(x->ident, x->ident->name, Entry{EntryKind::kClause, x->ident});
        break;
      }
      case AK::kTryClause: {
        auto* x = as<ast::TryClause>(n);
        if (!experiments_.try_clause) {
          failed = bad(x, "try clause requires the try experiment (language version v0.16.0 or later)");
          break;
        }
        if (!x->ident) {
          has_try = true;
          clauses.push_back(store_.make<TryClause>(Label(), nullptr, x));
        } else {
          bool saved = refers_to_variable_;
          refers_to_variable_ = false;
          ++in_try_;
          Node* value = expr(x->x);
          --in_try_;
          bool uses = refers_to_variable_;
          refers_to_variable_ = saved || uses;
          clauses.push_back(store_.make<TryClause>(label(x->ident), value, x));
          variable(x, !in_list && uses);
          insert(x->ident, x->ident->name, Entry{EntryKind::kClause, x->ident});
        }
        break;
      }
      default: break;
    }
    if (!failed && clauses[0]->type == NodeType::kLet)
      failed = bad(c, "first comprehension clause must be 'if' or 'for'");
    for (std::size_t i = 0; !failed && i + 1 < clauses.size(); ++i)
      if (clauses[i]->type == NodeType::kTry && !to<TryClause>(clauses[i])->x)
        failed = bad(c->clauses[i], "struct-form try clause must be the last clause in a comprehension");
    if (failed) break;
  }
  Node* value = nullptr;
  if (!failed) {
    if (has_try) ++in_try_;
    value = expr(c->value);
    if (has_try) --in_try_;
  }
  // the names of the clauses are not seen by what comes instead
  std::vector<Frame> inner;
  while (stack_.size() > frames) {
    inner.push_back(std::move(stack_.back()));
    stack_.pop_back();
  }
  if (failed) return failed;
  if (value->type != NodeType::kStruct) return value;
  auto* out = store_.make<Comprehension>(store_.keep(clauses), to<StructLit>(value), c);
  if (c->fallback) {
    if (!experiments_.try_clause) {
      bool single = c->clauses.size() == 1 && c->clauses[0]->kind != AK::kFor;
      return bad(c->fallback, fmt::format("{} clause requires the try experiment (language version v0.16.0 or later)",
                                          single ? "else" : "fallback"));
    }
    Node* f = expr(c->fallback->body);
    if (f->type == NodeType::kStruct) out->fallback = to<StructLit>(f);
  }
  return out;
}

// ---- labels

Label Compiler::label(const ast::Node* n) {
  if (n->kind == AK::kIdent) {
    std::string_view name = as<ast::Ident>(n)->name.text();
    if (name == "_") return {};
    if (name[0] != '_' && name[0] != '#') return Label::string(as<ast::Ident>(n)->name);
    return Label::ident(name, package_);
  }
  if (n->kind == AK::kLit) {
    auto* l = as<ast::Lit>(n);
    switch (l->tok) {
      case Tok::kString: {
        if (std::string_view inside; is_plain_string(l->text, inside)) return Label::string(inside);
        auto u = unquote(l->text);
        if (!u.ok()) {
          bad(n, fmt::format("invalid string label: {}", u.error));
          return {};
        }
        return Label::string(nfc(u.text));
      }
      case Tok::kTrue:
      case Tok::kFalse:
      case Tok::kNull: return Label::string(l->text);
      default: bad(n, fmt::format("{} cannot be used as label", l->text)); return {};
    }
  }
  bad(n, "unsupported label");
  return {};
}

}  // namespace tutti::cue
