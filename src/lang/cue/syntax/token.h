#pragma once

#include <string_view>

#include "text/source.h"

namespace tutti::cue {

enum class Tok : u8 {
  kIllegal,
  kEof,
  kComment,
  kAttribute,
  // literals
  kIdent,
  kInt,
  kFloat,
  kString,
  kInterpolation,  // a string up to and including its first `\(`
  kBottom,
  // operators and delimiters
  kAdd,
  kSub,
  kMul,
  kPow,
  kQuo,
  kAnd,
  kOr,
  kLand,
  kLor,
  kBind,
  kEql,
  kLss,
  kGtr,
  kNot,
  kArrow,
  kNeq,
  kLeq,
  kGeq,
  kMat,
  kNmat,
  kLparen,
  kLbrack,
  kLbrace,
  kComma,
  kPeriod,
  kEllipsis,
  kRparen,
  kRbrack,
  kRbrace,
  kSemicolon,
  kColon,
  kOption,
  kTilde,
  // keywords
  kIf,
  kElse,
  kFor,
  kIn,
  kLet,
  kTry,
  kFallback,
  kOtherwise,
  kFunc,
  kTrue,
  kFalse,
  kNull,
};

inline bool is_literal(Tok t) { return t >= Tok::kIdent && t <= Tok::kBottom; }
inline bool is_keyword(Tok t) { return t >= Tok::kIf; }

// As written, or its class (`IDENT`, `EOF`): the words of error messages.
std::string_view token_text(Tok t);
// Of a binary operator, 1 (loosest, `|`) to 7; 0 for everything else.
int precedence(Tok t);
// The keyword, or kIdent.
Tok keyword(std::string_view word);

// What lies between a token and the one before it. The formatter keeps blank lines and line breaks by it.
enum class Rel : u8 { kNone, kElided, kNoSpace, kBlank, kNewline, kNewSection };

struct TokenPos {
  Pos pos;
  Rel rel = Rel::kNone;
  bool comma = false;    // an explicit comma comes before it
  bool scanned = false;  // of CUE that was read, not of what was made of other data
  explicit operator bool() const { return bool(pos); }
};

}  // namespace tutti::cue
