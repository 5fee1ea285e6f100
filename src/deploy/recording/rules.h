#pragma once

#include <span>
#include <string_view>

#include "deploy/recording/ended_instance.h"

// What is recorded of an instance when a run has ended: a table of rules, applied from top to bottom. Each writes one
// part of the record by the facts about the instance (ended_instance.h) and by what rules above it have written; that
// is the only way in which they depend on each other.
//
// It was one function of 260 lines with a dozen maps before: nobody could say what becomes of `tried` without reading
// what becomes of everything else. The cases are in rules_test.cpp, by name.
namespace tutti::deploy {

struct Rule {
  std::string_view says;  // what it sees to, in a sentence
  void (*apply)(const EndedInstance& end, const TreeBuilder& builder, engine::RecordedComponent& next);
};

// In the order in which they are applied.
std::span<const Rule> recording_rules();

// All of them applied to one instance.
engine::RecordedComponent recorded_after(const EndedInstance& end, const TreeBuilder& builder);

}  // namespace tutti::deploy
