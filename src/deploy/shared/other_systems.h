#pragma once

#include <optional>
#include <string>
#include <vector>

#include "deploy/shared/share.h"
#include "engine/plan/recorded.h"
#include "resource/executor.h"
#include "resource/holdings.h"

namespace tutti::deploy {

// What the other systems of the same record hold: it stays, whatever becomes of this one. Filled from their recorded
// states by whoever reads the record.
class OtherSystems {
 public:
  // `state`: the system's recorded tree, which describes its hosts.
  void add(const std::string& system, const engine::Recorded& recorded, const Value& state);

  bool empty() const { return all_.empty(); }
  // Who has a thing ("file:/etc/motd"), or with `below` something in a directory.
  std::optional<resource::Holder> holder(const std::string& machine, const std::string& thing, bool below) const;
  // What its holder has to do with a thing; nullptr where nobody has it.
  const Share* share(const std::string& machine, const std::string& thing) const;

 private:
  struct One {
    std::string name;  // "shop/db"
    Share share;
  };
  resource::Holdings holdings_;
  std::vector<One> all_;
};

}  // namespace tutti::deploy
