#pragma once

#include <functional>
#include <string_view>

namespace tutti::puppet {

// Who is told what notice(), warning() and the others say, at once and instead of a diagnostic; attached to the session
// (its key is the null value).
struct LogSink {
  std::function<void(std::string_view level, std::string_view scope, std::string_view message)> say;
};

}  // namespace tutti::puppet
