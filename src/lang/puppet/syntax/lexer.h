#pragma once

#include "base/arena.h"
#include "lang/puppet/syntax/token.h"
#include "text/diagnostic.h"
#include "text/source.h"

namespace tutti::puppet {

enum class LexMode : u8 { kManifest, kEpp };

// All tokens of a source. A string with interpolation becomes kDqPre, the tokens of the first expression, kDqMid, ...
// kDqPost, so that the parser needs no second lexer; the same for heredocs, whose text is taken from the following
// lines. Errors are reported and skipped over, so that one run finds them all. Cooked text lives in the arena.
TokenList lex(const Source& source, LexMode mode, Arena& arena, Diagnostics& diagnostics);

}  // namespace tutti::puppet
