#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "lang/puppet/erb/syntax.h"

namespace tutti::puppet::erb {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_lower(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }

constexpr std::array kKeywords = {"if",    "elsif",  "else",  "end",    "unless", "case",     "when",     "then",
                                  "do",    "and",    "or",    "not",    "nil",    "true",     "false",    "next",
                                  "break", "while",  "until", "for",    "in",     "begin",    "rescue",   "ensure",
                                  "def",   "return", "class", "module", "self",   "super",    "yield",    "redo",
                                  "retry", "undef",  "alias", "BEGIN",  "END",    "__FILE__", "__LINE__", "defined?"};

// Longest first.
constexpr std::array kOperators = {
    "<=>", "===", "**=", "||=", "&&=", "...", "<<=", ">>=", "==", "!=", "=~", "!~", ">=", "<=", "&&", "||", "<<", ">>",
    "**",  "+=",  "-=",  "*=",  "/=",  "%=",  "|=",  "&=",  "..", "::", "->", "=>", "&.", "+",  "-",  "*",  "/",  "%",
    "=",   "<",   ">",   "!",   "?",   ":",   ",",   ".",   "(",  ")",  "[",  "]",  "{",  "}",  "|",  "&",  "^",  "~"};

// The Ruby between <% and %>, or in #{ }.
class CodeLexer {
 public:
  explicit CodeLexer(std::string_view text) : text_(text) {}

  // Until the end, or (`in_string`) until the } that closes what #{ opened; it is passed over.
  std::vector<Token> run(bool in_string) {
    int open = 0;
    for (;;) {
      bool spaced = skip_blanks();
      if (at_ == text_.size()) {
        if (in_string) unsupported("a string that is not closed");
        break;
      }
      if (in_string && peek() == '}' && open == 0) {
        at_++;
        break;
      }
      Token t;
      t.spaced = spaced;
      one(t);
      if (t.kind == TokenKind::kOperator) open += (t.text == "{") - (t.text == "}");
      t.touches = at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '\n';
      out_.push_back(std::move(t));
    }
    return std::move(out_);
  }
  std::size_t at() const { return at_; }
  bool ends_in_comment() const { return ends_in_comment_; }

 private:
  char peek(std::size_t n = 0) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }

  bool skip_blanks() {
    bool any = false;
    for (;;) {
      if (is_blank(peek())) {
        at_++;
      } else if (peek() == '\\' && peek(1) == '\n') {
        at_ += 2;
      } else if (peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        ends_in_comment_ = at_ == text_.size();
      } else {
        return any;
      }
      any = true;
    }
  }

  // Whether what came before is a value, so that / divides and [ takes an element.
  bool after_value() const {
    if (out_.empty()) return false;
    const Token& t = out_.back();
    switch (t.kind) {
      case TokenKind::kInt:
      case TokenKind::kFloat:
      case TokenKind::kString:
      case TokenKind::kWords:
      case TokenKind::kSymbol:
      case TokenKind::kRegex:
      case TokenKind::kName:
      case TokenKind::kConstant:
      case TokenKind::kGroup:
      case TokenKind::kVariable: return true;
      case TokenKind::kKeyword:
        return t.text == "end" || t.text == "nil" || t.text == "true" || t.text == "false" || t.text == "self";
      case TokenKind::kOperator: return t.text == ")" || t.text == "]" || t.text == "}";
      default: return false;
    }
  }

  // `name /x` may be a division or a call with a pattern: only Ruby knows.
  bool may_be_argument(bool spaced) const {
    return spaced && !out_.empty() && out_.back().kind == TokenKind::kName && !is_blank(peek(1)) && peek(1) != '\n';
  }

  void one(Token& t) {
    char c = peek();
    if (c == '\n' || c == ';') {
      at_++;
      t.kind = TokenKind::kNewline;
    } else if (is_digit(c)) {
      number(t);
    } else if (is_word(c)) {
      word(t);
    } else if (c == '@') {
      at_++;
      if (!is_lower(peek()) && !is_upper(peek())) unsupported("a class variable");
      t.kind = TokenKind::kVariable;
      t.text = name();
    } else if (c == '$' && peek(1) >= '1' && peek(1) <= '9' && !is_word(peek(2))) {
      t.kind = TokenKind::kGroup;
      t.number = peek(1) - '0';
      at_ += 2;
    } else if (c == '\'') {
      at_++;
      t.kind = TokenKind::kString;
      t.pieces.push_back({plain_string('\0', '\''), {}});
    } else if (c == '"') {
      at_++;
      t.kind = TokenKind::kString;
      pieces(t, '\0', '"', false);
    } else if (c == '/' && !after_value()) {
      at_++;
      regex(t, '\0', '/');
    } else if (c == '%' && !after_value()) {
      percent(t);
    } else if (c == ':' && peek(1) != ':' && (is_word(peek(1)) || peek(1) == '"')) {
      symbol(t);
    } else {
      operation(t);
    }
  }

  std::string name() {
    std::size_t from = at_;
    while (is_word(peek())) at_++;
    return std::string(text_.substr(from, at_ - from));
  }

