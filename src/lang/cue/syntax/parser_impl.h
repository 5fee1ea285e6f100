#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

// Recursive descent with one token in hand. Comments are kept by a stack of frames, one for each node being read: a
// frame counts the tokens and children passed (its position), collects the comments met, and gives them to the node
// when that is complete. A list frame stands for a production that has no node of its own; its comments go to the child
// before them.
class Parser {
 public:
  Parser(const Source& source, Arena& arena, std::vector<SyntaxError>& errors, const ParseOptions& options);

  ast::File* file();
  ast::Node* only_expression();

 private:
  struct Frame {
    Frame* parent = nullptr;
    signed char pos = 0;
    std::vector<ast::CommentGroup> groups;
    int list = 0;
    ast::Node* last_child = nullptr;
    signed char last_pos = 0;
  };
  struct TooManyErrors {};
  struct Label {
    ast::Node* label = nullptr;
    ast::Node* expr = nullptr;
    ast::Node* decl = nullptr;
    bool ok = false;
  };
  // Guards against nesting that the machine's stack would not hold.
  struct Nest {
    explicit Nest(Parser& p);
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;
    ~Nest() { --parser.nesting_; }
    Parser& parser;
  };

  // comments
  Frame* new_frame();
  void free_frame(Frame* f);
  Frame* open();
  void open_list();
  void close_list();
  template <class T>
  T* close(Frame* f, T* n) {
    close_node(f, n);
    return n;
  }
  void close_node(Frame* f, ast::Node* n);
  void keep(const ast::CommentGroup& g);
  ast::CommentGroup comment_group(u32 before, u32 lines, u32& end);

  // tokens
  void advance();
  void next();
  void peek();
  bool auto_comma() const { return tok_ == Tok::kComma && text_ == "\n"; }

  // errors
  void error(TokenPos at, std::string message);
  void expected(TokenPos at, std::string_view what);
  TokenPos expect(Tok t);
  TokenPos expect_closing(Tok t, std::string_view context);
  void expect_comma();
  bool at_comma(std::string_view context, std::initializer_list<Tok> follow);
  void sync();

  // expressions
  ast::Ident* ident();
  ast::Ident* declared_ident();
  ast::Ident* key_ident();
  void check_declared(const ast::Ident* i);
  ast::Node* operand();
  ast::Node* primary();
  ast::Node* primary_tail(ast::Node* x);
  ast::Node* unary();
  ast::Node* binary(int least);
  ast::Node* binary_tail(int least, ast::Node* x);
  ast::Node* expression();
  ast::Node* rhs();
  ast::Node* checked(ast::Node* x);
  ast::Node* optional_mark(ast::Node* x);
  ast::Node* index_or_slice(ast::Node* x);
  ast::Node* call(ast::Node* fun);
  ast::Node* interpolation();
  ast::Node* list();
  ast::Node* list_element(bool& more);
  ast::Node* alias(ast::Node* left);
  ast::PostfixAlias* postfix_alias();

  // declarations
  void decl_comma();
  ast::Nodes field_list();
  ast::Node* field();
  Label label(bool right);
  ast::Node* let_decl(ast::Ident*& word);
  ast::Node* comprehension(ast::Ident*& word);
  bool clauses(std::vector<ast::Node*>& out, Frame*& word_frame);
  ast::FallbackClause* fallback(const std::vector<ast::Node*>& before);
  ast::Node* struct_literal();
  ast::Nodes attributes();
  ast::Attribute* attribute(bool preamble);
  ast::ImportSpec* import_spec();
  ast::Import* import_decl();
  void read_experiments();

  template <class T, class... A>
  T* make(A&&... a) {
    return arena_.make<T>(std::forward<A>(a)...);
  }
  ast::Nodes keep_nodes(const std::vector<ast::Node*>& v) { return arena_.copy(std::span<ast::Node* const>(v)); }

  const Source& source_;
  Arena& arena_;
  std::vector<SyntaxError>& errors_;
  ParseOptions options_;
  Scanner scanner_;

  Tok tok_ = Tok::kIllegal;
  TokenPos pos_;
  std::string_view text_;
  std::optional<Token> peeked_;

  std::deque<Frame> frames_;
  std::vector<Frame*> free_;
  Frame* top_ = nullptr;
  std::optional<ast::CommentGroup> lead_;

  ast::Experiments experiments_;
  std::vector<std::string_view> experiment_bodies_;
  TokenPos sync_pos_;
  int sync_count_ = 0;
  int nesting_ = 0;
};

}  // namespace tutti::cue
