#include "lang/cue/schema/data.h"

#include <unordered_map>

#include "base/decimal.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

using ast::as;

namespace {

const ast::Lit* literal(const ast::Node* n) { return n && n->kind == ast::Kind::kLit ? as<ast::Lit>(n) : nullptr; }

}  // namespace

std::vector<DataEntry> data_entries(ast::Node* object) {
  std::vector<DataEntry> out;
  if (!data_is_object(object)) return out;
  std::unordered_map<std::string, std::size_t> seen;
  for (ast::Node* d : as<ast::Struct>(object)->elts) {
    if (d->kind != ast::Kind::kField) continue;
    auto* f = as<ast::Field>(d);
    DataEntry e;
    e.value = f->value;
    e.pos = ast::first(f->label).pos;
    if (f->label->kind == ast::Kind::kIdent)
      e.key = as<ast::Ident>(f->label)->name.text();
    else if (const ast::Lit* l = literal(f->label); l && l->tok == Tok::kString) {
      e.key = label_name(l);
      if (e.pos) ++e.pos.at;
    } else
      continue;
    auto [it, fresh] = seen.emplace(e.key, out.size());
    if (fresh)
      out.push_back(std::move(e));
    else
      out[it->second] = std::move(e);
  }
  return out;
}

namespace {

bool is_label(const ast::Node* label, std::string_view key) {
  if (label->kind == ast::Kind::kIdent) return as<ast::Ident>(label)->name.text() == key;
  const ast::Lit* l = literal(label);
  if (!l || l->tok != Tok::kString) return false;
  // As most are, it is between quotes as it is; otherwise it is no shorter than its name.
  if (l->text.size() < key.size() + 2) return false;
  if (l->text.find('\\') == l->text.npos && l->text.starts_with('"') && !l->text.starts_with("\"\"\""))
    return l->text.substr(1, l->text.size() - 2) == key;
  return label_name(l) == key;
}

}  // namespace

ast::Node* data_get(ast::Node* object, std::string_view key) {
  if (!data_is_object(object)) return nullptr;
  ast::Nodes elts = as<ast::Struct>(object)->elts;
  for (std::size_t i = elts.size(); i-- > 0;) {
    if (elts[i]->kind != ast::Kind::kField) continue;
    if (auto* f = as<ast::Field>(elts[i]); is_label(f->label, key)) return f->value;
  }
  return nullptr;
}

std::vector<ast::Node*> data_items(ast::Node* list) {
  if (!data_is_list(list)) return {};
  ast::Nodes elts = as<ast::List>(list)->elts;
  return {elts.begin(), elts.end()};
}

std::optional<std::string> data_text(const ast::Node* n) {
  const ast::Lit* l = literal(n);
  if (!l || l->tok != Tok::kString) return std::nullopt;
  Unquoted u = unquote(l->text);
  return u.ok() ? std::optional(u.text) : std::nullopt;
}

std::optional<long long> data_integer(const ast::Node* n) {
  bool negative = n && n->kind == ast::Kind::kUnary && as<ast::Unary>(n)->op == Tok::kSub;
  const ast::Lit* l = literal(negative ? as<ast::Unary>(n)->x : n);
  if (!l || (l->tok != Tok::kInt && l->tok != Tok::kFloat)) return std::nullopt;
  Number number = parse_number(l->text);
  if (!number.ok()) return std::nullopt;
  std::optional<i64> v = number.value.to_i64();
  if (!v) return std::nullopt;
  return negative ? -*v : *v;
}

std::optional<bool> data_bool(const ast::Node* n) {
  const ast::Lit* l = literal(n);
  if (l && l->tok == Tok::kTrue) return true;
  if (l && l->tok == Tok::kFalse) return false;
  return std::nullopt;
}

bool data_is_object(const ast::Node* n) { return n && n->kind == ast::Kind::kStruct; }
bool data_is_list(const ast::Node* n) { return n && n->kind == ast::Kind::kList; }
bool data_is_null(const ast::Node* n) { return literal(n) && literal(n)->tok == Tok::kNull; }
bool data_is_number(const ast::Node* n) {
  if (n && n->kind == ast::Kind::kUnary) n = as<ast::Unary>(n)->x;
  const ast::Lit* l = literal(n);
  return l && (l->tok == Tok::kInt || l->tok == Tok::kFloat);
}

}  // namespace tutti::cue
