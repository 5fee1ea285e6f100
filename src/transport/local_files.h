// Files of this machine, as a Host offers them. Every path is walked by descriptor and the thing at its end is touched
// through one (transport/place.h), so that nobody who may write to a directory on the way can make root touch another
// thing than the one that was looked at. Who is to own a new file owns it before it has its name.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "transport/accounts.h"
#include "transport/host.h"
#include "transport/place.h"

namespace tutti {

class LocalFiles {
 public:
  Result<FileState> stat(const std::string& path, bool follow, bool digest);
  Result<std::string> read(const std::string& path);
  Result<void> write(const std::string& path, std::string_view bytes, u32 mode, const Ownership& owned);
  Result<void> append(const std::string& path, std::string_view bytes);
  Result<void> make_directory(const std::string& path, u32 mode, const Ownership& owned);
  // The directories above a path, as far as they are not there.
  Result<void> make_parents(const std::string& path);
  Result<void> make_link(const std::string& path, const std::string& target, const Ownership& owned);
  Result<void> remove(const std::string& path, bool tree);
  Result<void> rename(const std::string& from, const std::string& to);
  Result<void> set_mode(const std::string& path, u32 mode);
  Result<void> set_owner(const std::string& path, const Ownership& owned, bool follow);
  Result<std::vector<std::string>> list(const std::string& path);
  Result<void> flush();

  // A file to add to, made for its owner alone where there is none: a regular one that nobody else can have led
  // elsewhere.
  Result<Descriptor> open_log(const std::string& path);
  // A new file in place of whatever has the name.
  Result<Descriptor> open_new(const std::string& path, u32 mode);

 private:
  // What is on disk only after a flush: a directory whose entries, or a file whose owner or mode, are others now.
  void note_changed(std::string path);
  void note_entry(const std::string& path);

  Names names_;
  std::mutex changed_mutex_, flush_mutex_;
  std::set<std::string> changed_;
};

}  // namespace tutti
