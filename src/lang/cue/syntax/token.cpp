#include "lang/cue/syntax/token.h"

#include <array>
#include <utility>

namespace tutti::cue {

namespace {
constexpr std::array<std::string_view, 55> kTexts = {
    "ILLEGAL", "EOF", "COMMENT", "ATTRIBUTE", "IDENT",    "INT",       "FLOAT", "STRING", "INTERPOLATION",
    "_|_",     "+",   "-",       "*",         "^",        "/",         "&",     "|",      "&&",
    "||",      "=",   "==",      "<",         ">",        "!",         "<-",    "!=",     "<=",
    ">=",      "=~",  "!~",      "(",         "[",        "{",         ",",     ".",      "...",
    ")",       "]",   "}",       ";",         ":",        "?",         "~",     "if",     "else",
    "for",     "in",  "let",     "try",       "fallback", "otherwise", "func",  "true",   "false",
    "null"};
}

std::string_view token_text(Tok t) { return kTexts[static_cast<std::size_t>(t)]; }

int precedence(Tok t) {
  switch (t) {
    case Tok::kOr: return 1;
    case Tok::kAnd: return 2;
    case Tok::kLor: return 3;
    case Tok::kLand: return 4;
    case Tok::kEql:
    case Tok::kNeq:
    case Tok::kLss:
    case Tok::kLeq:
    case Tok::kGtr:
    case Tok::kGeq:
    case Tok::kMat:
    case Tok::kNmat: return 5;
    case Tok::kAdd:
    case Tok::kSub: return 6;
    case Tok::kMul:
    case Tok::kQuo: return 7;
    default: return 0;
  }
}

Tok keyword(std::string_view word) {
  constexpr u32 kFirstLetters = [] {
    u32 bits = 0;
    for (auto t = static_cast<std::size_t>(Tok::kIf); t <= static_cast<std::size_t>(Tok::kNull); ++t)
      bits |= 1u << (kTexts[t][0] - 'a');
    return bits;
  }();
  if (word.size() < 2 || word.size() > 9) return Tok::kIdent;
  if (word[0] < 'a' || word[0] > 'z' || !(kFirstLetters >> (word[0] - 'a') & 1)) return Tok::kIdent;
  for (auto t = static_cast<int>(Tok::kIf); t <= static_cast<int>(Tok::kNull); ++t)
    if (kTexts[t][0] == word[0] && kTexts[t] == word) return static_cast<Tok>(t);
  return Tok::kIdent;
}

}  // namespace tutti::cue
