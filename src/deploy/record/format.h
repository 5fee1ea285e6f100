#pragma once

#include <optional>
#include <string>

#include "tree/session.h"

// The version of what is stored of a run: its plan, what was wanted, a program, a forgetting. The tables have a version
// of their own (store/schema.h), and so has a saved plan (saved_plan.h); a state says it in `format`.
//
// A record lives longer than a tutti, so whatever was written once must be read. What was written before there were
// versions is version 0. A change of the form adds a step to the list in format.cpp that brings the version before it
// to the new one; steps that were released are never changed. What a newer tutti has written is refused, and not
// guessed.
namespace tutti::deploy {

inline constexpr i64 kStoredFormat = 1;

// With its version, as the first of its keys; `tree` is a map.
Value with_format(const Value& tree, const TreeBuilder& builder);

// As it was before, brought to today's version; nullopt, and an error that calls it `name`, where it is of a newer one.
std::optional<Value> without_format(Session& session, const std::string& name, const Value& tree);

// The same for a state, which keeps its version.
bool is_readable_state(Session& session, const std::string& name, const Value& state);

}  // namespace tutti::deploy
