// Texts as quoted literals, and labels.
#include <utf8proc.h>

#include <algorithm>

#include "base/utf8.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/syntax/ast.h"

namespace tutti::cue {

namespace {

utf8proc_category_t category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

std::size_t hashes_at(std::string_view s, std::size_t at) {
  return std::min(s.find_first_not_of('#', at), s.size()) - at;
}

class Quoter {
 public:
  Quoter(std::string_view text, const QuoteStyle& style)
      : text_(text),
        style_(style),
        mark_(style.bytes ? '\'' : '"'),
        lines_(style.always_lines || (style.tabs >= 0 && text.find('\n') != std::string_view::npos)) {
    if (lines_) {
      hashes_ = guard_lines();
      indent_.assign(static_cast<std::size_t>(std::max(style.tabs, 0)), '\t');
    } else if (style.hashes) {
      hashes_ = guard_line();
      raw_ = hashes_ > 0;
    }
    escape_ = "\\" + std::string(hashes_, '#');
  }

  std::string run() && {
    quotes(true);
    if (lines_) begin_line(0);
    if (raw_)
      out_ += text_;
    else
      for (std::size_t at = 0; at < text_.size();) character(at);
    if (lines_ && !text_.empty()) out_ += '\n' + indent_;
    quotes(false);
    return std::move(out_);
  }

 private:
  void quotes(bool opening) {
    if (opening) out_.append(hashes_, '#');
    out_.append(lines_ ? 3 : 1, mark_);
    if (!opening) out_.append(hashes_, '#');
  }

  // A line break and the indentation of the line that begins at `at`; an empty line has none.
  void begin_line(std::size_t at) {
    out_ += '\n';
    bool empty = at < text_.size() ? text_[at] == '\n' : at > 0;
    if (!empty) out_ += indent_;
  }

  void character(std::size_t& at) {
    std::size_t from = at;
    char32_t c = utf8::decode(text_, at);
    if (c == utf8::kInvalid)
      invalid(static_cast<unsigned char>(text_[from]));
    else if (c == '\n' && lines_)
      begin_line(at);
    else if (c == '\\' || (c == static_cast<unsigned char>(mark_) && !lines_))
      out_ += escape_ + static_cast<char>(c);
    else if (is_printable(c) && !(style_.ascii && c >= 0x80))
      out_ += text_.substr(from, at - from);
    else
      escaped(c);
  }

  // A byte that is no character: only bytes can have it.
  void invalid(unsigned char byte) {
    if (style_.bytes)
      hex('x', byte, 2);
    else
      utf8::append(out_, 0xFFFD);
  }

  void escaped(char32_t c) {
    static constexpr std::string_view kControl = "abtnvfr";  // 7 to 13
    if (c >= 7 && c <= 13)
      out_ += escape_ + kControl[c - 7];
    else if (c < ' ' && style_.bytes)
      hex('x', c, 2);
    else
      c < 0x10000 ? hex('u', c, 4) : hex('U', c, 8);
  }

  void hex(char letter, char32_t value, int digits) {
    out_ += escape_ + letter;
    while (digits-- > 0) out_ += "0123456789abcdef"[value >> (4 * digits) & 15];
  }

  // Hashes that keep three quotes in the text from ending it.
  std::size_t guard_lines() const {
    std::size_t needed = 0;
    std::string three(3, mark_);
    for (std::size_t at = text_.find(three); at < text_.size(); at = text_.find(three, at)) {
      at = std::min(text_.find_first_not_of(mark_, at), text_.size());
      needed = std::max(needed, hashes_at(text_, at) + 1);
    }
    return needed;
  }

