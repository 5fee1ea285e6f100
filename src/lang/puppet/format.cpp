// tutti fmt for manifests, after Puppet's style guide: two spaces for each bracket that is open, one blank where the
// guide wants one, attributes of a resource on lines of their own with their arrows under each other and a comma after
// the last, braces on the line of what they belong to, one blank line at most. Other line ends are the author's. Text
// within strings, heredocs and comments stays as it is; what the manifest says is compared before and after.
#include "lang/puppet/format.h"

#include <algorithm>
#include <map>
#include <set>

#include "lang/puppet/syntax/parser.h"

namespace tutti::puppet {
namespace {

// A token or a comment; a string with interpolation is one.
struct Item {
  Tok kind = Tok::kEnd;  // kEnd: a comment
  std::string_view text;
  std::size_t from = 0;
  int breaks = 0;            // line ends before it
  std::size_t blanks = 0;    // before it on its line
  std::size_t heredoc = 0;   // which heredoc's text begins on the next line; 0: none
  std::size_t partner = 0;   // of a bracket
  bool comma_after = false;  // to be added
  bool comment() const { return kind == Tok::kEnd; }
};

bool opens(Tok t) {
  return t == Tok::kLBrace || t == Tok::kLBrack || t == Tok::kListStart || t == Tok::kLParen || t == Tok::kWsLParen;
}
bool closes(Tok t) { return t == Tok::kRBrace || t == Tok::kRBrack || t == Tok::kRParen; }
bool is_edge(Tok t) { return t == Tok::kInEdge || t == Tok::kInEdgeSub || t == Tok::kOutEdge || t == Tok::kOutEdgeSub; }

// What a value may end with: a bracket or a sign after it belongs to it.
bool ends_value(Tok t) {
  switch (t) {
    case Tok::kName:
    case Tok::kWord:
    case Tok::kTypeName:
    case Tok::kVariable:
    case Tok::kNumber:
    case Tok::kString:
    case Tok::kHeredoc:
    case Tok::kRegex:
    case Tok::kRBrack:
    case Tok::kRBrace:
    case Tok::kRParen:
    case Tok::kRCollect:
    case Tok::kRRCollect:
    case Tok::kDefault:
    case Tok::kUndef:
    case Tok::kTrue:
    case Tok::kFalse: return true;
    default: return false;
  }
}

bool is_operator(Tok t) {
  return (t >= Tok::kEquals && t <= Tok::kRShift) || t == Tok::kFArrow || t == Tok::kPArrow || t == Tok::kAnd ||
         t == Tok::kOr || t == Tok::kIn || t == Tok::kQMark;
}

class Formatter {
 public:
  Formatter(std::string_view text, const TokenList& list) : text_(text), list_(list) {}

  // nullopt: a shape that is better left alone
  std::optional<std::string> run() {
    if (!collect() || !match()) return std::nullopt;
    lay_out();
    write();
    align();
    return result();
  }

 private:
  // Something that authors set out under each other: the names and values of parameters, the attributes of resources
  // that have one each. Those that stood in one column of one bracket, some of them with more than a blank before them,
  // stand in one again.
  enum class Column : u8 { kAttribute, kVariable, kEquals };
  struct Key {
    Column what;
    int bracket;
    std::size_t column;
    auto operator<=>(const Key&) const = default;
  };
  struct Mark {
    Key key;
    std::size_t at;  // in the line
  };
  struct Line {
    std::string text;
    std::size_t arrow = 0;  // where its first arrow stands; 0: none
    int group = -1;         // the body that arrow is in
    std::vector<Mark> marks;
    std::vector<std::size_t> heredocs;
    bool blank_before = false;
  };

  // ---- what there is

