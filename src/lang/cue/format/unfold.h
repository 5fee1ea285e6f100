#pragma once

#include <vector>

#include "lang/cue/format/format.h"
#include "lang/cue/format/printer.h"

namespace tutti::cue {

// The first half of formatting: a syntax tree becomes texts and the space that may be between them, for the Printer.
//
// Comments have their positions in a node: how many tokens and children of it come before. So each node being unfolded
// counts these, and what is due is written when a child ends.
class Unfold {
 public:
  explicit Unfold(const FormatOptions& options) : options_(options), out_(options.spaces) {}

  void node(ast::Node* n);
  std::string finish() { return out_.finish(); }

 private:
  // A node being unfolded, or a list in one, which has no comments of its own.
  struct Frame {
    std::span<const ast::CommentGroup> comments;  // that are still to be written
    int position = 0;
    Spaces within = kLine;  // what separates its declarations: kBlank when it is on one line
    Spaces around = kLine;  // those of the node around it
  };
  Frame enter(ast::Node* n);
  void leave(const Frame& outer);
  template <class F>
  void inside(ast::Node* n, F body) {
    Frame outer = enter(n);
    body();
    leave(outer);
  }
  void comments(int until);
  Spaces table_end() const { return frame_.within == kBlank ? kBlank : kNewTable; }
  bool on_one_line(const ast::Struct* s);

  // Texts of the node itself are counted; names and literals are nodes.
  void token(Tok t) {
    out_.token(t);
    ++frame_.position;
  }
  void token(TokenPos at, Tok t) {
    out_.place(at);
    token(t);
  }
  void word(TokenPos at, std::string_view text) {
    out_.place(at);
    out_.text(text);
    ++frame_.position;
  }
  void allow(int s) { out_.allow(static_cast<Spaces>(s)); }
  void pass();  // a child that is not there

  // Declarations.
  void file(ast::File* n);
  void declarations(ast::Nodes list);
  void separate(ast::Node* before, ast::Node* next, int depth);
  void declaration(ast::Node* n);
  void own_line(ast::Node* n);
  void field(ast::Field* n);
  void attributes(ast::Nodes list, Spaces before);
  ast::Field* chained(const ast::Field* n) const;
  void label(ast::Node* n);
  void postfix_alias(ast::PostfixAlias* n);
  void let(ast::Let* n);
  void import(ast::Import* n);
  void import_specs(ast::Nodes list);
  void comprehension(ast::Comprehension* n);
  void clause(ast::Node* n);
  void bind(ast::Ident* name, TokenPos equal, ast::Node* x);

  // Expressions. `least` is the precedence below which parentheses are needed, `depth` more than 1 where text is tight.
  void expression(ast::Node* n, int least = 0, int depth = 1);
  void plain(ast::Node* n, int least, int depth);
  void binary(ast::Binary* n, int least, int depth);
  void unary(ast::Unary* n, int least, int depth);
  bool selector(ast::Selector* n, int depth);
  bool function_name(ast::Node* n, int depth);
  void call(ast::Call* n, int depth);
  void slice(ast::Slice* n, int depth);
  void structure(ast::Struct* n);
  void list(ast::List* n);
  void elements(ast::List* n);
  void element(ast::Node* n);
  void interpolation(ast::Interpolation* n, int depth);
  void function(ast::Func* n);
  void ellipsis(ast::Ellipsis* n);

  std::size_t line_of(Pos p);

  FormatOptions options_;
  Printer out_;
  Frame frame_;
  const Source* source_ = nullptr;
  std::vector<u32> lines_;  // where those of the source end, once that was asked
};

}  // namespace tutti::cue
