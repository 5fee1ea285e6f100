#include "lang/cue/schema/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/decimal.h"
#include "lang/cue/builtin/regex.h"
#include "lang/cue/eval/context.h"
#include "lang/cue/export/export.h"
#include "lang/cue/export/schema.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

using ast::as;

namespace {

// A number, string, null or truth value as it is written.
bool is_scalar(const ast::Node* n) {
  if (n->kind == ast::Kind::kLit) return true;
  return n->kind == ast::Kind::kUnary && (as<ast::Unary>(n)->op == Tok::kSub || as<ast::Unary>(n)->op == Tok::kAdd) &&
         is_scalar(as<ast::Unary>(n)->x);
}
bool is_data(const ast::Node* n) {
  if (is_scalar(n)) return true;
  if (n->kind == ast::Kind::kList)
    return std::all_of(as<ast::List>(n)->elts.begin(), as<ast::List>(n)->elts.end(), is_data);
  if (n->kind != ast::Kind::kStruct) return false;
  for (const ast::Node* d : as<ast::Struct>(n)->elts) {
    if (d->kind != ast::Kind::kField) return false;
    auto* f = as<ast::Field>(d);
    if (f->constraint != Tok::kIllegal || label_name(f->label).empty() || !is_data(f->value)) return false;
  }
  return true;
}

std::string_view type_of(const ast::Node* n) {
  if (n->kind == ast::Kind::kStruct) return "object";
  if (n->kind == ast::Kind::kList) return "array";
  if (n->kind == ast::Kind::kUnary) return type_of(as<ast::Unary>(n)->x);
  switch (as<ast::Lit>(n)->tok) {
    case Tok::kInt: return "integer";
    case Tok::kFloat: return "number";
    case Tok::kString: return "string";
    case Tok::kNull: return "null";
    default: return "boolean";
  }
}

std::string lit_text(const ast::Node* n) {
  return n && n->kind == ast::Kind::kLit ? unquote(as<ast::Lit>(n)->text).text : "";
}

// The order in which cue writes keywords: what a schema is about, then groups of them; the others follow by name.
int keyword_rank(std::string_view key) {
  static const std::map<std::string_view, int> kRanks = {{"$schema", 0},
                                                         {"$defs", 1},
                                                         {"type", 2},
                                                         {"description", 3},
                                                         {"properties", 4},
                                                         {"patternProperties", 4},
                                                         {"additionalProperties", 4},
                                                         {"contains", 5},
                                                         {"maxContains", 5},
                                                         {"minContains", 5},
                                                         {"items", 6},
                                                         {"prefixItems", 6},
                                                         {"if", 7},
                                                         {"then", 7},
                                                         {"else", 7}};
  auto it = kRanks.find(key);
  return it == kRanks.end() ? 8 : it->second;
}

// Types that are numbers within bounds.
struct NumberRange {
  std::string_view name, low, high;
  std::string_view format = {};  // in OpenAPI
};
constexpr NumberRange kNumberRanges[] = {
    {"uint", "0", ""},
    {"uint8", "0", "255"},
    {"uint16", "0", "65535"},
    {"uint32", "0", "4294967295"},
    {"uint64", "0", "18446744073709551615"},
    {"uint128", "0", "340282366920938463463374607431768211455"},
    {"int8", "-128", "127"},
    {"int16", "-32768", "32767"},
    {"int32", "-2147483648", "2147483647", "int32"},
    {"int64", "-9223372036854775808", "9223372036854775807", "int64"},
    {"int128", "-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"},
    {"rune", "0", "1114111"},
    {"float32", "-340282346638528859811704183484516925440", "340282346638528859811704183484516925440", "float"},
    {"float64", "-1.797693134862315708145274237317043567981E+308", "1.797693134862315708145274237317043567981E+308",
     "double"},
};

std::string number_text(const ast::Node* n) {
  if (!n) return {};
  if (n->kind == ast::Kind::kUnary) return "-" + number_text(as<ast::Unary>(n)->x);
  return n->kind == ast::Kind::kLit ? std::string(as<ast::Lit>(n)->text) : "";
}

void flatten(ast::Node* x, Tok op, std::vector<ast::Node*>& out) {
  if (x->kind == ast::Kind::kParen) return flatten(as<ast::Paren>(x)->x, op, out);
  if (x->kind == ast::Kind::kBinary && as<ast::Binary>(x)->op == op) {
    flatten(as<ast::Binary>(x)->x, op, out);
    flatten(as<ast::Binary>(x)->y, op, out);
    return;
  }
  out.push_back(x);
}

}  // namespace

