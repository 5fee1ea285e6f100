// One scanner for each way in which languages write a value beside its mark; all of them share how a quoted text ends.
// They look at a text once from front to back, and only where it holds a mark at all: what lies in something that is
// hidden already is passed over (`each` asks for where a mark's value ended).
#include "text/secret_marks.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

namespace tutti {
namespace {

using std::string_view;
constexpr std::size_t kNone = string_view::npos;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

class MarkFinder {
 public:
  explicit MarkFinder(string_view text) : text_(text) {}

  SecretMarks find() && {
    if (has("@secret(")) cue();
    each("sfSecret", [&](std::size_t at) { return smartfrog(at); });
    each("Sensitive", [&](std::size_t at) { return puppet(at); });
    each("secret", [&](std::size_t at) { return attribute(at); });
    each("!secret", [&](std::size_t at) { return value(at + 7); });
    each("secret", [&](std::size_t at) { return names(at); });
    settings();
    std::sort(marks_.spans.begin(), marks_.spans.end());
    return std::move(marks_);
  }

 private:
  bool has(string_view mark) const { return text_.find(mark) != kNone; }
  template <class F>
  void each(string_view mark, F f) {
    for (std::size_t at = text_.find(mark); at != kNone;) at = text_.find(mark, std::max(f(at), at + mark.size()));
  }
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  std::size_t after_blanks(std::size_t i) const {
    while (i < text_.size() && is_blank(text_[i])) i++;
    return i;
  }
  std::size_t line_end(std::size_t i) const { return std::min(text_.find('\n', i), text_.size()); }

  struct Quoted {
    std::size_t from, to, end;  // what is within, and what comes after the closing quote
  };
  // A quoted text at a place: of three quotes it has several lines; one that is not closed ends with its line, or with
  // the file where its language lets it go on.
  Quoted quoted(std::size_t i, bool lines) const {
    char quote = text_[i];
    if (at(i + 1) == quote && at(i + 2) == quote) {
      std::size_t end = text_.find(text_.substr(i, 3), i + 3);
      return end == kNone ? Quoted{i + 3, text_.size(), text_.size()} : Quoted{i + 3, end, end + 3};
    }
    for (std::size_t j = i + 1; j < text_.size(); j++) {
      if (text_[j] == '\\')
        j++;
      else if (text_[j] == quote)
        return {i + 1, j, j + 1};
      else if (text_[j] == '\n' && !lines)
        return {i + 1, j, j};
    }
    return {i + 1, text_.size(), text_.size()};
  }

  void hide(std::size_t from, std::size_t to) {
    if (from < to) marks_.spans.emplace_back(from, to);
  }
  void hide_word(std::size_t from, std::size_t to) {
    hide(from, to);
    if (from < to) marks_.words.emplace_back(text_.substr(from, to - from));
  }

  // The texts of a field end where the next field of the same struct begins: what is written before its mark.
  void cue() {
    std::vector<Quoted> texts;
    std::vector<std::size_t> begins{0};  // for each struct around: the first text of the field
    for (std::size_t i = 0; i < text_.size(); i++) {
      char c = text_[i];
      if (c == '"' || c == '\'') {
        texts.push_back(quoted(i, false));
        const Quoted& q = texts.back();
        if (text_.substr(q.from, q.to - q.from).find("@secret(") != kNone) hide_word(q.from, q.to);  // it is not closed
        i = q.end - 1;
      } else if (c == '/' && at(i + 1) == '/') {
        i = line_end(i) - 1;
      } else if (c == '{' || c == '[' || c == '(') {
        begins.push_back(texts.size());
      } else if ((c == '}' || c == ']' || c == ')') && begins.size() > 1) {
        begins.pop_back();
      } else if (c == '\n' || c == ',') {
        begins.back() = texts.size();
      } else if (c == '@' && text_.substr(i, 8) == "@secret(") {
        for (std::size_t t = begins.back(); t < texts.size(); t++) hide_word(texts[t].from, texts[t].to);
      }
    }
  }

  // Every quoted text up to where the brackets that are open here end, or to one of these outside of them.
  std::size_t texts_until(std::size_t i, string_view ends, bool words) {
    for (std::size_t depth = 0; i < text_.size(); i++) {
      char c = text_[i];
      if (c == '"' || c == '\'') {
        Quoted q = quoted(i, true);
        words ? hide_word(q.from, q.to) : hide(q.from, q.to);
        i = q.end - 1;
      } else if (depth == 0 && ends.find(c) != kNone) {
        return i;
      } else if (c == '{' || c == '[' || c == '(') {
        depth++;
      } else if (c == '}' || c == ']' || c == ')') {
        if (depth == 0) return i;
        if (--depth == 0 && c == '}') return i;
      }
    }
    return i;
  }