  bool collect() {
    int in_string = 0;
    bool heredoc = false;  // its text comes next, which is on other lines
    auto comment = list_.comments.begin();
    std::size_t heredocs = 0;
    auto add = [&](Tok kind, std::size_t from, std::size_t to) {
      Item i;
      i.kind = kind;
      i.from = from;
      i.text = text_.substr(from, to - from);
      items_.push_back(i);
    };
    auto comments_before = [&](std::size_t at) {
      for (; comment != list_.comments.end() && comment->from < at; ++comment) {
        std::size_t to = comment->to;
        while (to > comment->from && std::string_view(" \t\r\n").find(text_[to - 1]) != std::string_view::npos) --to;
        add(Tok::kEnd, comment->from, to);
      }
    };
    std::size_t string_from = 0;
    for (const Token& t : list_.tokens) {
      if (t.kind == Tok::kEnd) break;
      if (t.kind == Tok::kDqPre && in_string++ == 0) string_from = t.from;
      if (in_string > 0) {
        if (t.kind == Tok::kHeredoc) return false;
        if (t.kind != Tok::kDqPost || --in_string > 0) continue;
        if (!std::exchange(heredoc, false)) {
          comments_before(string_from);
          add(Tok::kString, string_from, t.to);
        }
        continue;
      }
      if (heredoc) {
        heredoc = false;
        continue;
      }
      comments_before(t.from);
      add(t.kind, t.from, t.to);
      if (t.kind == Tok::kHeredoc) {
        heredoc = true;
        items_.back().heredoc = ++heredocs;
      }
    }
    comments_before(text_.size());
    if (heredocs != list_.heredocs.size()) return false;
    std::size_t at = 0;
    auto text = list_.heredocs.begin();
    for (Item& i : items_) {
      for (; at < i.from; ++at) {
        while (text != list_.heredocs.end() && text->to <= at) ++text;
        if (text != list_.heredocs.end() && text->from <= at) {
          at = text->to - 1;
          i.blanks = 0;
        } else if (text_[at] == '\n') {
          ++i.breaks;
          i.blanks = 0;
        } else {
          ++i.blanks;
        }
      }
      at = i.from + i.text.size();
    }
    return true;
  }

  bool match() {
    std::vector<std::size_t> open;
    for (std::size_t n = 0; n < items_.size(); ++n) {
      if (opens(items_[n].kind)) open.push_back(n);
      if (!closes(items_[n].kind)) continue;
      if (open.empty()) return false;
      items_[n].partner = open.back();
      items_[open.back()].partner = n;
      open.pop_back();
    }
    return open.empty();
  }

  // The item before it that is no comment.
  const Item* before(std::size_t n) const {
    while (n-- > 0)
      if (!items_[n].comment()) return &items_[n];
    return nullptr;
  }
  std::size_t after(std::size_t n) const {
    for (++n; n < items_.size() && items_[n].comment();) ++n;
    return n;
  }

  // ---- where lines end

  void break_before(std::size_t n) { items_[n].breaks = std::max(items_[n].breaks, 1); }

  void lay_out() {
    std::vector<std::size_t> of_case;  // how deep each case is whose options have not begun
    std::size_t depth = 0;
    for (std::size_t n = 0; n < items_.size(); ++n) {
      Item& i = items_[n];
      const Item* last = n > 0 ? &items_[n - 1] : nullptr;
      if (last && last->comment() && !last->text.starts_with("/*")) break_before(n);
      bool after_code = last && !last->comment();
      if (after_code && last->kind == Tok::kRBrace && (i.kind == Tok::kElse || i.kind == Tok::kElsif)) i.breaks = 0;
      if (i.kind == Tok::kCase) of_case.push_back(depth);
      if (i.kind == Tok::kLBrace) {
        bool belongs = after_code && last->kind != Tok::kRBrace &&
                       (ends_value(last->kind) || last->kind == Tok::kElse || last->kind == Tok::kPipe ||
                        last->kind == Tok::kColon || last->kind == Tok::kQMark);
        if (belongs) i.breaks = 0;
        bool options = !of_case.empty() && of_case.back() == depth;
        if (options) of_case.pop_back();
        if (!options) resource(n);
      }
      if (i.kind == Tok::kLParen || i.kind == Tok::kWsLParen) parameters(n);
      if (opens(i.kind)) ++depth;
      if (closes(i.kind)) --depth;
    }
  }

