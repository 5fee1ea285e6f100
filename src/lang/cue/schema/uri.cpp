// Where the schemas of documents are: URIs of $id and $anchor, JSON Pointers, files beside a document.
#include <fmt/format.h>

#include <filesystem>

#include "lang/cue/schema/reader.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

constexpr int kDeepestDocument = 10'000;

struct Uri {
  std::string scheme, authority, path, query;
  bool has_authority = false;
};

// RFC 3986, appendix B; the fragment was taken off before.
Uri split(const std::string& s) {
  Uri u;
  std::string rest = s;
  if (std::size_t q = rest.find('?'); q != std::string::npos) {
    u.query = rest.substr(q);
    rest = rest.substr(0, q);
  }
  std::size_t colon = rest.find(':');
  if (colon != std::string::npos && colon > 0 && rest.find('/') > colon) {
    u.scheme = rest.substr(0, colon + 1);
    rest = rest.substr(colon + 1);
  }
  if (rest.starts_with("//")) {
    std::size_t slash = std::min(rest.find('/', 2), rest.size());
    u.authority = rest.substr(0, slash);
    u.has_authority = true;
    rest = rest.substr(slash);
  }
  u.path = rest;
  return u;
}

// RFC 3986, 5.2.4.
std::string without_dots(const std::string& path) {
  std::vector<std::string> parts;
  bool absolute = path.starts_with('/'), folder = false;
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t end = std::min(path.find('/', at), path.size());
    std::string part = path.substr(at, end - at);
    at = end + 1;
    folder = part == "." || part == ".." || part.empty();
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (part != "." && !part.empty()) {
      parts.push_back(part);
    }
  }
  std::string out = absolute ? "/" : "";
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i ? "/" : "") + parts[i];
  if (folder && !parts.empty()) out += '/';
  return out;
}

std::string pointer_part(std::string_view s) {
  std::string out;
  for (char c : s) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string percent_decoded(std::string_view s) {
  std::string out;
  auto hex = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '%' && i + 2 < s.size() && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0) {
      out += static_cast<char>(hex(s[i + 1]) * 16 + hex(s[i + 2]));
      i += 2;
    } else {
      out += s[i];
    }
  }
  return out;
}

void cut_fragment(const std::string& s, std::string& before, std::string& fragment) {
  std::size_t hash = std::min(s.find('#'), s.size());
  before = s.substr(0, hash);
  fragment = hash < s.size() ? s.substr(hash + 1) : "";
}

}  // namespace

std::string resolve_uri(const std::string& base, const std::string& ref) {
  std::string before, fragment;
  cut_fragment(ref, before, fragment);
  std::string tail = ref.find('#') == std::string::npos ? "" : "#" + fragment;
  std::string base_before, ignored;
  cut_fragment(base, base_before, ignored);
  if (before.empty()) return base_before + tail;
  Uri r = split(before), b = split(base_before);
  if (!r.scheme.empty()) return before + tail;
  if (r.has_authority) return b.scheme + before + tail;
  std::string path = r.path;
  if (!path.starts_with('/')) {
    if (path.empty())
      path = b.path;
    else if (std::size_t slash = b.path.rfind('/'); slash != std::string::npos)
      path = b.path.substr(0, slash + 1) + path;
    else if (b.has_authority)
      path = "/" + path;
  }
  return b.scheme + b.authority + without_dots(path) + r.query + tail;
}

std::string escape_uri(const std::string& uri) {
  std::string out;
  for (char c : uri) {
    auto u = static_cast<unsigned char>(c);
    if (u <= 0x20 || u >= 0x7f || std::string_view("\"<>\\^`{|}").find(c) != std::string_view::npos)
      out += fmt::format("%{:02X}", u);
    else
      out += c;
  }
  return out;
}

std::string SchemaIndex::base_of(ast::Node* schema, const std::string& outer) const {
  std::string base = outer;
  for (const char* key : {"$id", "id"})
    if (std::optional<std::string> id = data_text(data_get(schema, key)); id && !id->starts_with('#')) {
      base = resolve_uri(base, *id);
      break;
    }
  return base;
}

