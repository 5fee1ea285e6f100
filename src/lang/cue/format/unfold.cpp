#include "lang/cue/format/unfold.h"

#include <algorithm>
#include <cstring>

#include "lang/cue/format/literal.h"

namespace tutti::cue {

using ast::CommentGroup;

void Unfold::gap(Gap least, Gap most, Gap usual) {
  least_ = least;
  most_ = most;
  usual_ = usual;
}

Gap Unfold::next_gap(Rel rel) const {
  Gap g = least_;
  if (rel == Rel::kNone || rel == Rel::kElided) g = usual_;
  if (rel == Rel::kNewline) g = std::clamp(Gap::kLine, least_, most_);
  if (rel == Rel::kNewSection) g = std::clamp(Gap::kEmpty, least_, most_);
  return ended_ ? std::max(g, Gap::kLine) : g;
}

void Unfold::written(Gap before) {
  if (breaks(before)) {
    ++line_;
    line_depth_ = depth_;
  }
  ended_ = false;
  gap(Gap::kNone);
}

// Would the end of one token and the beginning of the next be read as one token?
static bool merges(char a, char b) {
  return (std::strchr("=!<>", a) && (b == '=' || b == '~')) || (a == '*' && b == '*') || (a == '<' && b == '-');
}

void Unfold::put(std::string_view text, TokenPos at) {
  comments_before(at);
  Gap before = next_gap(at.rel);
  if (before == Gap::kNone && last_ && !text.empty() && merges(last_, text[0])) before = Gap::kSpace;
  layout_.text(before, depth_, text);
  if (!text.empty()) last_ = text.back();
  written(before);
}

// A multi-line literal, its lines one deeper than the line it begins on.
void Unfold::put_lines(std::string_view text, TokenPos at) {
  comments_before(at);
  Gap before = next_gap(at.rel);
  int depth = (breaks(before) ? depth_ : line_depth_) + 1;
  std::string lines = indent_literal(text, depth);
  if (options_.spaces > 0) {
    std::string spaced;
    std::size_t n = static_cast<std::size_t>(depth);
    for (std::size_t from = 0; from < lines.size();) {
      std::size_t end = std::min(lines.find('\n', from), lines.size() - 1) + 1;
      std::string_view line = std::string_view(lines).substr(from, end - from);
      std::size_t tabs = from == 0 ? 0 : std::min(n, std::min(line.find_first_not_of('\t'), line.size()));
      spaced.append(tabs * static_cast<std::size_t>(options_.spaces), ' ');
      spaced += line.substr(tabs);
      from = end;
    }
    lines = std::move(spaced);
  }
  last_ = lines.back();
  layout_.text(before, depth_, lines);
  written(before);
  ++line_;
}

void Unfold::comments_before(TokenPos at) {
  if (!at) return;
  std::size_t n = 0;
  while (n < waiting_.size() && waiting_[n].list[0].slash.pos < at.pos) ++n;
  if (n == 0) return;
  std::vector<CommentGroup> now(waiting_.begin(), waiting_.begin() + static_cast<long>(n));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<long>(n));
  for (const CommentGroup& g : now) comment(g);
}

void Unfold::comment(const CommentGroup& group) {
  if (group.list.empty()) return;
  Rel rel = group.rel();
  bool same_line =
      !ended_ && !layout_.empty() && !group.doc && (group.line || rel == Rel::kBlank || rel == Rel::kNoSpace);
  bool first = true;
  for (const ast::Comment& c : group.list) {
    if (same_line && first) {
      bool opened = last_ == '{' || last_ == '[';
      layout_.comment(opened ? Gap::kNone : aligned_ && row_ == line_ ? Gap::kCell : Gap::kSpace, line_depth_, c.text);
    } else {
      Gap g = first ? std::max(next_gap(rel), Gap::kLine) : Gap::kLine;
      if (first && rel == Rel::kNewSection && last_ != 0) g = Gap::kEmpty;
      layout_.comment(g, depth_, c.text);
      ++line_;
      line_depth_ = depth_;
      // An empty line that was wanted has been written.
      least_ = std::min(least_, Gap::kLine);
      usual_ = std::min(usual_, Gap::kLine);
      most_ = std::max(most_, Gap::kEmpty);
    }
    first = false;
  }
  if (group.doc) gap(std::min(least_, Gap::kLine), Gap::kLine, Gap::kLine);  // right before what it is about
  last_ = '/';
  ended_ = true;
}

Unfold::Inside::Inside(Unfold& u, ast::Node* n) : u_(u) {
  for (const CommentGroup& g : n->comments()) {
    if (g.list.empty()) continue;
    TokenPos at = g.list[0].slash;
    if (g.position == 0) {
      u.comments_before(at);
      u.comment(g);
    } else if (!at) {
      placeless_.push_back(g);
    } else {
      auto after = std::find_if(u.waiting_.begin(), u.waiting_.end(),
                                [&](const CommentGroup& w) { return at.pos < w.list[0].slash.pos; });
      u.waiting_.insert(after, g);
      last_ = std::max(last_, at.pos);
    }
  }
}

Unfold::Inside::~Inside() {
  if (last_) u_.comments_before({Pos{last_.at + 1}, Rel::kNone, false});
  for (const CommentGroup& g : placeless_) u_.comment(g);
}

}  // namespace tutti::cue
