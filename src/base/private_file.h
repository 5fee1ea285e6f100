#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tutti {

// As write_file_atomically (base/file.h), for its owner alone from its first byte on: what may hold more than everybody
// on the machine should read, such as a saved plan. A file of that name that others could read is closed to them.
Result<void> write_private_file(const std::string& path, std::string_view bytes);

}  // namespace tutti
