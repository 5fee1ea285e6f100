#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lang/puppet/catalog/native_type.h"

namespace tutti::puppet {

class Environment;
struct Module;

// The resource types that the modules of an environment bring in Ruby. What the program knows of a type stands in for
// the module's file only where it was made from that very file; any other file is read by Ruby. One environment may
// have another version of a type than the next, so each has its own. Safe to use from several threads.
class OwnTypes {
 public:
  // nullptr: no module has it, or the program knows just this file. `warning`, if any, says why not all is known.
  const NativeType* find(Environment& environment, std::string_view name, std::string* warning);

 private:
  struct Known {
    std::unique_ptr<NativeType> type;  // nullptr: see the table
    std::string warning;
  };
  struct File {
    std::string path;
    const Module* module = nullptr;
  };
  void scan(Environment& environment);
  Known read(Environment& environment, const std::string& lower, const File& file);

  std::mutex mutex_;
  bool scanned_ = false;
  std::unordered_map<std::string, File> files_;
  std::unordered_map<std::string, Known> known_;
};

}  // namespace tutti::puppet
