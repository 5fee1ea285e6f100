#include "lang/smartfrog/syntax/format.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "lang/smartfrog/syntax/parser.h"

namespace tutti::smartfrog {
namespace {

constexpr std::size_t kWidth = 100;

class Printer {
 public:
  Printer(std::string_view text, const std::vector<Token>& tokens, const std::vector<Comment>& comments,
          const Layout& layout)
      : text_(text), tokens_(tokens), comments_(comments) {
    statements_.insert(layout.statements.begin(), layout.statements.end());
    blocks_.insert(layout.blocks.begin(), layout.blocks.end());
    match_braces();
  }

  std::string print() {
    for (std::size_t i = 0; i + 1 < tokens_.size(); i++) {
      const Token& t = tokens_[i];
      comments_before(t.begin);
      token(i);
    }
    comments_before(static_cast<u32>(text_.size()) + 1);
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    while (out_.starts_with('\n')) out_.erase(0, 1);
    return std::move(out_);
  }

 private:
  std::string_view of(const Token& t) const { return text_.substr(t.begin, t.end - t.begin); }

  // For each block: its end, and whether it stays on one line (it was on one, holds no comment, and is short).
  void match_braces() {
    closer_.assign(tokens_.size(), 0);
    flat_.assign(tokens_.size(), false);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens_.size(); i++) {
      if (tokens_[i].kind == Tok::kLeftBrace) open.push_back(i);
      if (tokens_[i].kind != Tok::kRightBrace || open.empty()) continue;
      std::size_t from = open.back();
      open.pop_back();
      closer_[from] = i;
      bool one_line = true;
      std::size_t width = 0;
      for (std::size_t k = from + 1; k <= i && one_line; k++) {
        one_line &= !tokens_[k].line_before && (tokens_[k].kind != Tok::kLeftBrace || flat_[k]);
        width += of(tokens_[k]).size() + 1;
      }
      auto comment = std::lower_bound(comments_.begin(), comments_.end(), tokens_[from].begin,
                                      [](const Comment& c, u32 at) { return c.begin < at; });
      if (comment != comments_.end() && comment->begin < tokens_[i].begin) one_line = false;
      flat_[from] = one_line && width <= kWidth - 20;
    }
  }

  void newline() {
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
  }

  void start_line() {
    newline();
    out_.append(depth_ * 2, ' ');
    glued_ = true;
  }

  void blank_line_if(bool wanted) {
    if (!wanted || out_.empty()) return;
    newline();
    if (!out_.ends_with("\n\n") && !after_open_) out_ += '\n';
  }

  bool blank_between(u32 from, u32 to) const {
    int newlines = 0;
    for (u32 i = from; i < to && i < text_.size(); i++) {
      if (text_[i] == '\n')
        newlines++;
      else if (text_[i] != ' ' && text_[i] != '\t' && text_[i] != '\r' && text_[i] != '\f')
        newlines = 0;
      if (newlines > 1) return true;
    }
    return false;
  }

  void comments_before(u32 offset) {
    while (next_comment_ < comments_.size() && comments_[next_comment_].begin < offset) {
      const Comment& c = comments_[next_comment_++];
      std::string_view body = text_.substr(c.begin, c.end - c.begin);
      while (!body.empty() && (body.back() == ' ' || body.back() == '\t' || body.back() == '\r')) body.remove_suffix(1);
      if (c.line_before || out_.empty()) {
        blank_line_if(c.blank_before);
        start_line();
      } else if (!out_.empty() && out_.back() != ' ' && out_.back() != '\n') {
        out_ += ' ';
      }
      write_comment(body, c.begin);
      after_open_ = false;
      glued_ = false;
      last_end_ = c.end;
      break_next_ = body.starts_with("//");
    }
  }

  // Further lines of a block comment keep their text; those that begin with a star are lined up under the first.
  void write_comment(std::string_view body, u32 begin) {
    std::size_t column = 0, now = 0;
    if (body.find('\n') != std::string_view::npos) {  // where it began and begins matters to further lines only
      for (u32 i = begin; i > 0 && text_[i - 1] != '\n'; i--) column++;
      now = out_.size() - (out_.rfind('\n') == std::string::npos ? 0 : out_.rfind('\n') + 1);
    }
    std::size_t from = 0;
    for (;;) {
      std::size_t end = body.find('\n', from);
      std::string_view line = body.substr(from, end == std::string_view::npos ? end : end - from);
      while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) line.remove_suffix(1);
      if (from > 0) {
        std::size_t indent = line.find_first_not_of(" \t");
        if (indent == std::string_view::npos) indent = line.size();
        std::string_view rest = line.substr(indent);
        if (rest.starts_with('*'))
          out_.append(now + 1, ' ');
        else if (!rest.empty())
          out_.append(indent > column ? indent - column + now : now, ' ');
        out_ += rest;
      } else {
        out_ += line;
      }
      if (end == std::string_view::npos) return;
      out_ += '\n';
      from = end + 1;
    }
  }

