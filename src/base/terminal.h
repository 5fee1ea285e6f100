#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tutti {

// The one writer of what a person reads.
//
// In: text that may hold what a file, a name, a value, a log or a host said. Out: the same on a pipe or in a file, byte
// for byte; on a terminal with everything written out that a terminal would obey: escapes (`\x1b`), other controls, C1
// controls (U+0080 to U+009F, as characters and as bytes), and what turns the direction of text (`\u202e`), so that
// what is seen is what is there. Results go the same way as messages: `tutti export x.yaml` in a terminal is looked at,
// and
// `> file` is the data. Rejected: to escape results everywhere, which would change data; to leave them alone on a
// terminal, since a value is what a stranger writes most easily.
//
// Our own colours pass: the few sequences that this program writes, letter for letter, and those that move to the
// beginning of the line where progress is shown.
bool disturbs_terminal(char32_t c);

// Everything written out; for what stands among our own colours.
std::string for_terminal(std::string_view text);

// Characters that come in pieces.
class TerminalText {
 public:
  std::string next(std::string_view piece);  // what can be shown of it by now
  std::string rest();

 private:
  std::string kept_;  // the beginning of a character
};

// To standard output (1) or error (2), at once. False where it cannot be written.
bool say_to(int descriptor, std::string_view text);
// Where a helper process writes its errors: as it is where nobody looks at a terminal, and through this writer where
// somebody does.
int error_descriptor_for_helpers();
// The same for what uses C's streams: what they hold goes first.
void print_to(std::FILE* stream, std::string_view text);

}  // namespace tutti
