#include "lang/puppet/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "base/utf8.h"

namespace tutti::puppet {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word(char c) { return is_digit(c) || is_lower(c) || is_upper(c) || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

struct Keyword {
  std::string_view text;
  Tok kind;
};
constexpr std::array<Keyword, 20> kKeywords{{{"case", Tok::kCase},
                                             {"class", Tok::kClass},
                                             {"default", Tok::kDefault},
                                             {"define", Tok::kDefine},
                                             {"if", Tok::kIf},
                                             {"elsif", Tok::kElsif},
                                             {"else", Tok::kElse},
                                             {"inherits", Tok::kInherits},
                                             {"node", Tok::kNode},
                                             {"and", Tok::kAnd},
                                             {"or", Tok::kOr},
                                             {"undef", Tok::kUndef},
                                             {"false", Tok::kFalse},
                                             {"true", Tok::kTrue},
                                             {"in", Tok::kIn},
                                             {"unless", Tok::kUnless},
                                             {"function", Tok::kFunction},
                                             {"type", Tok::kType},
                                             {"attr", Tok::kAttr},
                                             {"private", Tok::kPrivate}}};

constexpr int kMostNesting = 200;  // of strings within interpolations within strings

// Which escapes a string knows: every letter in `letters`, line ends when `join_lines`.
struct Escapes {
  std::string_view letters;
  bool join_lines = false;
  bool warn = true;  // about unknown ones
};

// Lexes one piece of text: a file, or the text of a heredoc with its margin taken off. In the second case `origin` says
// where each line of the text begins in the source.
class Lexer {
 public:
  struct LineOrigin {
    u32 at;      // offset in the text
    u32 source;  // offset in the source
  };

  Lexer(std::string_view text, const Source& source, std::vector<LineOrigin> origins, TokenList& out, Arena& arena,
        Diagnostics& diagnostics, int nesting)
      : text_(text),
        source_(source),
        origins_(std::move(origins)),
        out_(out),
        arena_(arena),
        diagnostics_(diagnostics),
        nesting_(nesting) {}

  void manifest() {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
    lex_until_brace(false);
    report_unclosed();
  }

  void epp() {
    epp_ = true;
    epp_text(false);
    lex_until_brace(false);
    report_unclosed();
    if (epp_open_) error(epp_open_at_, "unbalanced EPP tag: `<%` without `%>`");
  }

  // The whole text as the inside of a string (heredoc).
  void unquoted(const Escapes& escapes, bool interpolate) {
    string_body('\0', escapes, interpolate, 0);
    report_unclosed();
  }

 private:
  char peek(std::size_t n = 0) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }
  bool done() const { return at_ >= text_.size(); }
  bool follows(std::string_view s) const { return text_.substr(at_, s.size()) == s; }

  u32 source_offset(std::size_t at) const {
    if (origins_.empty()) return static_cast<u32>(at);
    auto it = std::upper_bound(origins_.begin(), origins_.end(), at,
                               [](std::size_t a, const LineOrigin& o) { return a < o.at; });
    if (it != origins_.begin()) --it;
    return it->source + static_cast<u32>(at - it->at);
  }

  Diagnostic& error(std::size_t at, std::string message, std::size_t to = 0) {
    return diagnostics_.error("PP-SYNTAX", source_.span(source_offset(at), source_offset(std::max(to, at))),
                              std::move(message));
  }

  // What is not closed takes everything to the end of the text, and what is around it then is not closed either: one
  // cause, told once. What looks like a string inside an interpolation that is not closed most often begins with the
  // quote that was to end the string around it.
  void unclosed(std::size_t from, std::string message, bool interpolation = false) {
    if (unclosed_.from && unclosed_.interpolation && !interpolation && *unclosed_.from > from) return;
    unclosed_ = {from, std::move(message), interpolation};
  }
  void report_unclosed() {
    if (!unclosed_.from) return;
    Diagnostic& d = error(*unclosed_.from, unclosed_.message, at_);
    out_.cut = true;
    out_.cut_at = source_offset(*unclosed_.from);
    // Most often an earlier quote is the one too few or too many: the string before it that goes over several lines.
    for (auto t = out_.tokens.rbegin(); t != out_.tokens.rend(); ++t) {
      if (t->kind != Tok::kString || t->from >= out_.cut_at) continue;
      std::string_view written = std::string_view(source_.text).substr(t->from, t->to - t->from);
      if (written.find('\n') == std::string_view::npos) continue;
      d.relate(source_.span(t->from, t->from + 1), "this string goes over several lines: is its quote the wrong one?");
      break;
    }
    unclosed_ = {};
  }

