#pragma once

#include <functional>
#include <map>
#include <string>

#include "resource/provider.h"

namespace tutti::resource {

// A directory as the file system has it, whatever links lead there; itself where nothing is there.
using CanonicalDirectory = std::function<std::string(const std::string& directory)>;
std::string canonical_directory(const std::string& directory);  // on this machine

// Where paths lead on this machine through links of directories, those included that are yet to be made.
class RealPaths {
 public:
  explicit RealPaths(CanonicalDirectory canonical = canonical_directory) : canonical_(std::move(canonical)) {}
  // A resource may be such a link.
  void learn(const Resource& r);
  // A path as the file system has it, whatever links lead there; what it is itself stays as it is named.
  std::string of_path(const std::string& path);
  // The same of a thing: "file:/etc/motd".
  std::string of_thing(const std::string& thing);

 private:
  std::string through_new_links(const std::string& directory, int left) const;

  CanonicalDirectory canonical_;
  std::map<std::string, std::string> links_;  // that somebody is going to make
  std::map<std::string, std::string> known_;  // directories
};

}  // namespace tutti::resource
