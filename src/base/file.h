#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace tutti {

// The whole of a file, or of standard input for "-"; refused when larger than `most` bytes, where the boundary in force
// ends (base/boundary.h), and where it is a pipe, device or socket that the command line does not name: to open one may
// already do something, and reading it may never end. Where signatures are demanded (base/minisign.h), refused without
// one: what is checked is what is given back.
Result<std::string> read_file(const std::string& path, u64 most);

// Whether it is there and may not be read: outside, or without the signature that is demanded. Never to be taken for a
// file that is not there.
bool is_refused(const Failure& failure);

// What the program reads of the machine and of its own, which no configuration names: /proc, its settings, its record.
Result<std::string> read_own_file(const std::string& path, u64 most);

// What a chain of symbolic links leads to, whether it is there or not; a path that is no link as it is.
std::string through_links(std::string path);

// Writes beside the target and renames over it, so that a reader (and a crash) sees the old file or the new one, never
// half of one. The file's mode is kept where it exists. Not outside of the boundary in force.
Result<void> write_file_atomically(const std::string& path, std::string_view bytes);

// The folders in which this file is to lie; none outside of the boundary in force.
Result<void> make_folders_for(const std::string& path);

}  // namespace tutti
