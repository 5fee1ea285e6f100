#include "lang/cue/builtin/template_lexer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "lang/cue/builtin/go_field.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

constexpr char32_t kPastEnd = 0xFFFFFFFE;
constexpr std::string_view kSpaces = " \t\r\n", kOpen = "{{", kClose = "}}";
constexpr std::size_t kTrimMarker = 2;  // the - and the space beside it

struct Keyword {
  std::string_view word;
  TemplateToken::Kind kind;
};
constexpr Keyword kKeywords[] = {
    {"block", TemplateToken::kBlock},
    {"break", TemplateToken::kBreak},
    {"continue", TemplateToken::kContinue},
    {"define", TemplateToken::kDefine},
    {"else", TemplateToken::kElse},
    {"end", TemplateToken::kEndWord},
    {"if", TemplateToken::kIf},
    {"range", TemplateToken::kRange},
    {"nil", TemplateToken::kNil},
    {"template", TemplateToken::kTemplate},
    {"with", TemplateToken::kWith},
};

bool is_template_space(char32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Letters and digits of any script, and _.
bool is_word(char32_t c) {
  if (c < 0x80) return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  if (c > 0x10FFFF) return false;
  std::string s = "_";
  utf8::append(s, c);
  return is_identifier(s);
}

bool has_left_trim(std::string_view s) { return s.size() >= 2 && s[0] == '-' && kSpaces.find(s[1]) != s.npos; }
bool has_right_trim(std::string_view s) { return s.size() >= 2 && s[1] == '-' && kSpaces.find(s[0]) != s.npos; }

std::size_t spaces_at_begin(std::string_view s) { return std::min(s.find_first_not_of(kSpaces), s.size()); }

std::string code_point(char32_t c) {
  GoField f;
  f.sharp = true;
  std::string out;
  f.unicode(out, c);
  return out;
}

}  // namespace

std::string TemplateToken::shown() const {
  if (kind == kEnd) return "EOF";
  if (kind == kError) return text;
  if (kind > kKeyword) return "<" + text + ">";
  GoField f;
  f.has_precision = true;
  f.precision = 10;
  return text.size() > 10 ? go_quote(f.truncated(text)) + "..." : go_quote(text);
}

char32_t TemplateLexer::peek() const {
  if (at_ >= source_.size()) return kPastEnd;
  std::size_t i = at_;
  char32_t c = utf8::decode(source_, i);
  return c == utf8::kInvalid ? 0xFFFD : c;
}

char32_t TemplateLexer::take() {
  char32_t c = peek();
  if (c != kPastEnd) utf8::decode(source_, at_);
  return c;
}

bool TemplateLexer::accept(std::string_view any) {
  if (at_ >= source_.size() || any.find(source_[at_]) == any.npos) return false;
  ++at_;
  return true;
}

void TemplateLexer::accept_run(std::string_view any) {
  while (accept(any)) {
  }
}

std::size_t TemplateLexer::line() {
  if (start_ > counted_) {
    line_ += static_cast<std::size_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                                 source_.begin() + static_cast<std::ptrdiff_t>(start_), '\n'));
    counted_ = start_;
  }
  return line_;
}

TemplateToken TemplateLexer::made(Kind kind) {
  TemplateToken t{kind, start_, std::string(source_.substr(start_, at_ - start_)), line()};
  start_ = at_;
  return t;
}

TemplateToken TemplateLexer::error(std::string what) {
  TemplateToken t{TemplateToken::kError, start_, std::move(what), line()};
  start_ = at_ = source_.size();  // nothing comes after it
  inside_ = false;
  return t;
}

TemplateToken TemplateLexer::next() { return inside_ ? inside() : text(); }

TemplateToken TemplateLexer::text() {
  std::size_t open = rest().find(kOpen);
  if (open == std::string_view::npos) {
    at_ = source_.size();
    return made(at_ > start_ ? TemplateToken::kText : TemplateToken::kEnd);
  }
  std::size_t to = at_ + open;
  std::string_view before = source_.substr(start_, open);
  if (has_left_trim(source_.substr(to + kOpen.size()))) before = before.substr(0, before.find_last_not_of(kSpaces) + 1);
  at_ = start_ + before.size();
  TemplateToken t = made(TemplateToken::kText);
  at_ = to;
  ignore();
  return before.empty() ? left_delimiter() : t;
}

TemplateToken TemplateLexer::left_delimiter() {
  at_ += kOpen.size();
  std::size_t marker = has_left_trim(rest()) ? kTrimMarker : 0;
  if (rest().substr(marker).starts_with("/*")) {
    at_ += marker;
    ignore();
    return comment();
  }
  TemplateToken t = made(TemplateToken::kLeftDelimiter);
  inside_ = true;
  at_ += marker;
  ignore();
  parens_ = 0;
  return t;
}

TemplateToken TemplateLexer::comment() {
  std::size_t end = source_.find("*/", at_ + 2);
  if (end == std::string_view::npos) return error("unclosed comment");
  at_ = end + 2;
  bool trims = false;
  if (!at_right_delimiter(trims)) return error("comment ends before closing delimiter");
  at_ += (trims ? kTrimMarker : 0) + kClose.size();
  if (trims) at_ += spaces_at_begin(rest());
  ignore();
  return text();
}