  void number(Token& t) {
    std::size_t from = at_;
    while (is_digit(peek())) at_++;
    bool real = false;
    if (peek() == '.' && is_digit(peek(1))) {
      real = true;
      at_++;
      while (is_digit(peek())) at_++;
    }
    if (is_word(peek())) unsupported("a number that is not decimal");
    std::string_view digits = text_.substr(from, at_ - from);
    t.kind = real ? TokenKind::kFloat : TokenKind::kInt;
    if (real) {
      std::from_chars(digits.data(), digits.data() + digits.size(), t.real);
      return;
    }
    if (digits.size() > 18 || (digits.size() > 1 && digits[0] == '0')) unsupported("a number that is not decimal");
    std::from_chars(digits.data(), digits.data() + digits.size(), t.number);
  }

  void word(Token& t) {
    t.text = name();
    bool method = !out_.empty() && out_.back().kind == TokenKind::kOperator &&
                  (out_.back().text == "." || out_.back().text == "&.");
    if ((peek() == '?' || peek() == '!') && peek(1) != '=' && (peek() == '!' || peek(1) != ':')) t.text += text_[at_++];
    if (!method && peek() == ':' && peek(1) != ':' && (is_blank(peek(1)) || peek(1) == '\n')) {
      at_++;
      t.kind = TokenKind::kLabel;
      return;
    }
    if (!method && std::find(kKeywords.begin(), kKeywords.end(), t.text) != kKeywords.end()) {
      t.kind = TokenKind::kKeyword;
      return;
    }
    t.kind = is_upper(t.text[0]) && !method ? TokenKind::kConstant : TokenKind::kName;
  }

  void symbol(Token& t) {
    if (after_value()) unsupported("a symbol or a colon");
    at_++;
    if (peek() == '"') unsupported("a quoted symbol");
    t.kind = TokenKind::kSymbol;
    t.text = name();
    if ((peek() == '?' || peek() == '!') && peek(1) != '=') t.text += text_[at_++];
  }

  static char closing(char open) {
    switch (open) {
      case '(': return ')';
      case '[': return ']';
      case '{': return '}';
      case '<': return '>';
      default: return open;
    }
  }

  void percent(Token& t) {
    char what = is_word(peek(1)) ? peek(1) : 'Q';
    at_ += is_word(peek(1)) ? 2 : 1;
    char open = peek();
    if (is_word(open) || is_blank(open) || open == '\n' || open == '\0') unsupported("a % literal");
    at_++;
    char close = closing(open);
    char opens = open == close ? '\0' : open;
    if (what == 'w') {
      t.kind = TokenKind::kWords;
      words(t, opens, close);
    } else if (what == 'q') {
      t.kind = TokenKind::kString;
      t.pieces.push_back({plain_string(opens, close), {}});
    } else if (what == 'Q') {
      t.kind = TokenKind::kString;
      pieces(t, opens, close, false);
    } else if (what == 'r') {
      regex(t, opens, close);
    } else {
      unsupported("a % literal");
    }
  }

  void words(Token& t, char opens, char close) {
    std::string all = plain_string(opens, close);
    if (all.find('\\') != std::string::npos) unsupported("an escape in %w");
    std::size_t from = 0;
    while (from < all.size()) {
      if (is_blank(all[from]) || all[from] == '\n') {
        from++;
        continue;
      }
      std::size_t to = all.find_first_of(" \t\r\n", from);
      t.pieces.push_back({all.substr(from, to - from), {}});
      from = std::min(to, all.size());
    }
  }

  // '...': only \\ and \' are escapes.
  std::string plain_string(char opens, char close) {
    std::string out;
    int open = 0;
    for (;;) {
      if (at_ == text_.size()) unsupported("a string that is not closed");
      char c = text_[at_++];
      if (c == '\\' && (peek() == close || peek() == '\\' || (opens != '\0' && peek() == opens))) {
        out += text_[at_++];
        continue;
      }
      if (c == close && open == 0) return out;
      if (opens != '\0') open += (c == opens) - (c == close);
      out += c;
    }
  }

  // "...", or a regular expression, whose escapes stay as they are.
  void pieces(Token& t, char opens, char close, bool raw) {
    std::string out;
    int open = 0;
    for (;;) {
      if (at_ == text_.size()) unsupported("a string that is not closed");
      char c = text_[at_++];
      if (c == close && open == 0) break;
      if (opens != '\0') open += (c == opens) - (c == close);
      if (c == '#' && peek() == '{') {
        at_++;
        if (!out.empty()) t.pieces.push_back({std::move(out), {}});
        out.clear();
        CodeLexer inner(text_.substr(at_));
        Piece piece;
        piece.code = inner.run(true);
        if (inner.ends_in_comment()) unsupported("a comment in a string");
        piece.code.emplace_back();
        at_ += inner.at();
        t.pieces.push_back(std::move(piece));
      } else if (c == '#' && (peek() == '@' || peek() == '$')) {
        unsupported("#@ in a string");
      } else if (c == '\\') {
        if (at_ == text_.size()) unsupported("a string that is not closed");
        char escaped = text_[at_++];
        if (!raw)
          escape(out, escaped);
        else if (escaped == close && close == '/')
          out += '/';
        else
          out.append({'\\', escaped});
      } else {
        out += c;
      }
    }
    if (!out.empty() || t.pieces.empty()) t.pieces.push_back({std::move(out), {}});
  }

