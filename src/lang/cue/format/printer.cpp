#include "lang/cue/format/printer.h"

#include <algorithm>

#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

constexpr int kTabWidth = 8;
constexpr int kMostStringTabs = 6;  // deeper multi-line strings stay as they are indented

TabWriter::Options columns(int spaces) {
  TabWriter::Options o;
  o.tab_width = spaces > 0 ? spaces : kTabWidth;
  o.tab_indent = o.discard_empty_columns = true;
  return o;
}

// 1. as 1.0, .5 as 0.5, 1E3 as 1e3
std::string number_text(Tok kind, std::string_view text) {
  std::string out(text);
  std::size_t dot = out.find('.');
  if (dot != std::string::npos && (dot + 1 == out.size() || out[dot + 1] > '9')) out.insert(dot + 1, "0");
  if (kind == Tok::kFloat && dot == 0) out.insert(0, "0");
  // A last E may come to mean Exa.
  if (std::size_t e = out.find('E'); e != std::string::npos && (kind == Tok::kFloat || e + 1 < out.size()))
    std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return out;
}

// Would the end of one token and the beginning of the next be read as one token, or as other ones?
bool merges(Tok before, std::string_view next) {
  if (before == Tok::kInt) return next == ".";
  if (before == Tok::kAdd) return next.starts_with('+');
  if (before == Tok::kSub) return next.starts_with('-');
  if (before == Tok::kQuo) return next.starts_with('*');
  return false;
}

bool is_word(std::string_view token) { return token[0] >= 'a' && token[0] <= 'z'; }

}  // namespace

Printer::Printer(int spaces) : out_(columns(spaces)), spaces_(spaces) {}

void Printer::place(TokenPos at) {
  if (at.rel == Rel::kNone || (allowed_ & kFixed)) return;
  Spaces s = allowed_;
  if (at.rel == Rel::kNoSpace || at.rel == Rel::kBlank) s &= static_cast<Spaces>(~kLineBreaks);
  if (at.rel == Rel::kBlank) s |= kBlank;
  if (at.rel == Rel::kNewline) s |= kLine;
  if (at.rel == Rel::kNewSection) s |= kSection;
  if (in_comment_) s |= kLine;
  write_space(s);
  allowed_ = 0;
}

void Printer::token(Tok t) {
  std::string_view text = token_text(t);
  bool word = is_word(text);
  if (!spaced_ && (word ? last_ != Tok::kIllegal : merges(last_, text))) allowed_ |= kBlank;
  put(text, t);
  if (word) allowed_ = kBlank;
}

void Printer::literal(Tok kind, std::string_view text) {
  if (kind == Tok::kInt || kind == Tok::kFloat) return put(number_text(kind, text), kind);
  if (kind != Tok::kString || indent_ >= kMostStringTabs) return put(text, kind);
  put(indent_literal(text, indent_ + 1), kind);
}

void Printer::put(std::string_view text, Tok kind) {
  write_space(allowed_);
  allowed_ = 0;
  in_comment_ = false;
  last_ = kind;
  write(text);
}

void Printer::before_comment(Rel rel) {
  if (rel == Rel::kBlank || rel == Rel::kElided) allowed_ |= kBlank;
  if (rel == Rel::kBlank || rel == Rel::kElided || rel == Rel::kNoSpace)
    allowed_ &= static_cast<Spaces>(~(kLineBreaks | kFieldComma));
}

void Printer::comment(TokenPos slash, std::string_view text, bool doc) {
  if (column_ > 0) allow(kCell);
  place(slash);
  put(text, Tok::kComment);
  in_comment_ = true;
  allow(doc ? kLine | kFixed : kLine);
}

void Printer::write_space(Spaces s) {
  bool breaks = s & kLineBreaks;
  if ((s & kComma) && (breaks || !(s & kLastComma))) write(",");
  if (s & kIndent) levels_.push_back(false);
  if (s & kUnindent) end_level();
  if (breaks) {
    if (!(s & kUnindent) && !levels_.empty() && !levels_.back()) {
      levels_.back() = true;
      ++indent_;
    }
    end_line(s & kSection ? 2 : 1, s & (kSection | kNewTable));
  } else if (s & kFieldComma) {
    write(", ");
  } else if (s & kTight) {
    return;
  } else if (s & kCell) {
    out_.end_cell(false);
    ++column_;
  } else if (s & kBlank) {
    write(" ");
  } else {
    return;
  }
  spaced_ = true;
}

void Printer::end_level() {
  if (levels_.empty()) return;
  if (levels_.back()) --indent_;
  levels_.pop_back();
}

void Printer::end_line(int times, bool new_table) {
  for (int i = 0; i < times; ++i) out_.end_line(new_table);
  for (int i = 0; i < indent_; ++i) out_.end_cell(true);
  line_ += static_cast<std::size_t>(times);
  column_ = static_cast<std::size_t>(std::max(0, indent_));
  empty_ = brace_on_line_ = false;
}

void Printer::write(std::string_view text) {
  if (text.empty()) return;
  out_.append(text);
  spaced_ = empty_ = false;
  std::size_t end = text.rfind('\n');
  column_ = end == std::string_view::npos ? column_ + text.size() : text.size() - end - 1;
}

std::string Printer::finish() {
  std::string text = out_.finish();
  if (spaces_ <= 0) return text;
  std::string out;
  out.reserve(text.size());
  for (char c : text)
    if (c == '\t')
      out.append(static_cast<std::size_t>(spaces_), ' ');
    else
      out += c;
  return out;
}

}  // namespace tutti::cue
