#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "transport/host.h"
#include "tree/value.h"

namespace tutti::deploy {

// The machines of a system, by the names it gives them; connections are made when first needed and kept.
class Hosts {
 public:
  // Commands on this machine run in `where`, whoever calls tutti from wherever: what they make is found again.
  explicit Hosts(std::string where = "") : where_(std::move(where)) {}

  // {web1: {ssh: "root@10.0.0.1", port: 22, config: FILE}}, {web1: "10.0.0.1"}, {lab: local}
  void describe(const Value& hosts);
  Host* find(Symbol name);

 private:
  std::string where_;
  std::mutex mutex_;
  std::map<std::string, Value> known_;
  std::map<std::string, std::unique_ptr<Host>> open_;
};

}  // namespace tutti::deploy
