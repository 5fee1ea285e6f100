// TOML as CUE syntax. The common reader checks the file and reads its scalars; here the statements are followed in the
// order they are written in, which a tree does not keep: each [header] is a field of its own (`a: b: {...}`), also one
// with nothing below it, each `a.b = 1` too, and an array of [[headers]] a list where its first element stands.
#include "format/toml.h"

#include <algorithm>
#include <deque>
#include <map>
#include <span>

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
    note_scalars(root);
    at_ = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    for (skip_blank(); at_ < text_.size(); skip_blank()) {
      if (text_.substr(at_).starts_with("[["))
        element();
      else if (text_[at_] == '[')
        table();
      else
        add(*into_, statement(Rel::kNewline));
    }
    return struct_of(top_, TokenPos{}, TokenPos{});
  }

 private:
  // What stands in one pair of braces; the node of a header's is there before its fields are.
  struct Body {
    std::vector<Node*> fields;
    Struct* made = nullptr;
  };
  struct TableArray {
    std::vector<Node*> items;
    List* made = nullptr;
    Body* last = nullptr;
  };
  struct Key {
    std::string text;
    std::size_t at;
  };
  using Keys = std::vector<Key>;

  // ---- the text, which is known to be right

  std::size_t offset(const Value& v) const {
    Pos p = v.origin().pos();
    return p ? std::min(source_.offset(p), text_.size()) : 0;
  }
  void note_scalars(const Value& v) {
    if (v.is(tutti::Kind::kMap)) {
      for (const Entry& e : v.entries()) note_scalars(e.value);
    } else if (v.is(tutti::Kind::kList)) {
      for (const Value& i : v.items()) note_scalars(i);
    } else {
      scalars_.emplace(offset(v), v);
    }
  }
  // White space, ends of lines, comments.
  void skip_blank() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.find_first_of(" \t\r\n", at_) == at_)
        ++at_;
      else
        return;
    }
  }
  bool take(char c) {
    skip_blank();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_string() {
    char mark = text_[at_];
    std::string three(3, mark);
    bool lines = text_.substr(at_).starts_with(three);
    for (at_ += lines ? 3 : 1; at_ < text_.size(); ++at_) {
      if (mark == '"' && text_[at_] == '\\') {
        ++at_;
      } else if (lines ? text_.substr(at_).starts_with(three) : text_[at_] == mark) {
        at_ += lines ? 3 : 1;
        // up to two marks may stand before the three that end it
        for (int more = 0; lines && more < 2 && at_ < text_.size() && text_[at_] == mark; ++more) ++at_;
        return;
      }
    }
    at_ = std::min(at_, text_.size());
  }
  // a, "b c" or 'b c', with dots between.
  Keys keys() {
    Keys out;
    do {
      skip_blank();
      std::size_t from = at_;
      if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
        skip_string();
        std::string_view quoted = text_.substr(from, at_ - from);
        out.push_back(
            {quoted[0] == '"' ? unquote(quoted).text : std::string(quoted.substr(1, quoted.size() - 2)), from});
      } else {
        at_ = std::min(text_.find_first_of(" \t\r\n.=]", at_), text_.size());
        out.push_back({std::string(text_.substr(from, at_ - from)), from});
      }
    } while (take('.'));
    return out;
  }

  // ---- statements

  void add(Body& body, Node* field) {
    body.fields.push_back(field);
    if (!body.made) return;
    body.made->elts = make_nodes(arena_, body.fields);
    body.made->rbrace.rel = Rel::kNewline;
  }

  static std::string joined(const Keys& keys, std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) out += keys[i].text + '\0';
    return out;
  }
  // The array whose last element a header belongs to, with how many keys lead there; none for one of the top.
  std::pair<TableArray*, std::size_t> array_of(const Keys& keys) {
    for (std::size_t n = keys.size(); n > 0; --n)
      if (auto it = arrays_.find(joined(keys, n)); it != arrays_.end()) return {&it->second, n};
    return {nullptr, 0};
  }

  Struct* opened(Body& body, Rel before) {
    body.made = struct_of(body, {{}, before, false}, {{}, Rel::kNoSpace, false});
    return body.made;
  }

  // [a.b]: what follows is in braces.
  void table() {
    take('[');
    Keys path = keys();
    take(']');
    auto [array, level] = array_of(path);
    Body& outer = array ? *array->last : top_;
    Body& body = bodies_.emplace_back();
    into_ = &body;
    add(outer, chain(std::span(path).subspan(level), opened(body, Rel::kBlank), Rel::kNewline));
  }

  // [[a.b]]: one more element.
  void element() {
    at_ += 2;
    Keys path = keys();
    take(']');
    take(']');
    auto [array, level] = array_of(path);
    Body& body = bodies_.emplace_back();
    into_ = &body;
    Struct* item = opened(body, Rel::kNewline);
    std::string name = joined(path, path.size());
    if (array && level == path.size()) {
      // arrays in the element before are not those in this one
      for (auto it = arrays_.upper_bound(name); it != arrays_.end() && it->first.starts_with(name);)
        it = arrays_.erase(it);
    } else {
      Body& outer = array ? *array->last : top_;
      std::span<const Key> below = std::span(path).subspan(level);
      array = &arrays_[name];
      array->made = arena_.make<List>(TokenPos{{}, Rel::kBlank, false}, Nodes{}, TokenPos{{}, Rel::kNewline, false});
      add(outer, chain(below, array->made, Rel::kNewline));
    }
    array->items.push_back(item);
    array->made->elts = make_nodes(arena_, array->items);
    array->last = &body;
  }

  // a.b = 1
  Node* statement(Rel before) {
    Keys path = keys();
    take('=');
    return chain(path, value(), before);
  }

  Node* chain(std::span<const Key> path, Node* value, Rel before) {
    Node* out = value;
    for (std::size_t i = path.size(); i-- > 0;) {
      TokenPos at{source_.pos(path[i].at), i == 0 ? before : Rel::kBlank, false};
      auto* f = make_field(arena_, make_label(arena_, path[i].text, at), out);
      out = i == 0 ? static_cast<Node*>(f) : arena_.make<Struct>(TokenPos{}, make_nodes(arena_, {f}), TokenPos{});
    }
    return out;
  }

  Struct* struct_of(const Body& body, TokenPos open, TokenPos close) {
    return arena_.make<Struct>(open, make_nodes(arena_, body.fields), close);
  }

  Node* value() {
    skip_blank();
    std::size_t from = at_;
    if (take('[')) return list(from);
    if (take('{')) return inline_table();
    if (from < text_.size() && (text_[from] == '"' || text_[from] == '\''))
      skip_string();
    else
      at_ = std::min(text_.find_first_of(",]}#\r\n", from), text_.size());
    auto it = scalars_.find(from);
    TokenPos at{source_.pos(from), Rel::kNone, false};
    if (it == scalars_.end()) return make_string(arena_, "", at);
    return scalar(it->second, at);
  }

  Node* list(std::size_t from) {
    std::vector<Node*> items;
    while (!take(']') && at_ < text_.size()) {
      items.push_back(value());
      take(',');
    }
    return arena_.make<List>(TokenPos{source_.pos(from), Rel::kNone, false}, make_nodes(arena_, items), TokenPos{});
  }

  Node* inline_table() {
    Body body;
    while (!take('}') && at_ < text_.size()) {
      body.fields.push_back(statement(Rel::kBlank));
      take(',');
    }
    return struct_of(body, TokenPos{{}, Rel::kBlank}, TokenPos{{}, Rel::kNoSpace});
  }

  Node* scalar(const Value& v, TokenPos at) {
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
        return make_lit(arena_, Tok::kString, quote(v.text()), at);  // on one line, however it was written
      default: return make_string(arena_, "", at);
    }
  }

  // As it is written, where that is CUE too.
  Node* number(const Value& v, Tok kind, TokenPos at) {
    std::string_view rest = text_.substr(offset(v));
    std::string_view word = rest.substr(0, std::min(rest.find_first_of(" \t\r\n,]}#"), rest.size()));
    bool plus = word.starts_with('+');
    bool sign = plus || word.starts_with('-');
    if (plus) word.remove_prefix(1);
    if (!parse_number(word).ok()) word = {};
    std::string text = word.empty() ? v.number_text() : std::string(word.substr(sign && !plus ? 1 : 0));
    if (!sign) return make_lit(arena_, kind, text, at);
    Node* digits = make_lit(arena_, kind, text.starts_with('-') ? text.substr(1) : text, {{}, Rel::kNoSpace, false});
    return arena_.make<Unary>(at, plus ? Tok::kAdd : Tok::kSub, digits);
  }

  std::string_view text_;
  const Source& source_;
  Arena& arena_;
  std::vector<SyntaxError>& errors_;
  std::size_t at_ = 0;
  std::map<std::size_t, Value> scalars_;  // by where they are written
  std::deque<Body> bodies_;               // of headers
  Body top_;
  Body* into_ = &top_;                        // what a statement is added to
  std::map<std::string, TableArray> arrays_;  // by the keys that lead to them
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
