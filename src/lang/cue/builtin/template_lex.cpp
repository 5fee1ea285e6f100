// The items of Go's templates.
#include "lang/cue/builtin/template_lex.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue::templates {

namespace {
constexpr std::string_view kLeft = "{{", kRight = "}}", kSpaces = " \t\r\n";
constexpr std::size_t kTrim = 2;  // of the marker "- " or " -"

bool is_space(char c) { return kSpaces.find(c) != std::string_view::npos; }
bool wide_word(char32_t c) {
  utf8proc_category_t k = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return (k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO) || k == UTF8PROC_CATEGORY_ND;
}
bool is_word(char32_t c) {
  return c != utf8::kInvalid && (c == '_' || (c < 0x80 ? std::isalnum(static_cast<int>(c)) != 0 : wide_word(c)));
}
std::string rune_name(char32_t c) {
  if (c == utf8::kInvalid) c = 0xFFFD;
  std::string out = fmt::format("U+{:04X}", static_cast<u32>(c));
  if (is_printable(c)) {
    out += " '";
    utf8::append(out, c);
    out += "'";
  }
  return out;
}
}  // namespace

std::string Item::shown() const {
  if (kind == kEof) return "EOF";
  if (kind == kError) return val;
  if (kind > kKeyword) return "<" + val + ">";
  std::size_t runes = 0, at = 0;
  while (at < val.size() && runes < 10) utf8::decode(val, at), ++runes;
  if (val.size() > 10) return go_quote(val.substr(0, at)) + "...";
  return go_quote(val);
}

Item Lexer::next() {
  while (items_.empty()) step();
  Item i = std::move(items_.front());
  items_.pop_front();
  return i;
}

void Lexer::emit(Item::Kind kind) {
  std::string val(in_.substr(start_, pos_ - start_));
  items_.push_back({kind, start_, val, start_line_});
  ignore();
}

void Lexer::ignore() {
  line_ += static_cast<int>(
      std::count(in_.begin() + static_cast<long>(start_), in_.begin() + static_cast<long>(pos_), '\n'));
  start_ = pos_;
  start_line_ = line_;
}

void Lexer::fail(std::string what) {
  items_.push_back({Item::kError, start_, std::move(what), start_line_});
  state_ = In::kDone;
  in_ = in_.substr(0, 0);
  pos_ = start_ = 0;
}

char32_t Lexer::rune(std::size_t& at) const { return utf8::decode(in_, at); }

void Lexer::step() {
  switch (state_) {
    case In::kText: return text();
    case In::kLeftDelim: return left_delim();
    case In::kAction: return inside();
    case In::kRightDelim: return right_delim();
    case In::kDone: items_.push_back({Item::kEof, pos_, "EOF", start_line_}); return;
  }
}

void Lexer::text() {
  std::size_t open = in_.find(kLeft, pos_);
  if (open == std::string_view::npos) {
    pos_ = in_.size();
    if (pos_ > start_) emit(Item::kText);
    state_ = In::kDone;
    return;
  }
  if (open > pos_) {
    std::size_t end = open;
    std::size_t after = open + kLeft.size();
    if (after + 1 < in_.size() && in_[after] == '-' && is_space(in_[after + 1]))
      while (end > start_ && is_space(in_[end - 1])) --end;
    pos_ = end;
    if (pos_ > start_) emit(Item::kText);
    pos_ = open;
    ignore();
  }
  state_ = In::kLeftDelim;
}

void Lexer::left_delim() {
  pos_ += kLeft.size();
  bool trims = pos_ + 1 < in_.size() && in_[pos_] == '-' && is_space(in_[pos_ + 1]);
  std::size_t after = trims ? kTrim : 0;
  if (in_.substr(pos_ + after).starts_with("/*")) {
    pos_ += after;
    ignore();
    return comment();
  }
  emit(Item::kLeftDelim);
  pos_ += after;
  ignore();
  parens_ = 0;
  state_ = In::kAction;
}

void Lexer::comment() {
  std::size_t end = in_.find("*/", pos_ + 2);
  if (end == std::string_view::npos) return fail("unclosed comment");
  pos_ = end + 2;
  bool trims = false;
  if (!at_right_delim(trims)) return fail("comment ends before closing delimiter");
  pos_ += (trims ? kTrim : 0) + kRight.size();
  if (trims)
    while (pos_ < in_.size() && is_space(in_[pos_])) ++pos_;
  ignore();
  state_ = In::kText;
}

bool Lexer::at_right_delim(bool& trims) const {
  std::string_view rest = in_.substr(pos_);
  trims = rest.size() >= kTrim && is_space(rest[0]) && rest[1] == '-' && rest.substr(kTrim).starts_with(kRight);
  return trims || rest.starts_with(kRight);
}

void Lexer::right_delim() {
  bool trims = false;
  at_right_delim(trims);
  if (trims) {
    pos_ += kTrim;
    ignore();
  }
  pos_ += kRight.size();
  emit(Item::kRightDelim);
  if (trims) {
    while (pos_ < in_.size() && is_space(in_[pos_])) ++pos_;
    ignore();
  }
  state_ = In::kText;
}

