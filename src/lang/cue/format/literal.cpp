#include "lang/cue/format/literal.h"

#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"

namespace tutti::cue {

namespace {

constexpr char kSyntax[] = "invalid syntax";
constexpr char kUnmatched[] = "invalid string: unmatched quote";

std::string go_quote(std::string_view s) {
  std::string out = "\"";
  for (char c : s) {
    if (c == '\t')
      out += "\\t";
    else
      out += c;
  }
  return out + "\"";
}

std::string_view leading_blanks(std::string_view s) {
  return s.substr(0, std::min(s.find_first_not_of(" \t"), s.size()));
}

std::string wrong_indent(std::string_view expected, std::string_view line) {
  return "invalid string: non-matching whitespace for multiline string (expected " + go_quote(expected) + ", got " +
         go_quote(leading_blanks(line)) + ")";
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Reads the characters of one part of a string.
class Reader {
 public:
  Reader(const Quotes& quotes, std::string_view text)
      : q_(quotes), s_(text), mark_(quotes.bytes ? '\'' : '"'), marks_(quotes.multiline ? 3 : 1) {}

  Unquoted run() {
    if (!q_.multiline && s_.find('\n') != std::string_view::npos) return {"", kSyntax};
    if (early_close()) return {"", kSyntax};
    bool newline_last = false, escaped_newline = false;
    while (at_ < s_.size()) {
      char c = s_[at_];
      if (c == '\r') {
        ++at_;
        escaped_newline = false;
        continue;
      }
      if (c == '\n') {
        ++at_;
        if (!skip_indent()) return {"", error_};
        if (early_close()) return {"", kSyntax};
        newline_last = true;
        escaped_newline = false;
        out_ += '\n';
        continue;
      }
      switch (one()) {
        case Step::kError: return {"", error_};
        case Step::kText: break;
        case Step::kNewline:
          if (!skip_indent()) return {"", error_};
          escaped_newline = true;
          continue;
        case Step::kQuote:
          if (escaped_newline) return {"", "last newline of multiline string cannot be escaped"};
          if (newline_last) out_.pop_back();
          return {std::move(out_), ""};
        case Step::kExpression: return {std::move(out_), ""};
      }
      newline_last = escaped_newline = false;
    }
    return {"", kUnmatched};
  }

 private:
  enum class Step { kText, kQuote, kExpression, kNewline, kError };

  Step fail(const char* why = kSyntax) {
    error_ = why;
    return Step::kError;
  }

  bool closes_here() const {
    std::size_t n = static_cast<std::size_t>(marks_ + q_.hashes);
    if (s_.size() - at_ < n) return false;
    for (int i = 0; i < marks_; ++i)
      if (s_[at_ + static_cast<std::size_t>(i)] != mark_) return false;
    for (int i = 0; i < q_.hashes; ++i)
      if (s_[at_ + static_cast<std::size_t>(marks_ + i)] != '#') return false;
    return true;
  }

  // Closing quotes at the beginning of a line with more text after them.
  bool early_close() const {
    return q_.multiline && closes_here() && s_.size() - at_ > static_cast<std::size_t>(marks_ + q_.hashes);
  }

  bool skip_indent() {
    std::string_view rest = s_.substr(at_);
    if (rest.starts_with(q_.indent)) {
      at_ += q_.indent.size();
    } else if (!rest.starts_with('\n') && !rest.starts_with("\r\n")) {
      error_ = wrong_indent(q_.indent, rest);
      return false;
    }
    return true;
  }

  Step one() {
    char c = s_[at_];
    if (c == mark_) {
      if (closes_here()) {
        if (s_.size() - at_ == static_cast<std::size_t>(marks_ + q_.hashes)) return Step::kQuote;
        if (marks_ != 3) return fail();
      }
      out_ += c;
      ++at_;
      return Step::kText;
    }
    if (static_cast<unsigned char>(c) >= 0x80) {
      std::size_t from = at_;
      if (utf8::decode(s_, at_) == utf8::kInvalid) return fail("invalid UTF-8 encoding");
      out_.append(s_, from, at_ - from);
      return Step::kText;
    }
    if (c == 0) return fail();
    if (c != '\\') {
      out_ += c;
      ++at_;
      return Step::kText;
    }
    return escape();
  }

  Step plain_backslash() {
    out_ += '\\';
    ++at_;
    return Step::kText;
  }

  Step escape() {
    std::size_t hashes = static_cast<std::size_t>(q_.hashes);
    if (s_.size() - at_ <= 1 + hashes) return plain_backslash();
    for (std::size_t i = 1; i <= hashes; ++i)
      if (s_[at_ + i] != '#') return plain_backslash();
    char c = s_[at_ + 1 + hashes];
    at_ += 2 + hashes;
    switch (c) {
      case 'a': out_ += '\a'; return Step::kText;
      case 'b': out_ += '\b'; return Step::kText;
      case 'f': out_ += '\f'; return Step::kText;
      case 'n': out_ += '\n'; return Step::kText;
      case 'r': out_ += '\r'; return Step::kText;
      case 't': out_ += '\t'; return Step::kText;
      case 'v': out_ += '\v'; return Step::kText;
      case '/': out_ += '/'; return Step::kText;
      case '\\': out_ += '\\'; return Step::kText;
      case 'x': return q_.bytes ? byte_escape() : fail();
      case 'u': return code_point(4);
      case 'U': return code_point(8);
      case '\'':
      case '"':
        if (c != mark_) return fail();
        out_ += c;
        return Step::kText;
      case '(': return at_ == s_.size() ? Step::kExpression : fail();
      case '\r':
        if (at_ >= s_.size() || s_[at_] != '\n') return fail();
        ++at_;
        return Step::kNewline;
      case '\n': return Step::kNewline;
      default: break;
    }
    if (c < '0' || c > '7' || !q_.bytes || s_.size() - at_ < 2) return fail();
    int v = c - '0';
    for (int i = 0; i < 2; ++i) {
      char d = s_[at_++];
      if (d < '0' || d > '7') return fail();
      v = v * 8 + (d - '0');
    }
    if (v > 255) return fail();
    out_ += static_cast<char>(v);
    return Step::kText;
  }

  bool hex(int digits, char32_t& v) {
    v = 0;
    if (s_.size() - at_ < static_cast<std::size_t>(digits)) return false;
    for (int i = 0; i < digits; ++i) {
      int h = hex_value(s_[at_++]);
      if (h < 0) return false;
      v = v << 4 | static_cast<char32_t>(h);
    }
    return true;
  }

  Step byte_escape() {
    char32_t v;
    if (!hex(2, v)) return fail();
    out_ += static_cast<char>(v);
    return Step::kText;
  }

  Step code_point(int digits) {
    char32_t v;
    if (!hex(digits, v) || v > 0x10FFFF) return fail();
    if (v >= 0xD800 && v < 0xE000) {  // a surrogate: its other half must follow
      if (v >= 0xDC00) return fail("unmatched surrogate pair");
      std::size_t hashes = static_cast<std::size_t>(q_.hashes);
      std::string lead = "\\" + std::string(hashes, '#') + "u";
      char32_t low = 0;
      if (!s_.substr(at_).starts_with(lead)) return fail("unmatched surrogate pair");
      at_ += lead.size();
      if (!hex(4, low) || low < 0xDC00 || low >= 0xE000) return fail("unmatched surrogate pair");
      v = 0x10000 + (v - 0xD800) * 0x400 + (low - 0xDC00);
    }
    utf8::append(out_, v);
    return Step::kText;
  }

  const Quotes& q_;
  std::string_view s_;
  char mark_;
  int marks_;
  std::size_t at_ = 0;
  std::string out_, error_;
};

bool is_space(char32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 ||
         utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ZS;
}

}  // namespace

std::optional<Quotes> parse_quotes(std::string_view start, std::string_view end, std::string& error) {
  Quotes q;
  std::size_t hashes = std::min(start.find_first_not_of('#'), start.size());
  q.hashes = static_cast<int>(hashes);
  std::string_view s = start.substr(hashes);
  if (s.empty() || (s[0] != '"' && s[0] != '\'')) {
    error = kSyntax;
    return std::nullopt;
  }
  char mark = s[0];
  q.bytes = mark == '\'';
  std::size_t marks = 1;
  if (s.size() > 3 && s[1] == mark && s[2] == mark && s[3] != '#') {
    std::size_t line = s[3] == '\n' ? 1 : s[3] == '\r' && s.size() > 4 && s[4] == '\n' ? 2 : 0;
    if (line == 0) {
      error = "invalid string: opening quote of multiline string must be followed by newline";
      return std::nullopt;
    }
    q.multiline = true;
    marks = 3;
    q.opening = hashes + 3 + line;
  } else {
    q.opening = hashes + 1;
  }
  q.closing = marks + hashes;
  if (end.size() < q.closing || end.substr(end.size() - hashes).find_first_not_of('#') != std::string_view::npos ||
      end.substr(end.size() - q.closing, marks) != s.substr(0, marks)) {
    error = kUnmatched;
    return std::nullopt;
  }
  if (!q.multiline) return q;
  std::size_t body = end.size() - q.closing, i = body;
  bool newline = false;
  while (i > 0) {
    std::size_t from = i - 1;
    while (from > 0 && (static_cast<unsigned char>(end[from]) & 0xC0) == 0x80) --from;
    std::size_t p = from;
    char32_t c = utf8::decode(end, p);
    if (c == '\n' || !is_space(c)) {
      newline = c == '\n';
      break;
    }
    i = from;
  }
  if (!newline) {
    error = "invalid string: closing quote of multiline string must follow a newline";
    return std::nullopt;
  }
  q.indent = end.substr(i, body - i);
  if (start.size() > q.opening && start[q.opening] != '\n') {
    if (!start.substr(q.opening).starts_with(q.indent)) {
      error = wrong_indent(q.indent, start.substr(q.opening));
      return std::nullopt;
    }
    q.opening += q.indent.size();
  }
  return q;
}

Unquoted unquote_part(const Quotes& quotes, std::string_view part) { return Reader(quotes, part).run(); }

Unquoted unquote(std::string_view literal) {
  std::string error;
  std::optional<Quotes> q = parse_quotes(literal, literal, error);
  if (!q) return {"", error};
  if (literal.size() < q->opening + q->closing) return {"", q->multiline ? kSyntax : kUnmatched};
  std::string_view body = literal.substr(std::min(q->opening, literal.size()));
  if (!q->multiline && q->hashes == 0) {  // most have nothing to undo
    std::string_view inner = body.substr(0, body.size() - 1);
    bool simple = true;
    for (char c : inner)
      if (c == '\\' || c == '\n' || c == '\r' || c == '"' || c == '\'' || static_cast<unsigned char>(c) >= 0x80 ||
          c == 0) {
        simple = false;
        break;
      }
    if (simple) return {std::string(inner), ""};
  }
  return unquote_part(*q, body);
}

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c < 0x7F;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return false;
    default: return true;
  }
}

