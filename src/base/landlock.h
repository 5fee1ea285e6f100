#pragma once

#include <string>

#include "base/types.h"

namespace tutti {

// Rules of landlock for a process that is about to be started: nothing but what is let is read, written, executed,
// connected to or signalled. In: paths. Out: the descriptor of a rule set, which landlock_restrict_self takes. The
// kernel's own numbers are here since the headers of Debian 12 are older than what newer kernels refuse.
class Landlock {
 public:
  Landlock();
  ~Landlock();
  Landlock(const Landlock&) = delete;
  Landlock& operator=(const Landlock&) = delete;

  bool available() const { return fd_ >= 0; }
  // A path that is not there is passed over.
  void let_read(const std::string& path);
  void let_write(const std::string& path);
  void let_execute(const std::string& path);
  int take();  // the caller closes it

 private:
  void let(const std::string& path, u64 rights);
  int fd_ = -1;
  u64 files_ = 0;  // the rights that this kernel knows
};

}  // namespace tutti
