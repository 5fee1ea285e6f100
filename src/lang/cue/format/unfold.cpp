#include "lang/cue/format/unfold.h"

#include <algorithm>

#include "lang/cue/format/walk.h"

namespace tutti::cue {

using ast::CommentGroup;

void Unfold::node(ast::Node* n) {
  switch (n->kind) {
    case ast::Kind::kFile: return file(ast::as<ast::File>(n));
    case ast::Kind::kField:
    case ast::Kind::kEmbed:
    case ast::Kind::kLet:
    case ast::Kind::kAttribute:
    case ast::Kind::kPackage:
    case ast::Kind::kImport:
    case ast::Kind::kComprehension: return declaration(n);
    default: return expression(n);
  }
}

Unfold::Frame Unfold::enter(ast::Node* n) {
  Frame outer = frame_;
  frame_ = {{}, 0, outer.within, outer.within};
  if (!n) return outer;
  if (n->kind == ast::Kind::kStruct && frame_.within != kBlank && on_one_line(ast::as<ast::Struct>(n)))
    frame_.within = kBlank;
  frame_.comments = n->comments();
  comments(0);
  return outer;
}

void Unfold::leave(const Frame& outer) {
  comments(127);
  frame_ = outer;
  pass();
}

void Unfold::pass() {
  ++frame_.position;
  comments(frame_.position);
}

void Unfold::comments(int until) {
  bool first = true;
  while (!frame_.comments.empty() && frame_.comments[0].position <= until) {
    const CommentGroup& group = frame_.comments[0];
    frame_.comments = frame_.comments.subspan(1);
    if (!first) allow(kSection);
    first = false;
    out_.before_comment(group.line ? Rel::kBlank : group.rel());
    if (group.doc && !out_.empty()) allow(kLine);
    for (const ast::Comment& c : group.list) out_.comment(c.slash, c.text, group.doc);
  }
}

std::size_t Unfold::line_of(Pos p) {
  if (lines_.empty()) {
    for (std::size_t at = source_->text.find('\n'); at != std::string::npos; at = source_->text.find('\n', at + 1))
      lines_.push_back(static_cast<u32>(at));
    lines_.push_back(~u32{0});
  }
  auto offset = static_cast<u32>(source_->offset(p));
  return static_cast<std::size_t>(std::lower_bound(lines_.begin(), lines_.end(), offset) - lines_.begin());
}

// Only structs of one field or none stay on the line on which they are.
bool Unfold::on_one_line(const ast::Struct* s) {
  if (s->elts.size() > 1) return false;
  Pos from = ast::first(s).pos, to = ast::end(s);
  auto known = [&](Pos p) { return source_ && p >= source_->first && source_->offset(p) <= source_->text.size(); };
  if (from && to && known(from) && known(to)) return line_of(from) == line_of(to);
  // Made, or from elsewhere: what is known is how its tokens stand to each other.
  auto stays = [](Rel r) { return r != Rel::kNone && r < Rel::kNewline; };
  return stays(s->lbrace.rel) && stays(s->rbrace.rel) && (s->elts.empty() || stays(ast::first(s->elts[0]).rel));
}

}  // namespace tutti::cue
