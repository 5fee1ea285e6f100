#pragma once

#include <string>
#include <string_view>

#include "lang/puppet/types/value.h"

namespace tutti::puppet {

// How a language writes values: one walk over arrays and hashes serves them all.
struct Notation {
  std::string_view undef, yes = "true", no = "false";
  std::string_view between = ", ", arrow = " => ";
  void (*string)(std::string& out, std::string_view text);  // a string value
  void (*other)(std::string& out, const Val& v);            // regular expressions, types, and the like
  bool text_keys = false;                                   // a key that is no string is written as one
  // Lines: what begins each item of a list and a map, and how far it is indented.
  std::string_view list_line = {}, map_line = {}, indent = {};
};
void append_value(std::string& out, const Val& v, const Notation& notation, int depth = 0);

std::string ruby_regexp_text(std::string_view source);  // (?-mix:a\/b)
std::string ruby_inspect(const Val& v);                 // "a" with quotes, [1, "a"], {"k"=>1}
std::string ruby_literal(const Val& v);                 // the same with blanks around the arrows
std::string ruby_to_s(const Val& v);                    // a string as it is, containers as inspect shows them
std::string python_literal(const Val& v);               // None, True, {"k": 1}
// JSON. The text between the parts of the layout is the caller's, as it is for Ruby's generator.
struct JsonLayout {
  std::string indent, space, map_line, list_line;
};
std::string json_text(const Val& v, const JsonLayout& layout = {});
void append_json_string(std::string& out, std::string_view text);

}  // namespace tutti::puppet
