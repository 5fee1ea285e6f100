#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace tutti::cue::templates {

// What is wrong with a template, in Go's words.
struct Failed {
  std::string what;
};

// A node of a parsed template.
struct Tree {
  enum Kind : u8 {
    kText,
    kAction,
    kPipe,
    kCommand,
    kIdentifier,
    kDot,
    kNil,
    kBool,
    kNumber,
    kString,
    kField,
    kVariable,
    kChain,
    kIf,
    kRange,
    kWith,
    kTemplate,
    kBreak,
    kContinue,
    kList,
    kEnd,
    kElse
  } kind;
  std::size_t pos = 0;
  std::string text;                // of a text, an identifier, a number or string as it is written, a template's name
  std::string value;               // of a string
  std::vector<std::string> names;  // of fields and variables
  bool truth = false;              // of a Boolean
  bool assigns = false;            // of a pipeline: `=` rather than `:=`
  std::vector<std::shared_ptr<Tree>> parts;  // items, commands, operands
  std::vector<std::string> declares;         // of a pipeline: its variables
  std::shared_ptr<Tree> pipe, list, otherwise;

  std::string shown() const;  // as Go writes it in errors
};
using TreePtr = std::shared_ptr<Tree>;

struct Parsed {
  TreePtr root;
  std::map<std::string, TreePtr> definitions;
};

bool is_function(std::string_view name);
Parsed parse(std::string_view source);  // throws Failed

}  // namespace tutti::cue::templates
