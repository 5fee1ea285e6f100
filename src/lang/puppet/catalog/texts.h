#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "base/sink.h"
#include "base/types.h"

namespace tutti::puppet {

// The texts of a fleet's catalogs, which are written in the order of the nodes whichever was ready first. Together they
// are larger than all else that a fleet needs, so all but the first few wait in a file that has no name.
class CatalogTexts {
 public:
  explicit CatalogTexts(std::size_t count) : pieces_(count) {}
  ~CatalogTexts();
  CatalogTexts(const CatalogTexts&) = delete;
  CatalogTexts& operator=(const CatalogTexts&) = delete;

  void keep(std::size_t which, std::string text);  // from any thread
  bool write(Sink& sink) const;                    // false: the file cannot be read any more

 private:
  struct Piece {
    std::string text;
    u64 at = 0, size = 0;  // in the file, when `size` is not 0
  };
  bool to_file(Piece& piece, const std::string& text);

  std::mutex mutex_;
  std::vector<Piece> pieces_;
  std::size_t held_ = 0;
  u64 end_ = 0;
  int file_ = -1;
  bool no_file_ = false;
};

}  // namespace tutti::puppet
