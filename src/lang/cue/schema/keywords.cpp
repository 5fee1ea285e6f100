// The keywords of JSON Schema, one by one: for every type, and for numbers and strings.
#include <fmt/format.h>

#include "lang/cue/builtin/regex.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/schema/reader.h"

namespace tutti::cue {

std::optional<long long> SchemaReader::size(const DataEntry& e) {
  std::optional<long long> n = data_integer(e.value);
  if (n && *n >= 0) return n;
  fail(e.pos, fmt::format("value of {} must be an integer that is not negative", quote(e.key)));
  return std::nullopt;
}

std::string SchemaReader::string(const DataEntry& e) {
  std::optional<std::string> s = data_text(e.value);
  if (!s) fail(e.pos, "invalid string");
  return s.value_or("");
}

// ---- any type

void SchemaReader::type(State& s, const DataEntry& e) {
  s.type_pos = e.pos;
  std::vector<ast::Node*> names;
  if (data_is_list(e.value))
    names = data_items(e.value);
  else
    names.push_back(e.value);
  unsigned types = 0;
  bool integer = false, number = false;
  for (ast::Node* n : names) {
    std::string t = data_text(n).value_or("");
    if (t == "null")
      types |= kNull;
    else if (t == "boolean")
      types |= kBool;
    else if (t == "string")
      types |= kString;
    else if (t == "number") {
      types |= kNumber;
      number = true;
    } else if (t == "integer") {
      types |= kNumber;
      integer = true;
    } else if (t == "array")
      types |= kArray;
    else if (t == "object")
      types |= kObject;
    else
      fail(e.pos, fmt::format("unknown type {}", data_text(n) ? quote(t) : "that is not a string"));
  }
  s.types &= types;
  s.typed = true;
  s.integer = integer && !number;
}

void SchemaReader::nullable(State& s, const DataEntry& e) {
  if (data_bool(e.value).value_or(false) && data_get(s.node, "type")) s.types |= kNull;
}

namespace {

enum : unsigned { kNullType = 1, kBoolType = 2, kNumberType = 4, kStringType = 8, kArrayType = 16, kObjectType = 32 };

unsigned type_of(const ast::Node* n) {
  if (data_is_object(n)) return kObjectType;
  if (data_is_list(n)) return kArrayType;
  if (data_is_null(n)) return kNullType;
  if (data_bool(n)) return kBoolType;
  if (data_is_number(n)) return kNumberType;
  return kStringType;
}

}  // namespace

void SchemaReader::enumeration(State& s, const DataEntry& e) {
  if (!data_is_list(e.value)) return fail(e.pos, "value of \"enum\" must be an array");
  std::vector<ast::Node*> values;
  unsigned only = 0;
  for (ast::Node* n : data_items(e.value)) {
    if (!(type_of(n) & s.types)) continue;  // can never be chosen
    only |= type_of(n);
    values.push_back(b_.data(n, true));
  }
  s.only &= only;
  s.everything.push_back(b_.any_of(values));
}

void SchemaReader::constant(State& s, const DataEntry& e) {
  s.only &= type_of(e.value);
  s.everything.push_back(type_of(e.value) & s.types ? b_.data(e.value, true) : b_.any_of({}));
}

void SchemaReader::ref(State& s, const DataEntry& e) {
  std::optional<std::string> text = data_text(e.value);
  if (!text) return fail(e.pos, "value of \"$ref\" must be a string");
  std::optional<SchemaPlace> at = index_.find(*text, s.base, document_);
  if (!at || (!data_is_object(at->node) && !data_bool(at->node))) {
    // The schema of schemas lets nearly everything pass; without a network it is not to be had.
    if (text->find("://json-schema.org/") != std::string::npos)
      return feature(e.pos, fmt::format("reference to the meta-schema {} not yet implemented", quote(*text)));
    return fail(e.pos, fmt::format("reference to {} cannot be resolved: there is no such schema in this document{}",
                                   quote(*text), options_.others ? " or in a file beside it" : ""));
  }
  s.everything.push_back(reference(*at, e.pos));
}

void SchemaReader::all_of(State& s, const DataEntry& e) {
  std::vector<ast::Node*> list = data_items(e.value);
  if (list.empty()) return fail(e.pos, fmt::format("value of {} must be an array that is not empty", quote(e.key)));
  for (ast::Node* n : list) {
    Result r = schema(n, s.types, s.base, s.depth + 1);
    s.types &= r.types;
    s.everything.push_back(r.x);
  }
}

void SchemaReader::alternatives(State& s, const DataEntry& e, bool exactly_one) {
  std::vector<ast::Node*> list = data_items(e.value), arms;
  if (list.empty()) return fail(e.pos, fmt::format("value of {} must be an array that is not empty", quote(e.key)));
  unsigned seen = 0;
  bool disjoint = true;
  for (ast::Node* n : list) {
    Result r = schema(n, s.types, s.base, s.depth + 1);
    if ((r.types & s.types) == 0) continue;
    if (seen & r.types & s.types) disjoint = false;
    seen |= r.types & s.types;
    arms.push_back(r.x);
  }
  s.types &= seen;
  if (arms.size() == 1 || (disjoint && !arms.empty())) return s.everything.push_back(b_.any_of(arms));
  if (arms.empty()) return s.everything.push_back(b_.any_of({}));
  ast::Node* count = exactly_one ? b_.integer(1) : b_.unary(Tok::kGeq, b_.integer(1));
  s.everything.push_back(b_.call("matchN", {count, b_.list(arms)}, e.pos));
}

void SchemaReader::any_of(State& s, const DataEntry& e) { alternatives(s, e, false); }
void SchemaReader::one_of(State& s, const DataEntry& e) { alternatives(s, e, true); }

// What is impossible is left out or said in other words: as an argument it would be an error of the whole.
void SchemaReader::negation(State& s, const DataEntry& e) {
  ast::Node* x = arm(s, e.value, s.types);
  if (!b_.is_none(x)) s.everything.push_back(b_.call("matchN", {b_.integer(0), b_.list({x})}, e.pos));
}

void SchemaReader::conditional(State& s, const DataEntry& e) {
  ast::Node *then_node = data_get(s.node, "then"), *else_node = data_get(s.node, "else");
  if (!then_node && !else_node) return;
  ast::Node *condition = arm(s, e.value, s.types), *then = then_node ? arm(s, then_node, s.types) : b_.top(),
            *otherwise = else_node ? arm(s, else_node, s.types) : b_.top();
  if (b_.is_none(condition)) return s.everything.push_back(otherwise);
  if (b_.is_any(condition)) return s.everything.push_back(then);
  if (b_.is_none(otherwise)) {
    s.everything.push_back(condition);
    return s.everything.push_back(then);
  }
  if (b_.is_none(then)) {
    s.everything.push_back(b_.call("matchN", {b_.integer(0), b_.list({condition})}, e.pos));
    return s.everything.push_back(otherwise);
  }
  s.everything.push_back(b_.call("matchIf", {condition, then, otherwise}, e.pos));
}

// ---- numbers

void SchemaReader::exclusive(State& s, const DataEntry& e) {
  bool low = e.key == "exclusiveMinimum";
  if (std::optional<bool> mark = data_bool(e.value)) {
    (low ? s.exclusive_min : s.exclusive_max) = *mark;
    return;
  }
  if (!data_is_number(e.value)) return fail(e.pos, fmt::format("value of {} must be a number", quote(e.key)));
  s.number.push_back(b_.unary(low ? Tok::kGtr : Tok::kLss, b_.number(e.value, e.pos), e.pos));
}

void SchemaReader::bound(State& s, const DataEntry& e) {
  if (!data_is_number(e.value)) return fail(e.pos, fmt::format("value of {} must be a number", quote(e.key)));
  bool low = e.key == "minimum";
  Tok op = low ? (s.exclusive_min ? Tok::kGtr : Tok::kGeq) : (s.exclusive_max ? Tok::kLss : Tok::kLeq);
  s.number.push_back(b_.unary(op, b_.number(e.value, e.pos), e.pos));
}

void SchemaReader::multiple_of(State& s, const DataEntry& e) {
  if (!data_is_number(e.value)) return fail(e.pos, "value of \"multipleOf\" must be a number");
  s.number.push_back(b_.call(b_.member("math", "MultipleOf", e.pos), {b_.number(e.value)}));
}

// ---- strings

void SchemaReader::length(State& s, const DataEntry& e) {
  if (std::optional<long long> n = size(e))
    s.string.push_back(
        b_.call(b_.member("strings", e.key == "minLength" ? "MinRunes" : "MaxRunes", e.pos), {b_.integer(*n)}));
}

// What only other engines know is a feature that is missing; anything else is no regular expression, and to leave it
// out would let everything through.
ast::Node* SchemaReader::regex(const DataEntry& e, const std::string& pattern, Tok op) {
  std::string error;
  if (compile_regex(pattern, &error)) return b_.unary(op, b_.text(pattern), e.pos);
  if (error.find("unsupported Perl syntax") != std::string::npos)
    feature(e.pos, fmt::format("unsupported Perl regexp syntax in {}: {}", quote(pattern), error));
  else if (error.find("invalid character class range") != std::string::npos)
    feature(e.pos, fmt::format("unsupported regexp character class in {}: {}", quote(pattern), error));
  else
    fail(e.pos, fmt::format("invalid regexp {}: {}", quote(pattern), error));
  return nullptr;
}

void SchemaReader::pattern(State& s, const DataEntry& e) {
  std::optional<std::string> text = data_text(e.value);
  if (!text) return fail(e.pos, "value of \"pattern\" must be a string");
  if (ast::Node* x = regex(e, *text, Tok::kMat)) s.string.push_back(x);
}

void SchemaReader::format(State& s, const DataEntry& e) {
  std::optional<std::string> name = data_text(e.value);
  if (!name) return fail(e.pos, "value of \"format\" must be a string");
  struct Known {
    std::string_view format, package, member;
  };
  static constexpr Known kStrings[] = {{"date-time", "time", "Time"}, {"ipv4", "net", "IPv4"},
                                       {"ipv6", "net", "IPv6"},       {"hostname", "net", "FQDN"},
                                       {"uri", "net", "AbsURL"},      {"uri-reference", "net", "URL"},
                                       {"regex", "regexp", "Valid"},  {"uuid", "uuid", "Valid"}};
  for (const Known& k : kStrings)
    if (*name == k.format) return s.string.push_back(b_.member(k.package, k.member, e.pos));
  if (*name == "date") return s.string.push_back(b_.call(b_.member("time", "Format", e.pos), {b_.text("2006-01-02")}));
  // The formats of numbers are OpenAPI's.
  if (is_openapi() && s.integer)
    for (std::string_view sized : {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
      if (*name == sized) return s.number.push_back(b_.name(sized, e.pos));
}

}  // namespace tutti::cue
