// tutti fmt for manifests: two spaces for each bracket that is open, arrows of neighbouring attributes under each
// other, one blank line at most, no blanks at line ends. Text within strings, heredocs and comments stays as it is.
#include "lang/puppet/format.h"

#include <algorithm>

#include "lang/puppet/syntax/parser.h"

namespace tutti::puppet {
namespace {

struct Line {
  std::size_t from = 0, to = 0;  // without the line end
  bool frozen = false;           // begins within a string, heredoc or comment
  bool frozen_end = false;       // ends within one
  int depth = 0;
  int group = -1;         // the bracket its arrow is in
  std::size_t arrow = 0;  // offset of its first arrow; 0: none
};

bool opens(Tok t) {
  return t == Tok::kLBrace || t == Tok::kLBrack || t == Tok::kListStart || t == Tok::kLParen || t == Tok::kWsLParen;
}
bool closes(Tok t) { return t == Tok::kRBrace || t == Tok::kRBrack || t == Tok::kRParen; }

}  // namespace

std::optional<std::string> format_manifest(Session& session, const Source& source) {
  {
    Arena arena;
    if (!parse(source, LexMode::kManifest, arena, session.diagnostics, session.budget)->ok) return std::nullopt;
  }
  std::string_view text = source.text;
  Arena arena;
  Diagnostics ignored;
  TokenList list = lex(source, LexMode::kManifest, arena, ignored);

  std::vector<Line> lines;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    Line l;
    l.from = at;
    l.to = end;
    lines.push_back(l);
    at = end + 1;
  }
  auto line_of = [&](std::size_t at) {
    auto it = std::upper_bound(lines.begin(), lines.end(), at, [](std::size_t a, const Line& l) { return a < l.from; });
    return static_cast<std::size_t>(it - lines.begin()) - 1;
  };
  auto freeze = [&](std::size_t from, std::size_t to) {
    std::size_t a = line_of(from), b = line_of(to == from ? to : to - 1);
    for (std::size_t n = a; n < b; ++n) lines[n].frozen_end = lines[n + 1].frozen = true;
  };
  // The text of a heredoc and the line that ends it, whose place sets the margin.
  auto freeze_heredoc = [&](std::size_t from, std::size_t to) {
    std::size_t last = line_of(to > from ? to - 1 : to);
    for (std::size_t l = line_of(from); l <= last + 1 && l < lines.size(); ++l)
      lines[l].frozen = lines[l].frozen_end = true;
  };
  for (const Comment& c : list.comments) freeze(c.from, c.to);
  // A string with interpolation lasts from its first part to its last; so does a heredoc, whose text is on later lines.
  int in_string = 0;
  std::vector<std::size_t> string_from;
  bool heredoc = false;
  std::vector<bool> skip(list.tokens.size());
  for (std::size_t n = 0; n < list.tokens.size(); ++n) {
    const Token& t = list.tokens[n];
    if (t.kind == Tok::kHeredoc) {
      heredoc = true;
      continue;
    }
    if (in_string) skip[n] = true;
    if (t.kind == Tok::kDqPre) {
      ++in_string;
      string_from.push_back(t.from);
      skip[n] = true;
    } else if (t.kind == Tok::kDqPost) {
      --in_string;
      if (in_string == 0) {
        std::size_t from = string_from.front();
        freeze(from, t.to);
        if (heredoc) freeze_heredoc(from, t.to);
        string_from.clear();
        heredoc = false;
      }
      skip[n] = true;
    } else if (t.kind == Tok::kString && !in_string) {
      freeze(t.from, t.to);
      if (heredoc) {
        freeze_heredoc(t.from, t.to);
        heredoc = false;
        skip[n] = true;
      }
    } else if (t.kind == Tok::kRegex) {
      freeze(t.from, t.to);
    }
  }
  // The lines of heredocs are those that hold no token of their own: found by what lies between tokens.
  struct Open {
    int id;
    std::size_t line;
    bool counts;
  };
  std::vector<Open> open;
  int groups = 0, depth = 0;
  std::vector<int> first_depth(lines.size(), -1);
  std::size_t previous_line = SIZE_MAX;
  for (std::size_t n = 0; n + 1 < list.tokens.size(); ++n) {
    const Token& t = list.tokens[n];
    if (skip[n]) continue;
    std::size_t l = line_of(t.from);
    bool close = closes(t.kind);
    // Brackets opened on one line count once: what follows is one step in, not two.
    if (close && !open.empty()) {
      if (open.back().counts) --depth;
      open.pop_back();
    }
    if (l != previous_line && (previous_line == SIZE_MAX || l > previous_line)) {
      first_depth[l] = depth;
      previous_line = l;
    }
    if (opens(t.kind)) {
      bool counts = open.empty() || open.back().line != l || !open.back().counts;
      if (!open.empty() && open.back().line == l && open.back().counts) counts = false;
      open.push_back({++groups, l, counts});
      if (counts) ++depth;
    }
    if (t.kind == Tok::kFArrow && lines[l].arrow == 0) {
      lines[l].arrow = t.from;
      lines[l].group = open.empty() ? 0 : open.back().id;
    } else if (t.kind == Tok::kFArrow && lines[l].arrow) {
      lines[l].group = -1;  // several on a line are left alone
    }
  }
  // Comment lines go with the line after them.
  int next = 0;
  for (std::size_t n = lines.size(); n-- > 0;) {
    if (first_depth[n] >= 0)
      next = first_depth[n];
    else
      first_depth[n] = next;
    lines[n].depth = first_depth[n];
  }
  std::vector<std::string> out;
  std::vector<std::size_t> arrow_at(lines.size(), 0);
  for (std::size_t n = 0; n < lines.size(); ++n) {
    const Line& l = lines[n];
    std::string_view s = text.substr(l.from, l.to - l.from);
    std::string made;
    std::size_t cut = 0;
    if (!l.frozen) {
      while (cut < s.size() && (s[cut] == ' ' || s[cut] == '\t')) ++cut;
      if (cut < s.size() && s[cut] != '\r') made = std::string(static_cast<std::size_t>(l.depth) * 2, ' ');
    }
    std::size_t arrow = l.arrow && !l.frozen && l.group >= 0 ? l.arrow - l.from : std::string_view::npos;
    if (arrow != std::string_view::npos && arrow >= cut) {
      std::string before = made + std::string(s.substr(cut, arrow - cut));
      while (!before.empty() && before.back() == ' ') before.pop_back();
      made = before + " ";
      arrow_at[n] = before.size() + 1;
      std::string_view after = s.substr(arrow + 2);
      while (!after.empty() && after.front() == ' ') after.remove_prefix(1);
      made += "=>";
      if (!after.empty()) made += " " + std::string(after);
    } else {
      made += s.substr(cut);
    }
    if (!l.frozen_end)
      while (!made.empty() && (made.back() == ' ' || made.back() == '\t' || made.back() == '\r')) made.pop_back();
    out.push_back(std::move(made));
  }
  // Arrows of one bracket on lines that follow each other.
  for (std::size_t n = 0; n < lines.size();) {
    if (!arrow_at[n] || lines[n].group < 0) {
      ++n;
      continue;
    }
    std::size_t end = n + 1, widest = arrow_at[n];
    while (end < lines.size() && arrow_at[end] && lines[end].group == lines[n].group)
      widest = std::max(widest, arrow_at[end++]);
    for (std::size_t i = n; i < end; ++i) out[i].insert(arrow_at[i], std::string(widest - arrow_at[i], ' '));
    n = end;
  }
  std::string result;
  bool blank = true;
  for (std::size_t n = 0; n < lines.size(); ++n) {
    bool empty = out[n].empty() && !lines[n].frozen && !lines[n].frozen_end;
    if (empty && blank) continue;
    blank = empty;
    result += out[n] + "\n";
  }
  while (result.size() > 1 && result[result.size() - 1] == '\n' && result[result.size() - 2] == '\n') result.pop_back();
  if (result == "\n") result.clear();
  return result;
}

}  // namespace tutti::puppet
