#pragma once

#include "deploy/share.h"
#include "resource/holdings.h"

namespace tutti::deploy {

// A host as the machine that it is, whatever a system calls it; `tree` has its `hosts`.
std::string machine(Symbol host, const Value& tree);

// What the other systems of the same record hold: it stays, whatever becomes of this one.
class Elsewhere {
 public:
  Elsewhere(Deployer& deployer, store::Store& store, const std::string& system);

  bool empty() const { return all_.empty(); }
  // Who has a thing ("file:/etc/motd"), or with `below` something in a directory.
  std::optional<resource::Holder> holder(const std::string& machine, const std::string& thing, bool below) const;
  // What its holder has to do with a thing; nullptr where nobody has it.
  const Share* share(const std::string& machine, const std::string& thing) const;

 private:
  struct One {
    std::string name;
    Share share;
  };
  resource::Holdings holdings_;
  std::vector<One> all_;
};

}  // namespace tutti::deploy
