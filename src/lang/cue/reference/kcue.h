#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "tree/steps.h"

// K-CUE: the core of CUE by its published rules, for comparison with the evaluator. A program is a term; evaluating it
// means resolving every reference once, breadth first over the whole program, and doing that again until nothing
// changes. What a reference is resolved to is added beside the reference, which stays: values accumulate towards a fix
// point.
//
//   t ::= c          constant: top, bottom, a type, an int, a string, a bool
//       | x^d        reference to label x of the d-th scope outwards (0: the scope it stands in)
//       | x : t      field; t is one scope further in
//       | t . x      projection; t is one scope further in
//       | { ts }     conjunction: its fields are the labels of the scope
namespace tutti::cue::kcue {

struct Term;
using TermPtr = std::shared_ptr<const Term>;

enum class TermKind : u8 { kConst, kRef, kField, kProject, kAll };

struct Term {
  TermKind kind;
  std::string text;          // constant as written, or label
  int depth = 0;             // of a reference
  TermPtr inner;             // of a field or projection
  std::vector<TermPtr> all;  // of a conjunction
};

TermPtr constant(std::string text);
TermPtr reference(std::string label, int depth);
TermPtr field(std::string label, TermPtr inner);
TermPtr project(TermPtr inner, std::string label);
TermPtr all(std::vector<TermPtr> terms);

// The greatest lower bound of two constants.
std::string meet(const std::string& a, const std::string& b);

// Normal form: conjunctions flattened, fields of one label joined, equal terms once, constants met. (The slides' nu.)
TermPtr unify(const TermPtr& t);

enum class End : u8 {
  kFixPoint,  // nothing changes any more
  kQuiet,     // nothing that can be seen changes any more: a projection from itself grows for ever inside
  kEndless,   // fields within fields without end: a structural cycle
  kUnknown,   // given up: too many rounds or too large a term
};
struct Outcome {
  End end;
  TermPtr value;  // references taken out
  int steps = 0;
};
Outcome run(const TermPtr& program, int most_steps = 60, std::size_t most_size = 3'000, Steps* steps = nullptr);

// One line, for comparison: {a:1,b:{c:string}}, with ! for an error and ? for a projection that found nothing.
std::string show(const TermPtr& value);
// As `krun` writes a term: { ( x^1 ) ( z : x^3 . y ) }. The terms of a conjunction come in the order of their texts, as
// there.
std::string written(const TermPtr& t);
// The program as CUE source. Labels must be identifiers.
std::string source(const TermPtr& program);

}  // namespace tutti::cue::kcue
