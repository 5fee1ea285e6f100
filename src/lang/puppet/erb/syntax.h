#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"

// ERB templates without Ruby: the part of Ruby that templates use, read and run here. What is outside of it is found
// out when the template is read (syntax) or when it is reached (a method, a value, anything that Ruby would refuse):
// then the template goes to Ruby as a whole, which also words the errors. Nothing that is done here can be noticed
// from outside before the text is complete, so that beginning again is safe.
namespace tutti::puppet::erb {

// The template needs Ruby, and why.
struct Unsupported {
  std::string what;
};
[[noreturn]] inline void unsupported(std::string what) { throw Unsupported{std::move(what)}; }

enum class TokenKind : u8 {
  kEnd,
  kNewline,
  kText,     // outside <% %>
  kShow,     // <%=
  kShowEnd,  // and its %>
  kInt,
  kFloat,
  kString,  // pieces
  kWords,   // %w[a b]
  kSymbol,
  kRegex,  // pieces; text: the flags
  kName,
  kConstant,
  kVariable,  // @name
  kGroup,     // $1
  kKeyword,
  kLabel,  // name: in a hash
  kOperator,
};

struct Token;

// A part of a string: text, or the tokens of an expression in #{ }.
struct Piece {
  std::string text;
  std::vector<Token> code;
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  bool spaced = false;    // a blank comes before it
  bool boundary = false;  // a newline that stands for the end of <% %>
  bool touches = false;   // no blank after it
  std::string text;
  std::vector<Piece> pieces;
  i64 number = 0;
  double real = 0;
};

enum class NodeKind : u8 {
  kText,
  kShow,
  kSequence,
  kNil,
  kTrue,
  kFalse,
  kInt,
  kFloat,
  kSymbol,
  kString,
  kRegex,
  kArray,
  kHash,   // keys and values in turn
  kRange,  // number: 1 without the end
  kSplat,
  kVariable,
  kSetVariable,
  kDefined,  // defined?(@name)
  kGroup,    // $1
  kLocal,
  kConstant,
  kSetLocal,
  kSetIndex,  // receiver, index, value
  kAnd,
  kOr,
  kNot,
  kIf,      // condition, then, else (nullptr: none)
  kCase,    // subject (nullptr: none), then kWhen..., then else or nullptr
  kWhen,    // body, then what it is for
  kDefine,  // def name(a, b)
  kReturn,
  kCall,  // receiver (nullptr: none), arguments
  kNext,
  kBreak,
};

struct Node;

// |a, (b, c), *d|
struct BlockParam {
  u32 slot = 0;
  bool rest = false;
  std::vector<BlockParam> parts;
};

struct Block {
  std::vector<BlockParam> params;
  bool excess_comma = false;  // |a,|
  u32 slots = 0;
  const Node* body = nullptr;
  std::string method;  // &:method
};

struct Node {
  NodeKind kind = NodeKind::kNil;
  bool safe = false;  // &.
  u32 depth = 0, slot = 0;
  i64 number = 0;
  double real = 0;
  std::string text;
  std::vector<const Node*> kids;
  const Block* block = nullptr;
};

struct Template {
  const Node* body = nullptr;
  u32 slots = 0;
  std::deque<Node> nodes;
  std::deque<Block> blocks;
};

// The tokens of a template, in ERB's trim mode `-`, which is Puppet's. Throws Unsupported.
std::vector<Token> tokenize(std::string_view text);
// Throws Unsupported, or LimitError where it nests too deep.
void parse(std::string_view text, Budget& budget, Template& out);

}  // namespace tutti::puppet::erb