bool TemplateLexer::at_right_delimiter(bool& trims) const {
  trims = has_right_trim(rest()) && rest().substr(kTrimMarker).starts_with(kClose);
  return trims || rest().starts_with(kClose);
}

TemplateToken TemplateLexer::right_delimiter() {
  bool trims = false;
  at_right_delimiter(trims);
  if (trims) {
    at_ += kTrimMarker;
    ignore();
  }
  at_ += kClose.size();
  TemplateToken t = made(TemplateToken::kRightDelimiter);
  if (trims) {
    at_ += spaces_at_begin(rest());
    ignore();
  }
  inside_ = false;
  return t;
}

TemplateToken TemplateLexer::inside() {
  bool trims = false;
  if (at_right_delimiter(trims)) return parens_ == 0 ? right_delimiter() : error("unclosed left paren");
  char32_t c = peek();
  if (c == kPastEnd) return error("unclosed action");
  if (is_template_space(c)) return space();
  if (c == '+' || c == '-' || (c >= '0' && c <= '9')) return number();
  if (is_word(c)) return word();
  take();
  switch (c) {
    case '=': return made(TemplateToken::kAssign);
    case ':': return accept("=") ? made(TemplateToken::kDeclare) : error("expected :=");
    case '|': return made(TemplateToken::kPipe);
    case '"': return quoted('"', TemplateToken::kString, "quoted string");
    case '`': return raw_string();
    case '$': return field_or_variable(TemplateToken::kVariable);
    case '\'': return quoted('\'', TemplateToken::kCharacter, "character constant");
    case '.':
      if (at_ < source_.size() && (source_[at_] < '0' || source_[at_] > '9'))
        return field_or_variable(TemplateToken::kField);
      --at_;
      return number();
    case '(': ++parens_; return made(TemplateToken::kLeftParen);
    case ')':
      if (parens_ == 0) return error("unexpected right paren");
      --parens_;
      return made(TemplateToken::kRightParen);
    default: break;
  }
  if (c > ' ' && c < 0x7F) return made(TemplateToken::kChar);
  return error("unrecognized character in action: " + code_point(c));
}

TemplateToken TemplateLexer::space() {
  at_ += spaces_at_begin(rest());
  // The last one may belong to a marker that trims.
  std::string_view last = source_.substr(at_ - 1);
  if (has_right_trim(last) && last.substr(kTrimMarker).starts_with(kClose) && --at_ == start_) return right_delimiter();
  return made(TemplateToken::kSpace);
}

TemplateToken TemplateLexer::word() {
  while (is_word(peek())) take();
  if (!at_terminator()) return error("bad character " + code_point(peek()));
  std::string_view w = source_.substr(start_, at_ - start_);
  for (const Keyword& k : kKeywords)
    if (w == k.word) return made(k.kind);
  return made(w == "true" || w == "false" ? TemplateToken::kBool : TemplateToken::kIdentifier);
}

TemplateToken TemplateLexer::field_or_variable(Kind kind) {
  if (at_terminator()) return made(kind == TemplateToken::kVariable ? kind : TemplateToken::kDot);
  while (is_word(peek())) take();
  if (!at_terminator()) return error("bad character " + code_point(peek()));
  return made(kind);
}

bool TemplateLexer::at_terminator() const {
  char32_t c = peek();
  return c == kPastEnd || is_template_space(c) ||
         (c < 0x80 && std::string_view(".,|:)(").find(static_cast<char>(c)) != std::string_view::npos) ||
         rest().starts_with(kClose);
}

TemplateToken TemplateLexer::quoted(char mark, Kind kind, std::string_view what) {
  for (;;) {
    char32_t c = take();
    if (c == '\\') {
      c = take();
      if (c != kPastEnd && c != '\n') continue;
    }
    if (c == kPastEnd || c == '\n') return error(fmt::format("unterminated {}", what));
    if (c == static_cast<char32_t>(mark)) return made(kind);
  }
}

TemplateToken TemplateLexer::raw_string() {
  std::size_t end = source_.find('`', at_);
  if (end == std::string_view::npos) return error("unterminated raw quoted string");
  at_ = end + 1;
  return made(TemplateToken::kRawString);
}

TemplateToken TemplateLexer::number() {
  auto bad = [&] { return error("bad number syntax: " + go_quote(source_.substr(start_, at_ - start_))); };
  if (!scan_number()) return bad();
  if (peek() != '+' && peek() != '-') return made(TemplateToken::kNumber);
  if (!scan_number() || source_[at_ - 1] != 'i') return bad();
  return made(TemplateToken::kComplex);
}

bool TemplateLexer::scan_number() {
  accept("+-");
  std::string_view digits = "0123456789_";
  char base = 'd';
  if (accept("0")) {
    if (accept("xX")) {
      digits = "0123456789abcdefABCDEF_";
      base = 'x';
    } else if (accept("oO")) {
      digits = "01234567_";
      base = 'o';
    } else if (accept("bB")) {
      digits = "01_";
      base = 'b';
    }
  }
  accept_run(digits);
  if (accept(".")) accept_run(digits);
  if ((base == 'd' && accept("eE")) || (base == 'x' && accept("pP"))) {
    accept("+-");
    accept_run("0123456789_");
  }
  accept("i");
  if (is_word(peek())) {
    take();
    return false;
  }
  return true;
}

}  // namespace tutti::cue
