#pragma once

#include <string_view>

// Whether a text for a shell, cut off here, ends within quotes: what is put in there is not one word, whatever quotes
// of its own it has. In goes the text before a reference (with its other references as they are written). Command
// substitutions begin anew (`"$(cmd HERE)"` is not within quotes), here-documents count as quotes. Where a shell's
// grammar is more than this knows (an apostrophe in an odd place) the answer is yes: who is asked then writes it more
// plainly.
namespace tutti::model {

bool is_within_quotes(std::string_view before);

}  // namespace tutti::model
