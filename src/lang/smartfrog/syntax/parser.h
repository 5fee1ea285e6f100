#pragma once

#include <vector>

#include "lang/smartfrog/syntax/ast.h"
#include "lang/smartfrog/syntax/lexer.h"
#include "lang/smartfrog/syntax/loader.h"

namespace tutti::smartfrog {

// Where statements and blocks lie in the text, for the formatter.
struct Layout {
  std::vector<u32> statements;  // offset at which each attribute, include or order rule begins
  std::vector<u32> blocks;      // offset of each `{` that opens a list of attributes
};

// Recursive descent over the grammar of appendix A (core) or of the production compiler. Blocks within blocks are kept
// on a stack of our own, so that depth is a matter of the limit and not of the machine's stack; only expressions
// recurse, and those are held to kMaxExpressionDepth. After an error the parser goes on behind the next `;` or `}`.
class Parser {
 public:
  Parser(Session& session, Level level, Loader* loader);

  // The attributes of a file and all it includes; nullptr when it could not be parsed (all errors reported).
  const Body* parse(const Source& source);

  // Only this file, includes left alone; what the formatter needs.
  bool parse_layout(const Source& source, std::vector<Comment>& comments, Layout& layout);

 private:
  struct Failed {};  // thrown from the place of a syntax error to the list of attributes around it

  // A component whose blocks are being read.
  struct Open {
    Attribute attribute;  // that it will be the value of
    Component component;
    std::size_t prototypes_from;
    std::size_t attributes_from, orders_from;
    Pos brace;
    bool merge;       // the block being read is within merge( )
    bool legacy_end;  // production: nothing may follow this block
    bool first;       // no prototype has been read yet
  };

  void read_file(const Source& source);
  void read_include();
  const Body* read_attributes(Tok closer, Pos begin);
  void read_attributes_into(Tok closer);
  bool read_statement();
  void stray_semicolon();
  void read_name(Attribute& a);
  void read_tags(Attribute& a);
  bool read_order(Attribute& a);
  void recover(Tok closer);

  // Reads on in a list of prototypes. True when the list has ended, false when a block was opened.
  bool read_prototypes(bool first, bool& merge, bool& legacy_end);
  bool continue_component(Open& open);
  void finish(Open& open, Pos end);
  const Body* close_block(std::size_t attributes_from, std::size_t orders_from, Pos begin, Pos end);

  Expr read_value();
  [[noreturn]] void too_deep(std::string_view what) const;
  Expr read_simple();
  Expr read_primitive();
  Expr read_core_basic();
  Expr read_operator();
  Expr read_if();
  Expr read_switch();
  Expr read_vector(Tok closer, bool data_only);
  Expr read_component_expr();
  const Component* read_component();
  const Reference* read_link(bool lazy, bool data);
  Expr read_reference(bool data);
  RefPart read_part(bool first);
  Symbol read_part_name();
  Expr number(const Token& t);
  Expr bytes(const Token& t);
  Expr literal(const Token& t, Value v);

  void advance() { ahead_ = lexer_->next(); }
  bool at(Tok t) const { return ahead_.kind == t; }
  bool accept(Tok t) {
    if (!at(t)) return false;
    last_end_ = ahead_.end;
    advance();
    return true;
  }
  Token take() {
    Token t = ahead_;
    last_end_ = t.end;
    advance();
    return t;
  }
  Token expect(Tok t, std::string_view context);
  [[noreturn]] void fail(std::string_view wanted);
  [[noreturn]] void fail_at(Span where, std::string message, std::string help = {});
  Pos begin() const { return lexer_->pos(ahead_.begin); }
  Pos end() const { return lexer_->pos(last_end_); }

  template <class T>
  std::span<const T> keep(std::vector<T>& pile, std::size_t from) {
    auto kept = session_.arena.copy(std::span<const T>(pile.data() + from, pile.size() - from));
    pile.resize(from);
    return kept;
  }

  Session& session_;
  Level level_;
  Loader* loader_;
  Lexer* lexer_ = nullptr;
  Layout* layout_ = nullptr;
  Token ahead_;
  u32 last_end_ = 0;
  u32 next_unique_ = 0;
  u32 depth_ = 0;  // of expressions
  std::vector<const Source*> including_;
  std::size_t included_ = 0;  // files so far, each as often as it was
  std::vector<Open> open_;
  std::vector<Attribute> attributes_;  // of all blocks being read, innermost last
  std::vector<OrderRule> orders_;
  std::vector<Prototype> prototypes_;
};

// A limit on its own because expressions, unlike blocks, are read by recursion.
constexpr u32 kMaxExpressionDepth = 1000;
constexpr std::size_t kMaxIncludeDepth = 200;
constexpr std::size_t kMaxIncludes = 10'000;

// A reference in text alone, such as the argument of the Ref function. nullptr when it is none (nothing is reported).
const Reference* parse_reference_text(Session& session, std::string_view text);

}  // namespace tutti::smartfrog
