// JSON straight to syntax, checked as strictly as the standard asks, with the error texts that users of Go programs
// know.
#include <fmt/format.h>

#include <array>

#include "base/utf8.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/import/decode.h"

namespace tutti::cue {

using namespace ast;

namespace {

constexpr std::size_t kLarge = 50;        // bytes of a list or object that is laid out anew in any case
constexpr std::size_t kShortString = 12;  // literals up to this length are kept as they are
constexpr int kDeepestJson = 10'000;

class JsonReader {
 public:
  JsonReader(const Source& source, Arena& arena, std::vector<SyntaxError>& errors)
      : source_(source), text_(source.text), arena_(arena), errors_(errors) {}

  // The next value, or nullptr at the end of the text and on an error.
  Node* next() {
    Rel r = space();
    if (at_ >= text_.size()) return nullptr;
    return value(r, true);
  }
  bool at_end() {
    space();
    return at_ >= text_.size();
  }
  void expect_end() {
    if (!at_end()) bad("after top-level value");
  }
  void end_of_input() { fail(text_.empty() ? 0 : text_.size() - 1, "unexpected end of JSON input"); }

 private:
  void fail(std::size_t at, std::string what) {
    if (errors_.empty()) {
      // An empty file has no place to show.
      Pos pos = source_.pos(at);
      errors_.push_back({pos, fmt::format("invalid JSON for file {}: {}", quote(source_.name), what)});
    }
  }

  Node* bad(const char* context) {
    if (at_ >= text_.size()) {
      end_of_input();
      return nullptr;
    }
    unsigned char c = static_cast<unsigned char>(text_[at_]);
    std::string shown;
    if (c == '\'')
      shown = "'\\''";
    else if (c == '"')
      shown = "'\"'";
    else {
      std::string one;
      utf8::append(one, c);
      if (c < 0x20 && c != '\a' && c != '\b' && c != '\f' && c != '\n' && c != '\r' && c != '\t' && c != '\v')
        shown = fmt::format("'\\x{:02x}'", c);
      else {
        std::string q = quote(one);
        shown = "'" + q.substr(1, q.size() - 2) + "'";
      }
    }
    fail(at_, fmt::format("invalid character {} {}", shown, context));
    return nullptr;
  }

  // Skips white space and says how the next token is placed.
  Rel space() {
    int lines = 0;
    bool blank = false;
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '\n')
        ++lines;
      else if (c == ' ' || c == '\t' || c == '\r')
        blank = true;
      else
        break;
    }
    return lines > 1 ? Rel::kNewSection : lines == 1 ? Rel::kNewline : blank ? Rel::kBlank : Rel::kNoSpace;
  }

  TokenPos place(std::size_t at, Rel rel) const { return {source_.pos(at), rel, false}; }

  // `reflow`: the container around it is laid out anew; known only after it was read, so places are patched then.
  Node* value(Rel rel, bool reflow) {
    if (at_ >= text_.size()) return bad("");
    switch (text_[at_]) {
      case '{': return object(rel);
      case '[': return array(rel);
      case '"': return string(reflow ? Rel::kNone : rel);
      case 't': return word("true", Tok::kTrue, reflow ? Rel::kNone : rel);
      case 'f': return word("false", Tok::kFalse, reflow ? Rel::kNone : rel);
      case 'n': return word("null", Tok::kNull, reflow ? Rel::kNone : rel);
      default:
        if (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9')) return number(reflow ? Rel::kNone : rel);
        return bad("looking for beginning of value");
    }
  }

  Node* word(std::string_view w, Tok tok, Rel rel) {
    std::size_t from = at_;
    for (std::size_t i = 0; i < w.size(); ++i, ++at_)
      if (at_ >= text_.size() || text_[at_] != w[i])
        return bad(fmt::format("in literal {} (expecting '{}')", w, w[i]).c_str());
    return arena_.make<Lit>(tok, place(from, rel), text_.substr(from, w.size()));
  }

  bool digits() {
    std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > from;
  }

  Node* number(Rel rel) {
    std::size_t from = at_;
    bool negative = text_[at_] == '-', real = false;
    if (negative) ++at_;
    std::size_t start = at_;
    if (at_ < text_.size() && text_[at_] == '0')
      ++at_;
    else if (!digits())
      return bad("in numeric literal");
    if (at_ < text_.size() && text_[at_] == '.') {
      real = true;
      ++at_;
      if (!digits()) return bad("after decimal point in numeric literal");
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      real = true;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!digits()) return bad("in exponent of numeric literal");
    }
    Tok tok = real ? Tok::kFloat : Tok::kInt;
    std::string_view text = text_.substr(start, at_ - start);
    if (!negative) return arena_.make<Lit>(tok, place(from, rel), text);
    Lit* lit = arena_.make<Lit>(tok, place(start, rel == Rel::kNone ? Rel::kNone : Rel::kNoSpace), text);
    return arena_.make<Unary>(place(from, rel), Tok::kSub, lit);
  }