  void emit(Tok kind, std::size_t from, std::string_view text) {
    out_.tokens.push_back({kind, source_offset(from), source_offset(at_), text});
    after_ = kind;
  }
  void take(Tok kind, std::size_t length) {
    std::size_t from = at_;
    at_ += length;
    emit(kind, from, text_.substr(from, length));
  }

  // Lexes tokens to the end of the text, or to the brace that closes an interpolation (which is passed, not emitted).
  bool lex_until_brace(bool in_string) {
    int depth = 0;
    while (skip_space(), !done()) {
      if (in_string) {
        if (peek() == '{') ++depth;
        if (peek() == '}' && depth-- == 0) {
          ++at_;
          return true;
        }
      }
      token();
    }
    return !in_string;
  }

  void skip_space() {
    while (!done()) {
      char c = peek();
      if (c == '\n') {
        ++at_;
        if (jump_ > at_) at_ = jump_;
        jump_ = 0;
        line_start_ = at_;
      } else if (is_blank(c)) {
        ++at_;
      } else if (c == '\xC2' && peek(1) == '\xA0') {
        at_ += 2;
      } else if (c == '#') {
        std::size_t from = at_;
        while (!done() && peek() != '\n' && !(epp_ && (follows("%>") || follows("-%>")))) ++at_;
        out_.comments.push_back({source_offset(from), source_offset(at_)});
      } else if (c == '/' && peek(1) == '*') {
        std::size_t from = at_, end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          error(from, "comment is not closed: `/*` without `*/`");
          at_ = text_.size();
        } else {
          at_ = end + 2;
          line_start_ = std::max(line_start_, text_.rfind('\n', at_) + 1);
          out_.comments.push_back({source_offset(from), source_offset(at_)});
        }
      } else {
        return;
      }
    }
  }

  // What other languages write and this one does not, taken for what it means after it has been told.
  bool foreign() {
    if (follows("&&")) {
      error(at_, "`&&` is not an operator of this language", at_ + 2).suggest("write `and`");
      take(Tok::kAnd, 2);
      return true;
    }
    // An empty regular expression has no effect as a statement.
    if (follows("//") && first_on_line()) {
      std::size_t from = at_;
      while (!done() && peek() != '\n') ++at_;
      error(from, "`//` does not begin a comment", from + 2).suggest("comments begin with `#`");
      return true;
    }
    return false;
  }
  bool first_on_line() const {
    for (std::size_t i = line_start_; i < at_; ++i)
      if (!is_blank(text_[i])) return false;
    return true;
  }

