#pragma once

#include <vector>

#include "lang/cue/format/format.h"
#include "lang/cue/format/layout.h"

namespace tutti::cue {

// The first half of formatting: a syntax tree becomes the list of texts that Layout places.
//
// Depth follows one rule: what is inside brackets is one level deeper than the line on which the bracket opens, and the
// closing bracket is as deep as that line. So Unfold always knows how deep the current line is.
//
// Comments follow another: those before a node come when the node is entered; all others wait until a token is
// written that stands behind them in the source, or until their node ends. They end the line they are put on.
class Unfold {
 public:
  explicit Unfold(const FormatOptions& options) : options_(options), layout_(options.spaces) {}

  void file(ast::File* file);
  void declaration(ast::Node* n);
  void expression(ast::Node* n, int tight = 0);
  std::string render() const { return layout_.render(); }

 private:
  // What stands before the next text: `least`, unless its token was on a line of its own and up to `most` is allowed. A
  // token that does not know where it was takes `usual`.
  void gap(Gap least, Gap most, Gap usual);
  void gap(Gap exactly) { gap(exactly, exactly, exactly); }
  void gap(Gap least, Gap most) { gap(least, most, least); }
  void put(std::string_view text, TokenPos at = {});
  void put_lines(std::string_view literal, TokenPos at);
  Gap next_gap(Rel rel) const;
  void written(Gap before);

  class Inside;  // a node being unfolded: its comments are written at the latest when it ends
  void comments_before(TokenPos at);
  void comment(const ast::CommentGroup& group);

  // Declarations.
  void declarations(ast::Nodes list, bool aligned, bool own_lines);
  void separate(ast::Node* before, ast::Node* next, bool own_line);
  void ellipsis(ast::Ellipsis* n);
  void field(ast::Field* n);
  void value(ast::Node* n, Gap before);
  void label(ast::Node* n);
  void let(ast::Let* n);
  void import(ast::Import* n);
  void postfix_alias(ast::PostfixAlias* n);
  ast::Field* chained(const ast::Field* n) const;
  bool braces_go(const ast::Struct* s) const;

  // Expressions.
  struct Operators;
  void binary(ast::Binary* n, Operators& chain);
  void operand_of(ast::Node* x, int least, int tight);
  void structure(ast::Struct* n, int base);
  void list(ast::List* n);
  void call(ast::Call* n, int tight);
  void slice(ast::Slice* n, int tight);
  void comprehension(ast::Comprehension* n);
  int clause(ast::Node* n);
  void literal(ast::Lit* n);
  void interpolation(ast::Interpolation* n);
  void function(ast::Func* n);
  void alias(ast::Alias* n);

  FormatOptions options_;
  Layout layout_;
  Gap least_ = Gap::kNone, most_ = Gap::kNone, usual_ = Gap::kNone;
  int depth_ = 0;           // of a line that would begin now
  int line_depth_ = 0;      // of the line we are on
  u32 line_ = 0;            // number of line breaks written
  bool ended_ = false;      // a comment ends the current line
  bool aligned_ = true;     // values and comments stand in columns,
  u32 row_ = 0;             // on this line
  bool hanging_ = false;    // the value that comes has a line of its own, deep enough for what continues it
  bool in_string_ = false;  // inside an interpolation nothing is laid out anew
  char last_ = 0;           // last character written
  std::vector<ast::CommentGroup> waiting_;  // ordered by place
};

class Unfold::Inside {
 public:
  Inside(Unfold& u, ast::Node* n);
  ~Inside();
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Unfold& u_;
  std::vector<ast::CommentGroup> placeless_;
  Pos last_;  // place of the node's last waiting comment
};

}  // namespace tutti::cue