namespace {

// Hashes needed so that a multi-line text does not hold its own closing quotes.
int hashes_for_lines(std::string_view s, char mark) {
  int most = 0;
  std::string three(3, mark);
  for (std::size_t i = s.find(three); i != std::string_view::npos; i = s.find(three, i)) {
    i = s.find_first_not_of(mark, i);
    if (i == std::string_view::npos) i = s.size();
    std::size_t end = std::min(s.find_first_not_of('#', i), s.size());
    most = std::max(most, static_cast<int>(end - i) + 1);
    i = end;
    if (i >= s.size()) break;
  }
  return most;
}

// Hashes with which a single line needs no escapes; 0 when it needs none anyway or cannot do without.
int hashes_for_line(std::string_view s, char mark) {
  if (s.find('\\') == std::string_view::npos && s.find(mark) == std::string_view::npos) return 0;
  if (s.starts_with(std::string(2, mark))) return 0;  // would read as the quotes of a multi-line string
  int hashes = 1;
  for (std::size_t i = 0; i < s.size();) {
    char32_t c = utf8::decode(s, i);
    if (c == utf8::kInvalid || !is_printable(c)) return 0;
    if (c == static_cast<unsigned char>(mark) || c == '\\') {
      std::size_t end = std::min(s.find_first_not_of('#', i), s.size());
      hashes = std::max(hashes, static_cast<int>(end - i) + 1);
    }
  }
  return hashes;
}

constexpr char kHex[] = "0123456789abcdef";

}  // namespace