namespace {

using Holds = SchemaIndex::Holds;

// What the value of a keyword holds. An $id in data, or in what no draft knows, names nothing.
Holds held_by(std::string_view keyword) {
  for (std::string_view k :
       {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"})
    if (k == keyword) return Holds::kNamedSchemas;
  for (std::string_view k :
       {"additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "contentSchema", "else", "if", "items",
        "not", "oneOf", "prefixItems", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"})
    if (k == keyword) return Holds::kSchemas;
  return Holds::kData;
}

}  // namespace

void SchemaIndex::walk(ast::Node* n, const std::string& base, const std::string& pointer, const SchemaDocument* d,
                       Holds holds, int depth) {
  if (depth > kDeepestDocument) return;
  bool schema = holds == Holds::kSchemas || holds == Holds::kAnything;
  if (data_is_object(n)) {
    std::string here = schema ? base_of(n, base) : base;
    SchemaPlace place{n, d, pointer};
    by_node_[n] = place;
    by_pointer_.emplace(std::pair(d, pointer), n);
    std::string before, fragment;
    cut_fragment(here, before, fragment);
    if (here != base || pointer.empty()) by_uri_.emplace(before, place);
    for (const DataEntry& e : data_entries(n)) {
      std::optional<std::string> text = schema ? data_text(e.value) : std::nullopt;
      if (text && (e.key == "$anchor" || e.key == "$dynamicAnchor")) by_uri_.emplace(before + "#" + *text, place);
      if (text && (e.key == "$id" || e.key == "id") && text->size() > 1 && text->starts_with('#'))
        by_uri_.emplace(before + *text, place);
      Holds inner = holds == Holds::kSchemas ? held_by(e.key) : holds == Holds::kNamedSchemas ? Holds::kSchemas : holds;
      walk(e.value, here, pointer + "/" + pointer_part(e.key), d, inner, depth + 1);
    }
  } else if (data_is_list(n)) {
    std::size_t i = 0;
    for (ast::Node* x : data_items(n)) walk(x, base, pointer + "/" + std::to_string(i++), d, holds, depth + 1);
  } else if (data_bool(n)) {
    by_node_[n] = {n, d, pointer};
  }
}

const SchemaDocument* SchemaIndex::add(ast::Node* root, const std::string& path, const std::string& label) {
  auto d = std::make_unique<SchemaDocument>();
  d->root = root;
  d->path = path;
  d->label = label;
  d->base = base_of(root, label);
  documents_.push_back(std::move(d));
  SchemaDocument* out = documents_.back().get();
  by_uri_.emplace(label, SchemaPlace{root, out, ""});
  // In OpenAPI schemas are in many places.
  walk(root, label, "", out, data_get(root, "openapi") ? Holds::kAnything : Holds::kSchemas, 0);
  return out;
}

SchemaPlace SchemaIndex::place(ast::Node* node) const {
  auto it = by_node_.find(node);
  return it == by_node_.end() ? SchemaPlace{} : it->second;
}

std::optional<SchemaPlace> SchemaIndex::inside(const SchemaPlace& at, std::string_view pointer) const {
  if (auto known = by_pointer_.find(std::pair(at.document, at.pointer + std::string(pointer)));
      known != by_pointer_.end())
    return SchemaPlace{known->second, at.document, known->first.second};
  ast::Node* n = at.node;
  std::string whole = at.pointer;
  while (!pointer.empty()) {
    if (pointer[0] != '/') return std::nullopt;
    std::size_t end = std::min(pointer.find('/', 1), pointer.size());
    std::string part;
    for (std::size_t i = 1; i < end; ++i) {
      if (pointer[i] == '~' && i + 1 < end && (pointer[i + 1] == '0' || pointer[i + 1] == '1'))
        part += pointer[++i] == '0' ? '~' : '/';
      else
        part += pointer[i];
    }
    pointer.remove_prefix(end);
    if (data_is_list(n)) {
      std::vector<ast::Node*> items = data_items(n);
      if (part.empty() || part.size() > 9 || part.find_first_not_of("0123456789") != std::string::npos)
        return std::nullopt;
      std::size_t i = std::stoul(part);
      if (i >= items.size()) return std::nullopt;
      n = items[i];
    } else {
      n = data_get(n, part);
      if (!n) return std::nullopt;
    }
    whole += "/" + pointer_part(part);
  }
  return SchemaPlace{n, at.document, whole};
}

std::optional<SchemaPlace> SchemaIndex::find(const std::string& ref, const std::string& base,
                                             const SchemaDocument* from) {
  std::string before, fragment;
  cut_fragment(resolve_uri(base, ref), before, fragment);
  fragment = percent_decoded(fragment);
  auto it = by_uri_.find(before);
  if (it == by_uri_.end() && others_ && from && !from->path.empty()) {
    // A file beside the document that names it.
    std::string name, ignored;
    cut_fragment(ref, name, ignored);
    std::string path = (fs::path(from->path).parent_path() / name).lexically_normal().string();
    if (name.find("://") == std::string::npos && !name.empty() && !by_file_.count(path)) {
      std::error_code ec;
      if (fs::is_regular_file(path, ec))
        if (Result<const Source*> s = others_->open(path)) {
          bool yaml = path.ends_with(".yaml") || path.ends_with(".yml");
          Decoded d = yaml ? decode_yaml(**s, arena_) : decode_json(**s, arena_);
          if (d.ok() && d.documents.size() == 1) by_file_[path] = add(d.documents[0], path, before);
        }
    }
    if (auto known = by_file_.find(path); known != by_file_.end())
      return fragment.empty() || fragment[0] == '/' ? inside({known->second->root, known->second, ""}, fragment)
                                                    : std::nullopt;
  }
  if (it == by_uri_.end()) return std::nullopt;
  if (fragment.empty() || fragment[0] == '/') return inside(it->second, fragment);
  auto anchor = by_uri_.find(before + "#" + fragment);
  return anchor == by_uri_.end() ? std::nullopt : std::optional(anchor->second);
}

}  // namespace tutti::cue