  void token(std::size_t i) {
    const Token& t = tokens_[i];
    bool statement = statements_.contains(t.begin) && t.kind != Tok::kSemicolon;
    if (t.kind == Tok::kRightBrace && !open_.empty() && open_.back().token_closes(i)) {
      bool flat = open_.back().flat, empty = open_.back().empty;
      open_.pop_back();
      if (!flat) depth_--;
      if (empty) {
        out_ += '}';
      } else if (flat) {
        if (out_.back() != ' ') out_ += ' ';
        out_ += '}';
      } else {
        start_line();
        out_ += '}';
      }
      done(t);
      return;
    }
    bool in_flat = !open_.empty() && open_.back().flat;
    if (break_next_) {
      blank_line_if(statement && blank_between(last_end_, t.begin));
      start_line();
      break_next_ = false;
      if (!statement) out_.append(4, ' ');
    } else if (statement) {
      if (in_flat) {
        if (out_.back() != ' ') out_ += ' ';
      } else {
        blank_line_if(blank_between(last_end_, t.begin));
        start_line();
      }
    } else if (!glued_ && space_before(i)) {
      // A list of prototypes over several lines goes on indented.
      if (t.line_before && i > 0 && tokens_[i - 1].kind == Tok::kComma && !in_flat) {
        newline();
        out_.append(depth_ * 2 + 4, ' ');
      } else if (out_.empty() || out_.back() != ' ') {
        out_ += ' ';
      }
    }
    after_open_ = false;
    glued_ = false;
    if (t.kind == Tok::kLeftBrace && blocks_.contains(t.begin)) {
      bool empty =
          i + 1 < tokens_.size() && tokens_[i + 1].kind == Tok::kRightBrace && no_comment(t.end, tokens_[i + 1].begin);
      bool flat = flat_[i] || empty;
      out_ += '{';
      open_.push_back({closer_[i], flat, empty});
      if (!flat) depth_++;
      after_open_ = !flat;
      done(t);
      return;
    }
    out_ += of(t);
    done(t);
  }

  void done(const Token& t) { last_end_ = t.end; }

  bool no_comment(u32 from, u32 to) const {
    for (std::size_t k = next_comment_; k < comments_.size() && comments_[k].begin < to; k++)
      if (comments_[k].begin >= from) return false;
    return true;
  }

  bool space_before(std::size_t i) const {
    if (i == 0) return false;
    Tok now = tokens_[i].kind, before = tokens_[i - 1].kind;
    if (now == Tok::kSemicolon || now == Tok::kComma || now == Tok::kColon || now == Tok::kRightBracket ||
        now == Tok::kRightParen)
      return false;
    if (before == Tok::kColon || before == Tok::kLeftBracket || before == Tok::kLeftParen) return false;
    if (now == Tok::kLeftParen) {
      std::string_view word = of(tokens_[i - 1]);
      return word != "OPTIONAL" && word != "merge";
    }
    return true;
  }

  struct Block {
    std::size_t closer;
    bool flat, empty;
    bool token_closes(std::size_t i) const { return closer == i; }
  };

  std::string_view text_;
  const std::vector<Token>& tokens_;
  const std::vector<Comment>& comments_;
  std::unordered_set<u32> statements_, blocks_;
  std::vector<std::size_t> closer_;
  std::vector<bool> flat_;
  std::vector<Block> open_;
  std::size_t next_comment_ = 0;
  std::size_t depth_ = 0;
  u32 last_end_ = 0;
  bool glued_ = true;
  bool after_open_ = false;
  bool break_next_ = false;
  std::string out_;
};

}  // namespace

std::optional<std::string> format_source(Session& session, const Source& source, Level level) {
  std::vector<Comment> comments, again;
  Layout layout;
  Parser parser(session, level, nullptr);
  if (!parser.parse_layout(source, again, layout)) return std::nullopt;
  Lexer lexer(session, source, level, &comments);
  std::vector<Token> tokens;
  do tokens.push_back(lexer.next());
  while (tokens.back().kind != Tok::kEnd);
  // Escapes of the source stay as they are written: all places are those of the source itself.
  auto in_source = [&](u32& offset) { offset = static_cast<u32>(source.offset(lexer.pos(offset))); };
  for (Token& t : tokens) in_source(t.begin), in_source(t.end);
  for (Comment& c : comments) in_source(c.begin), in_source(c.end);
  for (u32& at : layout.statements) in_source(at);
  for (u32& at : layout.blocks) in_source(at);
  return Printer(source.text, tokens, comments, layout).print();
}

}  // namespace tutti::smartfrog