  // Hashes with which nothing of a line needs an escape; none when there is nothing to escape, or something that has
  // no other form.
  std::size_t guard_line() const {
    bool special = text_.find(mark_) != std::string_view::npos || text_.find('\\') != std::string_view::npos;
    bool like_lines = text_.starts_with(std::string(2, mark_));  // as the quotes of a multi-line string
    if (!special || like_lines) return 0;
    std::size_t needed = 1;
    for (std::size_t at = 0; at < text_.size();) {
      char32_t c = utf8::decode(text_, at);
      if (c == utf8::kInvalid || !is_printable(c)) return 0;
      if (c == '\\' || c == static_cast<unsigned char>(mark_)) needed = std::max(needed, hashes_at(text_, at) + 1);
    }
    return needed;
  }

  std::string_view text_;
  const QuoteStyle& style_;
  char mark_;
  bool lines_, raw_ = false;
  std::size_t hashes_ = 0;
  std::string indent_, escape_, out_;
};

bool letter(char32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
  utf8proc_category_t k = category(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool digit(char32_t c) { return c < 0x80 ? c >= '0' && c <= '9' : category(c) == UTF8PROC_CATEGORY_ND; }

}  // namespace

std::string quote(std::string_view text, const QuoteStyle& style) { return Quoter(text, style).run(); }

bool is_printable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c < 0x7F;
  utf8proc_category_t k = category(c);
  bool separator = k == UTF8PROC_CATEGORY_ZS || k == UTF8PROC_CATEGORY_ZL || k == UTF8PROC_CATEGORY_ZP;
  bool other = k == UTF8PROC_CATEGORY_CN || k == UTF8PROC_CATEGORY_CC || k == UTF8PROC_CATEGORY_CF ||
               k == UTF8PROC_CATEGORY_CS || k == UTF8PROC_CATEGORY_CO;
  return !separator && !other;
}

std::string indent_literal(std::string_view literal, int n) {
  std::string indent(static_cast<std::size_t>(n), '\t'), error;
  std::optional<Quotes> q = parse_quotes(literal, literal, error);
  if (!q || !q->multiline || q->indent == indent) return std::string(literal);
  std::string out;
  while (true) {
    std::size_t line = std::min(literal.find('\n'), literal.size());
    out += literal.substr(0, line);
    if (line == literal.size()) return out;
    literal.remove_prefix(line + 1);
    out += '\n';
    if (!literal.starts_with(q->indent)) continue;
    literal.remove_prefix(q->indent.size());
    out += indent;
  }
}

// A letter first, then letters and digits; `_` or `#` in front, and after `_` a digit may come at once.
bool is_identifier(std::string_view name) {
  bool hidden = name.starts_with('_');
  if (name.empty() || name == "_") return !name.empty();
  std::size_t at = hidden ? 1 : 0;
  bool definition = name.substr(at).starts_with('#');
  if (definition) ++at;
  bool digit_allowed = hidden && !definition;
  for (; at < name.size(); digit_allowed = true) {
    if ((name[at] | 0x20) >= 'a' && (name[at] | 0x20) <= 'z') {
      ++at;
      continue;
    }
    char32_t c = utf8::decode(name, at);
    if (c == utf8::kInvalid) return false;
    if (!letter(c) && !(digit_allowed && digit(c))) return false;
  }
  return true;
}

bool label_needs_quotes(std::string_view name) {
  return name.starts_with('#') || name.starts_with('_') || !is_identifier(name);
}

std::string label_name(const ast::Node* label) {
  if (label->kind == ast::Kind::kAlias) label = ast::as<ast::Alias>(label)->x;
  if (label->kind == ast::Kind::kIdent) return std::string(ast::as<ast::Ident>(label)->name.text());
  if (label->kind != ast::Kind::kLit) return {};
  std::string_view text = ast::as<ast::Lit>(label)->text;
  // numbers have no quotes, and what `simplify_labels` has seen may have lost them
  return text.find_first_of("\"'#") == 0 ? unquote(text).text : std::string(text);
}

std::string label_text(std::string_view name) { return label_needs_quotes(name) ? quote(name) : std::string(name); }

}  // namespace tutti::cue