SchemaWriter::SchemaWriter(Context& c, const Sources& sources, Vertex* root, Target target)
    : c_(c), sources_(sources), root_(definition_root(c, sources, root)), target_(target), b_(c.store.arena()) {}

ast::Node* SchemaWriter::Schema::find(std::string_view key) const {
  for (const auto& [k, v] : keys)
    if (k == key) return v;
  return nullptr;
}
void SchemaWriter::Schema::set(std::string key, ast::Node* value) {
  for (auto& [k, v] : keys)
    if (k == key) {
      v = value;
      return;
    }
  keys.emplace_back(std::move(key), value);
}

ast::Node* SchemaWriter::truth(bool v) {
  return make_lit(b_.arena, v ? Tok::kTrue : Tok::kFalse, v ? "true" : "false");
}

ast::Node* SchemaWriter::node(const Schema& s) {
  if (is_open_api()) return fields_of(with_format(s));
  if (s.empty()) return truth(true);
  Schema sorted = s;
  std::stable_sort(sorted.keys.begin(), sorted.keys.end(), [](const auto& a, const auto& b) {
    return std::pair(keyword_rank(a.first), a.first) < std::pair(keyword_rank(b.first), b.first);
  });
  return fields_of(sorted);
}

// OpenAPI has names for the numbers of some sizes. cue uses them where nothing else is said of the number.
SchemaWriter::Schema SchemaWriter::with_format(const Schema& s) {
  for (const auto& [key, value] : s.keys)
    if (key != "type" && key != "description" && key != "minimum" && key != "maximum") return s;
  for (const NumberRange& range : kNumberRanges) {
    if (range.format.empty() || number_text(s.find("minimum")) != range.low ||
        number_text(s.find("maximum")) != range.high)
      continue;
    Schema out;
    for (const auto& [key, value] : s.keys)
      if (key != "minimum" && key != "maximum") out.set(key, value);
    out.set("format", text(range.format));
    return out;
  }
  return s;
}