  void token() {
    if (foreign()) return;
    char c = peek();
    if (is_lower(c) || c == '_' || (c == ':' && peek(1) == ':' && (is_lower(peek(2)) || peek(2) == '_'))) return word();
    if (is_upper(c) || (c == ':' && peek(1) == ':' && is_upper(peek(2)))) return type_name();
    if (is_digit(c)) return number();
    switch (c) {
      case '$': return variable();
      case '\'': return single_quoted();
      case '"': return double_quoted();
      case '/': return slash();
      case '@':
        if (peek(1) == '@') return take(Tok::kAtAt, 2);
        if (heredoc_start()) return heredoc();
        return take(Tok::kAt, 1);
      case '{': return take(Tok::kLBrace, 1);
      case '}': return take(Tok::kRBrace, 1);
      case '[': {
        bool space = at_ == 0 || is_blank(text_[at_ - 1]) || text_[at_ - 1] == '\n';
        return take(space ? Tok::kListStart : Tok::kLBrack, 1);
      }
      case ']': return take(Tok::kRBrack, 1);
      case '(': {
        return take(first_on_line() ? Tok::kWsLParen : Tok::kLParen, 1);
      }
      case ')': return take(Tok::kRParen, 1);
      case ',': return take(Tok::kComma, 1);
      case ';': return take(Tok::kSemic, 1);
      case ':': return take(Tok::kColon, 1);
      case '.': return take(Tok::kDot, 1);
      case '?': return take(Tok::kQMark, 1);
      case '*': return take(Tok::kTimes, 1);
      case '%':
        if (epp_ && peek(1) == '>') return epp_end(2, false);
        return take(Tok::kModulo, 1);
      case '|':
        if (follows("|>>")) return take(Tok::kRRCollect, 3);
        if (peek(1) == '>') return take(Tok::kRCollect, 2);
        return take(Tok::kPipe, 1);
      case '=':
        if (peek(1) == '=') return take(Tok::kIsEqual, 2);
        if (peek(1) == '~') return take(Tok::kMatch, 2);
        if (peek(1) == '>') return take(Tok::kFArrow, 2);
        return take(Tok::kEquals, 1);
      case '!':
        if (peek(1) == '=') return take(Tok::kNotEqual, 2);
        if (peek(1) == '~') return take(Tok::kNoMatch, 2);
        return take(Tok::kNot, 1);
      case '+':
        if (peek(1) == '=') return take(Tok::kAppends, 2);
        if (peek(1) == '>') return take(Tok::kPArrow, 2);
        return take(Tok::kPlus, 1);
      case '-':
        if (epp_ && follows("-%>")) return epp_end(3, true);
        if (peek(1) == '>') return take(Tok::kInEdge, 2);
        if (peek(1) == '=') return take(Tok::kDeletes, 2);
        return take(Tok::kMinus, 1);
      case '~':
        if (peek(1) == '>') return take(Tok::kInEdgeSub, 2);
        break;
      case '<':
        if (follows("<<|")) return take(Tok::kLLCollect, 3);
        if (peek(1) == '<') return take(Tok::kLShift, 2);
        if (peek(1) == '|') return take(Tok::kLCollect, 2);
        if (peek(1) == '=') return take(Tok::kLessEqual, 2);
        if (peek(1) == '-') return take(Tok::kOutEdge, 2);
        if (peek(1) == '~') return take(Tok::kOutEdgeSub, 2);
        return take(Tok::kLess, 1);
      case '>':
        if (peek(1) == '>') return take(Tok::kRShift, 2);
        if (peek(1) == '=') return take(Tok::kGreaterEqual, 2);
        return take(Tok::kGreater, 1);
      default: break;
    }
    std::size_t from = at_;
    char32_t code = utf8::decode(text_, at_);
    if (code == utf8::kInvalid)
      error(from, fmt::format("byte 0x{:02X} is not UTF-8", static_cast<unsigned char>(c)), at_);
    else
      error(from, fmt::format("illegal character `{}`", text_.substr(from, at_ - from)), at_);
  }

  // ((::)?[a-z_]([\w-]*\w)?)+ ; a name when each segment is [a-z]\w*, else a word.
  void word() {
    std::size_t from = at_;
    bool name = true;
    for (;;) {
      std::size_t p = at_;
      if (text_.substr(p, 2) == "::") p += 2;
      if (p >= text_.size() || !(is_lower(text_[p]) || text_[p] == '_')) break;
      if (text_[p] == '_') name = false;
      std::size_t q = p + 1, last = q;
      while (q < text_.size() && (is_word(text_[q]) || text_[q] == '-')) {
        if (text_[q] != '-') last = q + 1;
        ++q;
      }
      for (std::size_t i = p; i < last; ++i)
        if (text_[i] == '-') name = false;
      at_ = last;
      if (text_.substr(at_, 2) != "::") break;
    }
    std::string_view text = text_.substr(from, at_ - from);
    if (text_.substr(at_, 2) == "::" && at_ + 2 < text_.size() && is_upper(text_[at_ + 2])) {
      while (!done() && (is_word(peek()) || follows("::"))) at_ += follows("::") ? 2 : 1;
      error(from,
            fmt::format("`{}` is neither a name (lower case) nor a type (each part capitalised)",
                        text_.substr(from, at_ - from)),
            at_);
      return emit(Tok::kName, from, text);
    }
    if (name) {
      for (const Keyword& k : kKeywords)
        if (k.text == text) return emit(k.kind, from, text);
      return emit(Tok::kName, from, text);
    }
    emit(Tok::kWord, from, text);
  }