  // The items right within a bracket, those of brackets within it left out.
  template <class F>
  void each_within(std::size_t open, F&& f) const {
    for (std::size_t n = open + 1; n < items_[open].partner; ++n) {
      f(n);
      if (opens(items_[n].kind)) n = items_[n].partner - 1;
    }
  }

  // The last item within, when the bracket ends on a line of its own and nothing separates what would come next.
  void end_with_comma(std::size_t open) {
    std::size_t close = items_[open].partner, last = close;
    while (last > open + 1 && items_[last - 1].comment()) --last;
    Item& i = items_[last - 1];
    if (last - 1 > open && items_[close].breaks > 0 && i.kind != Tok::kComma && i.kind != Tok::kSemic)
      i.comma_after = true;
  }

  void resource(std::size_t open) {
    const Item* type = before(open);
    if (!type || (type->kind != Tok::kName && type->kind != Tok::kClass)) return;
    std::size_t attributes = 0, bodies = 0, semicolons = 0;
    each_within(open, [&](std::size_t n) {
      attributes += items_[n].kind == Tok::kFArrow || items_[n].kind == Tok::kPArrow;
      bodies += items_[n].kind == Tok::kColon;
      semicolons += items_[n].kind == Tok::kSemic;
    });
    if (bodies == 0) return;
    resources_.push_back(open);
    if (attributes < 2 && bodies < 2) {
      if (attributes == 1 && semicolons == 0) end_with_comma(open);
      return;
    }
    std::set<std::size_t> tabular;  // the colons of bodies that stay on their lines
    each_within(open, [&](std::size_t n) {
      if (items_[n].kind == Tok::kColon && bodies > 1 && in_a_table(open, n)) tabular.insert(n);
    });
    break_before(items_[open].partner);
    bool title = true, stays = false;
    each_within(open, [&](std::size_t n) {
      Tok kind = items_[n].kind;
      if (kind == Tok::kColon) title = false, stays = tabular.contains(n);
      if (kind == Tok::kSemic) title = true, stays = false;
      if (stays || (kind != Tok::kColon && kind != Tok::kSemic && (kind != Tok::kComma || title))) return;
      // a comment behind it stays there
      std::size_t next = n + 1;
      if (items_[next].comment() && items_[next].breaks == 0) ++next;
      break_before(next);
    });
    if (bodies > 1) break_before(open + 1);
    end_with_comma(open);
  }

  // One of a table: the title begins a line and all attributes follow on it.
  bool in_a_table(std::size_t open, std::size_t colon) const {
    std::size_t title = colon;
    while (title - 1 > open && items_[title - 1].kind != Tok::kSemic) --title;
    while (items_[title].comment()) ++title;
    if (items_[title].breaks == 0) return false;
    for (std::size_t n = colon + 1; n < items_[open].partner && items_[n].kind != Tok::kSemic; ++n) {
      if (items_[n].breaks > 0 && !items_[n].comment()) return false;
      if (opens(items_[n].kind)) n = items_[n].partner;
    }
    return true;
  }

  // Of a class or a defined type.
  void parameters(std::size_t open) {
    const Item* name = before(open);
    if (!name || name->kind != Tok::kName) return;
    const Item* word = before(static_cast<std::size_t>(name - items_.data()));
    if (!word || (word->kind != Tok::kClass && word->kind != Tok::kDefine)) return;
    declared_.push_back(open);
    if (items_[open].partner > open + 1) end_with_comma(open);
  }

  // ---- what stands between two items of a line

