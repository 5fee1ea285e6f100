#pragma once

#include <memory>
#include <string>

#include "transport/host.h"

namespace tutti {

// This machine, with commands that say nothing of where they run begun in a directory ("": in ours).
std::unique_ptr<Host> here_in(std::string where);

}  // namespace tutti
