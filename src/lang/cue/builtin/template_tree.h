#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/cue/builtin/go_value.h"

namespace tutti::cue {

class Context;

// A template as it was read. Everything knows where it stands and can be written again: errors of a run tell both.
struct TemplateNode {
  enum Kind : u8 {
    kText,
    kAction,
    kBool,
    kChain,  // of fields of what is in parentheses
    kCommand,
    kDot,
    kElse,
    kEnd,
    kField,
    kIdentifier,
    kIf,
    kList,
    kNil,
    kNumber,
    kPipe,
    kRange,
    kString,
    kTemplate,
    kVariable,
    kWith,
    kBreak,
    kContinue,
  };
  using Own = std::unique_ptr<TemplateNode>;

  Kind kind;
  std::size_t at;
  std::string text;                // a text, a name, a constant as it was written
  GoValue constant;                // of a string, number or truth value
  bool overflows = false;          // a number that is no int
  std::vector<std::string> names;  // of a field, a chain of them, a variable with its fields
  std::vector<Own> parts;          // of a list, command (its words), pipeline (its commands); what a chain is of
  std::vector<Own> declared;       // variables of a pipeline
  bool assigns = false;            // to variables that are there
  Own pipe, body, otherwise;

  TemplateNode(Kind k, std::size_t a) : kind(k), at(a) {}
  std::string written() const;
};

struct TemplateTrees {
  std::map<std::string, TemplateNode::Own, std::less<>> by_name;  // "" is the template itself
};

// Throws TemplateError.
TemplateTrees parse_template(Context& context, std::string_view source);

// A constant of a template: its value, or an error.
GoValue template_number(std::string_view text, bool character, bool& overflows);
std::string template_unquote(std::string_view text);

bool is_template_function(std::string_view name);

}  // namespace tutti::cue