  std::size_t blanks(std::size_t n) const {
    const Item &i = items_[n], &last = items_[n - 1];
    if (i.comment()) return std::max<std::size_t>(i.blanks, 1);
    if (last.comment()) return 1;
    if (tight_after(n - 1)) return 0;
    switch (i.kind) {
      case Tok::kComma:
      case Tok::kSemic:
      case Tok::kColon:
      case Tok::kDot:
      case Tok::kRParen:
      case Tok::kRBrack: return 0;
      case Tok::kRBrace: return last.kind == Tok::kLBrace ? 0 : 1;
      case Tok::kLBrack: return ends_value(last.kind) ? 0 : 1;
      case Tok::kLParen:
        if (last.kind == Tok::kName) return std::binary_search(declared_.begin(), declared_.end(), n) ? 1 : 0;
        if (last.kind == Tok::kTypeName) return 0;
        return ends_value(last.kind) ? std::min<std::size_t>(i.blanks, 1) : 1;
      case Tok::kPipe: return closing_pipe(n) ? 0 : 1;
      case Tok::kMinus: return last.kind == Tok::kName ? std::min<std::size_t>(i.blanks, 1) : 1;  // `notice -1`
      default: return 1;
    }
  }

  // Nothing follows it before what it belongs to.
  bool tight_after(std::size_t n) const {
    const Item* last = before(n);
    bool prefix = !last || !ends_value(last->kind);
    switch (items_[n].kind) {
      case Tok::kLParen:
      case Tok::kWsLParen:
      case Tok::kLBrack:
      case Tok::kListStart:
      case Tok::kDot:
      case Tok::kAt:
      case Tok::kAtAt:
      case Tok::kNot: return true;
      case Tok::kMinus:
        return prefix || (last->kind == Tok::kName && items_[n + 1].blanks == 0 && items_[n + 1].breaks == 0);
      case Tok::kTimes: return prefix && items_[n + 1].kind != Tok::kFArrow;
      case Tok::kPipe: return !closing_pipe(n);
      default: return false;
    }
  }

  // Of the two that stand around the parameters of a lambda: there is nothing but these between them.
  bool closing_pipe(std::size_t n) const {
    bool closing = false;
    for (std::size_t k = pipes_from(n); k < n; ++k) closing ^= items_[k].kind == Tok::kPipe;
    return closing;
  }
  // Where pipes are counted from: behind the last brace.
  std::size_t pipes_from(std::size_t n) const {
    while (n > 0 && items_[n - 1].kind != Tok::kLBrace && items_[n - 1].kind != Tok::kRBrace) --n;
    return n;
  }

  // ---- the lines

  struct Open {
    Tok kind;
    std::size_t line;
    int weight;  // steps that what is within it is further in
    int extra;   // steps that the line it is on was further in
    bool resource = false, titles_apart = false, in_body = false;
    int id;
    int group;  // of arrows: the id, or a number for each body
  };

