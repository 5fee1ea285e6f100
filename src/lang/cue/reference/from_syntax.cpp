#include "lang/cue/reference/from_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lang/cue/format/literal.h"

namespace tutti::cue::kcue {
namespace {

class Reader {
 public:
  explicit Reader(Session& session) : session_(session) {}

  TermPtr program(std::span<ast::File* const> files) {
    scopes_.push_back({});
    for (const ast::File* f : files) declare(f->decls);
    std::vector<TermPtr> terms;
    for (const ast::File* f : files)
      for (const ast::Node* d : f->decls) declaration(d, terms);
    if (terms.empty() && fine_) refuse(Pos{}, "a program without fields");
    return fine_ ? all(std::move(terms)) : nullptr;
  }

 private:
  struct Scope {
    std::set<std::string> labels;
    int level = 0;
  };

  TermPtr refuse(Pos at, std::string_view what) {
    fine_ = false;
    session_.diagnostics.error("REF-OUTSIDE", at, fmt::format("K-CUE has no {}", what))
        .suggest(
            "its terms are constants (_, _|_, types, integers, strings, booleans), references, fields, projections "
            "and conjunctions; leave out --reference for the rest");
    return constant("_");
  }

  void declare(ast::Nodes decls) {
    for (const ast::Node* d : decls)
      if (d->kind == ast::Kind::kField)
        if (const ast::Node* l = ast::as<ast::Field>(d)->label; l->kind == ast::Kind::kIdent)
          scopes_.back().labels.emplace(ast::as<ast::Ident>(l)->name.text());
  }

  void declaration(const ast::Node* d, std::vector<TermPtr>& out) {
    switch (d->kind) {
      case ast::Kind::kPackage: return;
      case ast::Kind::kField: return field_of(*ast::as<ast::Field>(d), out);
      case ast::Kind::kEmbed: out.push_back(term(ast::as<ast::Embed>(d)->x)); return;
      case ast::Kind::kImport: refuse(ast::start(d), "imports"); return;
      case ast::Kind::kLet: refuse(ast::start(d), "`let`"); return;
      case ast::Kind::kAttribute: refuse(ast::start(d), "attributes"); return;
      case ast::Kind::kEllipsis: refuse(ast::start(d), "`...`"); return;
      case ast::Kind::kComprehension: refuse(ast::start(d), "comprehensions"); return;
      default: refuse(ast::start(d), "such a declaration"); return;
    }
  }

  void field_of(const ast::Field& f, std::vector<TermPtr>& out) {
    Pos at = ast::start(f.label);
    std::string label;
    if (f.label->kind == ast::Kind::kIdent || f.label->kind == ast::Kind::kLit) label = label_name(f.label);
    if (label.empty()) return void(refuse(at, "labels that are no plain names"));
    if (f.label->kind == ast::Kind::kIdent && (label[0] == '_' || label[0] == '#'))
      return void(refuse(at, "definitions and hidden fields"));
    if (f.constraint != Tok::kIllegal) return void(refuse(at, "optional and required fields"));
    if (f.alias || !f.attrs.empty()) return void(refuse(at, "aliases and attributes"));
    ++level_;
    TermPtr inner = term(f.value);
    --level_;
    out.push_back(field(label, inner));
  }

  TermPtr literal(const ast::Struct& s) {
    if (s.elts.empty()) return refuse(s.lbrace.pos, "structs without fields");
    Budget::Level level(session_.budget);
    scopes_.push_back({{}, level_});
    declare(s.elts);
    std::vector<TermPtr> terms;
    for (const ast::Node* d : s.elts) declaration(d, terms);
    scopes_.pop_back();
    return all(std::move(terms));
  }

  TermPtr name(const ast::Ident& i) {
    std::string n(i.name.text());
    for (std::size_t k = scopes_.size(); k-- > 0;)
      if (scopes_[k].labels.contains(n)) return reference(n, level_ - scopes_[k].level);
    if (n == "_" || n == "int" || n == "string" || n == "bool") return constant(n);
    if (n == "number" || n == "float" || n == "bytes" || n == "null") return refuse(i.pos.pos, fmt::format("`{}`", n));
    fine_ = false;
    session_.diagnostics.error("REF-NAME", i.pos.pos, fmt::format("there is no `{}` in any scope around this", n));
    return constant("_");
  }