std::string quote(std::string_view s, const QuoteStyle& style) {
  char mark = style.bytes ? '\'' : '"';
  bool lines = style.always_lines || (style.tabs >= 0 && s.find('\n') != std::string_view::npos);
  int hashes = lines ? hashes_for_lines(s, mark) : style.hashes ? hashes_for_line(s, mark) : 0;
  std::string fence(static_cast<std::size_t>(hashes), '#');
  std::string indent(static_cast<std::size_t>(std::max(style.tabs, 0)), '\t');
  std::string out = fence;
  out.append(lines ? 3 : 1, mark);
  if (lines) {
    out += '\n';
    if (s.empty()) {
      out += indent;
      out.append(3, mark);
      return out + fence;
    }
    if (s[0] != '\n') out += indent;
  }
  if (!lines && hashes > 0) {
    out += s;
  } else {
    for (std::size_t i = 0; i < s.size();) {
      std::size_t from = i;
      char32_t c = utf8::decode(s, i);
      if (c == utf8::kInvalid) {
        if (style.bytes) {
          unsigned char b = static_cast<unsigned char>(s[from]);
          out += "\\" + fence + "x";
          out += kHex[b >> 4];
          out += kHex[b & 15];
        } else {
          utf8::append(out, 0xFFFD);
        }
        continue;
      }
      if (lines && c == '\n') {
        out += '\n';
        if (i < s.size() && s[i] != '\n') out += indent;
        continue;
      }
      if ((!lines && c == static_cast<unsigned char>(mark)) || c == '\\') {
        out += "\\" + fence;
        out += static_cast<char>(c);
        continue;
      }
      if (is_printable(c) && (c < 0x80 || !style.ascii)) {
        out.append(s, from, i - from);
        continue;
      }
      out += "\\" + fence;
      switch (c) {
        case '\a': out += 'a'; break;
        case '\b': out += 'b'; break;
        case '\f': out += 'f'; break;
        case '\n': out += 'n'; break;
        case '\r': out += 'r'; break;
        case '\t': out += 't'; break;
        case '\v': out += 'v'; break;
        default: {
          bool byte = c < ' ' && style.bytes;
          int digits = byte ? 2 : c < 0x10000 ? 4 : 8;
          out += byte ? 'x' : c < 0x10000 ? 'u' : 'U';
          for (int d = digits - 1; d >= 0; --d) out += kHex[c >> (4 * d) & 15];
        }
      }
    }
  }
  if (lines) out += '\n' + indent;
  out.append(lines ? 3 : 1, mark);
  return out + fence;
}

