#include "base/sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/pipe.h"
#include "base/process_limits.h"
#include "base/progress.h"
#include "base/terminal.h"

namespace tutti {

namespace {

TerminalText shown_text;  // of standard output, of which there is one

}  // namespace

void Sink::flush() {
  if (used_ == 0) return;
  std::size_t n = used_;
  used_ = 0;
  drain({buffer_.get(), n});
}

void Sink::put_slow(std::string_view text) {
  flush();
  if (text.size() >= kBlock) {
    drain(text);
  } else {
    put(text);
  }
}

// The file is made beside its target at the first byte, so that a run that fails before has no trace.
FileSink::FileSink(std::string path) : path_(std::move(path)) {
  if (path_.empty() || path_ == "-") {
    path_.clear();
    fd_ = 1;
  } else {
    path_ = through_links(path_);  // a link stays one
  }
}

FileSink::~FileSink() {
  if (fd_ > 1) ::close(fd_);
  if (!beside_.empty()) ::unlink(beside_.c_str());
}

void FileSink::fail() {
  if (error_ == 0) error_ = errno;
}

void FileSink::drain(std::string_view bytes) {
  if (error_ != 0) return;
  if (fd_ < 0) {
    struct stat st {};
    bool exists = ::stat(path_.c_str(), &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {  // a device or a pipe cannot be replaced: write through it
      fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    } else {
      std::string beside = fmt::format("{}.{}.tmp", path_, ::getpid());
      fd_ = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (fd_ >= 0) remove_at_end(beside_ = beside);
      if (fd_ >= 0 && exists && ::fchmod(fd_, st.st_mode & 07777) != 0) return fail();
    }
    if (fd_ < 0) return fail();
  }
  if (fd_ != 1 || ::isatty(1) != 1) {
    if (!write_whole(fd_, bytes)) fail();
    return;
  }
  if (!bytes.empty()) Progress::hide();
  if (!write_whole(1, shown_text.next(bytes))) fail();
}

Result<void> FileSink::commit() {
  flush();
  if (fd_ < 0 && error_ == 0) drain({});  // an empty result is a file too
  if (fd_ == 1 && error_ == 0 && !write_whole(1, shown_text.rest())) fail();
  if (error_ == 0 && !beside_.empty()) {
    if (::fsync(fd_) != 0 || ::rename(beside_.c_str(), path_.c_str()) != 0) fail();
    if (error_ == 0) beside_.clear(), remove_at_end("");
  }
  if (error_ == 0) return {};
  return failure(fmt::format("cannot write {}: {}", path_.empty() ? "standard output" : path_, std::strerror(error_)),
                 error_);
}

}  // namespace tutti
