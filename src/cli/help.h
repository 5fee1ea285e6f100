#pragma once

#include <string>

#include "cli/verb.h"

namespace tutti {

std::string help_text();  // of the program: one screen
std::string help_text(const Verb& verb);
std::string exit_codes_text();

}  // namespace tutti
