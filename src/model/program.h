#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/read.h"
#include "model/system.h"
#include "tree/session.h"

// Reconfiguration programs before their names are resolved. Two ways of writing them, the listings' text and a tree,
// give the same statements; unrolling them against types and assembly gives the instructions of a System.
namespace tutti::model {

struct Word {
  std::string text;  // may hold {expressions} and subscripts: w{i}_docker, dep_i
  Pos at;
};

struct Statement {
  enum class Kind : u8 { kInstruction, kFor, kCall };
  Kind kind = Kind::kInstruction;
  Pos at;
  Op op = Op::kWaitAll;
  std::vector<Word> words;      // arguments; of a call the program's name; of a loop the bounds or the list
  std::string variable;         // of a loop
  bool range = false;           // of a loop: two bounds, both included
  std::vector<Statement> body;  // of a loop
};

using Programs = std::map<std::string, std::vector<Statement>>;

// Parses the text form. Statements of no named program go to programs[main]. As printed in the paper: line numbers are
// skipped, `con` and `connect`, `pushB` and `push_behavior`, `deploy.add(..)` and `add(..)` are the same.
bool parse_program(Session& session, const Source& source, const std::string& main, Programs& programs);

// The tree form: a list of ["pushB", "x", "b"], "pushB(x, b)", {pushB: [x, b]}, {for: i, in: [1, n], do: [...]}, {call:
// p}.
bool read_program(Session& session, const Value& value, const std::string& main, Programs& programs);

// Unrolls programs[main] into system.program, adding the instances that it creates.
bool unroll(Session& session, const Programs& programs, const std::string& main,
            const std::map<std::string, i64>& parameters, System& system);

std::optional<Op> op_named(std::string_view word);

}  // namespace tutti::model
