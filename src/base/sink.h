#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace tutti {

// Where a writer puts its bytes. Large results go out in blocks instead of being put together in memory first.
class Sink {
 public:
  virtual ~Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void put(char c) {
    if (used_ == kBlock) flush();
    buffer_[used_++] = c;
  }
  void put(std::string_view text) {
    if (text.size() > kBlock - used_) return put_slow(text);
    text.copy(buffer_.get() + used_, text.size());
    used_ += text.size();
  }
  void spaces(std::size_t n) {
    for (; n > 0; n--) put(' ');
  }
  void flush();

 protected:
  Sink() = default;
  virtual void drain(std::string_view bytes) = 0;

 private:
  void put_slow(std::string_view text);

  static constexpr std::size_t kBlock = 1 << 16;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kBlock);
  std::size_t used_ = 0;
};

class StringSink final : public Sink {
 public:
  std::string take() {
    flush();
    return std::move(text_);
  }

 private:
  void drain(std::string_view bytes) override { text_ += bytes; }
  std::string text_;
};

// Standard output, or a file that is replaced only when all has been written (commit); without a commit nothing
// changes.
class FileSink final : public Sink {
 public:
  explicit FileSink(std::string path);  // "" or "-": standard output
  ~FileSink() override;
  Result<void> commit();

 private:
  void drain(std::string_view bytes) override;
  void fail();

  std::string path_, beside_;
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace tutti
