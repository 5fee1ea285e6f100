// The keywords of JSON Schema for arrays and objects.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lang/cue/format/literal.h"
#include "lang/cue/schema/reader.h"

namespace tutti::cue {

namespace {

constexpr std::size_t kMaxPrefix = 500;  // an array may stop after any of them, and each length is an alternative

std::string regex_quoted(std::string_view s) {
  std::string out;
  for (char c : s) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

// ---- arrays

void SchemaReader::prefix_items(State& s, const DataEntry& e) {
  std::vector<ast::Node*> list = data_items(e.value);
  if (list.size() > kMaxPrefix) return fail(e.pos, fmt::format("more than {} items by position", kMaxPrefix));
  for (ast::Node* n : list) s.prefix.push_back(arm(s, n, kAll));
}

void SchemaReader::items(State& s, const DataEntry& e) {
  if (data_is_list(e.value) && !since(Draft::k2020)) return prefix_items(s, e);  // by position, before 2020-12
  if (data_bool(e.value) == false)
    s.list_closed = true;
  else
    s.rest = arm(s, e.value, kAll);
}

void SchemaReader::additional_items(State& s, const DataEntry& e) {
  if (!data_is_list(data_get(s.node, "items"))) return;  // says nothing without items by position
  if (data_bool(e.value) == false)
    s.list_closed = true;
  else
    s.rest = arm(s, e.value, kAll);
}

ast::Node* SchemaReader::list_expression(State& s) {
  if (s.prefix.empty()) {
    if (s.list_closed) return b_.list({});
    return s.rest ? b_.list({}, s.rest) : nullptr;
  }
  // An array may be shorter than its items by position.
  std::vector<ast::Node*> lengths;
  for (std::size_t n =
           static_cast<std::size_t>(std::min<long long>(s.min_items, static_cast<long long>(s.prefix.size())));
       n < s.prefix.size(); ++n)
    lengths.push_back(b_.list({s.prefix.begin(), s.prefix.begin() + static_cast<long>(n)}));
  lengths.push_back(b_.list(s.prefix, s.rest, !s.list_closed));
  return b_.any_of(lengths);
}

void SchemaReader::contains(State& s, const DataEntry& e) {
  ast::Node *low = data_get(s.node, "minContains"), *high = data_get(s.node, "maxContains");
  long long least = since(Draft::k2019) && low ? data_integer(low).value_or(1) : 1;
  std::optional<long long> most = since(Draft::k2019) && high ? data_integer(high) : std::nullopt;
  std::vector<ast::Node*> count;
  if (least > 0) count.push_back(b_.unary(Tok::kGeq, b_.integer(least)));
  if (most) count.push_back(b_.unary(Tok::kLeq, b_.integer(*most)));
  if (count.empty()) return;
  s.array.push_back(b_.call(b_.member("list", "MatchN", e.pos), {b_.all_of(count), arm(s, e.value, kAll)}));
}

void SchemaReader::item_count(State& s, const DataEntry& e) {
  std::optional<long long> n = size(e);
  if (!n) return;
  if (e.key == "minItems") s.min_items = *n;
  s.array.push_back(b_.call(b_.member("list", e.key == "minItems" ? "MinItems" : "MaxItems", e.pos), {b_.integer(*n)}));
}

void SchemaReader::unique_items(State& s, const DataEntry& e) {
  if (data_bool(e.value).value_or(false)) s.array.push_back(b_.call(b_.member("list", "UniqueItems", e.pos), {}));
}

// ---- objects

void SchemaReader::properties(State& s, const DataEntry& e) {
  if (!data_is_object(e.value)) return fail(e.pos, "value of \"properties\" must be an object");
  s.properties = data_entries(e.value);
}

void SchemaReader::required(State& s, const DataEntry& e) {
  if (!data_is_list(e.value)) {
    if (draft_ == Draft::k4 && data_bool(e.value)) return;  // draft 3, in properties
    return fail(e.pos, "value of \"required\" must be an array");
  }
  for (ast::Node* n : data_items(e.value)) {
    if (std::optional<std::string> name = data_text(n))
      s.required.push_back(*name);
    else
      fail(e.pos, "value of \"required\" must be an array of strings");
  }
}

void SchemaReader::pattern_properties(State& s, const DataEntry& e) {
  for (const DataEntry& p : data_entries(e.value)) {
    ast::Node* names = regex(p, p.key, Tok::kMat);
    if (!names) continue;
    s.pattern_texts.push_back(p.key);
    Result r = schema(p.value, kAll, s.base, s.depth + 1);
    s.patterns.push_back(documented(b_.pattern(names, r.x), r));
  }
}

void SchemaReader::additional_properties(State& s, const DataEntry& e) {
  if (std::optional<bool> open = data_bool(e.value)) {
    s.closed = !*open;
    s.explicit_open = *open;
    return;
  }
  std::vector<ast::Node*> names;
  std::string known;
  for (const DataEntry& p : s.properties) known += (known.empty() ? "" : "|") + regex_quoted(p.key);
  if (!s.properties.empty()) names.push_back(b_.unary(Tok::kNmat, b_.text("^(" + known + ")$")));
  for (const std::string& p : s.pattern_texts) names.push_back(b_.unary(Tok::kNmat, b_.text(p)));
  Result r = schema(e.value, kAll, s.base, s.depth + 1);
  s.additional = documented(b_.pattern(names.empty() ? b_.name("string") : b_.all_of(names), r.x), r);
}

ast::Node* SchemaReader::object_expression(State& s) {
  if (s.properties.empty() && s.required.empty() && s.patterns.empty() && !s.additional && !s.closed &&
      !s.explicit_open)
    return nullptr;
  std::set<std::string> must(s.required.begin(), s.required.end()), done;
  std::vector<ast::Node*> fields;
  for (const DataEntry& p : s.properties) {
    Result r = schema(p.value, kAll, s.base, s.depth + 1);
    done.insert(p.key);
    fields.push_back(
        documented(b_.field(b_.label(p.key, p.pos), r.x, must.count(p.key) ? Tok::kNot : Tok::kOption), r));
  }
  for (const std::string& name : s.required)
    if (done.insert(name).second && !s.closed)
      fields.push_back(b_.field(b_.label(name), b_.top(), Tok::kNot));
    else if (s.closed &&
             std::none_of(s.properties.begin(), s.properties.end(), [&](const DataEntry& p) { return p.key == name; }))
      // Needed, and perhaps refused: a pattern may let it in.
      s.object.push_back(b_.structure({b_.field(b_.label(name), b_.top(), Tok::kNot)}, true));
  fields.insert(fields.end(), s.patterns.begin(), s.patterns.end());
  if (s.additional) fields.push_back(s.additional);
  bool open = !s.closed && !s.additional && (s.explicit_open || !options_.open_only_when_explicit);
  ast::Node* x = b_.structure(std::move(fields), open);
  return s.closed ? b_.call("close", {x}) : x;
}

void SchemaReader::property_names(State& s, const DataEntry& e) {
  ast::Node* names = arm(s, e.value, kString);
  if (Build::is_any(names)) return;
  if (data_bool(e.value) == false) {
    s.object.push_back(b_.call("close", {b_.structure({}, false)}));
    return;
  }
  s.object.push_back(b_.call("close", {b_.structure({b_.pattern(names, b_.top())}, false)}));
}

void SchemaReader::property_count(State& s, const DataEntry& e) {
  if (std::optional<long long> n = size(e))
    s.object.push_back(
        b_.call(b_.member("struct", e.key == "minProperties" ? "MinFields" : "MaxFields", e.pos), {b_.integer(*n)}));
}

// The presence of one property asks for others, or for a whole schema.
void SchemaReader::dependencies(State& s, const DataEntry& e) {
  if (!(s.types & kObject)) return;
  for (const DataEntry& p : data_entries(e.value)) {
    ast::Node* has = b_.structure({b_.field(b_.label(p.key), b_.top(), Tok::kNot)}, true);
    ast::Node* then = nullptr;
    if (data_is_list(p.value)) {
      std::vector<ast::Node*> needed;
      for (ast::Node* n : data_items(p.value))
        if (std::optional<std::string> name = data_text(n))
          needed.push_back(b_.field(b_.label(*name), b_.top(), Tok::kNot));
      if (needed.empty()) continue;
      then = b_.structure(std::move(needed), true);
    } else {
      then = arm(s, p.value, s.types);
    }
    s.everything.push_back(b_.is_none(then) ? b_.call("matchN", {b_.integer(0), b_.list({has})}, p.pos)
                                            : b_.call("matchIf", {has, then, b_.top()}, p.pos));
  }
}

}  // namespace tutti::cue