  std::size_t smartfrog(std::size_t mark) {
    std::size_t end = std::min(text_.find_first_of("]\n", mark), text_.size());
    return at(end) == ']' ? texts_until(end + 1, ";", true) : end;
  }

  // Of `Sensitive('...')` the text is a secret; of `Sensitive(lookup('name'))` the line has stars, for who knows which.
  std::size_t puppet(std::size_t mark) {
    std::size_t i = mark + 9;
    if (text_.substr(i, 4) == ".new") i += 4;
    if (at(i) != '(') return i;
    std::size_t first = after_blanks(i + 1);
    bool direct = at(first) == '"' || at(first) == '\'';
    if (at(first) == '@' && at(first + 1) == '(') return heredoc(first + 2);
    return texts_until(i + 1, "", direct);
  }

  std::size_t heredoc(std::size_t i) {
    std::size_t from = i, to = std::min(text_.find_first_of(":/)\n", i), text_.size());
    string_view tag = text_.substr(from, to - from);
    while (!tag.empty() && (tag.front() == '"' || is_blank(tag.front()))) tag.remove_prefix(1);
    while (!tag.empty() && (tag.back() == '"' || is_blank(tag.back()))) tag.remove_suffix(1);
    std::size_t line = line_end(i) + 1;
    for (; line < text_.size(); line = line_end(line) + 1) {
      string_view words = text_.substr(line, line_end(line) - line);
      std::size_t begin = std::min(words.find_first_not_of(" \t|-"), words.size());
      if (words.substr(begin) == tag) break;
      hide_word(line + std::min(words.find_first_not_of(" \t"), words.size()), line_end(line));
    }
    return line;
  }

  // `s:secret="true"`: what the element holds, and its other attributes. Whatever else the attribute says is wrong, and
  // then the element is hidden as well.
  std::size_t attribute(std::size_t mark) {
    std::size_t equals = after_blanks(mark + 6);
    if (mark == 0 || text_[mark - 1] != ':' || at(equals) != '=') return mark;
    std::size_t quote = after_blanks(equals + 1);
    if (at(quote) != '"' && at(quote) != '\'') return quote;
    Quoted said = quoted(quote, true);
    string_view what = text_.substr(said.from, said.to - said.from);
    std::size_t back = text_.substr(looked_back_, mark - looked_back_).find_last_of("<>");
    std::size_t open = back == kNone ? kNone : looked_back_ + back;
    looked_back_ = mark;
    if (what == "false" || what == "0" || open == kNone || text_[open] == '>') return said.end;
    std::size_t i = attributes_of(open, mark);
    if (i >= text_.size() || text_[i - 1] == '/') return i;
    return looked_back_ = content_of(i + 1);
  }

  std::size_t content_of(std::size_t from) {
    for (std::size_t depth = 0; from < text_.size();) {
      std::size_t to = std::min(text_.find('<', from), text_.size());
      hide_xml(from, to);
      bool closes = at(to + 1) == '/';
      if (closes && depth-- == 0) return to;
      std::size_t end = text_.find('>', to);
      if (end == kNone) {
        hide(to, text_.size());
        break;
      }
      depth += !closes && text_[end - 1] != '/' && at(to + 1) != '!';
      from = end + 1;
    }
    return text_.size();
  }

  // Where the tag ends. The values of CDL's own attributes and of namespaces are known to all.
  std::size_t attributes_of(std::size_t open, std::size_t mark) {
    std::size_t i = open;
    for (; i < text_.size() && text_[i] != '>'; i++) {
      if (text_[i] != '"' && text_[i] != '\'') continue;
      Quoted q = quoted(i, true);
      std::size_t name = i;
      while (name > open && !is_blank(text_[name - 1])) name--;
      string_view words = text_.substr(name, i - name);
      bool known = words.starts_with("xmlns") || words.starts_with("cdl:") || (name < mark && mark < i);
      if (!known) hide_xml(q.from, q.to);
      i = q.end - 1;
    }
    return i;
  }

