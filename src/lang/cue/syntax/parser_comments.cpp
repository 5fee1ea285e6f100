#include <algorithm>

#include "lang/cue/syntax/parser_impl.h"

// The part of the parser that reads tokens and gives comments to nodes.
namespace tutti::cue {

using ast::CommentGroup;
using ast::Node;

void Parser::take_comments(Frame* child) {
  if (top_ && top_->list > 0 && !top_->groups.empty()) {
    Frame* c = top_;
    if (Node* last = c->last_child) {
      std::vector<CommentGroup> all;
      for (auto& g : c->groups)
        if (g.position == 0) all.push_back(g);
      for (auto& g : last->comments()) all.push_back(g);
      for (auto& g : c->groups)
        if (g.position != 0) {
          all.push_back(g);
          all.back().position = c->last_pos;
        }
      auto* notes = arena_.make<ast::Comments>();
      auto kept = arena_.copy(std::span<const CommentGroup>(all));
      notes->groups = kept.data();
      notes->size = notes->capacity = static_cast<u32>(kept.size());
      last->notes = notes;
    } else {
      for (auto& g : c->groups) {
        g.position = 0;
        child->groups.push_back(g);
      }
    }
    c->groups.clear();
  }
  if (lead_) {
    child->groups.push_back(*lead_);
    lead_.reset();
  }
}

void Parser::give_comments(Frame* f) {
  for (auto& g : f->groups) {
    g.position = f->last_pos;
    ast::add_comment(arena_, f->last_child, g);
  }
  f->groups.clear();
}

void Parser::keep(const CommentGroup& g) {
  top_->groups.push_back(g);
  top_->groups.back().position = top_->pos;
}

void Parser::advance() {
  if (peeked_) {
    tok_ = peeked_->tok, pos_ = peeked_->pos, text_ = peeked_->text;
    peeked_.reset();
    return;
  }
  Token t = scanner_.next();
  tok_ = t.tok, pos_ = t.pos, text_ = t.text;
}

void Parser::peek() {
  if (!peeked_) peeked_ = scanner_.next();
}

namespace {
// Number of line ends between two places of a text, the first not after the second.
u32 lines_between(const Source& s, TokenPos a, TokenPos b) {
  std::size_t from = a ? s.offset(a.pos) : 0, to = b ? s.offset(b.pos) : 0;
  if (from >= to) return 0;
  return static_cast<u32>(
      std::count(s.text.begin() + static_cast<long>(from), s.text.begin() + static_cast<long>(to), '\n'));
}
}  // namespace

// Adjacent comments, at most `lines` line ends apart from one to the next; `before` is the number of lines since the
// last token, `end` becomes the number of lines between the last comment and what follows.
CommentGroup Parser::comment_group(u32 before, u32 lines, u32& end) {
  std::vector<ast::Comment> list;
  Rel rel = before == 0 ? Rel::kBlank : before == 1 ? Rel::kNewline : Rel::kNewSection;
  do {
    TokenPos here = pos_;
    list.push_back({pos_, text_});
    advance();
    end = lines_between(source_, here, pos_);
  } while (tok_ == Tok::kComment && end <= lines);
  list[0].slash.rel = rel;
  CommentGroup g;
  g.list = arena_.copy(std::span<const ast::Comment>(list));
  return g;
}

// On to the next token that is not a comment. A comment that ends on the line before it leads it; one on the line of
// the token before is a line comment.
void Parser::next() {
  if (lead_) keep(*lead_);
  lead_.reset();
  TokenPos previous = pos_;
  advance();
  ++top_->pos;
  if (tok_ != Tok::kComment) return;
  std::optional<CommentGroup> group;
  u32 before =
      lines_between(source_, previous, pos_) + (previous ? 0 : 1);  // the file's first comment is on a line of its own
  u32 end = 0;
  bool own_lines = false;
  if (before == 0) {
    group = comment_group(0, 0, end);
    if (end != 0 || tok_ == Tok::kEof) group->line = true;
    before = end;
  }
  while (tok_ == Tok::kComment) {
    if (group) keep(*group);
    group = comment_group(before, 1, end);
    before = end;
    own_lines = true;
  }
  if (own_lines && end == 1 && tok_ != Tok::kEof) {
    group->doc = true;
    lead_ = group;
  } else {
    keep(*group);
  }
}

}  // namespace tutti::cue
