#include "lang/puppet/catalog/texts.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace tutti::puppet {
namespace {

constexpr std::size_t kInMemory = std::size_t{256} << 10;

int nameless_file() {
  const char* folder = std::getenv("TMPDIR");
  return ::open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

}  // namespace

CatalogTexts::~CatalogTexts() {
  if (file_ >= 0) ::close(file_);
}

bool CatalogTexts::to_file(Piece& piece, const std::string& text) {
  if (file_ < 0 && !no_file_) no_file_ = (file_ = nameless_file()) < 0;
  if (no_file_) return false;
  for (std::size_t done = 0; done < text.size();) {
    ssize_t n = ::pwrite(file_, text.data() + done, text.size() - done, static_cast<off_t>(end_ + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {  // the disk is full: the rest stays in memory
      no_file_ = true;
      return false;
    }
    done += static_cast<std::size_t>(n);
  }
  piece.at = end_;
  piece.size = text.size();
  end_ += text.size();
  return true;
}

void CatalogTexts::keep(std::size_t which, std::string text) {
  std::lock_guard lock(mutex_);
  held_ -= pieces_[which].text.size();
  pieces_[which] = {};  // of a catalog that this one stands in place of
  if (held_ + text.size() > kInMemory && to_file(pieces_[which], text)) return;
  held_ += text.size();
  pieces_[which].text = std::move(text);
}

bool CatalogTexts::write(Sink& sink) const {
  std::string block;
  for (const Piece& piece : pieces_) {
    sink.put(piece.text);
    for (u64 done = 0; done < piece.size;) {
      block.resize(static_cast<std::size_t>(std::min<u64>(piece.size - done, 1 << 16)));
      ssize_t n = ::pread(file_, block.data(), block.size(), static_cast<off_t>(piece.at + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      sink.put(std::string_view(block).substr(0, static_cast<std::size_t>(n)));
      done += static_cast<u64>(n);
    }
  }
  return true;
}

}  // namespace tutti::puppet