std::string indent_literal(std::string_view literal, int n) {
  std::string indent(static_cast<std::size_t>(n), '\t'), error;
  std::optional<Quotes> q = parse_quotes(literal, literal, error);
  if (!q || !q->multiline || q->indent == indent) return std::string(literal);
  std::string out;
  std::string search = "\n" + std::string(q->indent);
  for (std::size_t at = 0;;) {
    std::size_t hit = literal.find(search, at);
    if (hit == std::string_view::npos) return out += literal.substr(at);
    out += literal.substr(at, hit - at);
    out += '\n';
    out += indent;
    at = hit + search.size();
  }
}

namespace {

bool letter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  auto k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND;
}

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty()) return false;
  bool underscore = name[0] == '_';
  if (underscore) name.remove_prefix(1);
  if (name.empty()) return true;
  if (name[0] == '#') {
    name.remove_prefix(1);
    underscore = false;
  }
  for (std::size_t i = 0; i < name.size();) {
    std::size_t from = i;
    char32_t c = utf8::decode(name, i);
    if (c == utf8::kInvalid || !(letter(c) || digit(c) || c == '_' || c == '$')) return false;
    if (from == 0 && !underscore && digit(c)) return false;
  }
  return true;
}

bool label_needs_quotes(std::string_view name) {
  return name.starts_with('#') || name.starts_with('_') || !is_identifier(name);
}