  void write() {
    std::vector<Open> open;
    constexpr int kStatements = 0;  // the group of arrows that are in no bracket
    int depth = 0, groups = kStatements, extra = 0;
    for (std::size_t n = 0; n < items_.size(); ++n) {
      const Item& i = items_[n];
      bool starts = n == 0 || i.breaks > 0;
      // Brackets opened on one line count once, and the last of them does: what follows is one step in, not two.
      if (starts && !open.empty() && open.back().line == lines_.size()) {
        open.back().weight = 1 + open.back().extra;
        depth += open.back().weight;
      }
      int closed_extra = 0;
      auto leave_body = [&] {
        if (!open.empty() && std::exchange(open.back().in_body, false)) --depth;
      };
      if (closes(i.kind)) {
        leave_body();
        depth -= open.back().weight;
        closed_extra = open.back().extra;
        open.pop_back();
      }
      if (starts) {
        extra = closes(i.kind) ? closed_extra : continues(n, open.empty() ? Tok::kEnd : open.back().kind) ? 1 : 0;
        lines_.emplace_back();
        lines_.back().blank_before = i.breaks > 1;
        lines_.back().text = std::string(static_cast<std::size_t>(std::max(depth + extra, 0)) * 2, ' ');
      } else {
        lines_.back().text.append(blanks(n), ' ');
      }
      Line& line = lines_.back();
      mark(n, open.empty() ? kStatements : open.back().id);
      if (i.kind == Tok::kFArrow) {
        int group = open.empty() ? kStatements : open.back().group;
        bool whole = line.text.find('\n') == std::string::npos;
        if (line.arrow == 0 && line.group == -1 && whole) {
          line.arrow = line.text.size();
          line.group = group;
        } else if (line.group == group) {
          line.arrow = 0;  // several attributes on a line are left alone
        }
      }
      line.text += i.text;
      if (i.comma_after) line.text += ',';
      if (i.heredoc) line.heredocs.push_back(i.heredoc - 1);
      if (opens(i.kind)) {
        ++groups;
        Open o{i.kind, lines_.size(), 0, extra, false, false, false, groups, groups};
        o.resource = std::binary_search(resources_.begin(), resources_.end(), n);
        std::size_t title = after(n);
        o.titles_apart = o.resource && title < items_.size() && items_[title].breaks > 0;
        open.push_back(o);
      } else if (!open.empty() && open.back().resource) {
        if (i.kind == Tok::kColon) {
          open.back().group = ++groups;
          if (open.back().titles_apart) open.back().in_body = true, ++depth;
        }
        if (i.kind == Tok::kSemic) leave_body();
      }
    }
  }

  // Before it is written.
  void mark(std::size_t n, int bracket) {
    const Item& i = items_[n];
    Line& line = lines_.back();
    if (i.breaks > 0 || i.blanks == 0 || line.text.find('\n') != std::string::npos) return;
    Column what;
    if (i.kind == Tok::kVariable)
      what = Column::kVariable;
    else if (i.kind == Tok::kEquals)
      what = Column::kEquals;
    else if (i.kind == Tok::kName && n > 0 && items_[n - 1].kind == Tok::kColon)
      what = Column::kAttribute;
    else
      return;
    for (const Mark& m : line.marks)
      if (m.key.what >= what) return;
    std::size_t start = text_.rfind('\n', i.from);
    Key key{what, bracket, i.from - (start == std::string_view::npos ? 0 : start + 1)};
    line.marks.push_back({key, line.text.size()});
    if (i.blanks > 1) set_out_.insert(key);
  }

  // Is the line that begins with this item a part of what the line before it says?
  bool continues(std::size_t n, Tok within) const {
    const Item* last = before(n);
    if (!last || (n > 0 && items_[n - 1].comment() && items_[n].comment())) return false;
    if (items_[n].comment()) return false;
    Tok kind = items_[n].kind;
    if (is_edge(kind) || is_edge(last->kind)) return false;
    if (kind == Tok::kDot || (is_operator(kind) && kind != Tok::kTimes && kind != Tok::kMinus && kind != Tok::kNot))
      return true;
    if (last->kind == Tok::kComma) return within == Tok::kEnd || within == Tok::kLBrace ? statement_goes_on(n) : false;
    return is_operator(last->kind) && last->kind != Tok::kNot;
  }

  // After a comma between braces: the arguments of a statement like `include a,\n b`, not attributes or a hash.
  bool statement_goes_on(std::size_t n) const {
    int depth = 0;
    for (std::size_t k = n; k-- > 0;) {
      Tok t = items_[k].kind;
      if (closes(t)) ++depth;
      if (opens(t) && depth-- == 0) {
        bool pairs = false;
        each_within(k, [&](std::size_t m) {
          pairs |= items_[m].kind == Tok::kFArrow || items_[m].kind == Tok::kPArrow || items_[m].kind == Tok::kColon;
        });
        return !pairs;
      }
    }
    return true;
  }

