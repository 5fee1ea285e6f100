#include "lang/cue/syntax/scanner.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <array>

#include "base/utf8.h"

namespace tutti::cue {

namespace {
constexpr char32_t kBom = 0xFEFF;

// What most of a text is made of: bytes of names, and bytes of strings that are nothing but themselves.
enum : u8 { kWord = 1, kPlain = 2, kLetter = 4 };
constexpr std::array<u8, 256> kBytes = [] {
  std::array<u8, 256> out{};
  for (int c = 0; c < 0x80; ++c) {
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter) out[static_cast<std::size_t>(c)] |= kLetter;
    if (letter || (c >= '0' && c <= '9') || c == '_' || c == '$') out[static_cast<std::size_t>(c)] |= kWord;
    if (c >= ' ' && c != '"' && c != '\'' && c != '\\') out[static_cast<std::size_t>(c)] |= kPlain;
  }
  return out;
}();

int digit_value(int c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c == '_') return 0;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

std::string show_character(char32_t c) {
  std::string text = fmt::format("U+{:04X}", static_cast<u32>(c));
  utf8proc_category_t k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  if (k != UTF8PROC_CATEGORY_CC && k != UTF8PROC_CATEGORY_CN && k != UTF8PROC_CATEGORY_CS) {
    text += " '";
    utf8::append(text, c);
    text += "'";
  }
  return text;
}
}  // namespace

Scanner::Scanner(const Source& source, Arena& arena, std::vector<SyntaxError>& errors)
    : source_(source), text_(source.text), arena_(arena), errors_(errors) {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
}

void Scanner::error(std::size_t at, std::string message) { errors_.push_back({source_.pos(at), std::move(message)}); }

char32_t Scanner::character() const {
  std::size_t at = at_;
  return utf8::decode(text_, at);
}

void Scanner::advance() {
  if (at_ >= text_.size()) return;
  auto b = static_cast<unsigned char>(text_[at_]);
  if (b == 0) error(at_, "illegal character NUL");
  if (b < 0x80) {
    ++at_;
    return;
  }
  std::size_t at = at_;
  char32_t c = utf8::decode(text_, at);
  if (c == utf8::kInvalid) error(at_, "illegal UTF-8 encoding");
  if (c == kBom) error(at_, "illegal byte order mark");
  at_ = at;
}

bool Scanner::letter() const {
  int c = peek();
  if (c < 0x80) return c != kEnd && kBytes[static_cast<std::size_t>(c)] & kLetter;
  char32_t wide = character();
  if (wide == utf8::kInvalid) return false;
  auto k = utf8proc_category(static_cast<utf8proc_int32_t>(wide));
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool Scanner::digit() const {
  int c = peek();
  if (c >= '0' && c <= '9') return true;
  if (c < 0x80) return false;
  char32_t wide = character();
  return wide != utf8::kInvalid && utf8proc_category(static_cast<utf8proc_int32_t>(wide)) == UTF8PROC_CATEGORY_ND;
}

void Scanner::skip(u8 kind) {
  while (at_ < text_.size() && (kBytes[static_cast<unsigned char>(text_[at_])] & kind)) ++at_;
}

void Scanner::words() {
  while (true) {
    skip(kWord);
    if (peek() < 0x80 || !(letter() || digit())) return;
    advance();
  }
}

void Scanner::skip_space() {
  for (; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == ' ' || c == '\t') {
      ++spaces_;
    } else if (c == '\n') {
      ++lines_;
      if (comma_at_newline_) return;
    } else if (c != '\r') {
      return;
    }
  }
}

std::string_view Scanner::without_returns(std::string_view text) {
  if (text.find('\r') == std::string_view::npos) return text;
  std::string out;
  for (char c : text)
    if (c != '\r') out += c;
  return arena_.copy(std::string_view(out));
}

void Scanner::mantissa(int base) {
  int last = 0;
  while (digit_value(peek()) < base) {
    if (last == '_' && peek() == '_') error(at_, "illegal '_' in number");
    last = peek();
    ++at_;
  }
  if (last == '_') error(at_ - 1, "illegal '_' in number");
}