std::string label_text(std::string_view name) { return label_needs_quotes(name) ? quote(name) : std::string(name); }

namespace {

Number bad_number(std::string_view what, std::string_view text) {
  Number n;
  n.error = std::string(what) + " " + quote(text);
  return n;
}

// Digits with single underscores between them; false when an underscore is out of place.
bool take_digits(std::string_view s, std::size_t& at, int base, std::string& digits) {
  char last = 0;
  bool good = true;
  for (; at < s.size(); ++at) {
    char c = s[at];
    if (c == '_') {
      if (last == '_' || last == 0) good = false;
    } else {
      int v = hex_value(c);
      if (v < 0 || v >= base) break;
      digits += c;
    }
    last = c;
  }
  return good && last != '_';
}

}  // namespace

Number parse_number(std::string_view text) {
  Number n;
  std::string_view s = text;
  std::string buffer;
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
    if (s[0] == '-') buffer = "-";
    s.remove_prefix(1);
  }
  if (s.empty()) return bad_number("invalid number", text);
  std::size_t at = 0;
  if (s.size() > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X' || s[1] == 'b' || s[1] == 'o')) {
    int base = s[1] == 'b' ? 2 : s[1] == 'o' ? 8 : 16;
    at = 2;
    std::string digits;
    bool good = take_digits(s, at, base, digits);
    const char* word = base == 2   ? "illegal binary number"
                       : base == 8 ? "illegal octal number"
                                   : "illegal hexadecimal number";
    if (digits.empty()) return bad_number(word, text);
    if (!good) {
      n.error = "illegal '_' in number";
      return n;
    }
    if (at < s.size()) return bad_number("illegal number", text);
    n.value = *Decimal::parse_integer(buffer + digits, base);
    return n;
  }
  std::string whole;
  bool good = true;
  if (s[0] != '.') {
    good = take_digits(s, at, 10, whole);
    if (whole.empty()) return bad_number("illegal number start", text);
  }
  buffer += whole;
  if (at < s.size() && s[at] == '.') {
    n.integer = false;
    ++at;
    std::string fraction;
    std::size_t before = at;
    if (at < s.size() && s[at] >= '0' && s[at] <= '9') good = take_digits(s, at, 10, fraction) && good;
    if (at == before && whole.empty()) return bad_number("illegal fraction", text);
    buffer += "." + fraction;
  } else if (whole.size() > 1 && whole[0] == '0' && (at >= s.size() || (s[at] != 'e' && s[at] != 'E'))) {
    return bad_number("illegal integer number", text);
  }
  if (!good) {
    n.error = "illegal '_' in number";
    return n;
  }
  if (at < s.size()) {
    static constexpr std::string_view kUnits = "KMGTP";
    if (std::size_t unit = kUnits.find(s[at]); unit != std::string_view::npos) {
      bool binary = ++at < s.size() && s[at] == 'i';
      if (binary) ++at;
      if (at < s.size()) return bad_number("illegal trailing characters in number", text);
      Decimal factor(1);
      for (std::size_t i = 0; i <= unit; ++i) factor = decimal::int_mul(factor, Decimal(binary ? 1024 : 1000));
      Decimal product = decimal::mul(*Decimal::parse(buffer), factor).value;
      n.integer = true;
      if (!product.is_integer())
        n.error = "number cannot be represented as int";
      else
        n.value = product.with_exponent_zero();
      return n;
    }
    if (s[at] == 'e' || s[at] == 'E') {
      n.integer = false;
      ++at;
      buffer += 'e';
      if (at < s.size() && (s[at] == '+' || s[at] == '-')) buffer += s[at++];
      std::string digits;
      if (!take_digits(s, at, 10, digits)) {
        if (digits.empty()) return bad_number("illegal exponent", text);
        n.error = "illegal '_' in number";
        return n;
      }
      if (digits.empty()) return bad_number("illegal exponent", text);
      buffer += digits;
    }
    if (at < s.size()) return bad_number("illegal number", text);
  }
  std::optional<Decimal> value = Decimal::parse(buffer);
  if (!value) return bad_number("invalid number", text);
  n.value = *value;
  return n;
}

}  // namespace tutti::cue
