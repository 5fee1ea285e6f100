// Whether schemas exclude each other. `oneOf` refuses what two of its schemas accept, so it is written only where no
// two can; otherwise `anyOf` says the same as a disjunction.
#include <algorithm>

#include "base/decimal.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/schema/writer.h"

namespace tutti::cue {

using ast::as;

namespace {

constexpr std::size_t kMostArms = 200;  // each is compared with each
constexpr int kDeepest = 8;

const ast::Node* member(const ast::Node* s, std::string_view key) {
  if (!s || s->kind != ast::Kind::kStruct) return nullptr;
  for (const ast::Node* d : as<ast::Struct>(s)->elts)
    if (d->kind == ast::Kind::kField && label_name(as<ast::Field>(d)->label) == key) return as<ast::Field>(d)->value;
  return nullptr;
}

std::string plain_text(const ast::Node* n) {
  return n && n->kind == ast::Kind::kLit && as<ast::Lit>(n)->tok == Tok::kString ? unquote(as<ast::Lit>(n)->text).text
                                                                                 : std::string();
}

std::string written_number(const ast::Node* n) {
  if (!n) return {};
  if (n->kind == ast::Kind::kUnary) return "-" + written_number(as<ast::Unary>(n)->x);
  return n->kind == ast::Kind::kLit ? std::string(as<ast::Lit>(n)->text) : "";
}

bool are_different(const ast::Node* a, const ast::Node* b) {
  auto scalar = [](const ast::Node* n) { return n->kind == ast::Kind::kLit || n->kind == ast::Kind::kUnary; };
  if (!scalar(a) || !scalar(b)) return false;
  std::optional<Decimal> x = Decimal::parse(written_number(a)), y = Decimal::parse(written_number(b));
  if (x && y) return *x != *y;
  if (x || y) return true;
  if (a->kind != ast::Kind::kLit || b->kind != ast::Kind::kLit) return false;
  auto* l = as<ast::Lit>(a);
  auto* r = as<ast::Lit>(b);
  if (l->tok != r->tok) return true;
  return l->tok == Tok::kString ? unquote(l->text).text != unquote(r->text).text : l->text != r->text;
}

bool names_differ(const ast::Node* a, const ast::Node* b) {
  if (!a || !b || a->kind != ast::Kind::kList || b->kind != ast::Kind::kList) return false;
  return std::ranges::all_of(as<ast::List>(a)->elts, [&](const ast::Node* x) {
    return std::ranges::all_of(as<ast::List>(b)->elts, [&](const ast::Node* y) { return are_different(x, y); });
  });
}

bool is_below(const ast::Node* a, const ast::Node* b) {
  std::optional<Decimal> high = Decimal::parse(written_number(member(a, "maximum")));
  std::optional<Decimal> low = Decimal::parse(written_number(member(b, "minimum")));
  if (!high || !low) return false;
  if (*high < *low) return true;
  auto excludes = [](const ast::Node* s, std::string_view key) {
    const ast::Node* n = member(s, key);
    return n && n->kind == ast::Kind::kLit && as<ast::Lit>(n)->tok == Tok::kTrue;
  };
  return *high == *low && (excludes(a, "exclusiveMaximum") || excludes(b, "exclusiveMinimum"));
}

bool asks_for(const ast::Node* s, const std::string& name) {
  const ast::Node* list = member(s, "required");
  return list && list->kind == ast::Kind::kList &&
         std::ranges::any_of(as<ast::List>(list)->elts, [&](const ast::Node* n) { return plain_text(n) == name; });
}

}  // namespace

// The schema of the definition that a reference refers to; none while it is being made.
ast::Node* SchemaWriter::referred(const ast::Node* s) {
  std::string path = plain_text(member(s, "$ref"));
  auto definition = definitions_.find(path.substr(path.rfind('/') + 1));
  if (path.empty() || definition == definitions_.end()) return nullptr;
  return definition_schema(definition->first);
}

bool SchemaWriter::exclude(const ast::Node* a, const ast::Node* b, int depth) {
  if (depth > kDeepest || !a || !b) return false;
  if (member(a, "$ref")) return exclude(referred(a), b, depth + 1);
  if (member(b, "$ref")) return exclude(a, referred(b), depth + 1);
  if (member(a, "nullable") && member(b, "nullable")) return false;
  for (const char* key : {"oneOf", "anyOf"}) {
    auto all = [&](const ast::Node* arms, const ast::Node* other) {
      return arms && arms->kind == ast::Kind::kList && as<ast::List>(arms)->elts.size() <= kMostArms &&
             std::ranges::all_of(as<ast::List>(arms)->elts,
                                 [&](const ast::Node* x) { return exclude(x, other, depth + 1); });
    };
    if (all(member(a, key), b) || all(member(b, key), a)) return true;
  }
  std::string x = plain_text(member(a, "type")), y = plain_text(member(b, "type"));
  if (x.empty() || y.empty()) return false;
  auto is_number = [](const std::string& t) { return t == "number" || t == "integer"; };
  if (x != y) return !(is_number(x) && is_number(y));
  if (names_differ(member(a, "enum"), member(b, "enum")) || is_below(a, b) || is_below(b, a)) return true;
  const ast::Node* fields = member(a, "properties");
  const ast::Node* others = member(b, "properties");
  if (!fields || !others) return false;
  for (const ast::Node* d : as<ast::Struct>(fields)->elts) {
    if (d->kind != ast::Kind::kField) continue;
    std::string name = label_name(as<ast::Field>(d)->label);
    const ast::Node* other = member(others, name);
    if (other && (asks_for(a, name) || asks_for(b, name)) && exclude(as<ast::Field>(d)->value, other, depth + 1))
      return true;
  }
  return false;
}

bool SchemaWriter::exclude_each_other(std::span<ast::Node* const> arms) {
  if (arms.size() > kMostArms) return false;
  for (std::size_t i = 0; i < arms.size(); ++i)
    for (std::size_t k = i + 1; k < arms.size(); ++k)
      if (!exclude(arms[i], arms[k], 0)) return false;
  return true;
}

SchemaWriter::Schema SchemaWriter::any_of(std::span<ast::Node* const> arms) {
  Schema s;
  bool one = is_open_api() && exclude_each_other(arms);
  s.set(one ? "oneOf" : "anyOf", b_.list(std::vector<ast::Node*>(arms.begin(), arms.end())));
  return s;
}

}  // namespace tutti::cue
