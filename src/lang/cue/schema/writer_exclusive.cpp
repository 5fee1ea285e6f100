// Whether two arms of a disjunction exclude each other, so that exactly one of them may be asked for (oneOf).
#include <algorithm>
#include <optional>
#include <string>

#include "base/decimal.h"
#include "lang/cue/schema/data.h"
#include "lang/cue/schema/writer.h"

namespace tutti::cue {

namespace {

struct Properties {
  std::vector<DataEntry> all;
  std::set<std::string> required;

  explicit Properties(ast::Node* schema) {
    for (const DataEntry& e : data_entries(schema)) {
      if (e.key == "properties") all = data_entries(e.value);
      if (e.key == "required")
        for (ast::Node* n : data_items(e.value))
          if (std::optional<std::string> name = data_text(n)) required.insert(*name);
    }
  }
  ast::Node* find(const std::string& name) const {
    auto it = std::ranges::find(all, name, &DataEntry::key);
    return it == all.end() ? nullptr : it->value;
  }
  // Something that must be there and that the other does not know: what the other allows lacks it.
  bool needs_more_than(const Properties& other) const {
    return std::ranges::any_of(required, [&](const std::string& name) { return !other.find(name); });
  }
};

std::string written(const ast::Node* n) {
  if (n->kind == ast::Kind::kLit) return std::string(ast::as<ast::Lit>(n)->text);
  if (n->kind == ast::Kind::kUnary) return "-" + written(ast::as<ast::Unary>(n)->x);
  return {};
}

std::optional<Decimal> limit(ast::Node* schema, std::string_view name) {
  ast::Node* n = data_get(schema, name);
  return n ? Decimal::parse(written(n)) : std::nullopt;
}

// No value is allowed by both. `closed`: other fields than those that are written are none of theirs.
bool apart(ast::Node* a, ast::Node* b, bool closed, int depth) {
  if (depth > 20) return false;
  auto parts = [](ast::Node* s) {
    ast::Node* all = data_get(s, "allOf");
    return all ? data_items(all) : std::vector<ast::Node*>();
  };
  for (ast::Node* p : parts(a))
    if (apart(p, b, false, depth + 1)) return true;
  for (ast::Node* p : parts(b))
    if (apart(a, p, false, depth + 1)) return true;
  ast::Node *type_a = data_get(a, "type"), *type_b = data_get(b, "type");
  if (type_a && type_b) {
    std::string x = data_text(type_a).value_or(""), y = data_text(type_b).value_or("");
    bool numbers = (x == "integer" || x == "number") && (y == "integer" || y == "number");
    if (x != y && !numbers) return true;
  }
  ast::Node *enum_a = data_get(a, "enum"), *enum_b = data_get(b, "enum");
  if (enum_a && enum_b) {
    bool same = false;
    for (ast::Node* x : data_items(enum_a))
      for (ast::Node* y : data_items(enum_b)) same |= written(x) == written(y);
    return !same;
  }
  auto above = [](ast::Node* low, ast::Node* high) {
    auto least = limit(low, "minimum"), most = limit(high, "maximum");
    return least && most && *most < *least;
  };
  if (above(a, b) || above(b, a)) return true;
  Properties x(a), y(b);
  for (const DataEntry& p : x.all) {
    ast::Node* other = y.find(p.key);
    if (other && (x.required.contains(p.key) || y.required.contains(p.key)) && apart(p.value, other, false, depth + 1))
      return true;
  }
  return closed && x.needs_more_than(y) && y.needs_more_than(x);
}

bool has_fields_only(const ast::Node* n) {
  if (!n || n->kind != ast::Kind::kStruct) return false;
  return std::ranges::all_of(ast::as<ast::Struct>(const_cast<ast::Node*>(n))->elts, [](const ast::Node* d) {
    return d->kind == ast::Kind::kField &&
           ast::as<ast::Field>(const_cast<ast::Node*>(d))->label->kind != ast::Kind::kList;
  });
}

}  // namespace

bool SchemaWriter::exclude_each_other(std::span<ast::Node* const> arms, const Place& at) {
  std::vector<ast::Node*> schemas;
  std::vector<bool> closed;
  for (ast::Node* a : arms) {
    schemas.push_back(node(followed(a, at)));
    const ast::Node* literal = at.closed ? a : nullptr;
    if (at.closed && a->kind == ast::Kind::kIdent) {
      std::string_view name = ast::as<ast::Ident>(a)->name.text();
      auto it = name.starts_with('#') ? definitions_.find(std::string(name.substr(1))) : definitions_.end();
      literal = it == definitions_.end() ? nullptr : it->second;
    }
    closed.push_back(has_fields_only(literal));
  }
  for (std::size_t i = 0; i < schemas.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!apart(schemas[i], schemas[j], closed[i] && closed[j], 0)) return false;
  return true;
}

}  // namespace tutti::cue
