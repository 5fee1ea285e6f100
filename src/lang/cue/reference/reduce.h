#pragma once

#include <functional>

#include "lang/cue/reference/kcue.h"

namespace tutti::cue::kcue {

// The smallest program that can be had from this one by leaving parts out, one after the other, such that `still` holds
// of it. References mean what CUE's lexical scoping makes of their names in what is left.
TermPtr reduced(TermPtr program, const std::function<bool(const TermPtr&)>& still);

}  // namespace tutti::cue::kcue
