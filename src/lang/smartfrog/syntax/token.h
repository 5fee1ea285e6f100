#pragma once

#include <string_view>

#include "base/symbol.h"
#include "base/types.h"

namespace tutti::smartfrog {

// The two languages of that name: the core of the published semantics (one pass, appendix A), and what the production
// compiler accepts (phases, functions, schemas). Each has its own lexis, grammar and evaluator.
enum class Level : u8 { kCore, kProduction };

enum class Tok : u8 {
  kEnd,
  kBad,  // reported by the lexer; the parser only skips it
  kWord,
  kString,
  kMultiline,  // ##text#
  kBytes,      // #HEX#..#
  kInteger,
  kLong,
  kFloat,
  kDouble,
  kLeftBrace,
  kRightBrace,
  kLeftBracket,
  kRightBracket,
  kVectorStart,  // [|
  kVectorEnd,    // |]
  kLeftParen,
  kRightParen,
  kComma,
  kColon,
  kSemicolon,
  kUnique,  // --
  kInclude,
  kIncludeOptional,
  kCodebase,
  // operators
  kPlus,
  kMinus,
  kTimes,
  kDivide,
  kModulo,
  kConcat,
  kAppend,
  kEqual,
  kNotEqual,
  kGreaterEqual,
  kLessEqual,
  kGreater,
  kLess,
  kAnd,
  kOr,
  kXor,
  kNot,
  kImplies,
  // reserved words
  kExtends,
  kData,
  kNull,
  kTrue,
  kFalse,
  kApply,
  kAssert,
  kAttrib,
  kConstant,
  kElse,
  kEndSwitch,
  kEnvProperty,
  kFi,
  kHere,
  kHost,
  kIntEnvProperty,
  kIf,
  kIntProperty,
  kLazy,
  kOptional,
  kParent,
  kProcess,
  kProperty,
  kRoot,
  kSwitch,
  kTbd,
  kThen,
  kThis,
  kVar,
};

// How a token is named in messages: "`{`", "a name".
std::string_view token_words(Tok tok);

struct Token {
  Tok kind = Tok::kEnd;
  bool line_before = false;  // a line began between the token before and this one: for the formatter
  u32 begin = 0, end = 0;    // byte offsets into the text that is read
  Symbol word;               // of kWord
};

}  // namespace tutti::smartfrog
