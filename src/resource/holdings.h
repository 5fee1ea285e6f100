#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "resource/provider.h"

namespace tutti::resource {

// Who holds which things ("file:/etc/motd") on which host: they are nobody else's to purge.
class Holdings {
 public:
  void add(Symbol host, const Resource& r, u32 who);  // what is to go is held by nobody
  void add(const Holdings& others);
  void clear() { by_thing_.clear(); }
  std::span<const u32> holders(Symbol host, const std::string& thing) const;
  // As `managed_as` names it: a file by its path.
  bool has(Symbol host, const std::string& name) const;
  std::span<const u32> below(Symbol host, const std::string& directory) const;

 private:
  std::map<std::string, std::vector<u32>> by_thing_;
};

}  // namespace tutti::resource
