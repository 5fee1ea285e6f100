#pragma once

#include <string>
#include <string_view>

#include "lang/puppet/erb/syntax.h"
#include "lang/puppet/functions/function.h"

namespace tutti::puppet::erb {

// The text of a template, in the scope that asks for it. Throws Unsupported where it takes Ruby to tell.
std::string render(Compiler& compiler, Scope& scope, std::string_view text, Pos at);

}  // namespace tutti::puppet::erb
