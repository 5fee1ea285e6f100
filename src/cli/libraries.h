#pragma once

#include <array>
#include <span>
#include <string_view>

// What of other people's code is a part of the program (cmake/libraries.cmake makes the table). A build for developers
// takes nearly all of it from the machine and has an empty one.
namespace tutti {

struct LinkedLibrary {
  std::string_view package;  // with its version, "openssl 3.0.17-1~deb12u3"
  std::string_view file;     // of it, "libcrypto.a"
};

std::span<const LinkedLibrary> linked_libraries();

}  // namespace tutti