Token Scanner::number(bool after_point) {
  std::size_t from = after_point ? at_ - 1 : at_;
  Tok tok = Tok::kInt;
  auto done = [&] { return Token{tok, {}, text_.substr(from, at_ - from)}; };
  bool exponent_allowed = true, fraction_allowed = !after_point;
  if (after_point) {
    tok = Tok::kFloat;
    mantissa(10);
  } else if (peek() == '0') {
    ++at_;
    int base = 0;
    std::string_view word;
    if (peek() == 'x' || peek() == 'X') base = 16, word = "hexadecimal";
    if (peek() == 'b') base = 2, word = "binary";
    if (peek() == 'o') base = 8, word = "octal";
    if (base) {
      ++at_;
      mantissa(base);
      if (at_ - from <= 2) error(from, fmt::format("illegal {} number", word));
      return done();
    }
    bool more = peek() >= '0' && peek() <= '9';
    if (more) mantissa(10);
    bool range = peek() == '.' && peek(1) == '.';
    bool real = !range && (peek() == '.' || peek() == 'e' || peek() == 'E');
    if (more && !real) error(from, "illegal integer number");
    if (range) return done();
    fraction_allowed = real;
  } else {
    mantissa(10);
  }
  if (fraction_allowed && peek() == '.') {
    if (peek(1) == '.') return done();
    tok = Tok::kFloat;
    ++at_;
    mantissa(10);
  }
  int c = peek();
  if (c == 'K' || c == 'M' || c == 'G' || c == 'T' || c == 'P') {
    tok = Tok::kInt;
    ++at_;
    if (peek() == 'i') ++at_;
    return done();
  }
  if (exponent_allowed && (c == 'e' || c == 'E')) {
    tok = Tok::kFloat;
    ++at_;
    if (peek() == '-' || peek() == '+') ++at_;
    if (digit_value(peek()) >= 10) error(at_, "illegal exponent in number");
    mantissa(10);
  }
  return done();
}

// After a backslash. Wrong escapes are reported and left for the string to go on with.
bool Scanner::escape(const Quote& quote) {
  for (int i = 0; i < quote.hashes; ++i) {
    if (peek() != '#') return false;
    ++at_;
  }
  std::size_t from = at_;
  int n = 0;
  u32 base = 0, most = 0;
  int c = peek();
  if (c == '(') return true;
  switch (c) {
    case 'a':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
    case 'v':
    case '\\':
    case '/': ++at_; return false;
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
      if (quote.mark == '"') return error(from, "octal escape not allowed in string literal"), false;
      n = 3, base = 8, most = 255;
      break;
    case 'x':
      if (quote.mark == '"') return error(from, "hexadecimal escape not allowed in string literal"), false;
      ++at_;
      n = 2, base = 16, most = 255;
      break;
    case 'u': ++at_, n = 4, base = 16, most = 0x10FFFF; break;
    case 'U': ++at_, n = 8, base = 16, most = 0x10FFFF; break;
    default:
      if (c == quote.mark) {
        ++at_;
        return false;
      }
      error(from, c == kEnd ? "escape sequence not terminated" : "unknown escape sequence");
      return false;
  }
  u64 value = 0;
  for (; n > 0; --n) {
    auto d = static_cast<u32>(digit_value(peek()));
    if (peek() == '_' || d >= base) {
      if (peek() == kEnd)
        error(at_, "escape sequence not terminated");
      else
        error(at_, fmt::format("illegal character {} in escape sequence", show_character(character())));
      return false;
    }
    value = value * base + d;
    ++at_;
  }
  if (value > most) error(from, "escape sequence is invalid Unicode code point");
  return false;
}