  void type_name() {
    std::size_t from = at_;
    while (is_upper(peek()) || (follows("::") && is_upper(peek(2)))) {
      if (follows("::")) at_ += 2;
      while (is_word(peek())) ++at_;
    }
    if (follows("::") && (is_lower(peek(2)) || peek(2) == '_')) {
      std::size_t start = at_;
      while (!done() && (is_word(peek()) || follows("::"))) at_ += follows("::") ? 2 : 1;
      error(from,
            fmt::format("`{}` is not a type name: each part begins with a capital", text_.substr(from, at_ - from)),
            at_);
      return emit(Tok::kTypeName, from, text_.substr(from, start - from));
    }
    emit(Tok::kTypeName, from, text_.substr(from, at_ - from));
  }

  void number() {
    std::size_t from = at_;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      at_ += 2;
      while (is_hex(peek())) ++at_;
    } else {
      while (is_digit(peek())) ++at_;
      if (peek() == '.' && is_digit(peek(1))) {
        ++at_;
        while (is_digit(peek())) ++at_;
      }
      if (peek() == 'e' || peek() == 'E') {
        std::size_t p = at_ + 1;
        if (p < text_.size() && text_[p] == '-') ++p;
        if (p < text_.size() && is_digit(text_[p])) {
          at_ = p;
          while (is_digit(peek())) ++at_;
        }
      }
    }
    std::string_view text = text_.substr(from, at_ - from);
    if (is_word(peek()) || (text.size() == 2 && (text[1] == 'x' || text[1] == 'X'))) {
      while (is_word(peek())) ++at_;
      error(from, fmt::format("`{}` is not a number", text_.substr(from, at_ - from)), at_);
      return emit(Tok::kNumber, from, "0");
    }
    if (text.size() > 1 && text[0] == '0' && text.find_first_of(".eExX") == std::string_view::npos &&
        text.find_first_of("89") != std::string_view::npos) {
      error(from, fmt::format("`{}` is not an octal number", text), at_);
      text = "0";
    }
    emit(Tok::kNumber, from, text);
  }

  // The length of (::)?(\w+::)*\w+ here, or 0.
  std::size_t variable_length(std::size_t at) const {
    std::size_t p = at, good = 0;
    if (text_.substr(p, 2) == "::") p += 2;
    while (p < text_.size() && is_word(text_[p])) {
      while (p < text_.size() && is_word(text_[p])) ++p;
      good = p;
      if (text_.substr(p, 2) != "::") break;
      p += 2;
    }
    return good > at ? good - at : 0;
  }

  void variable() {
    std::size_t from = at_, n = variable_length(at_ + 1);
    if (n == 0) {
      ++at_;
      error(from, "`$` is not followed by a variable name", at_);
      return;
    }
    at_ += 1 + n;
    emit(Tok::kVariable, from, text_.substr(from + 1, n));
  }

  void single_quoted() {
    std::size_t from = at_++;
    std::string cooked;
    bool changed = false;
    std::size_t start = at_;
    for (; !done() && peek() != '\''; ++at_) {
      if (peek() == '\\' && (peek(1) == '\\' || peek(1) == '\'')) {
        if (!changed) cooked = text_.substr(start, at_ - start), changed = true;
        ++at_;
      }
      if (changed) cooked += peek();
    }
    if (done()) return unclosed(from, "string is not closed: no matching `'`");
    std::string_view text = changed ? arena_.copy(std::string_view(cooked)) : text_.substr(start, at_ - start);
    ++at_;
    emit(Tok::kString, from, text);
  }

  void double_quoted() {
    std::size_t from = at_++;
    static constexpr Escapes kAll{"\\$'\"rntsu", true, true};
    string_body('"', kAll, true, from);
  }

  // The inside of a string up to `quote` ('\0': to the end of the text), with its interpolations.
  void string_body(char quote, const Escapes& escapes, bool interpolate, std::size_t from) {
    if (nesting_ > kMostNesting) {
      error(from, "strings are nested too deeply", at_);
      at_ = text_.size();
      return;
    }
    ++nesting_;
    bool first = true;
    std::string cooked;
    std::size_t part = from;
    std::size_t opened = out_.tokens.size();
    for (;;) {
      if (done()) {
        if (quote == '\0') break;
        unclosed(from, "string is not closed: no matching `\"`");
        out_.tokens.resize(opened);
        --nesting_;
        return;
      }
      char c = peek();
      if (quote != '\0' && c == quote) {
        ++at_;
        break;
      }
      if (c == '\\' && !escapes.letters.empty()) {
        escape(cooked, escapes);
        continue;
      }
      if (c == '$' && interpolate) {
        if (peek(1) == '{') {
          at_ += 2;
          emit(first ? Tok::kDqPre : Tok::kDqMid, part, arena_.copy(std::string_view(cooked)));
          interpolation();
        } else if (std::size_t n = variable_length(at_ + 1)) {
          emit(first ? Tok::kDqPre : Tok::kDqMid, part, arena_.copy(std::string_view(cooked)));
          std::size_t v = at_;
          at_ += 1 + n;
          emit(Tok::kVariable, v, text_.substr(v + 1, n));
        } else {
          cooked += '$';
          ++at_;
          continue;
        }
        cooked.clear();
        first = false;
        part = at_;
        continue;
      }
      cooked += c;
      ++at_;
    }
    emit(first ? Tok::kString : Tok::kDqPost, part, arena_.copy(std::string_view(cooked)));
    --nesting_;
  }

  void escape(std::string& cooked, const Escapes& escapes) {
    std::size_t from = at_;
    char e = peek(1);
    if (e == '\n' || (e == '\r' && peek(2) == '\n')) {
      at_ += e == '\n' ? 2 : 3;
      if (!escapes.join_lines) cooked += text_.substr(from, at_ - from);
      return;
    }
    if (e == '\0' || escapes.letters.find(e) == std::string_view::npos) {
      if (escapes.warn && e != '\0')
        diagnostics_.warning("PP-ESCAPE", source_.span(source_offset(from), source_offset(from + 2)),
                             fmt::format("unrecognized escape sequence `\\{}`", e));
      cooked += '\\';
      ++at_;
      if (e != '\0' && e != '$') cooked += peek(), ++at_;  // what follows a dollar is still interpolated
      return;
    }
    at_ += 2;
    switch (e) {
      case 'r': cooked += '\r'; break;
      case 'n': cooked += '\n'; break;
      case 't': cooked += '\t'; break;
      case 's': cooked += ' '; break;
      case 'u': unicode_escape(cooked, from); break;
      default: cooked += e;
    }
  }

  void unicode_escape(std::string& cooked, std::size_t from) {
    std::size_t p = at_;
    bool braces = peek() == '{';
    if (braces) ++p;
    u32 code = 0;
    std::size_t digits = 0;
    while (p < text_.size() && is_hex(text_[p]) && digits < (braces ? 6u : 4u)) {
      char c = text_[p++];
      code = code * 16 + static_cast<u32>(is_digit(c) ? c - '0' : (c | 32) - 'a' + 10);
      ++digits;
    }
    bool good = braces ? digits > 0 && p < text_.size() && text_[p] == '}' : digits == 4;
    if (!good || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
      diagnostics_.warning("PP-ESCAPE", source_.span(source_offset(from), source_offset(at_)),
                           "`\\u` needs four hexadecimal digits, or one to six in braces");
      cooked += "\\u";
      return;
    }
    at_ = p + (braces ? 1 : 0);
    utf8::append(cooked, code);
  }

  // After "${": the tokens of the expression. A lone word, or a first word followed by [ or ., is a variable.
  void interpolation() {
    std::size_t from = at_;
    std::size_t first = out_.tokens.size();
    if (!lex_until_brace(true)) return unclosed(from - 2, "interpolation is not closed: `${` without `}`", true);
    std::size_t n = out_.tokens.size() - first;
    if (n == 0) return;
    Token& t = out_.tokens[first];
    bool truth = t.kind == Tok::kTrue || t.kind == Tok::kFalse;
    bool word =
        t.kind == Tok::kName || t.kind == Tok::kWord || t.kind == Tok::kNumber || (is_keyword(t.kind) && !truth);
    bool alone = n == 1;
    bool indexed = n > 1 && (out_.tokens[first + 1].kind == Tok::kLBrack || out_.tokens[first + 1].kind == Tok::kDot);
    if (word && (alone || indexed)) t.kind = Tok::kVariable;
  }

  bool regex_may_start() const {
    switch (after_) {
      case Tok::kRParen:
      case Tok::kRBrack:
      case Tok::kRRCollect:
      case Tok::kRCollect:
      case Tok::kName:
      case Tok::kTypeName:
      case Tok::kNumber:
      case Tok::kString:
      case Tok::kTrue:
      case Tok::kFalse:
      case Tok::kDqPost:
      case Tok::kHeredoc:
      case Tok::kRegex:
      case Tok::kVariable:
      case Tok::kWord: return false;
      default: return true;
    }
  }

  void slash() {
    if (!regex_may_start()) return take(Tok::kDiv, 1);
    std::string pattern;
    std::size_t p = at_ + 1;
    for (; p < text_.size() && text_[p] != '/'; ++p) {
      if (text_[p] == '\\' && p + 1 < text_.size()) {
        if (text_[p + 1] != '/') pattern += '\\';
        ++p;
      }
      pattern += text_[p];
    }
    if (p >= text_.size()) return take(Tok::kDiv, 1);
    std::size_t from = at_;
    at_ = p + 1;
    emit(Tok::kRegex, from, arena_.copy(std::string_view(pattern)));
  }

  bool heredoc_start() const { return peek(1) == '('; }

  void heredoc();
  void epp_text(bool skip_leading);
  void epp_end(std::size_t length, bool trim);

  std::string_view text_;
  const Source& source_;
  std::vector<LineOrigin> origins_;
  TokenList& out_;
  Arena& arena_;
  Diagnostics& diagnostics_;
  int nesting_ = 0;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::size_t jump_ = 0;  // where the line after this one begins once the text of this line's heredocs is left out
  Tok after_ = Tok::kEnd;
  struct Unclosed {
    std::optional<std::size_t> from;
    std::string message;
    bool interpolation = false;
  };
  Unclosed unclosed_;
  bool epp_ = false, epp_open_ = false, epp_expr_ = false;
  std::size_t epp_open_at_ = 0;
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

