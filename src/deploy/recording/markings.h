#pragma once

#include <vector>

#include "model/component.h"

// Where an instance stands when a run has ended, in the words that are recorded. A marking is recorded by names and not
// by numbers, because the type may have been edited by the time it is read.
namespace tutti::deploy {

// What is recorded of a marking: where nothing is done yet of what leaves a place the place itself, so that it is half
// way only where going back would do something twice.
std::vector<Symbol> left_by(const model::ComponentType& type, const model::Marking& marking);

// Every element by its name, half way or not.
std::vector<Symbol> names_of(const model::ComponentType& type, const model::Marking& marking);

// Whether all that has come of it is on its way out of `place`, or still there.
bool has_not_left(const model::ComponentType& type, const model::Marking& now, u32 place);

// Whether it began half way and is still exactly there.
bool came_no_further(const model::ComponentType& type, model::Marking now, model::Marking began);

}  // namespace tutti::deploy
