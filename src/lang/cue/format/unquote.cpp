// What quoted literals mean.
#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "lang/cue/format/literal.h"

namespace tutti::cue {

namespace {

constexpr char kMalformed[] = "invalid syntax";
constexpr char kUnmatched[] = "invalid string: unmatched quote";
constexpr char kSurrogate[] = "unmatched surrogate pair";

constexpr std::size_t kEnd = std::string_view::npos;

// What stands after the backslash of an escape, and what it means.
constexpr std::pair<char, char> kEscapes[] = {{'a', '\a'}, {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'},
                                              {'t', '\t'}, {'v', '\v'}, {'/', '/'},  {'\\', '\\'}};

std::size_t count_of(char c, std::string_view s) { return std::min(s.find_first_not_of(c), s.size()); }

bool is_space(char32_t c) {
  return (c >= '\t' && c <= '\r') || c == 0x85 ||
         utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ZS;
}

std::string_view blanks(std::string_view s) { return s.substr(0, std::min(s.find_first_not_of(" \t"), s.size())); }

// Is the line that begins here empty?
bool blank_line(std::string_view s) { return s.starts_with('\n') || s.starts_with("\r\n"); }

std::string indentation_error(std::string_view wanted, std::string_view line) {
  return "invalid string: non-matching whitespace for multiline string (expected " + quote(wanted) + ", got " +
         quote(blanks(line)) + ")";
}

// Reads numbers in escapes; a failed read leaves nothing to go on with.
struct Digits {
  std::string_view& rest;

  std::optional<char32_t> read(std::size_t count, int base) {
    if (rest.size() < count) return std::nullopt;
    char32_t value = 0;
    for (char c : rest.substr(0, count)) {
      int d = digit_value(c);
      if (d < 0 || d >= base) return std::nullopt;
      value = value * static_cast<char32_t>(base) + static_cast<char32_t>(d);
    }
    rest.remove_prefix(count);
    return value;
  }
};

// The text of one part of a literal, without the quotes or the interpolation that end it.
class Part {
 public:
  Part(const Quotes& q, std::string_view text)
      : q_(q),
        rest_(text),
        mark_(q.bytes ? '\'' : '"'),
        fence_(std::string(q.multiline ? 3 : 1, mark_) + std::string(static_cast<std::size_t>(q.hashes), '#')),
        escape_("\\" + std::string(static_cast<std::size_t>(q.hashes), '#')) {}

  Unquoted read() {
    if (!take_end() || !decode()) return {"", error_};
    return {std::move(out_), ""};
  }

 private:
  bool fail(std::string why = kMalformed) {
    error_ = std::move(why);
    return false;
  }

  // Takes off what ends the part. Of the last line of a multi-line string nothing is left: its line break and
  // indentation belong to the quotes.
  bool take_end() {
    std::string_view all = rest_;
    std::string opening = escape_ + "(";
    if (all.ends_with(fence_)) {
      rest_.remove_suffix(fence_.size());
      if (!q_.multiline) return true;
      std::string last = "\n" + std::string(q_.indent);
      if (!rest_.ends_with(last)) return true;
      rest_.remove_suffix(last.size());
      if (rest_.ends_with('\r')) rest_.remove_suffix(1);
      last_line_ = true;
      return true;
    }
    if (!all.ends_with(opening)) return fail(kUnmatched);
    rest_.remove_suffix(opening.size());
    interpolates_ = true;
    return true;
  }

  bool decode() {
    bool line_start = true;
    while (!rest_.empty()) {
      // Quotes end a line's string anywhere, that of several lines only at the beginning of one.
      if (rest_.starts_with(fence_) && (line_start || !q_.multiline)) return fail();
      line_start = false;
      unsigned char c = static_cast<unsigned char>(rest_[0]);
      if (c == '\n') {
        if (!q_.multiline) return fail();
        out_ += '\n';
        if (!next_line()) return false;
        line_start = true;
      } else if (rest_.starts_with(escape_)) {
        if (!escaped()) return false;
      } else if (c == 0) {
        return fail();
      } else if (c < 0x80) {
        if (c != '\r') out_ += rest_[0];
        rest_.remove_prefix(1);
      } else {
        std::size_t size = 0;
        if (utf8::decode(rest_, size) == utf8::kInvalid) return fail("invalid UTF-8 encoding");
        out_ += rest_.substr(0, size);
        rest_.remove_prefix(size);
      }
    }
    return true;
  }

  // Past a line break and the indentation after it, which only an empty line may lack.
  bool next_line() {
    rest_.remove_prefix(1);
    if (rest_.starts_with(q_.indent))
      rest_.remove_prefix(q_.indent.size());
    else if (!rest_.empty() && !blank_line(rest_))
      return fail(indentation_error(q_.indent, rest_));
    return true;
  }

  bool escaped() {
    rest_.remove_prefix(escape_.size());
    if (rest_.empty()) {
      if (last_line_) return fail("last newline of multiline string cannot be escaped");
      return fail(interpolates_ ? kMalformed : kUnmatched);
    }
    if (blank_line(rest_)) {
      if (!q_.multiline) return fail();
      if (rest_[0] == '\r') rest_.remove_prefix(1);
      return next_line();
    }
    char c = rest_[0];
    for (auto [letter, meaning] : kEscapes)
      if (c == letter) return put(meaning);
    if (c == mark_) return put(c);
    if (c == 'u' || c == 'U') return code_point(c == 'u' ? 4 : 8);
    if (!q_.bytes) return fail();
    if (c == 'x') return byte(1, 2, 16);
    return byte(0, 3, 8);
  }

  bool put(char c) {
    out_ += c;
    rest_.remove_prefix(1);
    return true;
  }

  bool byte(std::size_t skip, std::size_t count, int base) {
    rest_.remove_prefix(skip);
    std::optional<char32_t> v = Digits{rest_}.read(count, base);
    if (!v || *v > 0xFF) return fail();
    out_ += static_cast<char>(*v);
    return true;
  }

  bool code_point(std::size_t digits) {
    rest_.remove_prefix(1);
    std::optional<char32_t> v = Digits{rest_}.read(digits, 16);
    if (!v || *v > 0x10FFFF) return fail();
    bool high = *v >= 0xD800 && *v < 0xDC00, low = *v >= 0xDC00 && *v < 0xE000;
    if (low) return fail(kSurrogate);
    if (high) {  // the other half must follow
      if (!rest_.starts_with(escape_ + "u")) return fail(kSurrogate);
      rest_.remove_prefix(escape_.size() + 1);
      std::optional<char32_t> second = Digits{rest_}.read(4, 16);
      if (!second || *second < 0xDC00 || *second >= 0xE000) return fail(kSurrogate);
      v = 0x10000 + ((*v & 0x3FF) << 10 | (*second & 0x3FF));
    }
    utf8::append(out_, *v);
    return true;
  }

  const Quotes& q_;
  std::string_view rest_;
  char mark_;
  std::string fence_, escape_;
  bool interpolates_ = false, last_line_ = false;
  std::string out_, error_;
};

// The white space after the last line break of a text; nothing when something else is there too.
std::optional<std::string_view> last_indentation(std::string_view s) {
  std::size_t line = s.rfind('\n');
  if (line == kEnd) return std::nullopt;
  std::string_view last = s.substr(line + 1);
  for (std::size_t i = 0; i < last.size();)
    if (!is_space(utf8::decode(last, i))) return std::nullopt;
  return last;
}

// Nothing but plain characters: most literals.
bool is_plain(std::string_view s) {
  static constexpr auto kOther = [] {
    std::array<bool, 256> out{};
    for (char c : {'\\', '"', '\'', '\n', '\r', '\0'}) out[static_cast<unsigned char>(c)] = true;
    std::fill(out.begin() + 0x80, out.end(), true);
    return out;
  }();
  bool other = false;
  for (char c : s) other |= kOther[static_cast<unsigned char>(c)];  // to the end: it is short
  return !other;
}

}  // namespace

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<Quotes> parse_quotes(std::string_view start, std::string_view end, std::string& error) {
  auto wrong = [&](const char* why) {
    error = why;
    return std::nullopt;
  };
  Quotes q;
  std::size_t hashes = count_of('#', start);
  q.hashes = static_cast<int>(hashes);
  std::string_view quoted = start.substr(hashes);
  if (!quoted.starts_with('"') && !quoted.starts_with('\'')) return wrong(kMalformed);
  q.bytes = quoted[0] == '\'';
  std::string three(3, quoted[0]);
  // Three quotes open a multi-line string, unless they are an empty one and the first of a ## that closes it.
  q.multiline = quoted.size() > 3 && quoted.starts_with(three) && quoted[3] != '#';
  q.opening = hashes + (q.multiline ? 3 : 1);
  if (q.multiline) {
    if (!blank_line(quoted.substr(3)))
      return wrong("invalid string: opening quote of multiline string must be followed by newline");
    q.opening += quoted[3] == '\r' ? 2 : 1;
  }
  std::string fence = (q.multiline ? three : three.substr(0, 1)) + std::string(hashes, '#');
  q.closing = fence.size();
  if (!end.ends_with(fence)) return wrong(kUnmatched);
  if (!q.multiline) return q;
  std::optional<std::string_view> indent = last_indentation(end.substr(0, end.size() - fence.size()));
  if (!indent) return wrong("invalid string: closing quote of multiline string must follow a newline");
  q.indent = *indent;
  std::string_view first_line = start.substr(q.opening);
  if (first_line.starts_with(q.indent)) {
    q.opening += q.indent.size();
  } else if (!first_line.empty() && !blank_line(first_line)) {
    error = indentation_error(q.indent, first_line);
    return std::nullopt;
  }
  return q;
}

Unquoted unquote_part(const Quotes& quotes, std::string_view part) {
  if (!quotes.multiline && quotes.hashes == 0) {  // most stand for themselves, to their end or the next interpolation
    std::size_t end = part.ends_with("\\(") ? 2 : part.ends_with(quotes.bytes ? '\'' : '"') ? 1 : 0;
    std::string_view inner = part.substr(0, part.size() - end);
    if (end > 0 && is_plain(inner)) return {std::string(inner), ""};
  }
  return Part(quotes, part).read();
}

bool is_plain_string(std::string_view literal, std::string_view& inside) {
  if (literal.size() < 2 || literal.front() != '"' || literal.back() != '"') return false;
  inside = literal.substr(1, literal.size() - 2);
  return is_plain(inside);
}

Unquoted unquote(std::string_view literal) {
  std::string error;
  std::optional<Quotes> q = parse_quotes(literal, literal, error);
  if (!q) return {"", error};
  if (literal.size() < q->opening + q->closing) return {"", q->multiline ? kMalformed : kUnmatched};
  std::string_view inner = literal.substr(q->opening, literal.size() - q->opening - q->closing);
  if (!q->multiline && q->hashes == 0 && is_plain(inner)) return {std::string(inner), ""};
  return unquote_part(*q, literal.substr(q->opening));
}

}  // namespace tutti::cue
