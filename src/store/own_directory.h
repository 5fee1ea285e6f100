#pragma once

#include <string>

#include "base/result.h"
#include "base/types.h"

// The directory of a record and the files in it, as somebody uses them who trusts nobody else on the machine. What
// flows in is a path that others may have prepared (a directory in /tmp, a link, a check-out of somebody's repository);
// what flows out are descriptors of things that belong to us alone. Everything goes by the descriptor of the directory,
// so that what was looked at is what is used, whoever renames what in between. Looking first and opening by path was
// rejected: between the two calls the owner of a directory above can put something else there.
namespace tutti::store {

// What is there is somebody else's, or somebody else could have put it there.
inline constexpr int kForeign = 100004;
// It is ours, but it was made elsewhere: it came with a repository, an archive or a copy.
inline constexpr int kFromElsewhere = 100005;
// It lies on a file system of other machines, whose locks do not keep two of them apart.
inline constexpr int kNetworked = 100007;

class OwnDirectory {
 public:
  // Made (for us alone) when it is not there. Refused (kForeign) when it, or a link that leads to it, belongs to
  // somebody else, or when others can write in it.
  static Result<OwnDirectory> open(const std::string& path);
  OwnDirectory(OwnDirectory&& other) noexcept;
  OwnDirectory& operator=(OwnDirectory&&) = delete;
  ~OwnDirectory();

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }    // without links
  const std::string& shown() const { return shown_; }  // as it was called, for messages
  bool has(const std::string& name) const;
  // A file in it by openat(2), never through a link: the caller closes it. Refused (kForeign) unless it is a regular
  // file of our own that nobody else can write.
  Result<int> file(const std::string& name, int flags) const;
  // Whether everything that lies in it is our own, and nothing is a link.
  Result<void> check() const;
  // What no copy, archive or check-out can give to a file: its inode and when that was made. "" when it is not there.
  std::string birth(const std::string& name) const;

 private:
  OwnDirectory(int fd, std::string path, std::string shown)
      : fd_(fd), path_(std::move(path)), shown_(std::move(shown)) {}
  int fd_;
  std::string path_, shown_;
};

// The name of a file system that other machines have a part in, "" of one of this machine's own. `magic` is what
// statfs(2) says, `type` the kernel's name for it ("ext4", "fuse.sshfs"; "": not known).
std::string network_file_system(i64 magic, const std::string& type);

// "" when the open file is a regular one of our own that nobody else can write; else what is wrong with it.
std::string why_not_own_file(int fd);

}  // namespace tutti::store
