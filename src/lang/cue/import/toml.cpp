// TOML as CUE syntax: the common reader checks and reads the file, here its tree gets the shape it was written in. Each
// [header] is a field of its own (`a: b: {...}`), an array of [[headers]] a list.
#include "format/toml.h"

#include <algorithm>

#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

using namespace ast;

class TomlShape {
 public:
  TomlShape(const Source& source, Arena& arena, std::vector<SyntaxError>& errors)
      : text_(source.text), source_(source), arena_(arena), errors_(errors) {}

  Node* document(const Value& root) {
    std::vector<Part> parts;
    split(root, {}, parts);
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.at < b.at; });
    std::vector<Node*> fields;
    for (const Part& p : parts) fields.push_back(chain(p.path, p.value));
    return arena_.make<Struct>(TokenPos{}, make_nodes(arena_, fields), TokenPos{});
  }

 private:
  using Path = std::vector<Symbol>;
  struct Part {
    std::size_t at;
    Path path;
    Node* value;
  };

  std::size_t offset(const Value& v) const {
    Pos p = v.origin().pos();
    return p ? std::min(source_.offset(p), text_.size()) : 0;
  }

  // Does the value come from a line that begins with a bracket?
  bool from_header(const Value& v) const {
    std::size_t at = offset(v);
    if (at >= text_.size() || (!v.is(tutti::Kind::kMap) && !v.is(tutti::Kind::kList))) return false;
    std::size_t line = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;
    std::size_t first = text_.find_first_not_of(" \t", line);
    return first != std::string_view::npos && text_[first] == '[' && first <= at;
  }
  bool tables(const Value& v) const {
    return v.is(tutti::Kind::kList) && !v.items().empty() &&
           std::all_of(v.items().begin(), v.items().end(),
                       [&](const Value& i) { return i.is(tutti::Kind::kMap) && from_header(i); });
  }
  // A table that only has other headers in it is not written anywhere.
  bool only_headers(const Value& v) const {
    return !v.entries().empty() && std::all_of(v.entries().begin(), v.entries().end(), [&](const Entry& e) {
      return tables(e.value) || (e.value.is(tutti::Kind::kMap) && (from_header(e.value) || only_headers(e.value)));
    });
  }

  // What of a table stands under its own header, and the parts that other headers say. The top has no header: each of
  // its entries is a part.
  void split(const Value& table, const Path& path, std::vector<Part>& parts) {
    std::vector<Node*> own;
    for (const Entry& e : table.entries()) {
      Path below = path;
      below.push_back(e.key);
      if (tables(e.value)) {
        parts.push_back({offset(e.value.items()[0]), below, value(e.value)});
      } else if (e.value.is(tutti::Kind::kMap) && (from_header(e.value) || only_headers(e.value))) {
        split(e.value, below, parts);
      } else if (path.empty()) {
        dotted(e.value, below, parts);
      } else {
        own.push_back(field(e));
      }
    }
    bool written = !path.empty() && (!own.empty() || (from_header(table) && !only_headers(table)));
    if (written) parts.push_back({offset(table), path, block(own)});
  }

  // `a.b = 1` at the top: a field for each line.
  void dotted(const Value& v, const Path& path, std::vector<Part>& parts) {
    std::size_t at = offset(v);
    bool braces = at < text_.size() && text_[at] == '{';
    if (!v.is(tutti::Kind::kMap) || braces) return parts.push_back({at, path, value(v)});
    for (const Entry& e : v.entries()) {
      Path below = path;
      below.push_back(e.key);
      dotted(e.value, below, parts);
    }
  }

  Node* chain(const Path& path, Node* value) {
    Node* out = value;
    for (std::size_t i = path.size(); i-- > 0;) {
      TokenPos at{{}, i == 0 ? Rel::kNewline : Rel::kBlank, false};
      auto* f = make_field(arena_, make_label(arena_, path[i].text(), at), out);
      out = i == 0 ? static_cast<Node*>(f) : arena_.make<Struct>(TokenPos{}, make_nodes(arena_, {f}), TokenPos{});
    }
    return out;
  }

  Field* field(const Entry& e, Rel rel = Rel::kNewline) {
    return make_field(arena_, make_label(arena_, e.key.text(), {{}, rel, false}), value(e.value));
  }

  Struct* block(const std::vector<Node*>& fields) {
    TokenPos open{{}, Rel::kBlank, false}, close{{}, fields.empty() ? Rel::kNoSpace : Rel::kNewline, false};
    return arena_.make<Struct>(open, make_nodes(arena_, fields), close);
  }

  Node* value(const Value& v) {
    TokenPos at{source_.pos(offset(v)), Rel::kNone, false};
    switch (v.kind()) {
      case tutti::Kind::kBool:
        return make_lit(arena_, v.as_bool() ? Tok::kTrue : Tok::kFalse, v.as_bool() ? "true" : "false", at);
      case tutti::Kind::kInt: return number(v, Tok::kInt, at);
      case tutti::Kind::kDecimal: return number(v, Tok::kFloat, at);
      case tutti::Kind::kString:
        if (v.tag().text() == "float") {
          errors_.push_back({at.pos, "infinity and nan are not supported"});
          return make_string(arena_, "", at);
        }
        return make_string(arena_, v.text(), at);
      case tutti::Kind::kList: {
        bool lines = tables(v);
        std::vector<Node*> items;
        for (const Value& i : v.items()) {
          items.push_back(value(i));
          if (lines) as<Struct>(items.back())->lbrace.rel = Rel::kNewline;
        }
        TokenPos close{{}, lines ? Rel::kNewline : Rel::kNone, false};
        return arena_.make<List>(at, make_nodes(arena_, items), close);
      }
      case tutti::Kind::kMap: {
        bool line = text_.substr(offset(v)).starts_with('{');
        std::vector<Node*> fields;
        for (const Entry& e : v.entries()) fields.push_back(field(e, line ? Rel::kBlank : Rel::kNewline));
        if (!line) return block(fields);
        return arena_.make<Struct>(TokenPos{{}, Rel::kBlank}, make_nodes(arena_, fields), TokenPos{{}, Rel::kNoSpace});
      }
      default: return make_string(arena_, "", at);
    }
  }

  // As it is written, where that is CUE too.
  Node* number(const Value& v, Tok kind, TokenPos at) {
    std::string_view rest = text_.substr(offset(v));
    std::string_view word = rest.substr(0, std::min(rest.find_first_of(" \t\r\n,]}#"), rest.size()));
    if (word.starts_with('+')) word.remove_prefix(1);
    bool minus = word.starts_with('-');
    if (!parse_number(word).ok()) word = {};
    std::string text = word.empty() ? v.number_text() : std::string(word.substr(minus ? 1 : 0));
    if (!minus) return make_lit(arena_, kind, text, at);
    Node* digits = make_lit(arena_, kind, text.starts_with('-') ? text.substr(1) : text, {{}, Rel::kNoSpace, false});
    return arena_.make<Unary>(at, Tok::kSub, digits);
  }

  std::string_view text_;
  const Source& source_;
  Arena& arena_;
  std::vector<SyntaxError>& errors_;
};

}  // namespace

Decoded decode_toml(const Source& source, Arena& arena) {
  Decoded d;
  Session session;
  std::optional<Value> root = read_toml(session, source);
  for (const Diagnostic& e : session.diagnostics.all()) d.errors.push_back({e.where.begin, e.message});
  if (root) d.documents.push_back(TomlShape(source, arena, d.errors).document(*root));
  return d;
}

}  // namespace tutti::cue
