// TOML straight to syntax, in the order of the file.
#include <fmt/format.h>

#include <map>
#include <set>

#include "base/utf8.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

namespace {

using namespace ast;

struct Key {
  std::string name;
  std::size_t at;
};

// Declarations that still grow: turned into nodes at the end.
struct Growing {
  Struct* node = nullptr;
  List* list = nullptr;
  std::vector<Node*> items;
};

class TomlReader {
 public:
  TomlReader(const Source& source, Arena& arena, std::vector<SyntaxError>& errors)
      : source_(source), text_(source.text), arena_(arena), errors_(errors) {}

  Node* run() {
    top_ = grow_struct(TokenPos{}, TokenPos{});
    while (errors_.empty()) {
      blank_lines();
      if (at_ >= text_.size()) break;
      if (text_[at_] == '[')
        header();
      else
        key_value();
      if (!errors_.empty()) break;
      spaces();
      comment();
      if (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r')
        fail(at_, "expected newline but got " + shown(at_));
    }
    for (Growing* g : all_) {
      Nodes nodes = make_nodes(arena_, g->items);
      if (g->node)
        g->node->elts = nodes;
      else
        g->list->elts = nodes;
    }
    Node* out = top_->node;
    for (Growing* g : all_) delete g;
    return out;
  }

 private:
  struct Array {
    std::string key;
    std::size_t level;
    Growing* list;
    Growing* last;
  };

  std::string shown(std::size_t at) const {
    return at < text_.size() ? fmt::format("U+{:04X} '{}'", static_cast<unsigned char>(text_[at]), text_[at])
                             : "end of file";
  }

  void fail(std::size_t at, std::string message) {
    if (errors_.empty()) errors_.push_back({source_.pos(std::min(at, text_.size())), std::move(message)});
  }

  Growing* grow_struct(TokenPos l, TokenPos r) {
    auto* g = new Growing;
    g->node = arena_.make<Struct>(l, Nodes{}, r);
    all_.push_back(g);
    return g;
  }
  Growing* grow_list(TokenPos l, TokenPos r) {
    auto* g = new Growing;
    g->list = arena_.make<List>(l, Nodes{}, r);
    all_.push_back(g);
    return g;
  }

  void spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  void comment() {
    if (at_ < text_.size() && text_[at_] == '#')
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    if (at_ + 1 < text_.size() && text_[at_] == '\r' && text_[at_ + 1] == '\n') ++at_;
  }
  void blank_lines() {
    for (;;) {
      spaces();
      comment();
      if (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\r'))
        ++at_;
      else
        return;
    }
  }

  bool bare(char c) const {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  }

  std::vector<Key> keys() {
    std::vector<Key> out;
    for (;;) {
      spaces();
      std::size_t from = at_;
      if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
        std::string s;
        if (!string(s)) return {};
        out.push_back({s, from});
      } else {
        while (at_ < text_.size() && bare(text_[at_])) ++at_;
        if (at_ == from) {
          fail(at_,
               "invalid character at start of key: " + std::string(at_ < text_.size() ? text_.substr(at_, 1) : ""));
          return {};
        }
        out.push_back({std::string(text_.substr(from, at_ - from)), from});
      }
      spaces();
      if (at_ < text_.size() && text_[at_] == '.') {
        ++at_;
        continue;
      }
      return out;
    }
  }

  static std::string joined(const std::string& base, const std::vector<Key>& keys) {
    std::string s = base;
    for (const Key& k : keys) {
      if (!s.empty()) s += '.';
      s += label_text(k.name);
    }
    return s;
  }

  Node* label(const Key& k, Rel rel) { return make_label(arena_, k.name, {source_.pos(k.at), rel, false}); }

  // a.b.c as nested fields; the innermost is given back in `leaf`.
  Field* nested(std::span<const Key> keys, Rel rel, Field*& leaf) {
    Field* top = arena_.make<Field>(label(keys[0], rel));
    leaf = top;
    for (const Key& k : keys.subspan(1)) {
      Field* next = arena_.make<Field>(label(k, Rel::kBlank));
      leaf->value = arena_.make<Struct>(TokenPos{}, make_nodes(arena_, {next}), TokenPos{});
      leaf = next;
    }
    return top;
  }

  Array* exact(const std::string& key) {
    for (Array& a : arrays_)
      if (a.key == key) return &a;
    return nullptr;
  }
  Array* find_array(const std::string& key) {
    if (Array* a = exact(key)) {
      std::erase_if(arrays_, [&](const Array& x) { return x.key.starts_with(key + "."); });
      for (auto it = seen_.begin(); it != seen_.end();)
        it = it->starts_with(key + ".") ? seen_.erase(it) : std::next(it);
      return exact(key);
    }
    Array* best = nullptr;
    for (Array& a : arrays_)
      if (key.starts_with(a.key + ".") && (!best || a.level > best->level)) best = &a;
    return best;
  }

  void header() {
    std::size_t from = at_++;
    bool array = at_ < text_.size() && text_[at_] == '[';
    if (array) ++at_;
    std::vector<Key> k = keys();
    if (k.empty()) return;
    spaces();
    for (int i = 0; i < 1 + array; ++i) {
      if (at_ >= text_.size() || text_[at_] != ']') return fail(at_, "expected character ]");
      ++at_;
    }
    std::string key = joined("", k);
    if (seen_.count(key))
      return fail(k[0].at, array ? fmt::format("cannot redeclare key {} as a table array", quote(key))
                                 : "duplicate key: " + key);
    (void)from;
    Field* leaf = nullptr;
    if (!array) {
      seen_.insert(key);
      table_ = grow_struct({{}, Rel::kBlank}, {{}, Rel::kNewline});
      Array* a = find_array(key);
      if (a && a->key == key)
        return fail(k[0].at, fmt::format("cannot redeclare table array {} as a table", quote(key)));
      if (a) {
        a->last->items.push_back(nested(std::span(k).subspan(a->level), Rel::kNewline, leaf));
      } else {
        top_->items.push_back(nested(k, Rel::kNewline, leaf));
      }
      leaf->value = table_->node;
      prefix_ = key;
      return;
    }
    table_ = grow_struct({{}, Rel::kNewline}, {{}, Rel::kNewline});
    Array* a = find_array(key);
    if (a && a->level == k.size()) {
      prefix_ = fmt::format("{}.{}", key, a->list->items.size());
      a->last = table_;
      a->list->items.push_back(table_->node);
      return;
    }
    Growing* list = grow_list({{}, Rel::kBlank}, {{}, Rel::kNewline});
    if (!a)
      top_->items.push_back(nested(k, Rel::kNewline, leaf));
    else
      a->last->items.push_back(nested(std::span(k).subspan(a->level), Rel::kNewline, leaf));
    leaf->value = list->list;
    prefix_ = key + ".0";
    list->items.push_back(table_->node);
    arrays_.push_back({key, k.size(), list, table_});
  }

  void key_value() {
    Field* f = field(prefix_, Rel::kNewline);
    if (f) (table_ ? table_ : top_)->items.push_back(f);
  }

  Field* field(const std::string& prefix, Rel rel) {
    std::vector<Key> k = keys();
    if (k.empty()) return nullptr;
    spaces();
    if (at_ >= text_.size() || text_[at_] != '=') {
      fail(at_, "expected = after a key, but the document ends there");
      if (at_ < text_.size()) errors_.back().message = fmt::format("expected character =");
      return nullptr;
    }
    ++at_;
    spaces();
    std::string key = joined(prefix, k);
    std::size_t value_at = at_;
    if (exact(key)) {
      fail(value_at, fmt::format("cannot redeclare table array {} as a table", quote(key)));
      return nullptr;
    }
    if (!seen_.insert(key).second) {
      fail(k[0].at, "duplicate key: " + key);
      return nullptr;
    }
    Field* leaf = nullptr;
    Field* top = nested(k, rel, leaf);
    leaf->value = value(key);
    return leaf->value ? top : nullptr;
  }

  bool escape(std::string& out) {
    char c = at_ < text_.size() ? text_[at_] : 0;
    ++at_;
    switch (c) {
      case 'b': out += '\b'; return true;
      case 't': out += '\t'; return true;
      case 'n': out += '\n'; return true;
      case 'f': out += '\f'; return true;
      case 'r': out += '\r'; return true;
      case 'e': out += '\x1b'; return true;
      case '"': out += '"'; return true;
      case '\\': out += '\\'; return true;
      case 'u':
      case 'U': {
        int n = c == 'u' ? 4 : 8;
        char32_t v = 0;
        for (int i = 0; i < n; ++i, ++at_) {
          char h = at_ < text_.size() ? text_[at_] : 0;
          int d = h >= '0' && h <= '9' ? h - '0' : (h | 0x20) >= 'a' && (h | 0x20) <= 'f' ? (h | 0x20) - 'a' + 10 : -1;
          if (d < 0) return fail(at_, "invalid hexadecimal digit in escape"), false;
          v = v << 4 | static_cast<char32_t>(d);
        }
        if (v > 0x10FFFF || (v >= 0xD800 && v < 0xE000))
          return fail(at_, "escape sequence is invalid Unicode code point"), false;
        utf8::append(out, v);
        return true;
      }
      default: return fail(at_ - 1, "invalid escaped character " + shown(at_ - 1)), false;
    }
  }

  bool string(std::string& out) {
    char q = text_[at_];
    bool lines = text_.substr(at_, 3) == std::string(3, q);
    at_ += lines ? 3 : 1;
    if (lines && at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (lines && at_ < text_.size() && text_[at_] == '\n') ++at_;
    for (;;) {
      if (at_ >= text_.size()) return fail(at_, "unterminated string"), false;
      char c = text_[at_];
      if (c == q) {
        if (!lines) return ++at_, true;
        if (text_.substr(at_, 3) == std::string(3, q)) {
          at_ += 3;
          // Up to two quotes may belong to the text.
          while (at_ < text_.size() && text_[at_] == q && out.size() < text_.size()) out += q, ++at_;
          return true;
        }
      }
      if (!lines && c == '\n') return fail(at_, "strings cannot contain new lines"), false;
      if (c == '\\' && q == '"') {
        ++at_;
        if (lines && at_ < text_.size() &&
            (text_[at_] == '\n' || text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) {
          while (at_ < text_.size() &&
                 (text_[at_] == '\n' || text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r'))
            ++at_;
          continue;
        }
        if (!escape(out)) return false;
        continue;
      }
      out += c;
      ++at_;
    }
  }

  Node* value(const std::string& key) {
    if (at_ >= text_.size()) return fail(at_, "expected value, not eof"), nullptr;
    TokenPos pos{source_.pos(at_), Rel::kNone, false};
    char c = text_[at_];
    if (c == '"' || c == '\'') {
      std::string s;
      if (!string(s)) return nullptr;
      return make_lit(arena_, Tok::kString, quote(s, {.tabs = 1}), pos);
    }
    if (c == '[') {
      ++at_;
      std::vector<Node*> items;
      for (;;) {
        blank_lines();
        if (at_ < text_.size() && text_[at_] == ']') {
          ++at_;
          return make_list(arena_, items);
        }
        Node* v = value(fmt::format("{}.{}", key, items.size()));
        if (!v) return nullptr;
        items.push_back(v);
        blank_lines();
        if (at_ < text_.size() && text_[at_] == ',') {
          ++at_;
          continue;
        }
        if (at_ >= text_.size() || text_[at_] != ']')
          return fail(at_, "array elements must be separated by commas"), nullptr;
      }
    }
    if (c == '{') {
      ++at_;
      std::vector<Node*> fields;
      spaces();
      if (at_ < text_.size() && text_[at_] == '}') {
        ++at_;
        return arena_.make<Struct>(TokenPos{{}, Rel::kBlank}, Nodes{}, TokenPos{{}, Rel::kBlank});
      }
      for (;;) {
        spaces();
        Field* f = field(key, Rel::kBlank);
        if (!f) return nullptr;
        fields.push_back(f);
        spaces();
        if (at_ < text_.size() && text_[at_] == ',') {
          ++at_;
          continue;
        }
        if (at_ >= text_.size() || text_[at_] != '}') return fail(at_, "inline table is incomplete"), nullptr;
        ++at_;
        return arena_.make<Struct>(TokenPos{{}, Rel::kBlank}, make_nodes(arena_, fields), TokenPos{{}, Rel::kBlank});
      }
    }
    std::size_t from = at_;
    while (at_ < text_.size() && (bare(text_[at_]) || text_[at_] == '+' || text_[at_] == '.' || text_[at_] == ':'))
      ++at_;
    // A date and a time may have a blank between them.
    if (at_ - from == 10 && at_ + 1 < text_.size() && text_[at_] == ' ' && text_[at_ + 1] >= '0' &&
        text_[at_ + 1] <= '9' && text_[from + 4] == '-') {
      ++at_;
      while (at_ < text_.size() && (bare(text_[at_]) || text_[at_] == '+' || text_[at_] == '.' || text_[at_] == ':'))
        ++at_;
    }
    std::string word(text_.substr(from, at_ - from));
    if (word == "true" || word == "false")
      return make_lit(arena_, word == "true" ? Tok::kTrue : Tok::kFalse, word, pos);
    if (word.empty()) return fail(at_, "expected value, found " + shown(at_)), nullptr;
    std::string plain = word;
    bool negative = plain[0] == '-';
    if (plain[0] == '-' || plain[0] == '+') plain.erase(0, 1);
    if (plain.size() >= 8 && (plain.find(':') != std::string::npos || (plain.size() >= 10 && plain[4] == '-')))
      return make_lit(arena_, Tok::kString, quote(word), pos);
    if (plain == "inf" || plain == "nan") return fail(from, "infinity and nan are not supported"), nullptr;
    Number n = parse_number(plain);
    if (!n.ok()) return fail(from, "incorrect value " + quote(word)), nullptr;
    Node* lit = make_lit(arena_, n.integer ? Tok::kInt : Tok::kFloat, plain, pos);
    return negative ? arena_.make<Unary>(pos, Tok::kSub, lit) : lit;
  }

  const Source& source_;
  std::string_view text_;
  Arena& arena_;
  std::vector<SyntaxError>& errors_;
  std::size_t at_ = 0;
  Growing* top_ = nullptr;
  Growing* table_ = nullptr;
  std::string prefix_;
  std::vector<Growing*> all_;
  std::vector<Array> arrays_;
  std::set<std::string> seen_;
};

}  // namespace

Decoded decode_toml(const Source& source, Arena& arena) {
  Decoded d;
  Node* n = TomlReader(source, arena, d.errors).run();
  if (d.ok()) d.documents.push_back(n);
  return d;
}

}  // namespace tutti::cue