// `ch` has been passed; passes the rest of the closing quotes and hashes when they are all there.
bool Scanner::closes(int ch, const Quote& quote) {
  if (ch != quote.mark) return false;
  for (int i = 1; i < quote.marks + quote.hashes; ++i) {
    if (peek() != (i < quote.marks ? quote.mark : '#')) return false;
    ++at_;
  }
  return true;
}

std::string_view Scanner::string(std::size_t from, Quote quote, bool continued, Tok& tok) {
  tok = Tok::kString;
  bool at_line_start = false;  // closing quotes of a multi-line string come first on their line
  if (!continued) {
    quote.start = from;
    at_line_start = quote.marks == 3;
  }
  std::size_t line = at_;
  while (true) {
    if (!at_line_start) skip(kPlain);
    int ch = peek();
    if (ch == kEnd || (quote.marks != 3 && ch == '\n')) {
      error(from, "string literal not terminated");
      return without_returns(text_.substr(from, at_ - from));
    }
    std::size_t here = at_;
    advance();
    if ((quote.marks != 3 || at_line_start) && closes(ch, quote)) break;
    if (ch == '\r' && quote.marks == 3) continue;
    if (at_line_start && ch != ' ' && ch != '\t' && quote.marks == 3) {
      std::string_view space = text_.substr(line, here - line);
      if (ch != '\n' || !space.empty()) {
        if (!quote.indented) {
          quote.indent = space;
          quote.indented = true;
        } else {
          std::size_t same = 0;
          while (same < quote.indent.size() && same < space.size() && quote.indent[same] == space[same]) ++same;
          quote.indent = quote.indent.substr(0, same);
        }
      }
    }
    if (ch == '\n') {
      at_line_start = true;
      line = at_;
    } else if (!(quote.marks == 3 && at_line_start && (ch == ' ' || ch == '\t'))) {
      at_line_start = false;
    }
    if (ch == '\\' && escape(quote)) {
      tok = Tok::kInterpolation;
      quotes_.push_back(quote);
      return without_returns(text_.substr(from, at_ + 1 - from));
    }
  }
  if (quote.marks == 3 && quote.indented) {
    std::size_t marks = static_cast<std::size_t>(quote.marks + quote.hashes);
    std::string_view closing = text_.substr(line, at_ - marks - line);
    if (quote.indent.substr(0, closing.size()) != closing)
      error(quote.start, "non-matching whitespace for multiline strings");
  }
  std::string_view all = text_.substr(from, at_ - from);
  return quote.marks == 3 ? without_returns(all) : all;
}

std::string_view Scanner::resume() {
  if (quotes_.empty()) return {};
  Quote quote = quotes_.back();
  quotes_.pop_back();
  Tok tok;
  return string(at_ - 1, quote, true, tok);
}

int Scanner::hashes(int most) {
  int n = 0;
  while (n < most && peek() == '#') ++n, ++at_;
  return n;
}

// After the first quote mark.
Token Scanner::quoted(std::size_t from, char mark, int hash_count) {
  Quote quote;
  quote.mark = mark;
  quote.hashes = hash_count;
  Token t;
  auto simple = [&] {
    t.tok = Tok::kString;
    t.text = text_.substr(from, at_ - from);
    return t;
  };
  // most have nothing in them that means anything else
  std::size_t inside = at_;
  skip(kPlain);
  if (hash_count == 0 && at_ > inside && peek() == mark) {
    ++at_;
    return simple();
  }
  at_ = inside;
  int n = 0;
  while (n < 2 && peek() == mark) ++n, ++at_;
  if (n == 1) {
    // `""` is empty; `#""a""#` begins with a quote
    if (hashes(hash_count) == hash_count) return simple();
  } else if (n == 2) {
    if (hash_count > 0 && hashes(hash_count) == hash_count) return simple();
    quote.marks = 3;
    if (peek() == '\r' && peek(1) == '\n') ++at_;
    if (peek() != '\n') {
      if (peek() == '\r') ++at_;
      error(from, fmt::format("expected newline after multiline quote {}", text_.substr(from, at_ - from)));
      return simple();
    }
    ++at_;
  }
  t.text = string(from, quote, false, t.tok);
  return t;
}

