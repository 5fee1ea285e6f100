#pragma once

#include "lang/cue/reference/kcue.h"

// The fix point of K-CUE found without writing terms out. What the rules accumulate at a place is always a part of the
// program together with the places its references lead to: a closure. Resolving a reference adds the closures of its
// target, heating a field hands one to the place below, heating a projection makes a place of its own for the operand.
// Only what is asked for is worked out, so that a program decides here of which the terms never stop growing; where the
// rewriting of kcue.h comes to an end, both come to the same value.
namespace tutti::cue::kcue {

struct Decided {
  End end;
  std::string text;
};

// The text is as that of `show`, but what lacks something is told with the value it has otherwise: `?{a:1}` where a
// projection found nothing, `%{a:1}` where one found something in an operand that lacks something else. `~` stands for
// what is not decided: projections that feed themselves for ever without saying anything, and structures without end
// within what lacks something. Visible places deeper than most_depth make the end kEndless.
Decided run_closures(const TermPtr& program, int most_depth = 24, std::size_t most_closures = 25'000);

}  // namespace tutti::cue::kcue