  static void escape(std::string& out, char c) {
    switch (c) {
      case 'n': out += '\n'; return;
      case 't': out += '\t'; return;
      case 's': out += ' '; return;
      case 'r': out += '\r'; return;
      case 'e': out += '\033'; return;
      case '\n': return;
      default:
        if (is_word(c)) unsupported("an escape in a string");
        out += c;
    }
  }

  void regex(Token& t, char opens, char close) {
    t.kind = TokenKind::kRegex;
    pieces(t, opens, close, true);
    while (is_lower(peek())) t.text += text_[at_++];
    if (t.text.find_first_not_of("imx") != std::string::npos) unsupported("a flag of a regular expression");
  }

  void operation(Token& t) {
    char c = peek();
    if ((c == '/' || c == '%' || c == '[' || c == '-' || c == '*' || c == '&' || c == '<') && may_be_argument(t.spaced))
      t.number = 1;  // the parser knows whether the name is a variable
    if (c == '<' && peek(1) == '<' && !after_value()) unsupported("a here-document");
    if (c == '?' && !after_value()) unsupported("a character literal");
    if (c == '-' && peek(1) == '>') unsupported("a lambda");
    for (const char* op : kOperators) {
      std::string_view word = op;
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      t.kind = TokenKind::kOperator;
      t.text = word;
      return;
    }
    unsupported("a character that is not understood");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool ends_in_comment_ = false;
  std::vector<Token> out_;
};

void add_newline(std::vector<Token>& out) {
  Token t;
  t.kind = TokenKind::kNewline;
  t.boundary = true;
  out.push_back(std::move(t));
}

// Text up to where the next tag begins. A tag <%- takes the blanks before it that begin a line, or that stand where
// the last tag ended.
std::size_t find_tag(std::string_view text, std::size_t from, std::size_t& text_end) {
  std::size_t tag = text.find("<%", from);
  text_end = tag;
  if (tag == std::string_view::npos || !text.substr(tag).starts_with("<%-")) return tag;
  std::size_t blank = tag;
  while (blank > from && (text[blank - 1] == ' ' || text[blank - 1] == '\t')) blank--;
  if (blank == from || text[blank - 1] == '\n') text_end = blank;
  return tag;
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  std::vector<Token> out;
  std::string plain;
  auto flush = [&] {
    if (plain.empty()) return;
    Token t;
    t.kind = TokenKind::kText;
    t.text = std::move(plain);
    plain.clear();
    out.push_back(std::move(t));
  };
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t text_end = 0;
    std::size_t tag = find_tag(text, at, text_end);
    if (tag == std::string_view::npos) {
      plain += text.substr(at);
      break;
    }
    plain += text.substr(at, text_end - at);
    at = tag + 2;
    if (text.substr(at).starts_with("%")) {
      plain += "<%";
      at++;
      continue;
    }
    char what = at < text.size() ? text[at] : '\0';
    if (what == '-' || what == '=' || what == '#') at++;
    // The code: `%%>` stands for `%>`, and `-%>` takes the end of its line.
    std::string code;
    std::size_t close = at;
    for (;; close += 3) {
      close = text.find("%>", close);
      if (close == std::string_view::npos) unsupported("a tag that is not closed");
      if (close == at || text[close - 1] != '%') break;
      code += text.substr(at, close - 1 - at);
      code += "%>";
      at = close + 2;
      close = at - 3;
    }
    bool trims = close > at && text[close - 1] == '-';
    code += text.substr(at, close - at - (trims ? 1 : 0));
    at = close + 2;
    bool line_end = false;
    if (trims) {
      std::string_view rest = text.substr(at);
      line_end = rest.empty() || rest[0] == '\n' || rest.starts_with("\r\n");
      if (line_end && !rest.empty()) at += rest[0] == '\n' ? 1 : 2;
    }
    if (what == '#') {
      if (code.find("coding") != std::string::npos || code.find("frozen") != std::string::npos)
        unsupported("a comment on the encoding");
      continue;
    }
    flush();
    CodeLexer lexer(code);
    std::vector<Token> tokens = lexer.run(false);
    // A comment that ends with the tag swallows what follows on the line, in Ruby's ERB.
    if (lexer.ends_in_comment() && (what == '=' || !line_end)) unsupported("a comment at the end of a tag");
    if (what == '=') {
      Token t;
      t.kind = TokenKind::kShow;
      out.push_back(std::move(t));
    }
    for (Token& t : tokens) out.push_back(std::move(t));
    if (what == '=') {
      Token t;
      t.kind = TokenKind::kShowEnd;
      out.push_back(std::move(t));
    }
    add_newline(out);
  }
  flush();
  out.emplace_back();
  return out;
}

}  // namespace tutti::puppet::erb