ast::Node* SchemaWriter::members(const Schema& s) {
  if (is_open_api()) return fields_of(s);
  Schema sorted = s;
  std::sort(sorted.keys.begin(), sorted.keys.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return fields_of(sorted);
}

ast::Node* SchemaWriter::fields_of(const Schema& s) {
  std::vector<ast::Node*> fields;
  for (const auto& [k, v] : s.keys) fields.push_back(make_field(b_.arena, make_label(b_.arena, k), v));
  return make_struct(b_.arena, fields);
}

ast::Node* SchemaWriter::reference(const std::string& definition) {
  return text((is_open_api() ? "#/components/schemas/" : "#/$defs/") + definition);
}

void SchemaWriter::describe(Schema& s, const ast::Node* field) {
  std::string out;
  for (const ast::CommentGroup& g : field->comments()) {
    if (!g.doc) continue;
    for (const ast::Comment& c : g.list) {
      std::string_view line = c.text.substr(std::min<std::size_t>(2, c.text.size()));
      if (line.starts_with(' ')) line.remove_prefix(1);
      out += (out.empty() ? "" : "\n") + std::string(line);
    }
  }
  if (!out.empty()) s.keys.insert(s.keys.begin(), {"description", text(out)});
}

// ---- expressions

SchemaWriter::Schema SchemaWriter::value_of(const Place& at) {
  if (at.evaluated || !at.vertex) {
    loose_ = true;  // nothing can be said
    return {};
  }
  ExportProfile profile;
  profile.show_optional = true;
  profile.show_docs = true;
  Place inner = at;
  inner.evaluated = true;
  return expression(export_expression(c_, sources_, at.vertex, profile), inner);
}

SchemaWriter::Schema SchemaWriter::constant(ast::Node* x) {
  Schema s;
  if (is_scalar(x) && type_of(x) == "null" && !is_open_api()) {
    s.set("type", text("null"));
    return s;
  }
  if (is_open_api()) {
    if (type_of(x) == "null") {
      loose_ = true;
      s.set("nullable", truth(true));
      return s;
    }
    s.set("type", text(type_of(x)));
    s.set("enum", b_.list({b_.data(x, false)}));
    return s;
  }
  s.set("const", b_.data(x, false));
  return s;
}

SchemaWriter::Schema SchemaWriter::expression(ast::Node* x, const Place& given) {
  Place at = given;
  if (++at.depth > kMaxDepth) {
    error = "schema nested too deeply";
    return {};
  }
  if (is_data(x) && x->kind != ast::Kind::kStruct && x->kind != ast::Kind::kList) return constant(x);
  switch (x->kind) {
    case ast::Kind::kParen: return expression(as<ast::Paren>(x)->x, at);
    case ast::Kind::kIdent: return name(x, at);
    case ast::Kind::kUnary: return bound(as<ast::Unary>(x), at);
    case ast::Kind::kStruct: return structure(as<ast::Struct>(x), at);
    case ast::Kind::kList: return list(as<ast::List>(x), at);
    case ast::Kind::kCall: return call(as<ast::Call>(x), at);
    case ast::Kind::kSelector: return selector(x, at);
    case ast::Kind::kAlias: return expression(as<ast::Alias>(x)->x, at);
    case ast::Kind::kBottom: {
      Schema s;
      s.set("not", node({}));
      return s;
    }
    case ast::Kind::kBinary: {
      Tok op = as<ast::Binary>(x)->op;
      if (op == Tok::kOr) return disjunction(x, at);
      if (op != Tok::kAnd) return value_of(at);
      return conjunction({&x, 1}, at);
    }
    default: return value_of(at);
  }
}

SchemaWriter::Schema SchemaWriter::number_range(std::string_view type, std::string_view low, std::string_view high) {
  Schema s;
  s.set("type", text(type));
  auto number = [&](std::string_view t) -> ast::Node* {
    bool negative = t.starts_with('-');
    ast::Node* n = make_lit(b_.arena, t.find('.') == t.npos ? Tok::kInt : Tok::kFloat, t.substr(negative ? 1 : 0));
    return negative ? b_.arena.make<ast::Unary>(TokenPos{}, Tok::kSub, n) : n;
  };
  if (!low.empty()) s.set("minimum", number(low));
  if (!high.empty()) s.set("maximum", number(high));
  return s;
}

SchemaWriter::Schema SchemaWriter::name(ast::Node* x, const Place& at) {
  std::string n(as<ast::Ident>(x)->name.text());
  Schema s;
  auto typed = [&](std::string_view t) {
    s.set("type", text(t));
    return s;
  };
  if (n == "_") return s;
  if (n == "string") return typed("string");
  if (n == "bool") return typed("boolean");
  if (n == "int") return typed("integer");
  if (n == "number" || n == "float") return typed("number");
  if (n == "bytes") {
    s = typed("string");
    if (is_open_api())
      s.set("format", text("binary"));
    else
      s.set("contentEncoding", text("base64"));
    return s;
  }
  for (const NumberRange& range : kNumberRanges) {
    if (range.name != n) continue;
    bool is_float = n.starts_with("float");
    // the bounds of floats say nothing in JSON Schema that readers of JSON do not hold anyway
    if (is_float && !is_open_api()) return typed("number");
    return number_range(is_float ? "number" : "integer", range.low, range.high);
  }
  if (n.starts_with('#') && definitions_.count(n.substr(1))) {
    if (expand_references && !following_.contains(n)) return followed(x, at);
    if (expand_references)
      error = fmt::format("cycle in reference at {}: cyclic structures not allowed when expanding", n);
    s.set("$ref", reference(n.substr(1)));
    return s;
  }
  return value_of(at);
}

void SchemaWriter::number_bound(Schema& s, Tok op, ast::Node* number) {
  bool low = op == Tok::kGeq || op == Tok::kGtr, exclusive = op == Tok::kGtr || op == Tok::kLss;
  std::string key = low ? "minimum" : "maximum", mark = low ? "exclusiveMinimum" : "exclusiveMaximum";
  if (!exclusive)
    s.set(key, number);
  else if (is_open_api()) {
    s.set(key, number);
    s.set(mark, truth(true));
  } else {
    s.set(mark, number);
  }
}

SchemaWriter::Schema SchemaWriter::bound(ast::Unary* x, const Place& at) {
  Schema s;
  ast::Node* v = x->x;
  while (v->kind == ast::Kind::kParen) v = as<ast::Paren>(v)->x;
  switch (x->op) {
    case Tok::kMul: return expression(x->x, at);
    case Tok::kGeq:
    case Tok::kGtr:
    case Tok::kLeq:
    case Tok::kLss:
      if (!is_scalar(v)) return value_of(at);
      if (type_of(v) != "integer" && type_of(v) != "number") {
        s.set("type", text(type_of(v)));  // an order of strings cannot be said
        loose_ = true;
        return s;
      }
      s.set("type", text("number"));
      number_bound(s, x->op, b_.data(v, false));
      return s;
    case Tok::kMat:
    case Tok::kNmat: {
      if (v->kind != ast::Kind::kLit) return value_of(at);
      s.set("type", text("string"));
      ast::Node* pattern = text(lit_text(v));
      if (x->op == Tok::kMat) {
        s.set("pattern", pattern);
      } else {
        Schema inner;
        inner.set("pattern", pattern);
        s.set("not", node(inner));
      }
      return s;
    }
    case Tok::kNeq:
      if (!is_data(v)) return value_of(at);
      if (is_open_api() && type_of(v) == "null") return s;
      s.set("not", node(constant(v)));
      return s;
    case Tok::kEql: return is_data(v) ? constant(v) : value_of(at);
    default: return value_of(at);
  }
}

// Both must hold.
SchemaWriter::Schema SchemaWriter::merged(const Schema& a, const Schema& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  auto type_text = [](const Schema& s) { return lit_text(s.find("type")); };
  Schema out = a;
  bool fits = !a.find("$ref") && !b.find("$ref") && !a.find("allOf") && !b.find("allOf");
  // Limits on properties of one object hold for what the other names too.
  for (const char* own : {"additionalProperties", "items", "anyOf", "oneOf", "not", "prefixItems"})
    if (a.find(own) || b.find(own)) fits = fits && !(a.find("type") && b.find("type") && type_text(a) == "object");
  if (fits)
    for (const auto& [k, v] : b.keys) {
      ast::Node* there = a.find(k);
      if (!there) {
        out.set(k, v);
      } else if (k == "type") {
        std::string x = type_text(a), y = type_text(b);
        if (x == y) continue;
        if ((x == "number" && y == "integer") || (x == "integer" && y == "number"))
          out.set("type", text("integer"));
        else
          fits = false;
      } else {
        fits = false;
      }
      if (!fits) break;
    }
  if (fits) return out;
  std::vector<ast::Node*> all;
  auto add = [&](const Schema& s) {
    if (s.keys.size() == 1 && s.find("allOf")) {
      for (ast::Node* n : as<ast::List>(s.find("allOf"))->elts) all.push_back(n);
    } else {
      all.push_back(node(s));
    }
  };
  add(a);
  add(b);
  Schema s;
  s.set("allOf", b_.list(all));
  return s;
}

// Whether a value passes, as far as that can be told from type and bounds.
bool SchemaWriter::surely_accepts(const Schema& s, const ast::Node* value) {
  if (s.empty()) return true;
  std::string type = lit_text(s.find("type")), own(type_of(value));
  if (type != own && !(type == "number" && own == "integer")) return false;
  std::optional<Decimal> number = is_scalar(value) ? Decimal::parse(number_text(value)) : std::nullopt;
  auto is_true = [&](std::string_view key) {
    const ast::Node* n = s.find(key);
    return n && n->kind == ast::Kind::kLit && as<ast::Lit>(n)->tok == Tok::kTrue;
  };
  for (const auto& [key, limit] : s.keys) {
    if (key == "type" || key == "description" || is_true(key)) continue;
    if (key == "pattern") {
      const re2::RE2* pattern = compile_regex(lit_text(limit));
      if (own != "string" || !pattern || !regex_matches(*pattern, lit_text(value))) return false;
      continue;
    }
    bool low = key.ends_with("inimum"), high = key.ends_with("aximum");
    std::optional<Decimal> bound = low || high ? Decimal::parse(number_text(limit)) : std::nullopt;
    if (!number || !bound) return false;
    auto order = low ? *number <=> *bound : *bound <=> *number;
    bool exclusive = key.starts_with("exclusive") || is_true(low ? "exclusiveMinimum" : "exclusiveMaximum");
    if (order < 0 || (exclusive && order == 0)) return false;
  }
  return true;
}

// What a reference refers to, once.
SchemaWriter::Schema SchemaWriter::followed(ast::Node* x, const Place& at) {
  std::string name = x->kind == ast::Kind::kIdent ? std::string(as<ast::Ident>(x)->name.text()) : "";
  auto definition = definitions_.find(name.substr(std::min<std::size_t>(1, name.size())));
  if (!name.starts_with('#') || definition == definitions_.end() || !following_.insert(name).second)
    return expression(x, at);
  Schema out = expression(const_cast<ast::Node*>(definition->second), Place{nullptr, true, at.depth, false});
  following_.erase(name);
  return out;
}

SchemaWriter::Schema SchemaWriter::disjunction(ast::Node* x, const Place& at) {
  std::vector<ast::Node*> arms, values;
  flatten(x, Tok::kOr, arms);
  ast::Node* standard = nullptr;
  bool all_values = true;
  for (ast::Node*& a : arms) {
    if (a->kind == ast::Kind::kUnary && as<ast::Unary>(a)->op == Tok::kMul) {
      a = as<ast::Unary>(a)->x;
      while (a->kind == ast::Kind::kParen) a = as<ast::Paren>(a)->x;
      if (is_data(a) && !standard) standard = a;
    }
    all_values = all_values && is_data(a) && (is_scalar(a));
  }
  Schema s;
  auto with_default = [&](Schema out) {
    if (standard) out.set("default", b_.data(standard, false));
    return out;
  };
  if (all_values) {
    std::set<std::string> types;
    bool null = false;
    for (ast::Node* a : arms) {
      if (is_open_api() && type_of(a) == "null") {
        null = true;
        continue;
      }
      types.insert(std::string(type_of(a)));
      values.push_back(b_.data(a, false));
    }
    if (is_open_api() && types.size() == 1) s.set("type", text(*types.begin()));
    if (!values.empty()) s.set("enum", b_.list(values));
    if (null) s.set("nullable", truth(true));
    return with_default(s);
  }
  std::vector<Schema> list;
  bool null = false, covered = false;
  for (ast::Node* a : arms) {
    if (a == standard) {
      // The default is one of the values that another arm allows.
      for (ast::Node* o : arms) {
        if (o == a || is_data(o)) continue;
        covered = covered || surely_accepts(followed(o, at), a);
      }
      if (covered) continue;
    }
    if (is_open_api() && is_scalar(a) && type_of(a) == "null") {
      null = true;
      continue;
    }
    list.push_back(expression(a, at));
  }
  // Beside a reference OpenAPI says nothing, so that the default would be lost.
  if (is_open_api() && covered && list.size() == 1)
    for (ast::Node* a : arms)
      if (a != standard && a->kind == ast::Kind::kIdent) list[0] = followed(a, at);
  bool only_types = std::all_of(list.begin(), list.end(), [](const Schema& o) {
    return o.keys.size() == 1 && o.find("type") && o.find("type")->kind == ast::Kind::kLit;
  });
  if (list.size() == 1) {
    s = list[0];
  } else if (only_types && !is_open_api()) {
    std::vector<ast::Node*> types;
    std::set<std::string> seen;  // a float is a number there, too
    for (const Schema& o : list)
      if (seen.insert(lit_text(o.find("type"))).second) types.push_back(o.find("type"));
    s.set("type", types.size() == 1 ? types[0] : b_.list(types));
  } else if (!list.empty()) {
    std::vector<ast::Node*> nodes;
    for (const Schema& o : list) nodes.push_back(is_open_api() ? fields_of(o) : node(o));
    s = any_of(nodes);
  }
  if (null) s.set("nullable", truth(true));
  return with_default(s);
}

}  // namespace tutti::cue
