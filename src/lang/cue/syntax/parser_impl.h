#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>
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

  // comments; most nodes have none, and every node asks
  Frame* new_frame() {
    if (!free_) return &frames_.emplace_back();
    return std::exchange(free_, free_->parent);
  }
  void free_frame(Frame* f) {
    if (!f->groups.empty()) f->groups.clear();
    f->last_child = nullptr;
    f->pos = f->last_pos = 0;
    f->list = 0;
    f->parent = free_;
    free_ = f;
  }
  // Begins a node. The comment right before it becomes its own; comments that a list has collected go to the node
  // before.
  Frame* open() {
    Frame* child = new_frame();
    child->parent = top_;
    if (lead_ || (top_ && top_->list > 0 && !top_->groups.empty())) take_comments(child);
    top_ = child;
    return child;
  }
  void open_list() {
    if (top_->list > 0) {
      ++top_->list;
      return;
    }
    Frame* f = new_frame();
    f->parent = top_;
    f->list = 1;
    top_ = f;
  }
  void close_list() {
    Frame* f = top_;
    if (!f->groups.empty() && f->last_child) give_comments(f);
    if (--f->list > 0) return;
    Frame* parent = f->parent;
    if (!f->groups.empty()) parent->groups.insert(parent->groups.end(), f->groups.begin(), f->groups.end());
    ++parent->pos;
    top_ = parent;
    free_frame(f);
  }
  template <class T>
  T* close(Frame* f, T* n) {
    close_node(f, n);
    return n;
  }
  void close_node(Frame* f, ast::Node* n) {
    top_ = f->parent;
    if (top_) {
      top_->last_child = n;
      top_->last_pos = f->pos;
      ++top_->pos;
    }
    if (n && !f->groups.empty())
      for (auto& g : f->groups) ast::add_comment(arena_, n, g);
    free_frame(f);
  }
  void take_comments(Frame* child);
  void give_comments(Frame* f);
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
  TokenPos expect(Tok t) {
    TokenPos at = pos_;
    if (tok_ != t) at = not_found(t);
    next();
    return at;
  }
  TokenPos not_found(Tok t);
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
  ast::Node* single();
  ast::Node* plain_name();
  bool comments_wait() const;  // for the next node
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
  // Nodes of one kind that are being read, kept behind those around them until all are there.
  class Gathered {
   public:
    explicit Gathered(Parser& p) : parser_(p), from_(p.gathered_.size()) {}
    ~Gathered() { parser_.gathered_.resize(from_); }
    Gathered(const Gathered&) = delete;
    Gathered& operator=(const Gathered&) = delete;
    void push_back(ast::Node* n) { parser_.gathered_.push_back(n); }
    ast::Nodes kept() const {
      return parser_.arena_.copy(std::span<ast::Node* const>(parser_.gathered_).subspan(from_));
    }

   private:
    Parser& parser_;
    std::size_t from_;
  };
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
  Frame* free_ = nullptr;  // those that are not used, by their parents
  std::vector<ast::Node*> gathered_;
  Frame* top_ = nullptr;
  std::optional<ast::CommentGroup> lead_;

  ast::Experiments experiments_;
  std::vector<std::string_view> experiment_bodies_;
  TokenPos sync_pos_;
  int sync_count_ = 0;
  int nesting_ = 0;
};

}  // namespace tutti::cue
