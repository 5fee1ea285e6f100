#pragma once

#include <string>
#include <string_view>

#include "base/budget.h"

namespace tutti {

// Sets what `--limit NAME=N` asks for; N may end in k, M or G. False when it is not understood, with the reason.
bool set_limit(Limits& limits, std::string_view text, std::string& wrong);

}  // namespace tutti