// @( tag [:syntax] [/escapes] ) : the text is on the lines after this one, up to a line with only `| - tag`.
void Lexer::heredoc() {
  std::size_t from = at_, close = text_.find(')', at_);
  if (close == std::string_view::npos || text_.substr(at_, close - at_).find('\n') != std::string_view::npos) {
    at_ += 2;
    error(from, "heredoc `@(` is not closed", at_);
    return;
  }
  std::string_view head = text_.substr(at_ + 2, close - at_ - 2);
  at_ = close + 1;
  std::string letters;
  Escapes escapes{"", false, false};
  if (std::size_t slash = head.find('/'); slash != std::string_view::npos) {
    std::string_view flags = trimmed(head.substr(slash + 1));
    head = head.substr(0, slash);
    letters = "\\";
    for (char c : flags.empty() ? std::string_view("trnsuL$") : flags) {
      if (c == 'L')
        escapes.join_lines = true;
      else if (std::string_view("trnsu$").find(c) == std::string_view::npos)
        error(from, fmt::format("heredoc escapes may be t, r, n, s, u, L, $ or none: `{}` is not known", c), at_);
      else if (letters.find(c) != std::string::npos)
        error(from, "heredoc escape given twice", at_);
      else
        letters += c;
    }
    escapes.letters = letters;
  }
  std::string_view syntax;
  if (std::size_t colon = head.find(':'); colon != std::string_view::npos) {
    syntax = trimmed(head.substr(colon + 1));
    head = head.substr(0, colon);
  }
  std::string_view tag = trimmed(head);
  bool interpolate = tag.size() >= 2 && tag.front() == '"' && tag.back() == '"';
  if (interpolate) tag = trimmed(tag.substr(1, tag.size() - 2));
  if (tag.empty()) {
    error(from, "heredoc without an end tag", at_);
    return;
  }

  std::size_t start = jump_                                             ? jump_
                      : text_.find('\n', at_) == std::string_view::npos ? text_.size()
                                                                        : text_.find('\n', at_) + 1;
  std::size_t line = start;
  for (;;) {
    if (line >= text_.size()) {
      error(from, fmt::format("heredoc without a line that ends it (`{}`)", tag), at_);
      return;
    }
    std::size_t end = text_.find('\n', line);
    std::size_t next = end == std::string_view::npos ? text_.size() : end + 1;
    std::string_view whole = text_.substr(line, (end == std::string_view::npos ? text_.size() : end) - line);
    std::size_t p = 0;
    while (p < whole.size() && is_blank(whole[p])) ++p;
    std::size_t leading = p;
    bool margin = false, chomp = false;
    auto blanks = [&] {
      while (p < whole.size() && is_blank(whole[p])) ++p;
    };
    if (p < whole.size() && whole[p] == '|') margin = true, ++p, blanks();
    if (p < whole.size() && whole[p] == '-') chomp = true, ++p, blanks();
    if (whole.substr(p, tag.size()) == tag && trimmed(whole.substr(p + tag.size())).empty()) {
      std::string text;
      std::vector<LineOrigin> origins;
      std::string_view indent = whole.substr(0, leading);
      for (std::size_t l = start; l < line;) {
        std::size_t e = text_.find('\n', l) + 1;
        std::string_view one = text_.substr(l, e - l);
        std::size_t cut = margin && leading && one.substr(0, leading) == indent ? leading : 0;
        origins.push_back({static_cast<u32>(text.size()), source_offset(l + cut)});
        text += one.substr(cut);
        l = e;
      }
      if (origins.empty()) origins.push_back({0, source_offset(start)});
      if (chomp && !text.empty()) {
        text.pop_back();
        if (!text.empty() && text.back() == '\r') text.pop_back();
      }
      jump_ = next;
      if (nesting_ == 0) out_.heredocs.push_back({static_cast<u32>(start), static_cast<u32>(next)});
      emit(Tok::kHeredoc, from, syntax);
      Lexer inner(arena_.copy(std::string_view(text)), source_, std::move(origins), out_, arena_, diagnostics_,
                  nesting_ + 1);
      inner.unquoted(escapes, interpolate);
      after_ = Tok::kHeredoc;
      return;
    }
    line = next;
  }
}

