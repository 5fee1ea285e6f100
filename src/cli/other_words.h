#pragma once

#include <string_view>

// What other tools call our verbs and options, for people who come from there: `validate` is `vet`.
namespace tutti {

// Our verb for a word that is not one; "" when none is known.
std::string_view our_verb(std::string_view word);
// Our option for a name that is not one, both without dashes; "" when none is known.
std::string_view our_option(std::string_view name);

}  // namespace tutti