void Lexer::inside() {
  bool trims = false;
  if (at_right_delim(trims)) {
    if (parens_ == 0)
      state_ = In::kRightDelim;
    else
      fail("unclosed left paren");
    return;
  }
  if (pos_ >= in_.size()) return fail("unclosed action");
  char c = in_[pos_];
  if (is_space(c)) return spaces();
  std::size_t at = pos_;
  char32_t r = rune(at);
  switch (c) {
    case '=': ++pos_; return emit(Item::kAssign);
    case ':':
      if (in_.substr(pos_, 2) != ":=") return fail("expected :=");
      pos_ += 2;
      return emit(Item::kDeclare);
    case '|': ++pos_; return emit(Item::kPipe);
    case '"': return quoted('"', Item::kString, "unterminated quoted string");
    case '\'': return quoted('\'', Item::kCharConstant, "unterminated character constant");
    case '`': return raw();
    case '$': ++pos_; return field_or_variable(Item::kVariable);
    case '.':
      if (pos_ + 1 < in_.size() && (in_[pos_ + 1] < '0' || in_[pos_ + 1] > '9')) {
        ++pos_;
        return field_or_variable(Item::kField);
      }
      return number();
    case '(': ++pos_, ++parens_; return emit(Item::kLeftParen);
    case ')':
      ++pos_;
      if (--parens_ < 0) return fail("unexpected right paren");
      return emit(Item::kRightParen);
    default: break;
  }
  if (c == '+' || c == '-' || (c >= '0' && c <= '9')) return number();
  if (is_word(r)) return identifier();
  if (r < 0x80 && r >= 0x20 && r != 0x7F) {
    ++pos_;
    return emit(Item::kChar);
  }
  fail("unrecognized character in action: " + rune_name(r));
}

void Lexer::spaces() {
  std::size_t many = 0;
  while (pos_ < in_.size() && is_space(in_[pos_])) ++pos_, ++many;
  // A minus after the last space may belong to the end of the action.
  if (in_.substr(pos_).starts_with("-}}")) {
    --pos_;
    if (many == 1) {
      state_ = In::kRightDelim;
      return;
    }
  }
  emit(Item::kSpace);
}

bool Lexer::at_terminator() const {
  if (pos_ >= in_.size() || is_space(in_[pos_])) return true;
  return std::string_view(".,|:)(").find(in_[pos_]) != std::string_view::npos || in_.substr(pos_).starts_with(kRight);
}

void Lexer::identifier() {
  for (;;) {
    std::size_t at = pos_;
    if (at >= in_.size() || !is_word(rune(at))) break;
    pos_ = at;
  }
  if (!at_terminator()) {
    std::size_t at = pos_;
    return fail("bad character " + rune_name(rune(at)));
  }
  std::string_view word = in_.substr(start_, pos_ - start_);
  static constexpr std::pair<std::string_view, Item::Kind> kWords[] = {
      {"block", Item::kBlock},   {"break", Item::kBreak},       {"continue", Item::kContinue},
      {"define", Item::kDefine}, {"else", Item::kElse},         {"end", Item::kEnd},
      {"if", Item::kIf},         {"range", Item::kRange},       {"nil", Item::kNil},
      {"with", Item::kWith},     {"template", Item::kTemplate}, {"true", Item::kBool},
      {"false", Item::kBool}};
  auto it = std::ranges::find(kWords, word, [](const auto& p) { return p.first; });
  emit(it == std::end(kWords) ? Item::kIdentifier : it->second);
}

void Lexer::field_or_variable(Item::Kind kind) {
  if (at_terminator()) return emit(kind == Item::kVariable ? Item::kVariable : Item::kDot);
  for (;;) {
    std::size_t at = pos_;
    if (at >= in_.size() || !is_word(rune(at))) break;
    pos_ = at;
  }
  if (!at_terminator()) {
    std::size_t at = pos_;
    return fail("bad character " + rune_name(rune(at)));
  }
  emit(kind);
}

void Lexer::quoted(char mark, Item::Kind kind, const char* wrong) {
  ++pos_;
  for (; pos_ < in_.size() && in_[pos_] != '\n'; ++pos_) {
    if (in_[pos_] == mark) {
      ++pos_;
      return emit(kind);
    }
    if (in_[pos_] == '\\' && pos_ + 1 < in_.size() && in_[pos_ + 1] != '\n') ++pos_;
  }
  fail(wrong);
}

void Lexer::raw() {
  std::size_t end = in_.find('`', pos_ + 1);
  if (end == std::string_view::npos) return fail("unterminated raw quoted string");
  pos_ = end + 1;
  emit(Item::kRawString);
}

bool Lexer::accept(std::string_view any) {
  if (pos_ >= in_.size() || any.find(in_[pos_]) == std::string_view::npos) return false;
  ++pos_;
  return true;
}

void Lexer::accept_run(std::string_view any) {
  while (accept(any)) {
  }
}

bool Lexer::scan_number() {
  accept("+-");
  std::string_view digits = "0123456789_";
  bool hex = false;
  if (accept("0")) {
    if (accept("xX"))
      digits = "0123456789abcdefABCDEF_", hex = true;
    else if (accept("oO"))
      digits = "01234567_";
    else if (accept("bB"))
      digits = "01_";
  }
  accept_run(digits);
  if (accept(".")) accept_run(digits);
  if (digits.size() == 11 && accept("eE")) {
    accept("+-");
    accept_run("0123456789_");
  }
  if (hex && accept("pP")) {
    accept("+-");
    accept_run("0123456789_");
  }
  accept("i");
  std::size_t at = pos_;
  if (at < in_.size() && is_word(rune(at))) {
    pos_ = at;
    return false;
  }
  return true;
}

void Lexer::number() {
  auto wrong = [&] { fail("bad number syntax: " + go_quote(in_.substr(start_, pos_ - start_))); };
  if (!scan_number()) return wrong();
  if (pos_ < in_.size() && (in_[pos_] == '+' || in_[pos_] == '-')) {
    if (!scan_number() || in_[pos_ - 1] != 'i') return wrong();
    return emit(Item::kComplex);
  }
  emit(Item::kNumber);
}

}  // namespace tutti::cue::templates
