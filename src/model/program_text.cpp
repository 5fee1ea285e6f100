#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

#include "base/near.h"
#include "model/program.h"

namespace tutti::model {

namespace {

struct OpName {
  std::string_view word;
  Op op;
};
constexpr std::array<OpName, 16> kOps{{{"add", Op::kAdd},
                                       {"del", Op::kDel},
                                       {"delete", Op::kDel},
                                       {"remove", Op::kDel},
                                       {"con", Op::kCon},
                                       {"connect", Op::kCon},
                                       {"dcon", Op::kDcon},
                                       {"disconnect", Op::kDcon},
                                       {"pushB", Op::kPush},
                                       {"push", Op::kPush},
                                       {"push_b", Op::kPush},
                                       {"push_behavior", Op::kPush},
                                       {"push_behaviour", Op::kPush},
                                       {"wait", Op::kWait},
                                       {"wait_all", Op::kWaitAll},
                                       {"waitAll", Op::kWaitAll}}};

// One statement may go over several lines while a bracket is open; blocks are by indentation, as in the listings.
class Parser {
 public:
  Parser(Session& session, const Source& source, const std::string& main, Programs& programs)
      : session_(session), source_(source), text_(source.text), main_(main), programs_(programs) {}

  bool run() {
    std::size_t before = session_.diagnostics.errors();
    programs_[main_];
    numbered_ = looks_numbered();
    bool called = false;
    std::vector<std::string> named;
    while (next_line()) {
      if (indent_ > 0 && !warned_indent_) {
        warned_indent_ = true;
        session_.diagnostics.error("PROGRAM-INDENT", here(), "this line is indented but belongs to no loop");
      }
      std::string target = main_;
      Statement s;
      if (!parse_statement(0, s, target, named, called)) continue;
      programs_[target].push_back(std::move(s));
      move_after(programs_[target]);
    }
    if (!called && programs_[main_].empty() && named.size() == 1) {
      Statement call;
      call.kind = Statement::Kind::kCall;
      call.words.push_back({named[0], source_.pos(0)});
      programs_[main_].push_back(call);
    }
    return session_.diagnostics.errors() == before;
  }

 private:
  Pos here() const { return source_.pos(at_); }

