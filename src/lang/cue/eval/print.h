#pragma once

#include <string>
#include <vector>

#include "lang/cue/eval/context.h"

namespace tutti::cue {

// A value or expression on one line, as in error messages: `{a:1,b:string}`, `>=1 & <10`.
std::string compact(const Node* n);

// One error ready to be shown.
struct FlatError {
  std::string path;  // a.b."odd name".0; empty for none
  std::string message;
  Pos pos;  // the main place
  std::vector<Pos> others;
  std::string near = {};       // the name that may have been meant; "" for none
  std::string_view code = {};  // where the message does not tell its kind (eval/error_code.h)
  std::string told = {};       // in one line: each of its causes with the path of its own
  Pos field = {};              // where the field is said that it is about, for an error without a place
};

// What heads the errors of a disjunction of which no branch fits. Its arguments are the number of the errors, -1 until
// they are looked at, and then what each branch failed with.
extern const char kEmptyDisjunction[];

// All errors that a bottom stands for, each once, ordered by place and path as cue does.
std::vector<FlatError> flatten(const Bottom* b);
std::string message_of(const Error* e);
std::string path_text(std::span<const Label> path);
std::vector<Label> path_of(const Vertex* v);

}  // namespace tutti::cue
