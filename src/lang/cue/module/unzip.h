#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tutti::cue {

// The files of a ZIP archive in memory, one after the other, each unpacked and checked against its sum. Names that lead
// out of the folder they are unpacked in, links, and archives that unpack to more than `most` bytes are refused.
Result<void> unzip(std::string_view archive, std::size_t most,
                   const std::function<Result<void>(const std::string& name, std::string_view content)>& each);

// An archive of files, not compressed.
class ZipWriter {
 public:
  void add(const std::string& name, std::string_view content);
  std::string finish();

 private:
  std::string out_, directory_;
  unsigned count_ = 0;
};

}  // namespace tutti::cue