void Scanner::attribute_tokens(Tok close) {
  if (++attribute_depth_ > 1000) {
    error(at_, "attribute nested too deeply");
    at_ = text_.size();
  }
  while (true) {
    Tok tok = next().tok;
    if (tok == close) break;
    if (tok == Tok::kEof) {
      error(at_, fmt::format("attribute missing '{}'", token_text(close)));
      break;
    }
    switch (tok) {
      case Tok::kInterpolation: {
        error(at_, "interpolation not allowed in attribute");
        quotes_.pop_back();
        for (int open = 1; peek() != kEnd && peek() != '\n'; ++at_) {
          if (peek() == '(') ++open;
          if (peek() == ')' && --open == 0) break;
        }
        break;
      }
      case Tok::kLparen: attribute_tokens(Tok::kRparen); break;
      case Tok::kLbrace: attribute_tokens(Tok::kRbrace); break;
      case Tok::kLbrack: attribute_tokens(Tok::kRbrack); break;
      case Tok::kRparen:
      case Tok::kRbrack:
      case Tok::kRbrace: error(at_, fmt::format("unexpected '{}'", token_text(tok))); break;
      default: break;
    }
  }
  --attribute_depth_;
}

Token Scanner::next() {
  skip_space();
  Rel rel = lines_ > 1 ? Rel::kNewSection : lines_ == 1 ? Rel::kNewline : spaces_ > 0 ? Rel::kBlank : Rel::kNoSpace;
  std::size_t from = at_;
  bool had_comma = explicit_comma_;
  bool ends_value = false;
  Token t;
  int c = peek();
  auto two = [&](Tok plain, Tok with_equal) {
    if (peek() != '=') return plain;
    ++at_;
    return with_equal;
  };
  if (c >= '0' && c <= '9') {
    ends_value = true;
    t = number(false);
  } else if (letter() || c == '$' || (c == '#' && peek(1) != '#' && peek(1) != '"' && peek(1) != '\'')) {
    if (c == '#') {
      ++at_;
      if (!digit()) words();
    } else {
      words();
    }
    t.text = text_.substr(from, at_ - from);
    t.tok = keyword(t.text);
    ends_value = true;
  } else {
    if (c != kEnd && c < 0x80) ++at_;
    switch (c) {
      case kEnd:
        if (comma_at_newline_) {
          comma_at_newline_ = false;
          return {Tok::kComma, place(from, Rel::kElided), "\n"};
        }
        t.tok = Tok::kEof;
        break;
      case '_':
        ends_value = true;
        if (peek() == '|' && peek(1) == '_') {
          at_ += 2;
          t.tok = Tok::kBottom;
        } else {
          if (peek() == '#') {
            ++at_;
            if (!digit()) words();
          } else {
            words();
          }
          t.tok = Tok::kIdent;
          if (text_.substr(from, at_ - from) == "__" && peek() == '#') {
            ++at_;
            words();
            t.tok = Tok::kIllegal;
            error(from, fmt::format("illegal token \"{}\"", text_.substr(from, at_ - from)));
          }
        }
        t.text = text_.substr(from, at_ - from);
        break;
      case '\n': {
        comma_at_newline_ = false;
        TokenPos here = place(from, Rel::kElided);
        skip_space();
        // no comma before an explicit one or a colon, so that all JSON is CUE
        if (peek() == ',' || peek() == ':') return next();
        return {Tok::kComma, here, "\n"};
      }
      case '#': {
        int n = 1;
        while (peek() == '#') ++n, ++at_;
        if (peek() != '"' && peek() != '\'') {
          error(from, "illegal character U+0023 '#'");
          ends_value = comma_at_newline_;
          t.text = "#";
          break;
        }
        char mark = text_[at_++];
        ends_value = true;
        t = quoted(from, mark, n);
        break;
      }
      case '"':
      case '\'':
        ends_value = true;
        t = quoted(from, static_cast<char>(c), 0);
        break;
      case '@': {
        ends_value = true;
        words();
        if (next().tok == Tok::kLparen)
          attribute_tokens(Tok::kRparen);
        else
          error(at_, "invalid attribute: expected '('");
        t = {Tok::kAttribute, {}, text_.substr(from, at_ - from)};
        break;
      }
      case ':': t.tok = Tok::kColon; break;
      case ';': t.tok = Tok::kSemicolon, ends_value = true; break;
      case '?': t.tok = Tok::kOption, ends_value = true; break;
      case '~': t.tok = Tok::kTilde; break;
      case '.':
        if (peek() >= '0' && peek() <= '9') {
          ends_value = true;
          t = number(true);
        } else if (peek() == '.') {
          ++at_;
          if (peek() == '.') {
            ++at_;
            t.tok = Tok::kEllipsis;
            ends_value = true;
          } else {
            error(from, "illegal token '..'; expected '.'");
          }
        } else {
          t.tok = Tok::kPeriod;
        }
        break;
      case ',':
        t.tok = Tok::kComma;
        t.text = ",";
        explicit_comma_ = true;
        break;
      case '(': t.tok = Tok::kLparen; break;
      case ')': t.tok = Tok::kRparen, ends_value = true; break;
      case '[': t.tok = Tok::kLbrack; break;
      case ']': t.tok = Tok::kRbrack, ends_value = true; break;
      case '{': t.tok = Tok::kLbrace; break;
      case '}': t.tok = Tok::kRbrace, ends_value = true; break;
      case '+': t.tok = Tok::kAdd; break;
      case '-': t.tok = Tok::kSub; break;
      case '*': t.tok = Tok::kMul; break;
      case '/':
        if (peek() != '/') {
          t.tok = Tok::kQuo;
          break;
        }
        if (comma_at_newline_) {
          at_ = from;
          comma_at_newline_ = false;
          return {Tok::kComma, place(from, Rel::kElided), "\n"};
        }
        while (peek() != kEnd && peek() != '\n') advance();
        t.tok = Tok::kComment;
        t.text = without_returns(text_.substr(from, at_ - from));
        break;
      case '<':
        if (peek() == '-') {
          ++at_;
          t.tok = Tok::kArrow;
        } else {
          t.tok = two(Tok::kLss, Tok::kLeq);
        }
        break;
      case '>': t.tok = two(Tok::kGtr, Tok::kGeq); break;
      case '=':
        if (peek() == '~') {
          ++at_;
          t.tok = Tok::kMat;
        } else {
          t.tok = two(Tok::kBind, Tok::kEql);
        }
        break;
      case '!':
        if (peek() == '~') {
          ++at_;
          t.tok = Tok::kNmat;
        } else {
          t.tok = two(Tok::kNot, Tok::kNeq);
        }
        break;
      case '&':
        t.tok = Tok::kAnd;
        if (peek() == '&') ++at_, t.tok = Tok::kLand;
        break;
      case '|':
        t.tok = Tok::kOr;
        if (peek() == '|') ++at_, t.tok = Tok::kLor;
        break;
      default: {
        if (c == 0) {
          error(from, "illegal character NUL");
          break;
        }
        char32_t wide = c < 0x80 ? static_cast<char32_t>(c) : character();
        if (c >= 0x80) advance();
        if (wide == utf8::kInvalid) wide = 0xFFFD;
        if (wide != kBom) error(from, fmt::format("illegal character {}", show_character(wide)));
        ends_value = comma_at_newline_;
        t.tok = Tok::kIllegal;
        t.text = text_.substr(from, at_ - from);
      }
    }
  }
  comma_at_newline_ = ends_value;
  t.pos = place(from, rel);
  if (had_comma && t.tok != Tok::kComment) {
    t.pos.comma = true;
    if (t.tok != Tok::kComma) explicit_comma_ = false;
  }
  lines_ = spaces_ = 0;
  return t;
}

}  // namespace tutti::cue
