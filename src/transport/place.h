// Where a path leads, by descriptor: the directory that holds the thing, opened, and its name there.
//
// What root does by path, whoever owns a directory on the way can turn aside: between a look and a write, or between a
// rename and a chown, a name becomes a link to a file of root's. So a path is walked one directory at a time with
// descriptors, and a link is followed only where nobody else can have made it: in a directory that is root's or ours
// and that nobody else may write to, or in a sticky one when the link itself is root's or ours. A link that another
// user may have made is followed as far as that user could go alone: what it leads to must be that user's own, the
// directory and the thing in it. (A capistrano-like `current -> releases/12` works; `config -> /etc` does not.)
//
// Rejected: openat2 with RESOLVE_NO_SYMLINKS (the machine's own links, /var/run, /lib, are needed), and giving up
// root's rights for the user's while in their directory (files of root's in a directory of another user are usual).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "transport/host.h"

namespace tutti {

// Root or who we are.
bool is_ours(uid_t uid);

// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

struct Place {
  Descriptor directory;  // O_PATH
  std::string name;      // in it; "." of a directory that has no name, as "/"
  std::string path;      // as asked for
  // Nobody but root and us can put a thing of another name here.
  bool trusted = false;

  // The thing itself, a link as a link; false with errno where there is none.
  bool look(struct stat& st) const;
};

// Where the path leads; `follow`: a link at its end too. The thing need not be there, its directory must.
Result<Place> find_place(const std::string& path, bool follow);

// The thing opened with these flags (and O_CLOEXEC, O_NOFOLLOW); errno in the failure's code.
Result<Descriptor> open_at(const Place& place, int flags, mode_t mode = 0);

}  // namespace tutti
