#pragma once

#include <string_view>
#include <vector>

#include "base/types.h"

namespace tutti::puppet {

enum class Tok : u8 {
  kEnd,
  kName,      // lower-case name, may be qualified: a::b
  kWord,      // bare word with a dash or a leading underscore: a string
  kTypeName,  // Capitalised, may be qualified
  kVariable,  // text without the dollar
  kNumber,
  kString,  // text with its escapes done
  kDqPre,   // the text before the first interpolation of a string
  kDqMid,
  kDqPost,
  kHeredoc,  // text: the syntax tag; a string (kString or kDqPre...) follows
  kRegex,
  kListStart,  // [ after blank space: begins a list
  kLBrack,     // [ right after something: an index
  kRBrack,
  kLBrace,
  kRBrace,
  kWsLParen,  // ( first on its line: never begins arguments
  kLParen,
  kRParen,
  kComma,
  kSemic,
  kColon,
  kDot,
  kQMark,
  kAt,
  kAtAt,
  kPipe,
  kEquals,   // =
  kAppends,  // +=
  kDeletes,  // -=
  kIsEqual,
  kNotEqual,
  kMatch,
  kNoMatch,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kPlus,
  kMinus,
  kTimes,
  kDiv,
  kModulo,
  kLShift,
  kRShift,
  kNot,
  kFArrow,      // =>
  kPArrow,      // +>
  kInEdge,      // ->
  kInEdgeSub,   // ~>
  kOutEdge,     // <-
  kOutEdgeSub,  // <~
  kLCollect,
  kRCollect,
  kLLCollect,
  kRRCollect,
  kRenderString,  // EPP: literal text
  kRenderExpr,    // EPP: <%=
  kEppEnd,        // EPP: %> of <%=
  // Keywords, in one run: see is_keyword.
  kCase,
  kClass,
  kDefault,
  kDefine,
  kIf,
  kElsif,
  kElse,
  kInherits,
  kNode,
  kAnd,
  kOr,
  kUndef,
  kFalse,
  kTrue,
  kIn,
  kUnless,
  kFunction,
  kType,
  kAttr,
  kPrivate,
};

constexpr bool is_keyword(Tok t) { return t >= Tok::kCase; }

struct Token {
  Tok kind = Tok::kEnd;
  u32 from = 0, to = 0;   // bytes of the source
  std::string_view text;  // what it says, escapes done
};

struct Comment {
  u32 from = 0, to = 0;
};

struct TokenList {
  std::vector<Token> tokens;      // always ends with kEnd
  std::vector<Comment> comments;  // in order, for the formatter
  std::vector<Comment> heredocs;  // the lines of their texts and what ends them, in order, for the formatter
  bool cut = false;               // something is not closed, which was reported: the end is not where it should be
  u32 cut_at = 0;                 // where that begins
};

}  // namespace tutti::puppet
