#pragma once

#include <vector>

#include "lang/cue/format/printer.h"

namespace tutti::cue {

// Walks a syntax tree and tells the Printer what may stand between its tokens. Comments hang on nodes at positions that
// count the tokens and children printed before them, so every token and child moves the current position on by one.
class Formatter {
 public:
  Formatter(const FormatOptions& options, const Source* source) : options_(options), source_(source), p_(options) {
    current_.node_sep = current_.parent_sep = kSpNewline;
  }

  void file(ast::File* file);
  void decls(ast::Nodes list);
  void decl(ast::Node* n);
  void expr(ast::Node* n) { expr1(n, 0, 1); }
  std::string finish() { return p_.finish(); }

 private:
  struct Frame {
    std::span<ast::CommentGroup> groups;
    int pos = 0;
    Space node_sep = 0, parent_sep = 0;
  };

  // Printing a token counts, white space and places do not.
  void tok(Tok t) {
    p_.token(t);
    ++current_.pos;
  }
  void word(std::string_view s, Tok as = Tok::kString) {
    p_.word(s, as, true);
    ++current_.pos;
  }
  void sp(Space s) { p_.space(s); }
  void at(TokenPos pos) { p_.place(pos); }

  void before(ast::Node* n);
  void after();
  void comments_until(int pos);
  void print_comment(const ast::CommentGroup& group);
  Space form_feed() const { return current_.node_sep == kSpBlank ? kSpBlank : kSpFormFeed; }
  bool on_one_line(ast::Node* n) const;
  int line_of(Pos pos) const;

  void field(ast::Field* n);
  ast::Field* inlined(ast::Field* n) const;
  void embedding(ast::Node* n);
  void comprehension(ast::Comprehension* n);
  void clause(ast::Node* n);
  void label(ast::Node* n);
  void import_decl(ast::Import* n);
  void import_spec(ast::ImportSpec* n);
  void ellipsis(ast::Ellipsis* n);
  void expr1(ast::Node* n, int precedence, int depth);
  void expr_raw(ast::Node* n, int precedence, int depth);
  void binary(ast::Binary* n, int outer, int cutoff, int depth);
  bool selector(ast::Selector* n, int depth);
  void call(ast::Call* n, int depth);
  void slice(ast::Slice* n, int depth);
  void struct_lit(ast::Struct* n);
  void list_lit(ast::List* n);
  void list_elements(ast::List* n);
  void interpolation(ast::Interpolation* n, int depth);

  FormatOptions options_;
  const Source* source_;
  Printer p_;
  Frame current_;
  std::vector<Frame> stack_;
};

constexpr int kUnaryPrecedence = 8, kHighestPrecedence = 9;

}  // namespace tutti::cue
