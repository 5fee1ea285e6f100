#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "tree/value.h"

// What the production compiler takes from the Java process it runs in, as far as it has a meaning without one.
namespace tutti::smartfrog::production {

// A property: one given by the user, or one of the usual ones of the system (user.name, file.separator, ...).
std::optional<std::string> property(const std::string& name, const std::map<std::string, std::string>& given);

// CONSTANT "class.FIELD" for the few classes that are part of the language or of Java itself.
std::optional<Value> java_constant(std::string_view name, Arena& arena);

}  // namespace tutti::smartfrog::production
