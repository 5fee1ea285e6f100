#pragma once

#include <string>
#include <string_view>

#include "lang/cue/eval/vertex.h"

// Concrete values as data: JSON, YAML and TOML as the tools print them.
namespace tutti::cue {

class Context;

struct JsonStyle {
  std::string_view indent;   // "" for one line
  bool html = false;         // <, > and & as \u003c ...
  u64 longest = UINT64_MAX;  // of a text that becomes a value again
};

// False with the reason when something is not concrete.
bool encode_json(Context& c, const Sources& sources, Node* value, const JsonStyle& style, std::string& out,
                 std::string& error);
void append_json_string(std::string& out, std::string_view text, bool html);

bool encode_toml(Context& c, Node* value, std::string& out, std::string& error);

}  // namespace tutti::cue