  void align() {
    for (Column what : {Column::kAttribute, Column::kVariable, Column::kEquals}) {
      std::map<Key, std::size_t> widest;
      for (const Line& l : lines_)
        for (const Mark& m : l.marks)
          if (m.key.what == what && set_out_.contains(m.key)) widest[m.key] = std::max(widest[m.key], m.at);
      for (Line& l : lines_)
        for (const Mark& m : l.marks)
          if (m.key.what == what && set_out_.contains(m.key)) insert(l, m.at, widest[m.key] - m.at);
    }
    std::map<int, std::size_t> widest;
    for (const Line& l : lines_)
      if (l.arrow) widest[l.group] = std::max(widest[l.group], l.arrow);
    for (Line& l : lines_)
      if (l.arrow) insert(l, l.arrow, widest[l.group] - l.arrow);
  }

  static void insert(Line& l, std::size_t at, std::size_t blanks) {
    l.text.insert(at, std::string(blanks, ' '));
    for (Mark& m : l.marks)
      if (m.at > at) m.at += blanks;
    if (l.arrow > at) l.arrow += blanks;
  }

  std::string result() const {
    std::string out;
    for (const Line& l : lines_) {
      if (l.blank_before && !out.empty()) out += '\n';
      out += l.text + "\n";
      for (std::size_t h : l.heredocs) {
        out += text_.substr(list_.heredocs[h].from, list_.heredocs[h].to - list_.heredocs[h].from);
        if (!out.ends_with('\n')) out += '\n';
      }
    }
    return out;
  }

  std::string_view text_;
  const TokenList& list_;
  std::vector<Item> items_;
  std::vector<std::size_t> resources_, declared_;  // the brackets of resources and of declared parameters, in order
  std::vector<Line> lines_;
  std::set<Key> set_out_;
};

// The same tokens and comments, but for a comma before a closing bracket, and for which of two tokens a bracket is
// where the grammar does not tell them apart.
bool same_meaning(std::string_view a, const TokenList& in_a, std::string_view b, const TokenList& in_b) {
  auto plain = [](const TokenList& list) {
    std::vector<std::pair<Tok, std::string_view>> out;
    for (std::size_t n = 0; n < list.tokens.size(); ++n) {
      const Token& t = list.tokens[n];
      if (t.kind == Tok::kComma && closes(list.tokens[n + 1].kind)) continue;
      bool inside = !out.empty() && (is_operator(out.back().first) || opens(out.back().first) ||
                                     out.back().first == Tok::kComma || out.back().first == Tok::kColon);
      Tok kind = inside && t.kind == Tok::kListStart  ? Tok::kLBrack
                 : inside && t.kind == Tok::kWsLParen ? Tok::kLParen
                                                      : t.kind;
      out.push_back({kind, t.text});
    }
    return out;
  };
  auto remarks = [](std::string_view text, const TokenList& list) {
    std::vector<std::string_view> out;
    for (const Comment& c : list.comments) {
      std::string_view one = text.substr(c.from, c.to - c.from);
      out.push_back(one.substr(0, one.find_last_not_of(" \t\r\n") + 1));
    }
    return out;
  };
  return plain(in_a) == plain(in_b) && remarks(a, in_a) == remarks(b, in_b);
}

}  // namespace

std::optional<std::string> format_manifest(Session& session, const Source& source) {
  Arena arena;
  if (!parse(source, LexMode::kManifest, arena, session.diagnostics, session.budget)->ok) return std::nullopt;
  Diagnostics ignored;
  TokenList list = lex(source, LexMode::kManifest, arena, ignored);
  std::optional<std::string> out = Formatter(source.text, list).run();
  if (!out) return std::string(source.text);
  Sources other;
  auto made = other.add("formatted", *out);
  if (!made || !same_meaning(source.text, list, *out, lex(**made, LexMode::kManifest, arena, ignored)))
    return std::string(source.text);
  return out;
}

}  // namespace tutti::puppet
