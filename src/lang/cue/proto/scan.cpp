#include <fmt/format.h>

#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/proto/syntax.h"

namespace tutti::cue {

namespace {

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
int hex(char c) {
  if (is_digit(c)) return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

class ProtoScanner {
 public:
  ProtoScanner(const Source& source, bool text_format, std::vector<SyntaxError>& errors)
      : source_(source), s_(source.text), text_format_(text_format), errors_(errors) {}

  std::vector<ProtoToken> all() {
    for (;;) {
      space();
      ProtoToken t;
      t.at = at_;
      t.line = line_;
      if (!doc_.empty() && doc_end_line_ + 1 == line_) t.doc = std::exchange(doc_, {});
      detach();
      t.loose = std::exchange(loose_, {});
      if (at_ >= s_.size()) {
        t.end = at_;
        t.end_line = line_;
        out_.push_back(std::move(t));
        return std::move(out_);
      }
      token(t);
      t.end = at_;
      t.end_line = line_;
      out_.push_back(std::move(t));
    }
  }

 private:
  void fail(std::size_t at, std::string message) { errors_.push_back({source_.pos(at), std::move(message)}); }
  char now(std::size_t ahead = 0) const { return at_ + ahead < s_.size() ? s_[at_ + ahead] : '\0'; }

  void note(std::string text, int first_line, int last_line) {
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.pop_back();
    if (!out_.empty() && out_.back().end_line == first_line && doc_.empty()) {
      out_.back().trailing = std::move(text);
      return;
    }
    if (doc_end_line_ + 1 != first_line) detach();
    doc_.push_back(std::move(text));
    doc_end_line_ = last_line;
  }

  // The comment so far is of nothing that follows.
  void detach() {
    if (!doc_.empty()) loose_.push_back(std::exchange(doc_, {}));
  }

  void space() {
    while (at_ < s_.size()) {
      char c = s_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++at_;
      } else if ((c == '/' && now(1) == '/' && !text_format_) || (c == '#' && text_format_)) {
        std::size_t from = at_ + (text_format_ ? 1 : 2);
        std::size_t end = std::min(s_.find('\n', at_), s_.size());
        at_ = end;
        note(std::string(s_.substr(from, end - from)), line_, line_);
      } else if (c == '/' && now(1) == '*' && !text_format_) {
        block();
      } else {
        return;
      }
    }
  }

  void block() {
    std::size_t from = at_, end = s_.find("*/", at_ + 2);
    if (end == std::string_view::npos) {
      fail(from, "comment not terminated");
      at_ = s_.size();
      return;
    }
    int first = line_;
    std::string_view body = s_.substr(at_ + 2, end - at_ - 2);
    at_ = end + 2;
    for (std::size_t i = 0; i <= body.size();) {
      std::size_t stop = std::min(body.find('\n', i), body.size());
      std::string_view l = body.substr(i, stop - i);
      int here = line_;
      if (stop < body.size()) ++line_;
      i = stop + 1;
      std::size_t start = l.find_first_not_of(" \t");
      if (start != std::string_view::npos && l[start] == '*') l = l.substr(start + 1);
      bool edge = (here == first || stop == body.size()) && l.find_first_not_of(" \t\r*") == std::string_view::npos;
      if (!edge) note(std::string(l), here, here);
    }
    if (!doc_.empty()) doc_end_line_ = line_;
  }

  void token(ProtoToken& t) {
    char c = s_[at_];
    if (letter(c)) {
      t.kind = ProtoToken::kName;
      std::size_t from = at_;
      while (letter(now()) || is_digit(now()) || (text_format_ && now() == '-')) ++at_;
      t.text = s_.substr(from, at_ - from);
    } else if (is_digit(c) || (c == '.' && is_digit(now(1)))) {
      number(t);
    } else if (c == '"' || c == '\'') {
      t.kind = ProtoToken::kString;
      string(t, c);
    } else if (std::string_view("{}[]()<>=;,.:-+/").find(c) != std::string_view::npos) {
      t.kind = ProtoToken::kSymbol;
      t.text = c;
      ++at_;
    } else {
      std::size_t from = at_;
      utf8::decode(s_, at_);
      t.kind = ProtoToken::kSymbol;
      t.text = s_.substr(from, at_ - from);
      fail(from, fmt::format("unexpected character {}", quote(t.text)));
    }
  }

  void number(ProtoToken& t) {
    std::size_t from = at_;
    t.kind = ProtoToken::kInteger;
    if (now() == '0' && (now(1) == 'x' || now(1) == 'X')) {
      at_ += 2;
      while (hex(now()) >= 0) ++at_;
    } else {
      while (is_digit(now())) ++at_;
      if (now() == '.') {
        t.kind = ProtoToken::kFloat;
        ++at_;
        while (is_digit(now())) ++at_;
      }
      if (now() == 'e' || now() == 'E') {
        t.kind = ProtoToken::kFloat;
        ++at_;
        if (now() == '+' || now() == '-') ++at_;
        while (is_digit(now())) ++at_;
      }
      if (now() == 'f' || now() == 'F') {
        t.kind = ProtoToken::kFloat;
        t.text = s_.substr(from, at_ - from);
        ++at_;
        return;
      }
    }
    t.text = s_.substr(from, at_ - from);
  }

  void string(ProtoToken& t, char quote_mark) {
    std::size_t from = at_++;
    for (;;) {
      if (at_ >= s_.size() || s_[at_] == '\n') return fail(from, "string not terminated");
      char c = s_[at_++];
      if (c == quote_mark) return;
      if (c != '\\') {
        t.text += c;
        continue;
      }
      char e = now();
      ++at_;
      switch (e) {
        case 'a': t.text += '\a'; break;
        case 'b': t.text += '\b'; break;
        case 'f': t.text += '\f'; break;
        case 'n': t.text += '\n'; break;
        case 'r': t.text += '\r'; break;
        case 't': t.text += '\t'; break;
        case 'v': t.text += '\v'; break;
        case 'x':
        case 'X': {
          int v = 0, n = 0;
          while (n < 2 && hex(now()) >= 0) {
            v = v * 16 + hex(now());
            ++at_;
            ++n;
          }
          t.text += static_cast<char>(v);
          break;
        }
        case 'u':
        case 'U': {
          char32_t v = 0;
          for (int n = 0; n < (e == 'u' ? 4 : 8) && hex(now()) >= 0; ++n, ++at_)
            v = v * 16 + static_cast<char32_t>(hex(now()));
          utf8::append(t.text, v > 0x10FFFF ? 0xFFFD : v);
          break;
        }
        default:
          if (e >= '0' && e <= '7') {
            int v = e - '0';
            for (int n = 0; n < 2 && now() >= '0' && now() <= '7'; ++n, ++at_) v = v * 8 + (now() - '0');
            t.text += static_cast<char>(v);
          } else {
            t.text += e;
          }
      }
    }
  }

  const Source& source_;
  std::string_view s_;
  bool text_format_;
  std::vector<SyntaxError>& errors_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<ProtoToken> out_;
  std::vector<std::string> doc_;
  std::vector<std::vector<std::string>> loose_;
  int doc_end_line_ = 0;
};

}  // namespace

std::vector<ProtoToken> scan_proto(const Source& source, bool text_format, std::vector<SyntaxError>& errors) {
  return ProtoScanner(source, text_format, errors).all();
}

}  // namespace tutti::cue
