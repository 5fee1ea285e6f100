#include "lang/cue/format/printer.h"

#include <algorithm>

#include "base/utf8.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/format/tab_writer.h"

namespace tutti::cue {

namespace {

constexpr Space kLineBreaks = kSpNewline | kSpFormFeed | kSpNewSection;

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Numbers in one style: no bare point, small e, 0o for octal.
std::string tidy_number(Tok kind, std::string_view text) {
  std::string s(text);
  std::size_t point = s.find('.');
  auto pad = [&] {
    if (point != std::string::npos && point + 1 < s.size() && s[point + 1] > '9') s.insert(point + 1, "0");
  };
  if (kind == Tok::kInt) {
    if (s.size() > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9') s = "0o" + s.substr(1);
    pad();
    if (std::size_t e = s.find('E'); e != std::string::npos && e + 1 < s.size()) s = lower(s);
    return s;
  }
  if (point == 0)
    s = "0" + s;
  else if (point == s.size() - 1)
    s += "0";
  else
    pad();
  return s.find('E') == std::string::npos ? s : lower(s);
}

}  // namespace

Rel Printer::rel(TokenPos pos) const { return flat_ > 0 && pos.rel >= Rel::kNewline ? Rel::kNone : pos.rel; }

void Printer::place(TokenPos pos) {
  Rel r = rel(pos);
  if (r == Rel::kNone || (allowed_ & kSpNoOverride)) return;
  Space s = allowed_;
  switch (r) {
    case Rel::kNoSpace: s &= ~kLineBreaks; break;
    case Rel::kBlank: s = (s | kSpBlank) & ~kLineBreaks; break;
    case Rel::kNewline: s |= kSpNewline; break;
    case Rel::kNewSection: s |= kSpNewSection; break;
    default: break;
  }
  if (in_comment_) s |= kSpNewline;
  put(s);
  allowed_ = 0;
}

void Printer::emit(std::string_view s, bool literal, Space next) {
  put(allowed_);
  in_comment_ = false;
  text(s, literal);
  allowed_ = next;
}

void Printer::token(Tok t) {
  std::string_view s = token_text(t);
  Space next = 0;
  bool before = false;
  if (s[0] >= 'a' && s[0] < 'z') {  // keywords stand alone
    before = last_ != Tok::kIllegal;
    next = kSpBlank;
  } else {
    before = (last_ == Tok::kInt && t == Tok::kPeriod) || (last_ == Tok::kAdd && s[0] == '+') ||
             (last_ == Tok::kSub && s[0] == '-') || (last_ == Tok::kQuo && s[0] == '*');
  }
  if (before && !space_before_) allowed_ |= kSpBlank;
  last_ = t;
  emit(s, false, next);
}

void Printer::word(std::string_view s, Tok as, bool literal) {
  last_ = as;
  emit(s, literal);
}

void Printer::literal(Tok kind, std::string_view s) {
  std::string data;
  if (kind == Tok::kString)
    data = indent_ < 6 ? indent_literal(s, options_.indent + indent_ + 1) : std::string(s);
  else if (kind == Tok::kInt || kind == Tok::kFloat)
    data = tidy_number(kind, s);
  else
    data = s;
  last_ = kind;
  emit(data, true);
}

void Printer::comment_place(const ast::CommentGroup& group) {
  Rel r = group.line ? Rel::kBlank : group.rel();
  if (r == Rel::kBlank || r == Rel::kElided) allowed_ |= kSpBlank;
  if (r == Rel::kBlank || r == Rel::kElided || r == Rel::kNoSpace) allowed_ &= ~(kLineBreaks | kSpDeclComma);
}

void Printer::comment(std::string_view s) {
  last_ = Tok::kComment;
  emit(s, true);
}

void Printer::end_of_file() {
  allowed_ = kSpNewline;
  last_ = Tok::kEof;
  emit("", false);
}

void Printer::put(Space s) {
  if ((s & kSpComma) && ((s & kLineBreaks) || !(s & kSpTrailComma))) bytes(',', 1);
  if (s & kSpIndent) indents_.push_back(s);
  if (s & kSpUnindent) drop_indent();
  if (s & kSpNewSection) {
    line_break('\f', 2, s);
  } else if (s & kSpFormFeed) {
    line_break('\f', 1, s);
  } else if (s & kSpNewline) {
    line_break('\n', 1, s);
  } else if (s & kSpDeclComma) {
    bytes(',', 1);
    bytes(' ', 1);
    space_before_ = true;
  } else if (s & kSpNoBlank) {
  } else if (s & kSpColumn) {
    bytes('\v', 1);
    space_before_ = true;
  } else if (s & kSpBlank) {
    bytes(' ', 1);
    space_before_ = true;
  }
}

void Printer::line_break(char c, int n, Space s) {
  if (!(s & kSpUnindent) && !indents_.empty()) {
    Space& top = indents_.back();
    if (!(top & kSpIndented) && (top & kSpIndent)) {
      top |= kSpIndented;
      ++indent_;
    }
  }
  out_.append(static_cast<std::size_t>(n), c);
  int tabs = options_.indent + indent_;
  out_.append(static_cast<std::size_t>(std::max(0, tabs)), '\t');
  column_ = 1 + tabs;
  brace_on_line_ = false;
  line_ += n;
  space_before_ = true;
}

void Printer::drop_indent() {
  if (indents_.empty()) return;
  if (indents_.back() & kSpIndented) --indent_;
  indents_.pop_back();
}

void Printer::text(std::string_view s, bool literal) {
  if (!s.empty()) space_before_ = false;
  if (literal) out_ += TabWriter::kEscape;
  out_ += s;
  if (literal) out_ += TabWriter::kEscape;
  std::size_t newline = s.rfind('\n');
  if (newline != std::string_view::npos)
    column_ = static_cast<int>(s.size() - newline);
  else
    column_ += static_cast<int>(s.size());
}

void Printer::bytes(char c, int n) {
  out_.append(static_cast<std::size_t>(n), c);
  column_ += n;
}

std::string Printer::finish() {
  TabWriter::Options o;
  o.tab_width = options_.spaces > 0 ? options_.spaces : 8;
  o.tab_indent = o.discard_empty_columns = o.strip_escape = true;
  TabWriter writer(o);
  writer.write(out_);
  std::string text = writer.finish();
  if (options_.spaces == 0) return text;
  std::string spaced;
  spaced.reserve(text.size() * 2);
  for (char c : text) {
    if (c == '\t')
      spaced.append(static_cast<std::size_t>(options_.spaces), ' ');
    else
      spaced += c;
  }
  return spaced;
}

}  // namespace tutti::cue