// EPP: literal text up to the next <% tag. <%% and %%> are literal tags, <%# ... %> is a comment.
void Lexer::epp_text(bool skip_leading) {
  std::string s;
  std::size_t from = at_;
  epp_open_ = false;
  auto flush = [&] {
    if (!s.empty()) emit(Tok::kRenderString, from, arena_.copy(std::string_view(s)));
  };
  auto trim_end = [&] {
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.pop_back();
  };
  while (!done()) {
    if (skip_leading) {
      skip_leading = false;
      std::size_t p = at_;
      while (p < text_.size() && is_blank(text_[p])) ++p;
      if (p < text_.size() && text_[p] == '\n') ++p;
      at_ = p;
      continue;
    }
    if (follows("%%>")) {
      s += "%>";
      at_ += 3;
    } else if (follows("<%%")) {
      s += "<%";
      at_ += 3;
    } else if (follows("<%#")) {
      std::size_t open = at_, end = at_ + 2;
      do end = text_.find("%>", end + 1);
      while (end != std::string_view::npos && text_[end - 1] == '%');
      if (end == std::string_view::npos) {
        error(open, "EPP comment is not closed: `<%#` without `%>`");
        at_ = text_.size();
        return flush();
      }
      if (text_[open + 3] == '-') trim_end();
      skip_leading = text_[end - 1] == '-';
      at_ = end + 2;
      if (done()) return;  // a comment at the very end takes the text before it along, in Puppet
    } else if (follows("<%")) {
      epp_open_at_ = at_;
      epp_open_ = true;
      if (peek(2) == '=') {
        flush();
        std::size_t open = at_;
        at_ += 3;
        epp_expr_ = true;
        return emit(Tok::kRenderExpr, open, "<%=");
      }
      at_ += 2;
      if (peek() == '-') ++at_, trim_end();
      flush();
      epp_expr_ = false;
      after_ = Tok::kEnd;
      return;
    } else {
      s += peek();
      ++at_;
    }
  }
  flush();
}

void Lexer::epp_end(std::size_t length, bool trim) {
  if (!epp_open_) {
    error(at_, "`%>` without `<%`");
    at_ += length;
    return;
  }
  if (epp_expr_)
    take(Tok::kEppEnd, length);
  else
    at_ += length, after_ = Tok::kSemic;
  epp_text(trim);
}

}  // namespace

TokenList lex(const Source& source, LexMode mode, Arena& arena, Diagnostics& diagnostics) {
  TokenList out;
  out.tokens.reserve(source.text.size() / 6 + 16);
  Lexer lexer(source.text, source, {}, out, arena, diagnostics, 0);
  if (mode == LexMode::kEpp)
    lexer.epp();
  else
    lexer.manifest();
  u32 end = static_cast<u32>(source.text.size());
  out.tokens.push_back({Tok::kEnd, end, end, {}});
  return out;
}

}  // namespace tutti::puppet