  // Passes over a string, checking it; false when it is wrong.
  bool skip_string(bool& escapes) {
    escapes = false;
    for (++at_; at_ < text_.size(); ++at_) {
      unsigned char c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20) return bad("in string literal"), false;
      if (c != '\\') continue;
      escapes = true;
      if (++at_ >= text_.size()) return end_of_input(), false;
      char e = text_[at_];
      if (e == 'u') {
        for (int i = 0; i < 4; ++i) {
          ++at_;
          if (at_ >= text_.size()) return end_of_input(), false;
          char h = text_[at_];
          if (!((h >= '0' && h <= '9') || (h >= 'a' && h <= 'f') || (h >= 'A' && h <= 'F')))
            return bad("in \\u hexadecimal character escape"), false;
        }
      } else if (std::string_view("\"\\/bfnrt").find(e) == std::string_view::npos) {
        return bad("in string escape code"), false;
      }
    }
    end_of_input();
    return false;
  }

  // The value of a checked literal; half a surrogate pair becomes U+FFFD, in a long one.
  std::string decode(std::string_view literal) {
    std::string out;
    std::string_view s = literal.substr(1, literal.size() - 2);
    auto hex = [&](std::size_t i) {
      char32_t v = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        char c = s[i + k];
        v = v << 4 | static_cast<char32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
      }
      return v;
    };
    for (std::size_t i = 0; i < s.size();) {
      if (s[i] != '\\') {
        std::size_t from = i;
        if (utf8::decode(s, i) == utf8::kInvalid)
          utf8::append(out, 0xFFFD);
        else
          out.append(s, from, i - from);
        continue;
      }
      char e = s[i + 1];
      i += 2;
      switch (e) {
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': {
          char32_t v = hex(i);
          i += 4;
          if (v >= 0xD800 && v < 0xE000) {
            bool pair = v < 0xDC00 && i + 6 <= s.size() && s[i] == '\\' && s[i + 1] == 'u' && hex(i + 2) >= 0xDC00 &&
                        hex(i + 2) < 0xE000;
            if (pair) {
              v = 0x10000 + (v - 0xD800) * 0x400 + (hex(i + 2) - 0xDC00);
              i += 6;
            } else {
              v = 0xFFFD;
            }
          }
          utf8::append(out, v);
          break;
        }
        default: out += e;
      }
    }
    return out;
  }

  Lit* string_lit(std::size_t from, bool escapes, Rel rel) {
    std::string_view literal = text_.substr(from, at_ - from);
    bool fine = utf8::first_invalid(literal) == std::string_view::npos;
    if (fine && !escapes) return arena_.make<Lit>(Tok::kString, place(from, rel), literal);
    std::string value = decode(literal);
    if (fine && literal.size() <= kShortString - 2) return arena_.make<Lit>(Tok::kString, place(from, rel), literal);
    return arena_.make<Lit>(Tok::kString, place(from, rel), arena_.copy(quote(value, {.tabs = depth_ + 1})));
  }

  Node* string(Rel rel) {
    std::size_t from = at_;
    bool escapes;
    if (!skip_string(escapes)) return nullptr;
    return string_lit(from, escapes, rel);
  }

  bool deeper() {
    if (++depth_ <= kDeepestJson) return true;
    fail(at_, "exceeded max depth");
    return false;
  }

  // Lays out the children of a container anew: they lose their places relative to each other.
  static void reset(Node* n) {
    if (n->kind == ast::Kind::kStruct || n->kind == ast::Kind::kList) return;
    if (n->kind == ast::Kind::kUnary)
      as<Unary>(n)->x->kind == ast::Kind::kLit ? void(as<Lit>(as<Unary>(n)->x)->pos.rel = Rel::kNone) : void();
    if (TokenPos* p = first_ref(n)) p->rel = Rel::kNone;
  }

  Node* array(Rel rel) {
    std::size_t from = at_++;
    if (!deeper()) return nullptr;
    std::size_t base = stack_.size();
    Rel r = space();
    bool spaced = false, comma = false;
    if (at_ < text_.size() && text_[at_] == ']') {
      ++at_;
    } else {
      for (;;) {
        Node* v = value(r, false);
        if (!v) return nullptr;
        if (TokenPos* p = first_ref(v)) p->comma = comma;
        spaced |= r > Rel::kNoSpace;
        stack_.push_back(v);
        space();
        if (at_ < text_.size() && text_[at_] == ',') {
          ++at_;
          comma = true;
          r = space();
          continue;
        }
        if (at_ < text_.size() && text_[at_] == ']') {
          ++at_;
          break;
        }
        return bad("after array element");
      }
    }
    --depth_;
    bool reflow = at_ - from > kLarge || !spaced;
    Rel close = close_rel(at_ - 1);
    if (reflow)
      for (std::size_t i = base; i < stack_.size(); ++i) reset(stack_[i]);
    Nodes elts = arena_.copy(std::span<Node* const>(stack_.data() + base, stack_.size() - base));
    stack_.resize(base);
    return arena_.make<List>(place(from, reflow ? Rel::kNone : rel), elts, place(at_ - 1, reflow ? Rel::kNone : close));
  }

  // How a closing bracket is placed.
  Rel close_rel(std::size_t at) const {
    int lines = 0;
    bool blank = false;
    while (at > 0) {
      char c = text_[--at];
      if (c == '\n')
        ++lines;
      else if (c == ' ' || c == '\t' || c == '\r')
        blank = true;
      else
        break;
    }
    return lines > 1 ? Rel::kNewSection : lines == 1 ? Rel::kNewline : blank ? Rel::kBlank : Rel::kNoSpace;
  }

  // The name as an identifier; empty when it must be quoted. The same few names come again and again.
  Symbol identifier(std::string_view name) {
    std::size_t n = name.size();
    Known& k =
        known_[n == 0 ? 0
                      : (n * 31 + static_cast<unsigned char>(name[0]) * 7 + static_cast<unsigned char>(name[n - 1])) %
                            known_.size()];
    if (n > 0 && k.name == name) return k.symbol;
    Symbol s = label_needs_quotes(name) ? Symbol() : Symbol(name);
    if (!s.empty()) k = {s.text(), s};
    return s;
  }

  Node* object(Rel rel) {
    std::size_t from = at_++;
    if (!deeper()) return nullptr;
    std::size_t base = stack_.size();
    Rel r = space();
    bool spaced = false;
    if (at_ < text_.size() && text_[at_] == '}') {
      ++at_;
    } else {
      for (;;) {
        if (at_ >= text_.size() || text_[at_] != '"') return bad("looking for beginning of object key string");
        std::size_t key = at_;
        bool escapes;
        if (!skip_string(escapes)) return nullptr;
        std::string_view literal = text_.substr(key, at_ - key);
        Node* label;
        std::string decoded;
        std::string_view name = literal.substr(1, literal.size() - 2);
        if (escapes) {
          decoded = decode(literal);
          name = decoded;
        }
        if (Symbol ident = identifier(name); ident.empty())
          label = string_lit(key, escapes, r);
        else
          label = arena_.make<Ident>(place(key + 1, r), ident);
        space();
        if (at_ >= text_.size() || text_[at_] != ':') return bad("after object key");
        Field* field = arena_.make<Field>(label);
        field->colon = place(at_, Rel::kNoSpace);
        ++at_;
        Rel vr = space();
        field->value = value(vr, false);
        if (!field->value) return nullptr;
        spaced |= r > Rel::kNoSpace || vr > Rel::kNoSpace;
        stack_.push_back(field);
        space();
        if (at_ < text_.size() && text_[at_] == ',') {
          ++at_;
          r = space();
          continue;
        }
        if (at_ < text_.size() && text_[at_] == '}') {
          ++at_;
          break;
        }
        return bad("after object key:value pair");
      }
    }
    --depth_;
    bool reflow = at_ - from > kLarge || !spaced;
    Rel close = close_rel(at_ - 1);
    if (reflow)
      for (std::size_t i = base; i < stack_.size(); ++i) {
        reset(stack_[i]);
        reset(as<Field>(stack_[i])->value);
      }
    Nodes elts = arena_.copy(std::span<Node* const>(stack_.data() + base, stack_.size() - base));
    stack_.resize(base);
    return arena_.make<Struct>(place(from, reflow ? Rel::kNone : rel), elts,
                               place(at_ - 1, reflow ? Rel::kNone : close));
  }

  const Source& source_;
  std::string_view text_;
  Arena& arena_;
  std::vector<SyntaxError>& errors_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Node*> stack_;  // the elements of all containers that are open
  struct Known {
    std::string_view name;
    Symbol symbol;
  };
  std::array<Known, 64> known_;
};

}  // namespace

Decoded decode_json(const Source& source, Arena& arena) {
  Decoded d;
  JsonReader reader(source, arena, d.errors);
  Node* n = reader.next();
  if (!n && d.errors.empty()) reader.end_of_input();
  if (n) reader.expect_end();
  if (n && d.errors.empty()) d.documents.push_back(n);
  return d;
}

Decoded decode_json_stream(const Source& source, Arena& arena) {
  Decoded d;
  JsonReader reader(source, arena, d.errors);
  while (d.errors.empty() && !reader.at_end())
    if (Node* n = reader.next()) d.documents.push_back(n);
  return d;
}

}  // namespace tutti::cue
