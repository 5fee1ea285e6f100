#pragma once

#include "lang/cue/reference/kcue.h"
#include "tree/steps.h"

// The configuration of K-CUE as `krun --depth N` prints it, kept beside the evaluation in kcue.cpp and told to who
// watches:
//
//   <k> x^3 . y ~> z : [] ~> [] ( x^1 ) ( z : x^3 . y ) ~> { [] } ~> . </k>     the term in hand, then what waits for
//   it <env> 0 |-> ( x |-> y : 1 ) 1 |-> ( .Map ) </env>                           the fields of each scope <path> z, p
//   </path>                                                         the labels of the fields, inner first <fix> ...
//   </fix> <status> running </status>                                 the term that the last pass ended with
//
// The rules are those of the slides: heat and cool a field, a projection, a conjunction, a term within a conjunction;
// resolve a reference; the fix point. `bind`, which puts a field of a scope into env, is not printed there; that each
// field is a rule application of its own is what makes the slides' example stand at depth 16 where it stands there. The
// order within a conjunction is left open by the slides (it is a set); it is that of the term: constants, fields, then
// references and projections, which is how their example goes.
namespace tutti::cue::kcue {

class Machine {
 public:
  Machine(Steps* steps, const TermPtr& program);

  void heat_scope(const TermPtr& inner, const std::string& frame, const std::string& label);
  void cool_scope(const TermPtr& out, bool field);
  void heat_all(const TermPtr& conjunction, bool scope);
  void heat_one(const TermPtr& term, const TermPtr& conjunction);
  void cool_one(const TermPtr& term, const TermPtr& conjunction);
  void cool_all(const TermPtr& conjunction);
  void resolved(const char* rule, const TermPtr& now, const std::string& what);
  void again(const TermPtr& next);              // a pass has changed something
  void stop(const TermPtr& value, bool fixed);  // it has not, or nothing more is seen to change

 private:
  using Bindings = std::vector<std::pair<std::string, TermPtr>>;
  void tell(const std::string& rule, const std::string& what);
  void bind(const TermPtr& fields);
  Steps::Cells cells() const;

  Steps* steps_;
  TermPtr head_, fix_;
  std::vector<std::string> frames_;  // what waits, outermost first
  std::vector<Bindings> env_{{}};
  std::vector<std::string> labels_;  // outermost first; "" for a projection
  std::string status_ = "init";
};

// The terms of a conjunction without its braces.
std::string written_terms(const TermPtr& conjunction);

}  // namespace tutti::cue::kcue
