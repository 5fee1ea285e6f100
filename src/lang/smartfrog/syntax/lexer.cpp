#include "lang/smartfrog/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/utf8.h"

namespace tutti::smartfrog {
namespace {

enum : u8 { kStart = 1, kMore = 2, kMoreProduction = 4, kDigit = 8, kSpace = 16 };

constexpr std::array<u8, 256> make_classes() {
  std::array<u8, 256> c{};
  for (int i = 'a'; i <= 'z'; i++) c[i] = kStart | kMore | kMoreProduction;
  for (int i = 'A'; i <= 'Z'; i++) c[i] = kStart | kMore | kMoreProduction;
  for (int i = '0'; i <= '9'; i++) c[i] = kDigit | kMore | kMoreProduction;
  c['_'] = kStart | kMore | kMoreProduction;
  for (unsigned char ch : std::string_view(".-+@#~$%^&")) c[ch] = kMoreProduction;
  for (unsigned char ch : std::string_view(" \t\r\n\f")) c[ch] = kSpace;
  return c;
}
constexpr auto kClass = make_classes();
constexpr u8 class_of(char ch) { return kClass[static_cast<unsigned char>(ch)]; }

struct Keyword {
  std::string_view word;
  Tok tok;
};
constexpr Keyword kCoreWords[] = {{"extends", Tok::kExtends},
                                  {"DATA", Tok::kData},
                                  {"NULL", Tok::kNull},
                                  {"true", Tok::kTrue},
                                  {"false", Tok::kFalse}};
constexpr Keyword kProductionWords[] = {
    {"APPLY", Tok::kApply},
    {"ASSERT", Tok::kAssert},
    {"ATTRIB", Tok::kAttrib},
    {"CONSTANT", Tok::kConstant},
    {"ELSE", Tok::kElse},
    {"ENDSWITCH", Tok::kEndSwitch},
    {"ENVPROPERTY", Tok::kEnvProperty},
    {"FI", Tok::kFi},
    {"HERE", Tok::kHere},
    {"HOST", Tok::kHost},
    {"IENVPROPERTY", Tok::kIntEnvProperty},
    {"IF", Tok::kIf},
    {"IPROPERTY", Tok::kIntProperty},
    {"LAZY", Tok::kLazy},
    {"OPTIONAL", Tok::kOptional},
    {"PARENT", Tok::kParent},
    {"PROCESS", Tok::kProcess},
    {"PROPERTY", Tok::kProperty},
    {"ROOT", Tok::kRoot},
    {"SWITCH", Tok::kSwitch},
    {"TBD", Tok::kTbd},
    {"THEN", Tok::kThen},
    {"THIS", Tok::kThis},
    {"VAR", Tok::kVar},
};

bool is_octal3(std::string_view s, std::size_t i) {
  return i + 2 < s.size() && s[i] >= '0' && s[i] <= '3' && s[i + 1] >= '0' && s[i + 1] <= '7' && s[i + 2] >= '0' &&
         s[i + 2] <= '7';
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The code unit of \u+XXXX at `i` (which is on the backslash), and its end; -1 when there is none.
int unicode_escape(std::string_view s, std::size_t i, std::size_t& end) {
  std::size_t j = i + 1;
  if (j >= s.size() || s[j] != 'u') return -1;
  while (j < s.size() && s[j] == 'u') j++;
  int unit = 0;
  for (int k = 0; k < 4; k++, j++) {
    int d = j < s.size() ? hex_digit(s[j]) : -1;
    if (d < 0) return -1;
    unit = unit * 16 + d;
  }
  end = j;
  return unit;
}

}  // namespace

bool is_production_word(std::string_view word) {
  return std::any_of(std::begin(kProductionWords), std::end(kProductionWords),
                     [&](const Keyword& k) { return k.word == word; });
}

std::string_view token_words(Tok tok) {
  switch (tok) {
    case Tok::kEnd: return "the end of the file";
    case Tok::kWord: return "a name";
    case Tok::kString:
    case Tok::kMultiline: return "a string";
    case Tok::kBytes: return "a byte array";
    case Tok::kInteger:
    case Tok::kLong:
    case Tok::kFloat:
    case Tok::kDouble: return "a number";
    case Tok::kLeftBrace: return "`{`";
    case Tok::kRightBrace: return "`}`";
    case Tok::kLeftBracket: return "`[`";
    case Tok::kRightBracket: return "`]`";
    case Tok::kVectorStart: return "`[|`";
    case Tok::kVectorEnd: return "`|]`";
    case Tok::kLeftParen: return "`(`";
    case Tok::kRightParen: return "`)`";
    case Tok::kComma: return "`,`";
    case Tok::kColon: return "`:`";
    case Tok::kSemicolon: return "`;`";
    case Tok::kUnique: return "`--`";
    case Tok::kInclude:
    case Tok::kIncludeOptional: return "`#include`";
    case Tok::kCodebase: return "`#codebase`";
    case Tok::kExtends: return "`extends`";
    case Tok::kThen: return "`THEN`";
    case Tok::kElse: return "`ELSE`";
    case Tok::kFi: return "`FI`";
    case Tok::kEndSwitch: return "`ENDSWITCH`";
    case Tok::kIf: return "`IF`";
    default: break;
  }
  if (tok >= Tok::kPlus && tok <= Tok::kImplies) return "an operator";
  return tok >= Tok::kData ? "a reserved word" : "this";
}

Lexer::Lexer(Session& session, const Source& source, Level level, std::vector<Comment>* comments)
    : session_(session), source_(source), level_(level), text_(source.text), comments_(comments) {
  if (level == Level::kProduction && text_.find("\\u") != std::string_view::npos) rewrite_unicode();
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

void Lexer::rewrite_unicode() {
  std::string out;
  std::string_view in = text_;
  bool escaped = false;
  for (std::size_t i = 0; i < in.size();) {
    std::size_t end = 0;
    int unit = in[i] == '\\' && !escaped ? unicode_escape(in, i, end) : -1;
    if (unit < 0) {
      escaped = in[i] == '\\' && !escaped;
      out += in[i++];
      continue;
    }
    char32_t c = static_cast<char32_t>(unit);
    std::size_t end2 = 0;
    if (c >= 0xD800 && c < 0xDC00 && end < in.size() && in[end] == '\\') {
      int low = unicode_escape(in, end, end2);
      if (low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + static_cast<char32_t>(low - 0xDC00);
        end = end2;
      }
    }
    if (c >= 0xD800 && c < 0xE000) c = 0xFFFD;
    utf8::append(out, c);
    edits_.push_back({static_cast<u32>(out.size()), static_cast<u32>(end - out.size())});
    escaped = false;
    i = end;
  }
  if (edits_.empty()) return;
  text_ = session_.arena.copy(out);
}

Pos Lexer::mapped(u32 offset) const {
  auto it = std::upper_bound(edits_.begin(), edits_.end(), offset, [](u32 o, const Edit& e) { return o < e.at; });
  return source_.pos(it == edits_.begin() ? offset : offset + (it - 1)->removed);
}

Token Lexer::bad(Token t, u32 end, std::string message, std::string help) {
  t.kind = Tok::kBad;
  t.end = std::max(end, t.begin + 1);
  at_ = std::min<u32>(t.end, static_cast<u32>(text_.size()));
  t.end = at_;
  auto& d = session_.diagnostics.error("SF-PARSE", span(t), std::move(message));
  if (!help.empty()) d.suggest(std::move(help));
  return t;
}

bool Lexer::skip_space(Token& t) {
  u32 newlines = 0;
  for (;;) {
    char c = at(at_);
    if (class_of(c) & kSpace) {
      newlines += c == '\n';
      at_++;
      continue;
    }
    if (c != '/' || (at(at_ + 1) != '/' && at(at_ + 1) != '*')) break;
    u32 from = at_;
    if (at(at_ + 1) == '/') {
      while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') at_++;
    } else {
      std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) {
        t.begin = from;
        return false;
      }
      at_ = static_cast<u32>(end) + 2;
    }
    if (comments_) comments_->push_back({from, at_, newlines > 0, newlines > 1});
    if (newlines > 0) t.line_before = true;
    newlines = 0;
  }
  if (newlines > 0) t.line_before = true;
  return true;
}

Token Lexer::next() {
  Token t;
  if (!skip_space(t)) return bad(t, static_cast<u32>(text_.size()), "this comment is not closed", "end it with `*/`");
  t.begin = t.end = at_;
  if (at_ >= text_.size()) return t;
  char c = text_[at_];
  u8 k = class_of(c);
  bool production = level_ == Level::kProduction;
  if ((k & kStart) || (production && (c == '$' || letter(at_)))) return word(t);
  if (k & kDigit) return number(t, at_);
  auto give = [&](Tok kind, u32 length) {
    t.kind = kind;
    at_ += length;
    t.end = at_;
    return t;
  };
  char d = at(at_ + 1);
  switch (c) {
    case '"': return string(t);
    case '#': return hash(t);
    case '{': return give(Tok::kLeftBrace, 1);
    case '}': return give(Tok::kRightBrace, 1);
    case '[': return production && d == '|' ? give(Tok::kVectorStart, 2) : give(Tok::kLeftBracket, 1);
    case ']': return give(Tok::kRightBracket, 1);
    case ',': return give(Tok::kComma, 1);
    case ':': return give(Tok::kColon, 1);
    case ';': return give(Tok::kSemicolon, 1);
    case '(': return give(Tok::kLeftParen, 1);
    case ')': return give(Tok::kRightParen, 1);
    case '-':
      if (is_digit(d) || (d == '.' && is_digit(at(at_ + 2)))) return number(t, at_ + 1);
      if (production && d == '-') return give(Tok::kUnique, 2);
      if (production && d == '>') return give(Tok::kImplies, 2);
      if (production) return give(Tok::kMinus, 1);
      break;
    case '<':
      if (production && d == '>') return give(Tok::kAppend, 2);
      if (production && d == '=') return give(Tok::kLessEqual, 2);
      return give(Tok::kLess, 1);
    default: break;
  }
  if (production) {
    switch (c) {
      case '.':
        if (is_digit(d)) return number(t, at_);
        break;
      case '+': return d == '+' ? give(Tok::kConcat, 2) : give(Tok::kPlus, 1);
      case '*': return give(Tok::kTimes, 1);
      case '/': return give(Tok::kDivide, 1);
      case '%': return give(Tok::kModulo, 1);
      case '=':
        if (d == '=') return give(Tok::kEqual, 2);
        break;
      case '!': return d == '=' ? give(Tok::kNotEqual, 2) : give(Tok::kNot, 1);
      case '>': return d == '=' ? give(Tok::kGreaterEqual, 2) : give(Tok::kGreater, 1);
      case '&':
        if (d == '&') return give(Tok::kAnd, 2);
        break;
      case '|':
        if (d == '|') return give(Tok::kOr, 2);
        if (d == ']') return give(Tok::kVectorEnd, 2);
        break;
      default: break;
    }
  }
  std::size_t end = at_;
  utf8::decode(text_, end);
  return bad(t, static_cast<u32>(end),
             fmt::format("`{}` begins nothing that SmartFrog knows", text_.substr(at_, end - at_)),
             text_[at_] == '=' ? "an attribute is written `name value;`"
             : production      ? ""
                               : "operators and names with `.` or `-` need --level production");
}

Token Lexer::word(Token t) {
  bool production = level_ == Level::kProduction;
  // `x|` is an operator where it is longer than the name.
  if (production && text_[at_] == 'x' && at(at_ + 1) == '|') {
    at_ += 2;
    t.kind = Tok::kXor;
    t.end = at_;
    return t;
  }
  u8 more = production ? kMoreProduction : kMore;
  u32 i = at_ + 1;
  if (production) {
    while (i < text_.size() && ((class_of(text_[i]) & more) || letter(i))) i++;
  } else {
    while (i < text_.size() && (class_of(text_[i]) & more)) i++;
  }
  std::string_view w = text_.substr(at_, i - at_);
  at_ = t.end = i;
  t.kind = Tok::kWord;
  if (w.size() >= 2 && w.size() <= 12) {
    char c = w[0];
    if (c == 'e' || c == 't' || c == 'f' || c == 'D' || c == 'N') {
      for (const Keyword& k : kCoreWords)
        if (k.word == w) t.kind = k.tok;
    }
    if (production && t.kind == Tok::kWord && c >= 'A' && c <= 'V') {
      for (const Keyword& k : kProductionWords)
        if (k.word == w) t.kind = k.tok;
    }
  }
  if (t.kind == Tok::kWord) t.word = Symbol(w);
  return t;
}

Token Lexer::number(Token t, u32 i) {
  bool production = level_ == Level::kProduction;
  bool fraction = false;
  while (is_digit(at(i))) i++;
  if (at(i) == '.' && (production || is_digit(at(i + 1)))) {
    fraction = true;
    for (i++; is_digit(at(i));) i++;
  }
  if (at(i) == 'e' || at(i) == 'E') {
    u32 j = i + 1;
    if (at(j) == '+' || at(j) == '-') j++;
    if (is_digit(at(j))) {
      fraction = true;
      for (i = j; is_digit(at(i));) i++;
    }
  }
  t.kind = fraction ? Tok::kDouble : Tok::kInteger;
  if (production) {
    char c = at(i);
    if (c == 'd' || c == 'D') t.kind = Tok::kDouble, i++;
    if (c == 'f' || c == 'F') t.kind = Tok::kFloat, i++;
    if (!fraction && (c == 'l' || c == 'L')) t.kind = Tok::kLong, i++;
  } else if (class_of(at(i)) & kStart) {
    while (class_of(at(i)) & kMore) i++;
    return bad(t, i, fmt::format("`{}` is neither a number nor a name", text_.substr(t.begin, i - t.begin)));
  }
  at_ = t.end = i;
  return t;
}

Token Lexer::string(Token t) {
  u32 i = at_ + 1;
  for (;; i++) {
    char c = at(i);
    if (c == '"') break;
    if (i >= text_.size() || c == '\n' || c == '\r')
      return bad(t, i, "this string is not closed",
                 level_ == Level::kProduction ? "text over several lines is written ##...#" : "end it with `\"`");
    if (c == '\\') {
      char e = at(i + 1);
      if (std::string_view("ntbrf\\'\"").find(e) != std::string_view::npos && e != '\0') {
        i++;
      } else if (is_octal3(text_, i + 1)) {
        i += 3;
      } else if (level_ == Level::kCore && e != '\n' && i + 1 < text_.size()) {
        i++;
      } else {
        u32 from = i;
        while (i < text_.size() && text_[i] != '"' && text_[i] != '\n') i++;
        t.begin = from;
        return bad(t, i + (at(i) == '"'), fmt::format("`\\{}` is no escape", e),
                   "the escapes are \\n \\t \\b \\r \\f \\\\ \\' \\\" and three octal digits");
      }
    }
  }
  t.kind = Tok::kString;
  at_ = t.end = i + 1;
  return t;
}

Token Lexer::hash(Token t) {
  std::string_view rest = text_.substr(at_);
  auto give = [&](Tok kind, std::size_t length) {
    t.kind = kind;
    at_ += static_cast<u32>(length);
    t.end = at_;
    return t;
  };
  if (level_ == Level::kProduction) {
    if (rest.starts_with("#include?")) return give(Tok::kIncludeOptional, 9);
    if (rest.starts_with("#codebase")) return give(Tok::kCodebase, 9);
  }
  if (rest.starts_with("#include")) return give(Tok::kInclude, 8);
  if (level_ == Level::kProduction && rest.starts_with("##")) {
    std::size_t i = 2;
    for (; i < rest.size() && rest[i] != '#'; i++) {
      if (rest[i] != '\\') continue;
      if (i + 1 < rest.size() && std::string_view("ntbrf\\'#").find(rest[i + 1]) != std::string_view::npos) {
        i++;
      } else if (is_octal3(rest, i + 1)) {
        i += 3;
      } else {
        return bad(t, at_ + static_cast<u32>(i) + 2, "this escape is not known in a ##...# text");
      }
    }
    if (i >= rest.size())
      return bad(t, static_cast<u32>(text_.size()), "this ##...# text is not closed", "end it with `#`");
    return give(Tok::kMultiline, i + 1);
  }
  for (std::string_view base : {"#HEX#", "#DEC#", "#OCT#", "#BIN#", "#B64#"}) {
    if (level_ != Level::kProduction || !rest.starts_with(base)) continue;
    std::size_t end = rest.find('#', 5);
    if (end == std::string_view::npos) break;
    return give(Tok::kBytes, end + 1);
  }
  return bad(t, at_ + 1, "`#` begins nothing that SmartFrog knows", "did you mean `#include \"file\"`?");
}

std::string_view Lexer::string_value(const Token& t) const {
  std::string_view raw = text(t);
  raw = t.kind == Tok::kMultiline ? raw.substr(2, raw.size() - 3) : raw.substr(1, raw.size() - 2);
  if (raw.find('\\') == std::string_view::npos) return raw;
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); i++) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    i++;
    switch (raw[i]) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'b': out += '\b'; break;
      case 'r': out += '\r'; break;
      case 'f': out += '\f'; break;
      default:
        if (is_octal3(raw, i)) {
          utf8::append(out, static_cast<char32_t>((raw[i] - '0') * 64 + (raw[i + 1] - '0') * 8 + (raw[i + 2] - '0')));
          i += 2;
        } else {
          out += raw[i];
        }
    }
  }
  return session_.arena.copy(out);
}

}  // namespace tutti::smartfrog