  bool looks_numbered() const {
    std::size_t i = text_.find_first_not_of(" \t\r\n");
    if (i == std::string_view::npos || !std::isdigit(static_cast<unsigned char>(text_[i]))) return false;
    while (i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i]))) ++i;
    return i < text_.size() && (text_[i] == ' ' || text_[i] == '\n');
  }

  void skip_number() {
    if (!numbered_) return;
    std::size_t i = at_;
    while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\t')) ++i;
    std::size_t digits = i;
    while (i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i]))) ++i;
    if (i == digits) return;
    if (i < text_.size() && text_[i] == ' ') ++i;
    at_ = i;
  }

  // To the first character of the next line that says something; its indentation in indent_.
  bool next_line() {
    if (pending_) {
      pending_ = false;
      return true;
    }
    while (at_ < text_.size()) {
      skip_number();
      std::size_t start = at_;
      while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
      if (at_ >= text_.size()) return false;
      if (text_[at_] == '\n' || text_[at_] == '\r') {
        ++at_;
        continue;
      }
      if (text_[at_] == '#') {
        to_line_end();
        continue;
      }
      indent_ = static_cast<u32>(at_ - start);
      return true;
    }
    return false;
  }

  void to_line_end() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    if (at_ < text_.size()) ++at_;
  }

  void space() {
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == '\n' && depth_ > 0) {
        ++at_;
        skip_number();
      } else {
        break;
      }
    }
  }

  char peek() {
    space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    if (c == '(' || c == '[') ++depth_;
    if (c == ')' || c == ']') --depth_;
    ++at_;
    return true;
  }

  bool fail(std::string message) {
    session_.diagnostics.error("PROGRAM-SYNTAX", here(), std::move(message));
    depth_ = 0;
    to_line_end();
    return false;
  }

  static bool name_char(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || (c & 0x80);
  }

  // A name, number or quoted text. Dots stay in it; the one who knows what it names splits it.
  bool word(Word& w, bool dots = true) {
    char c = peek();
    w.at = here();
    w.text.clear();
    if (c == '"' || c == '\'') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != c && text_[at_] != '\n') w.text += text_[at_++];
      if (at_ >= text_.size() || text_[at_] != c) return fail("this text has no closing quote");
      ++at_;
      return true;
    }
    while (at_ < text_.size()) {
      c = text_[at_];
      if (c == '{') {
        std::size_t close = text_.find_first_of("}\n", at_);
        if (close == std::string_view::npos || text_[close] != '}') return fail("`{` has no matching `}`");
        w.text += text_.substr(at_, close + 1 - at_);
        at_ = close + 1;
      } else if (name_char(c) ||
                 (dots && c == '.' && at_ + 1 < text_.size() && name_char(text_[at_ + 1]) && !w.text.empty())) {
        w.text += c;
        ++at_;
      } else {
        break;
      }
    }
    if (w.text.empty())
      return fail(
          fmt::format("expected a name, found `{}`", c == '\n' ? std::string("end of line") : std::string(1, c)));
    return true;
  }

  bool parse_statement(u32 level, Statement& s, std::string& target, std::vector<std::string>& named, bool& called) {
    Budget::Level nesting(session_.budget);
    Word w;
    depth_ = 0;
    s.at = here();
    if (!word(w)) return false;
    if (w.text == "for") return parse_for(level, s, target, named, called);
    if (peek() == '=') {  // name = Reconfiguration()
      ++at_;
      Word made;
      if (!word(made) || !take('(') || !take(')')) return fail("expected `= Reconfiguration()`");
      if (made.text == "Reconfiguration") programs_[w.text], named.push_back(w.text);
      return end_of_line() && false;
    }
    std::string op = w.text;
    if (auto dot = op.rfind('.'); dot != std::string::npos) {
      std::string receiver = op.substr(0, dot);
      op = op.substr(dot + 1);
      if (programs_.count(receiver)) target = receiver;
    }
    if (!take('(')) return fail(fmt::format("expected `(` after `{}`", w.text));
    while (peek() != ')') {
      Word argument;
      if (!word(argument)) return false;
      s.words.push_back(std::move(argument));
      if (!take(',') && !take(':') && peek() != ')') return fail("expected `,` or `)`");
    }
    take(')');
    if (op == "run_reconfiguration" || op == "call") {
      if (s.words.size() != 1) return fail(fmt::format("`{}` takes the name of one program", op));
      if (op != "call") called = true, target = main_;
      s.kind = Statement::Kind::kCall;
      return end_of_line();
    }
    if (op == "synchronize" || op == "terminate") return end_of_line() && false;
    auto known = op_named(op);
    if (!known) {
      std::vector<std::string_view> names{"call", "for"};
      for (const OpName& o : kOps) names.push_back(o.word);
      session_.diagnostics.error("PROGRAM-UNKNOWN-INSTRUCTION", s.at, fmt::format("no instruction is called `{}`", op))
          .did_you_mean(nearest(op, names));
      to_line_end();
      return false;
    }
    s.op = *known;
    return end_of_line();
  }

  bool end_of_line() {
    char c = peek();
    if (c == '\0' || c == '\n') {
      if (c) ++at_;
      return true;
    }
    if (c == ';') {
      ++at_;
      return true;
    }
    return fail("expected the end of the line");
  }

  bool parse_for(u32 level, Statement& s, std::string& target, std::vector<std::string>& named, bool& called) {
    s.kind = Statement::Kind::kFor;
    u32 mine = indent_;
    Word variable, in;
    if (!word(variable) || !word(in)) return false;
    if (in.text != "in") return fail("expected `in`");
    s.variable = variable.text;
    if (!take('[')) return fail("expected `[` with two bounds or a list");
    while (peek() != ']') {
      std::size_t from = at_;
      Pos at = here();
      while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != '\n' &&
             text_.substr(at_, 2) != "..")
        ++at_;
      std::string_view part = text_.substr(from, at_ - from);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      if (part.size() >= 2 && (part.front() == '"' || part.front() == '\'')) part = part.substr(1, part.size() - 2);
      s.words.push_back({std::string(part), at});
      if (text_.substr(at_, 2) == "..") {
        at_ += 2;
        s.range = true;
      } else if (!take(',') && peek() != ']') {
        return fail("expected `,` or `]`");
      }
    }
    take(']');
    if (s.words.size() == 2) s.range = true;  // [1,n] is from 1 to n, as the listings have it
    if (!take(':')) return fail("expected `:` after the list");
    if (!end_of_line()) return false;
    while (next_line()) {
      if (indent_ <= mine) {
        pending_ = true;
        break;
      }
      Statement inner;
      std::string where = target;
      if (parse_statement(level + 1, inner, where, named, called)) {
        target = where;
        s.body.push_back(std::move(inner));
        move_after(s.body);
      }
    }
    if (numbered_) split_off(s);
    return true;
  }

  void move_after(std::vector<Statement>& list) {
    for (Statement& s : after_) list.push_back(std::move(s));
    after_.clear();
  }

  static bool mentions(const Word& w, std::string_view variable) {
    std::string_view t = w.text;
    for (std::size_t at = t.find(variable); at != std::string_view::npos; at = t.find(variable, at + 1)) {
      std::size_t end = at + variable.size();
      auto letter = [&](std::size_t k) { return k < t.size() && std::isalnum(static_cast<unsigned char>(t[k])); };
      if (!(at && letter(at - 1)) && !letter(end)) return true;  // i, {i+1}, dep_i, but not in
    }
    return false;
  }

  static bool mentions(const Statement& s, std::string_view variable) {
    if (std::any_of(s.words.begin(), s.words.end(), [&](const Word& w) { return mentions(w, variable); })) return true;
    return !(s.kind == Statement::Kind::kFor && s.variable == variable) &&
           std::any_of(s.body.begin(), s.body.end(), [&](const Statement& x) { return mentions(x, variable); });
  }

  // A printed listing, which is one with line numbers, may have lost the end of an indentation: Listings 6, 10 and 11
  // as the paper's text has them. What stands at the end of a loop and has nothing to do with its variable comes after
  // it.
  void split_off(Statement& loop) {
    std::size_t keep = loop.body.size();
    while (keep && !mentions(loop.body[keep - 1], loop.variable)) --keep;
    if (keep == 0 || keep == loop.body.size()) return;
    session_.diagnostics
        .warning("PROGRAM-DEDENT", loop.body[keep].at,
                 fmt::format("nothing from here on depends on `{}`: read as coming after the loop", loop.variable))
        .note("the indentation of a printed listing is not to be trusted; without line numbers it is what decides");
    after_.assign(std::make_move_iterator(loop.body.begin() + static_cast<std::ptrdiff_t>(keep)),
                  std::make_move_iterator(loop.body.end()));
    loop.body.resize(keep);
  }

  Session& session_;
  const Source& source_;
  std::string_view text_;
  const std::string main_;
  Programs& programs_;
  std::size_t at_ = 0;
  u32 indent_ = 0, depth_ = 0;
  std::vector<Statement> after_;  // split off the loop just read
  bool numbered_ = false, pending_ = false, warned_indent_ = false;
};

}  // namespace

std::optional<Op> op_named(std::string_view word) {
  for (const OpName& o : kOps)
    if (o.word == word) return o.op;
  return std::nullopt;
}

bool parse_program(Session& session, const Source& source, const std::string& main, Programs& programs) {
  return Parser(session, source, main, programs).run();
}

}  // namespace tutti::model
