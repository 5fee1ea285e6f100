#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/decimal.h"

// Literals as written against what they mean: quoted strings and bytes of every form, numbers, labels.
namespace tutti::cue {

namespace ast {
struct Node;
}

// How a string is quoted: `"`, `'`, three of them, any number of # around them.
struct Quotes {
  bool bytes = false;
  bool multiline = false;
  int hashes = 0;
  std::string_view indent;  // what the closing quotes of a multi-line string are indented with
  std::size_t opening = 0;  // bytes before the text: quotes, the line break and the first indentation
  std::size_t closing = 0;  // bytes after it
};

struct Unquoted {
  std::string text;
  std::string error;  // empty when it is right
  bool ok() const { return error.empty(); }
};

// The quotes of a literal; for an interpolation, `start` is its first part and `end` its last. On an error the message
// is put in `error`.
std::optional<Quotes> parse_quotes(std::string_view start, std::string_view end, std::string& error);

// The value of a whole literal.
Unquoted unquote(std::string_view literal);
// The value of one part of an interpolated string: the text after the opening quotes, or after the `)` of the
// expression before, up to and including the closing quotes or the `\(` after it.
Unquoted unquote_part(const Quotes& quotes, std::string_view part);

struct QuoteStyle {
  bool bytes = false;
  int tabs = -1;              // when not negative: several lines become a multi-line literal indented by so many tabs
  bool always_lines = false;  // a multi-line literal even for one line
  bool hashes = false;        // #"..."# for a single line when that saves all escapes
  bool ascii = false;
};
std::string quote(std::string_view text, const QuoteStyle& style = {});

// A multi-line literal indented by n tabs; any other as it is.
std::string indent_literal(std::string_view literal, int n);

// Whether a literal is text in double quotes that stands for itself: what is inside.
bool is_plain_string(std::string_view literal, std::string_view& inside);
bool is_identifier(std::string_view name);       // `_` is one
bool label_needs_quotes(std::string_view name);  // as the label of a regular field
std::string label_name(const ast::Node* label);  // what a label that is written out names, else nothing
std::string label_text(std::string_view name);   // quoted where it has to be

struct Number {
  Decimal value;
  bool integer = true;  // not a float: 1, 0xff, 1.5Ki
  std::string error;
  bool ok() const { return error.empty(); }
};
// 1_000, 0x1F, 0b1, 0o7, 1.5, .5, 1e3, 1Ki, 1.5M; a sign in front is allowed.
Number parse_number(std::string_view text);

int digit_value(char c);  // of a hexadecimal digit; -1 for anything else

// Letters, marks, numbers, punctuation, symbols and the space: what is shown as it is in a quoted string.
bool is_printable(char32_t c);

}  // namespace tutti::cue