  TermPtr scalar(const ast::Lit& l) {
    switch (l.tok) {
      case Tok::kTrue: return constant("true");
      case Tok::kFalse: return constant("false");
      case Tok::kInt: {
        Number n = parse_number(l.text);
        return n.ok() ? constant(n.value.text('E')) : refuse(l.pos.pos, "such a number");
      }
      case Tok::kString: {
        Unquoted u = unquote(l.text);
        if (!u.ok() || l.text.find('\'') < l.text.find('"')) return refuse(l.pos.pos, "bytes");
        return constant(quote(u.text));
      }
      default: return refuse(l.pos.pos, "null and floating-point numbers");
    }
  }

  TermPtr projection(const ast::Node* x, const ast::Node* sel) {
    std::string label = label_name(sel);
    if (label.empty() || label[0] == '_' || label[0] == '#') return refuse(ast::start(sel), "such a selector");
    ++level_;
    TermPtr inner = term(x);
    --level_;
    return project(inner, label);
  }

  TermPtr term(const ast::Node* n) {
    Budget::Level level(session_.budget);
    switch (n->kind) {
      case ast::Kind::kBottom: return constant("_|_");
      case ast::Kind::kIdent: return name(*ast::as<ast::Ident>(n));
      case ast::Kind::kLit: return scalar(*ast::as<ast::Lit>(n));
      case ast::Kind::kParen: return term(ast::as<ast::Paren>(n)->x);
      case ast::Kind::kStruct: return literal(*ast::as<ast::Struct>(n));
      case ast::Kind::kSelector: return projection(ast::as<ast::Selector>(n)->x, ast::as<ast::Selector>(n)->sel);
      case ast::Kind::kIndex: {
        const auto& i = *ast::as<ast::Index>(n);
        if (i.index->kind == ast::Kind::kLit && ast::as<ast::Lit>(i.index)->tok == Tok::kString)
          return projection(i.x, i.index);
        return refuse(ast::start(n), "indices");
      }
      case ast::Kind::kBinary: {
        const auto& b = *ast::as<ast::Binary>(n);
        if (b.op == Tok::kAnd) return all({term(b.x), term(b.y)});
        return refuse(b.op_pos.pos, b.op == Tok::kOr ? "disjunctions" : "operators");
      }
      case ast::Kind::kUnary: return refuse(ast::start(n), "operators and bounds");
      case ast::Kind::kList: return refuse(ast::start(n), "lists");
      case ast::Kind::kCall: return refuse(ast::start(n), "calls");
      case ast::Kind::kInterpolation: return refuse(ast::start(n), "interpolations");
      default: return refuse(ast::start(n), "such an expression");
    }
  }

  Session& session_;
  std::vector<Scope> scopes_;
  int level_ = 0;
  bool fine_ = true;
};

class ToTree {
 public:
  explicit ToTree(Session& session) : session_(session), build_(session.arena) {}

  Value value(const TermPtr& t, const std::string& path) {
    Budget::Level level(session_.budget);
    if (t->kind == TermKind::kConst) return constant_value(t->text, path);
    std::vector<Entry> entries;
    Value leaf = Value::open("_");
    for (const auto& x : t->all) {
      if (x->kind == TermKind::kConst) {
        leaf = constant_value(x->text, path);
        if (leaf.is(Kind::kError)) return leaf;
      } else if (x->kind == TermKind::kField) {
        std::string below = path.empty() ? x->text : path + "." + x->text;
        entries.push_back({Symbol(x->text), Field::kPlain, value(x->inner, below)});
      }
    }
    return entries.empty() ? leaf : build_.map(entries);
  }

 private:
  using Field = tutti::Field;
  Value constant_value(const std::string& c, const std::string& path) {
    auto keep = [&](std::string_view s) { return session_.arena.copy(s); };
    if (c == "_|_" || c == "?") {
      bool missing = c == "?";
      std::string text = missing ? "a projection found no such field" : "bottom: what meets there contradicts itself";
      session_.diagnostics.error(missing ? "REF-MISSING" : "REF-BOTTOM", {},
                                 fmt::format("{}: {}", path.empty() ? "the program" : path, text));
      return Value::error(keep(text), Symbol(missing ? "incomplete" : "error"));
    }
    if (c == "true" || c == "false") return Value::boolean(c == "true");
    if (c[0] == '"') return build_.string(unquote(c).text);
    if (c == "_" || c == "int" || c == "string" || c == "bool") return Value::open(keep(c));
    return build_.number(c);
  }

  Session& session_;
  TreeBuilder build_;
};

}  // namespace

TermPtr from_syntax(Session& session, std::span<ast::File* const> files) { return Reader(session).program(files); }

std::optional<Value> to_tree(Session& session, const TermPtr& value) { return ToTree(session).value(value, ""); }

}  // namespace tutti::cue::kcue