  void hide_xml(std::size_t from, std::size_t to) {
    from = std::min(after_blanks(from), to);
    while (to > from && is_blank(text_[to - 1])) to--;
    if (from == to) return;
    hide_word(from, to);
    std::string& word = marks_.words.back();
    constexpr std::pair<string_view, char> kEntities[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}};
    std::string plain;
    for (std::size_t i = 0; i < word.size();) {
      auto entity = std::find_if(std::begin(kEntities), std::end(kEntities),
                                 [&](auto& e) { return string_view(word).substr(i).starts_with(e.first); });
      plain += entity == std::end(kEntities) ? word[i] : entity->second;
      i += entity == std::end(kEntities) ? 1 : entity->first.size();
    }
    if (plain != word) marks_.words.push_back(std::move(plain));
  }

  // The value that follows in YAML, JSON or CUE: quoted, in brackets, in lines further in, or to the end of the line.
  std::size_t value(std::size_t i) {
    while (at(i) == ' ' || at(i) == '\t') i++;
    if (at(i) == '"' || at(i) == '\'') {
      Quoted q = quoted(i, true);
      hide_word(q.from, q.to);
      return q.end;
    }
    if (at(i) == '{' || at(i) == '[') {
      std::size_t end = texts_until(i + 1, "", true);
      hide(i + 1, end);
      return end;
    }
    if (i >= text_.size() || string_view("\r\n|>#").find(text_[i]) != kNone) return lines_below(i);
    std::size_t end = std::min(line_end(i), text_.find_first_of(",}]", i));
    while (end > i && is_blank(text_[end - 1])) end--;
    hide_word(i, end);
    return end;
  }

  std::size_t indentation(std::size_t line) const {
    std::size_t i = line;
    while (at(i) == ' ' || at(i) == '\t') i++;
    return i - line;
  }

  // The lines that are further in than the one of the mark, whose beginning is looked for no further than needed.
  std::size_t lines_below(std::size_t i) {
    std::size_t back = text_.substr(line_known_, i - line_known_).rfind('\n');
    if (back != kNone) line_known_ += back + 1;
    std::size_t outside = indentation(line_known_), line = line_end(i) + 1;
    for (; line < text_.size(); line = line_end(line) + 1) {
      std::size_t from = line + indentation(line), to = line_end(line);
      if (from == to) continue;
      if (from - line <= outside) break;
      hide_word(from, to);
      std::size_t colon = text_.substr(from, to - from).find(": ");
      if (colon == kNone) continue;
      std::size_t begin = from + colon + 2;
      bool quotes = at(begin) == '"' || at(begin) == '\'';
      hide_word(begin + quotes, to > begin + quotes ? to - quotes : to);
    }
    return line;
  }

  // `secret: [environment.PW]` names settings; `settings` looks for them.
  std::size_t names(std::size_t mark) {
    std::size_t i = mark + 6;
    if (mark > 0 && is_name(text_[mark - 1])) return i;
    if (at(i) == '"' || at(i) == '\'') i++;
    if (at(i = after_blanks(i)) == ':') i++;
    if (at(i = after_blanks(i)) != '[') return i;
    std::size_t end = std::min(text_.find(']', i), text_.size());
    for (std::size_t from = i + 1; from < end;) {
      std::size_t to = std::min(text_.find(',', from), end);
      string_view name = text_.substr(from, to - from);
      from = to + 1;
      auto odd = [](char c) { return is_blank(c) || c == '"' || c == '\''; };
      while (!name.empty() && odd(name.back())) name.remove_suffix(1);
      while (!name.empty() && odd(name.front())) name.remove_prefix(1);
      if (std::size_t dot = name.rfind('.'); dot != kNone) name.remove_prefix(dot + 1);
      if (!name.empty()) named_.insert(name);
    }
    return end;
  }

  // The values of `secrets:`, which all types have kept, and of keys that a component names.
  void settings() {
    if (named_.size() == 1 && !has("secrets")) return;
    for (std::size_t colon = text_.find(':'); colon != kNone;) {
      std::size_t end = colon;
      if (end > 0 && (text_[end - 1] == '"' || text_[end - 1] == '\'')) end--;
      std::size_t from = end;
      while (from > 0 && is_name(text_[from - 1])) from--;
      bool kept = named_.count(text_.substr(from, end - from)) > 0;
      colon = text_.find(':', std::max(kept ? value(colon + 1) : 0, colon + 1));
    }
  }

  std::unordered_set<string_view> named_{"secrets"};
  std::size_t looked_back_ = 0, line_known_ = 0;
  string_view text_;
  SecretMarks marks_;
};

}  // namespace

bool has_secret_mark(std::string_view text) { return text.find("ecret") != kNone || text.find("Sensitive") != kNone; }

SecretMarks secret_marks(std::string_view text) {
  return has_secret_mark(text) ? MarkFinder(text).find() : SecretMarks();
}

}  // namespace tutti
