#include "lang/cue/syntax/parser.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "lang/cue/syntax/parser_impl.h"

namespace tutti::cue {

using namespace ast;

Parser::Parser(const Source& source, Arena& arena, std::vector<SyntaxError>& errors, const ParseOptions& options)
    : source_(source), arena_(arena), errors_(errors), options_(options), scanner_(source, arena, errors) {
  top_ = new_frame();
  top_->pos = -1;
  next();
}

void Parser::decl_comma() {
  if (at_comma("struct literal", {Tok::kRbrace, Tok::kEof})) next();
}

Nodes Parser::field_list() {
  open_list();
  Gathered list(*this);
  while (tok_ != Tok::kRbrace && tok_ != Tok::kEof) {
    if (tok_ == Tok::kAttribute) {
      list.push_back(attribute(false));
      decl_comma();
    } else if (tok_ == Tok::kEllipsis) {
      Frame* f = open();
      auto* e = make<Ellipsis>(pos_);
      next();
      list.push_back(close(f, e));
      decl_comma();
    } else {
      list.push_back(field());
    }
  }
  close_list();
  return list.kept();
}

Node* Parser::let_decl(Ident*& word) {
  Frame* f = open();
  TokenPos at = expect(Tok::kLet);
  if (tok_ != Tok::kIdent) {
    word = close(f, make<Ident>(at, Symbol("let")));
    return nullptr;
  }
  Ident* name = declared_ident();
  TokenPos equal = expect(Tok::kBind);
  Node* x = rhs();
  decl_comma();
  return close(f, make<Let>(at, name, equal, x));
}

Node* Parser::comprehension(Ident*& word) {
  Nest nest(*this);
  Frame* f = open();
  TokenPos at = pos_;
  Symbol text(token_text(tok_));
  std::vector<Node*> parts;
  Frame* word_frame = nullptr;
  if (!clauses(parts, word_frame)) {
    word = close(word_frame, make<Ident>(at, text));
    close(f, word);
    return nullptr;
  }
  Frame* s = open();
  Node* value = close(s, struct_literal());
  FallbackClause* otherwise = nullptr;
  if (tok_ == Tok::kElse || tok_ == Tok::kFallback || tok_ == Tok::kOtherwise) otherwise = fallback(parts);
  if (at_comma("struct literal", {Tok::kRbrace})) next();
  return close(f, make<Comprehension>(keep_nodes(parts), value, otherwise));
}

// False when the first word turns out to be a name (`for: 1`); its frame is then left open.
bool Parser::clauses(std::vector<Node*>& out, Frame*& word_frame) {
  for (bool at_start = true;; at_start = false) {
    switch (tok_) {
      case Tok::kFor: {
        Frame* f = open();
        TokenPos at = expect(Tok::kFor);
        if (at_start) switch (tok_) {
            case Tok::kColon:
            case Tok::kBind:
            case Tok::kOption:
            case Tok::kNot:
            case Tok::kComma:
            case Tok::kEof: word_frame = f; return false;
            default: break;
          }
        Ident* key = nullptr;
        Ident* value = declared_ident();
        TokenPos colon;
        if (tok_ == Tok::kComma) {
          colon = expect(Tok::kComma);
          key = value;
          value = declared_ident();
        }
        f->pos = 4;
        TokenPos in = expect(Tok::kIn);
        Node* source = rhs();
        out.push_back(close(f, make<ForClause>(at, key, colon, value, in, source)));
        break;
      }
      case Tok::kIf: {
        Frame* f = open();
        TokenPos at = expect(Tok::kIf);
        if (at_start) switch (tok_) {
            case Tok::kColon:
            case Tok::kBind:
            case Tok::kOption:
            case Tok::kComma:
            case Tok::kEof: word_frame = f; return false;
            case Tok::kNot:
              peek();
              if (peeked_->tok == Tok::kColon) {
                word_frame = f;
                return false;
              }
              break;
            default: break;
          }
        Node* x = rhs();
        out.push_back(close(f, make<IfClause>(at, x)));
        break;
      }
      case Tok::kLet: {
        Frame* f = open();
        TokenPos at = expect(Tok::kLet);
        Ident* name = declared_ident();
        TokenPos equal = expect(Tok::kBind);
        Node* x = rhs();
        out.push_back(close(f, make<Let>(at, name, equal, x)));
        break;
      }
      case Tok::kTry: {
        Frame* f = open();
        auto* t = make<TryClause>(expect(Tok::kTry));
        if (at_start) switch (tok_) {
            case Tok::kColon:
            case Tok::kBind:
            case Tok::kOption:
            case Tok::kNot:
            case Tok::kComma:
            case Tok::kEof: word_frame = f; return false;
            default: break;
          }
        if (tok_ == Tok::kIdent) {
          t->ident = ident();
          t->equal = expect(Tok::kBind);
          t->x = rhs();
        }
        out.push_back(close(f, t));
        break;
      }
      default: return true;
    }
    if (tok_ == Tok::kComma) next();
  }
}

FallbackClause* Parser::fallback(const std::vector<Node*>& before) {
  Frame* f = open();
  if (!experiments_.try_clause) error(pos_, fmt::format("{} requires @experiment(try)", token_text(tok_)));
  bool guard = before.size() == 1 && (before[0]->kind == Kind::kIfClause || before[0]->kind == Kind::kTryClause);
  if (guard && tok_ != Tok::kElse) error(pos_, "use 'else' with single 'if' or 'try' clause");
  if (!guard && tok_ == Tok::kElse)
    error(pos_, "use 'otherwise' for comprehensions with multiple clauses or 'for' clauses");
  TokenPos at = pos_;
  next();
  Node* body = struct_literal();
  return close(f, make<FallbackClause>(at, body));
}

Node* Parser::field() {
  Frame* f = open();
  TokenPos at = pos_;
  Tok start = tok_;
  Label l = label(false);
  if (l.decl) return close(f, l.decl);
  if (!l.ok) {
    if (!l.expr) l.expr = rhs();
    if (l.expr->kind == Kind::kAlias) {
      expected(pos_, "label or ':'");
      decl_comma();
      return close(f, make<Bad>(at, pos_, Kind::kBadDecl));
    }
    auto* e = make<Embed>(l.expr);
    decl_comma();
    return close(f, e);
  }
  auto* outer = make<Field>(l.label);
  Field* inner = outer;
  inner->alias = postfix_alias();
  if (tok_ == Tok::kOption || tok_ == Tok::kNot) {
    inner->constraint = tok_;
    next();
  }
  if (tok_ == Tok::kColon) {
    if (l.label->kind == Kind::kIdent) check_declared(as<Ident>(l.label));
  } else {
    bool ends = tok_ == Tok::kRbrace || tok_ == Tok::kEof;
    if (tok_ == Tok::kComma) {
      expect_comma();
      ends = true;
    }
    if (ends && l.expr->kind != Kind::kAlias) {
      switch (start) {
        case Tok::kIdent:
        case Tok::kLbrack:
        case Tok::kLparen:
        case Tok::kString:
        case Tok::kInterpolation:
        case Tok::kNull:
        case Tok::kTrue:
        case Tok::kFalse:
        case Tok::kFor:
        case Tok::kIf:
        case Tok::kLet:
        case Tok::kIn:
        case Tok::kTry:
        case Tok::kElse:
        case Tok::kFallback:
        case Tok::kOtherwise: {
          return close(f, make<Embed>(l.expr));
        }
        default: break;
      }
    }
    expected(pos_, "label or ':'");
    return close(f, make<Bad>(at, pos_, Kind::kBadDecl));
  }
  inner->colon = pos_;
  expect(Tok::kColon);
  std::vector<std::unique_ptr<Nest>> nested;  // a: b: c: is as deep as {a: {b: {c:
  while (true) {
    if (inner->label->kind == Kind::kList && as<List>(inner->label)->elts.size() != 1)
      error(first(inner->label), "square bracket must have exactly one element");
    Label m = label(true);
    bool another = m.ok && (tok_ == Tok::kColon || tok_ == Tok::kOption || tok_ == Tok::kNot || tok_ == Tok::kTilde);
    if (!another) {
      inner->value = m.expr ? m.expr : rhs();
      break;
    }
    nested.push_back(std::make_unique<Nest>(*this));
    auto* deeper = make<Field>(m.label);
    Node* const one[] = {deeper};
    inner->value = make<Struct>(TokenPos{}, arena_.copy(std::span<Node* const>(one)), TokenPos{});
    inner = deeper;
    inner->alias = postfix_alias();
    if (tok_ == Tok::kOption || tok_ == Tok::kNot) {
      inner->constraint = tok_;
      next();
    }
    inner->colon = pos_;
    expect(Tok::kColon);
  }
  inner->attrs = attributes();
  decl_comma();
  return close(f, outer);
}

Nodes Parser::attributes() {
  if (tok_ != Tok::kAttribute && top_->list == 0) {
    ++top_->pos;  // as a list of none
    return {};
  }
  open_list();
  Gathered all(*this);
  while (tok_ == Tok::kAttribute) all.push_back(attribute(false));
  close_list();
  return all.kept();
}

Attribute* Parser::attribute(bool preamble) {
  Frame* f = open();
  auto* a = make<Attribute>(pos_, text_);
  if (preamble && a->name() == "experiment") experiment_bodies_.push_back(a->body());
  next();
  return close(f, a);
}

Parser::Label Parser::label(bool right) {
  Label l;
  switch (tok_) {
    case Tok::kFor:
    case Tok::kIf:
    case Tok::kTry: {
      if (right) {
        l.expr = expression();
        break;
      }
      Ident* word = nullptr;
      l.decl = comprehension(word);
      if (l.decl) return l;
      l.expr = word;
      break;
    }
    case Tok::kLet: {
      Ident* word = nullptr;
      l.decl = let_decl(word);
      if (l.decl) return l;
      l.expr = word;
      break;
    }
    case Tok::kIdent:
    case Tok::kString:
    case Tok::kInterpolation:
    case Tok::kLparen:
    case Tok::kNull:
    case Tok::kTrue:
    case Tok::kFalse:
    case Tok::kIn:
    case Tok::kFunc:
    case Tok::kElse:
    case Tok::kFallback:
    case Tok::kOtherwise: l.expr = expression(); break;
    case Tok::kLbrack: l.expr = rhs(); break;
    default: return l;
  }
  switch (l.expr->kind) {
    case Kind::kLit: {
      Tok t = as<Lit>(l.expr)->tok;
      if (t != Tok::kInt && t != Tok::kFloat) l.label = l.expr, l.ok = true;
      break;
    }
    case Kind::kIdent: {
      Node* x = l.expr;
      l.expr = alias(x);
      if (l.expr->kind == Kind::kAlias) {
        Kind k = as<Alias>(l.expr)->x->kind;
        if (k != Kind::kIdent && k != Kind::kLit && k != Kind::kInterpolation && k != Kind::kList &&
            k != Kind::kParen && k != Kind::kAlias)
          break;
        l.label = l.expr;
      } else {
        l.label = x;
      }
      l.ok = true;
      break;
    }
    case Kind::kInterpolation:
    case Kind::kList:
    case Kind::kParen:
    case Kind::kAlias: l.label = l.expr, l.ok = true; break;
    default: break;
  }
  return l;
}

Node* Parser::struct_literal() {
  TokenPos left = expect(Tok::kLbrace);
  Nodes elts;
  if (tok_ != Tok::kRbrace) elts = field_list();
  TokenPos right = expect_closing(Tok::kRbrace, "struct literal");
  return make<Struct>(left, elts, right);
}

namespace {
bool valid_import(std::string_view literal) {
  if (literal.size() < 2) return false;
  std::string_view s = literal.substr(1, literal.size() - 2);
  if (std::size_t colon = s.rfind(':'); colon != std::string_view::npos) s = s.substr(0, colon);
  if (s.empty()) return false;
  for (std::size_t at = 0; at < s.size();) {
    char32_t c = utf8::decode(s, at);
    if (c == utf8::kInvalid || c == 0xFFFD) return false;
    if (c < 0x80 &&
        std::string_view("!\"#$%&'()*,:;<=>?[\\]^{|}`").find(static_cast<char>(c)) != std::string_view::npos)
      return false;
    auto k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    if (k >= UTF8PROC_CATEGORY_ZS || k == UTF8PROC_CATEGORY_CN) return false;
  }
  return true;
}
}  // namespace

ImportSpec* Parser::import_spec() {
  Frame* f = open();
  Ident* name = nullptr;
  if (tok_ == Tok::kIdent) {
    name = declared_ident();
    if (name->name.text().find('#') < 2) error(pos_, "cannot import package as definition identifier");
  }
  std::string_view path = text_;
  TokenPos at = expect(Tok::kString);
  if (at && !valid_import(path)) error(at, fmt::format("invalid import path: {}", path));
  expect_comma();
  return close(f, make<ImportSpec>(name, make<Lit>(Tok::kString, at, path)));
}

Import* Parser::import_decl() {
  Frame* f = open();
  TokenPos at = ident()->pos;
  TokenPos left, right;
  std::vector<Node*> specs;
  if (tok_ == Tok::kLparen) {
    left = pos_;
    next();
    open_list();
    while (tok_ != Tok::kRparen && tok_ != Tok::kEof) specs.push_back(import_spec());
    close_list();
    right = expect(Tok::kRparen);
    expect_comma();
  } else {
    specs.push_back(import_spec());
  }
  return close(f, make<Import>(at, left, keep_nodes(specs), right));
}

void Parser::read_experiments() {
  for (std::string_view body : experiment_bodies_) {
    for (std::size_t from = 0; from <= body.size();) {
      std::size_t comma = std::min(body.find(',', from), body.size());
      std::string_view word = body.substr(from, comma - from);
      from = comma + 1;
      while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
      while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
      if (word == "testing") experiments_.testing = true;
      if (word.empty() || word == "testing" || word == "accepted_" || word == "structcmp") continue;
      if (word == "explicitopen")
        experiments_.explicit_open = true;
      else if (word == "aliasv2")
        experiments_.alias_v2 = true;
      else if (word == "try")
        experiments_.try_clause = true;
      else if (word == "shortcircuit")
        experiments_.short_circuit = true;
      else
        errors_.push_back(
            {pos_.pos, fmt::format("parsing experiments for version \"\": unknown experiment \"{}\"", word)});
    }
  }
}

File* Parser::file() {
  if (!errors_.empty()) return nullptr;
  auto* out = make<File>();
  out->source = &source_;
  std::vector<Node*> decls;
  Frame* outer = top_;
  auto finish = [&] {
    out->decls = keep_nodes(decls);
    out->experiments = experiments_;
  };
  try {
    open_list();
    while (tok_ == Tok::kAttribute) {
      decls.push_back(attribute(true));
      decl_comma();
    }
    std::size_t before = errors_.size();
    read_experiments();
    if (errors_.size() > before) return nullptr;
    if (tok_ == Tok::kIdent && text_ == "package") {
      Frame* f = open();
      TokenPos at = pos_;
      expect(Tok::kIdent);
      Ident* name = ident();
      if (name->name.text().find('#') < 2) error(pos_, fmt::format("invalid package name {}", name->name.text()));
      auto* p = make<Package>(at, name);
      decls.push_back(p);
      expect_comma();
      close(f, p);
    }
    while (tok_ == Tok::kAttribute) {
      decls.push_back(attribute(false));
      decl_comma();
    }
    while (tok_ == Tok::kIdent && text_ == "import") {
      peek();
      if (peeked_->tok == Tok::kColon || peeked_->tok == Tok::kOption || peeked_->tok == Tok::kNot) break;
      decls.push_back(import_decl());
    }
    if (!options_.imports_only) {
      Nodes rest = field_list();
      decls.insert(decls.end(), rest.begin(), rest.end());
      expect(Tok::kEof);
    }
    close_list();
    finish();
    for (auto& g : outer->groups) add_comment(arena_, out, g);
  } catch (const TooManyErrors&) {
    finish();
  }
  return out;
}

Node* Parser::only_expression() {
  if (!errors_.empty()) return nullptr;
  Node* x = nullptr;
  try {
    open_list();
    x = rhs();
    close_list();
    if (auto_comma()) next();
    if (tok_ != Tok::kEof) expected(pos_, "'EOF'");
  } catch (const TooManyErrors&) {
  }
  return errors_.empty() ? x : nullptr;
}

ParsedFile parse_file(const Source& source, Arena& arena, const ParseOptions& options) {
  ParsedFile result;
  Parser parser(source, arena, result.errors, options);
  result.file = parser.file();
  return result;
}

Node* parse_expression(const Source& source, Arena& arena, std::vector<SyntaxError>& errors) {
  Parser parser(source, arena, errors, {});
  return parser.only_expression();
}

}  // namespace tutti::cue
