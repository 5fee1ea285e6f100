#pragma once

#include <ctime>
#include <map>
#include <string>
#include <string_view>

#include "base/types.h"

namespace tutti::resource {

// How the resource of a catalog went. Kept as the outputs of its action, which are texts, so that those that come after
// it and later runs find it there; both directions are here.
struct CatalogResult {
  enum class Status : u8 { kNone, kOk, kFailed, kSkipped };
  Status status = Status::kNone;               // kNone: it has not been its turn yet
  u32 changed = 0;                             // changes that whoever is notified of it counts
  u32 noops = 0;                               // of these, those that --noop only told
  bool noop = false;                           // it would have been changed
  std::time_t checked = 0;                     // when its schedule last was due
  std::string name;                            // "File[/etc/motd]"; of several that failed below it a line for each
  std::map<std::string, std::string> audited;  // property -> value, when it was last looked at

  static std::string_view word(Status status);  // "ok", "failed", "skipped", ""
  using Outputs = std::map<std::string, std::string>;
  static CatalogResult read(const Outputs& outputs);
  Outputs write() const;

  bool failed() const { return status == Status::kFailed; }
  // Whoever depends on it is skipped.
  bool is_in_the_way() const { return status == Status::kFailed || status == Status::kSkipped; }
};

}  // namespace tutti::resource
