#include "lang/cue/schema/build.h"

#include "base/utf8.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/format/walk.h"
#include "lang/cue/schema/data.h"

namespace tutti::cue {

using ast::as;

namespace {

constexpr std::size_t kCommentWidth = 60;

bool reserved(std::string_view n) {
  static const std::set<std::string_view> kNames = {
      "_",      "null",   "bool",    "number", "int",    "float",  "string",  "bytes",   "true",
      "false",  "close",  "len",     "and",    "or",     "div",    "mod",     "quo",     "rem",
      "error",  "matchN", "matchIf", "uint",   "uint8",  "uint16", "uint32",  "uint64",  "uint128",
      "int8",   "int16",  "int32",   "int64",  "int128", "rune",   "float32", "float64", "strings",
      "struct", "list",   "math",    "time",   "net",    "regexp", "uuid",    "json",    "yaml"};
  return kNames.count(n) > 0;
}

ast::Node* plain_literal(Build& b, const ast::Node* n, Pos pos) {
  if (n->kind == ast::Kind::kUnary)
    return b.arena.make<ast::Unary>(TokenPos{pos}, Tok::kSub, plain_literal(b, as<ast::Unary>(n)->x, pos));
  auto* l = as<ast::Lit>(n);
  return b.arena.make<ast::Lit>(l->tok, TokenPos{pos}, l->text);
}

}  // namespace

ast::Node* Build::text(std::string_view s, Pos pos) { return make_lit(arena, Tok::kString, quote(s), place(pos)); }

ast::Node* Build::integer(long long n, Pos pos) {
  if (n >= 0) return make_lit(arena, Tok::kInt, std::to_string(n), place(pos));
  return arena.make<ast::Unary>(place(pos), Tok::kSub, make_lit(arena, Tok::kInt, std::to_string(n).substr(1)));
}

ast::Node* Build::number(const ast::Node* data, Pos pos) { return plain_literal(*this, data, pos); }

ast::Node* Build::member(std::string_view package, std::string_view n, Pos pos) {
  imports.insert(std::string(package));
  std::string_view last = package.substr(package.rfind('/') + 1);
  return arena.make<ast::Selector>(name(last, pos), TokenPos{}, name(n));
}

ast::Node* Build::call(ast::Node* fun, std::vector<ast::Node*> args) {
  return arena.make<ast::Call>(fun, TokenPos{}, make_nodes(arena, args), TokenPos{});
}

ast::Node* Build::unary(Tok op, ast::Node* x, Pos pos) { return arena.make<ast::Unary>(place(pos), op, x); }

ast::Node* Build::all_of(const std::vector<ast::Node*>& list) {
  ast::Node* out = nullptr;
  for (ast::Node* x : list) {
    if (is_any(x) && list.size() > 1) continue;
    if (list.size() > 1 && x->kind == ast::Kind::kBinary && as<ast::Binary>(x)->op == Tok::kOr)
      x = arena.make<ast::Paren>(TokenPos{}, x, TokenPos{});
    out = out ? arena.make<ast::Binary>(out, TokenPos{}, Tok::kAnd, x) : x;
  }
  return out ? out : top();
}

ast::Node* Build::any_of(const std::vector<ast::Node*>& list) {
  ast::Node* out = nullptr;
  for (ast::Node* x : list) out = out ? arena.make<ast::Binary>(out, TokenPos{}, Tok::kOr, x) : x;
  return out ? out : call("error", {text("disallowed")});
}

ast::Node* Build::list(std::vector<ast::Node*> elements, ast::Node* rest, bool open) {
  if (rest || open) elements.push_back(arena.make<ast::Ellipsis>(TokenPos{}, rest && !is_any(rest) ? rest : nullptr));
  return arena.make<ast::List>(TokenPos{}, make_nodes(arena, elements), TokenPos{});
}

ast::Node* Build::structure(std::vector<ast::Node*> decls, bool open) {
  if (open) decls.push_back(arena.make<ast::Ellipsis>(TokenPos{brace, Rel::kNewline}));
  bool lines = open || !decls.empty();
  return arena.make<ast::Struct>(TokenPos{brace}, make_nodes(arena, decls),
                                 TokenPos{brace, lines ? Rel::kNewline : Rel::kNoSpace});
}

ast::Node* Build::label(std::string_view n, Pos pos) {
  if (reserved(n) || label_needs_quotes(n)) return make_lit(arena, Tok::kString, quote(n), place(pos));
  return make_ident(arena, n, place(pos));
}

ast::Field* Build::field(ast::Node* label, ast::Node* value, Tok constraint) {
  ast::Field* f = make_field(arena, label, value);
  f->from_schema = true;
  f->constraint = constraint;
  return f;
}

ast::Field* Build::pattern(ast::Node* names, ast::Node* value) { return make_field(arena, list({names}), value); }

ast::Node* Build::attribute(const std::string& text) {
  return arena.make<ast::Attribute>(TokenPos{{}, Rel::kNewline}, arena.copy(std::string_view(text)));
}

ast::Node* Build::data(ast::Node* value, bool exact) {
  if (data_is_object(value)) {
    std::vector<ast::Node*> fields;
    for (const DataEntry& e : data_entries(value))
      fields.push_back(field(label(e.key), data(e.value, exact), exact ? Tok::kNot : Tok::kIllegal));
    ast::Node* s = structure(std::move(fields), false);
    return exact ? call("close", {s}) : s;
  }
  if (data_is_list(value)) {
    std::vector<ast::Node*> items;
    for (ast::Node* x : data_items(value)) items.push_back(data(x, exact));
    return list(std::move(items));
  }
  return plain_literal(*this, value, ast::first(value).pos);
}

void Build::comment(ast::Node* n, const std::string& text, Rel rel) {
  std::vector<ast::Comment> list;
  for (const std::string& line : comment_lines(text))
    list.push_back({TokenPos{{}, list.empty() ? rel : Rel::kNewline},
                    arena.copy(std::string_view(line.empty() ? "//" : "// " + line))});
  if (list.empty()) return;
  ast::CommentGroup g;
  g.doc = true;
  g.list = arena.copy(std::span<const ast::Comment>(list));
  ast::add_comment(arena, n, g);
}

namespace {

void find_selected(ast::Node* n, std::set<std::string, std::less<>>& names) {
  if (n->kind == ast::Kind::kSelector && as<ast::Selector>(n)->x->kind == ast::Kind::kIdent)
    names.emplace(as<ast::Ident>(as<ast::Selector>(n)->x)->name.text());
  for_children(n, [&](ast::Node* c) { find_selected(c, names); });
}

}  // namespace

// A keyword that does not concern the type it stands with is built and dropped, and its package with it.
ast::Node* Build::import_decl(std::span<ast::Node* const> body) {
  std::set<std::string, std::less<>> used;
  for (ast::Node* n : body) find_selected(n, used);
  std::erase_if(imports, [&](const std::string& path) { return !used.contains(path.substr(path.rfind('/') + 1)); });
  if (imports.empty()) return nullptr;
  std::vector<ast::Node*> specs;
  for (const std::string& path : imports)
    specs.push_back(
        arena.make<ast::ImportSpec>(nullptr, make_lit(arena, Tok::kString, "\"" + path + "\"",
                                                      TokenPos{{}, imports.size() > 1 ? Rel::kNewline : Rel::kNone})));
  TokenPos paren{{}, imports.size() > 1 ? Rel::kBlank : Rel::kNone};
  return arena.make<ast::Import>(TokenPos{{}, Rel::kNewSection}, paren, make_nodes(arena, specs), TokenPos{});
}

bool Build::is_none(const ast::Node* n) {
  if (n->kind != ast::Kind::kCall) return false;
  const ast::Node* f = as<ast::Call>(n)->fun;
  return f->kind == ast::Kind::kIdent && as<ast::Ident>(f)->name.text() == "error";
}

bool Build::is_any(const ast::Node* n) { return n->kind == ast::Kind::kIdent && as<ast::Ident>(n)->name.text() == "_"; }

std::vector<std::string> comment_lines(const std::string& text) {
  std::vector<std::string> out;
  std::size_t from = 0;
  while (from <= text.size()) {
    std::size_t end = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, end - from);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.pop_back();
    std::string now;
    std::size_t at = 0;
    bool first = true;
    while (at < line.size()) {
      std::size_t word_end = std::min(line.find(' ', at), line.size());
      std::string word = line.substr(at, word_end - at);
      if (first || utf8::length(now) + 1 + utf8::length(word) <= kCommentWidth) {
        now += (first ? "" : " ") + word;
      } else {
        out.push_back(now);
        now = word;
      }
      first = false;
      at = word_end + 1;
    }
    out.push_back(now);
    from = end + 1;
  }
  while (!out.empty() && out.back().empty()) out.pop_back();
  return out;
}

}  // namespace tutti::cue
