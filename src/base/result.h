#pragma once

#include <string>
#include <tl/expected.hpp>

namespace tutti {

// For what the world may refuse (files, processes, sockets). What a user wrote wrongly is a diagnostic, not a Result.
struct Failure {
  std::string message;
  int code = 0;  // errno where there is one
};

template <class T>
using Result = tl::expected<T, Failure>;

inline tl::unexpected<Failure> failure(std::string message, int code = 0) {
  return tl::unexpected<Failure>(Failure{std::move(message), code});
}

}  // namespace tutti
