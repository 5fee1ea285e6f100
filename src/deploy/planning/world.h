#pragma once

#include <string>

#include "deploy/shared/other_systems.h"
#include "deploy/shared/recorded_system.h"
#include "tree/session.h"

namespace tutti::deploy {

// What planning asks of the world, and all that it asks. Everything is a look: nothing is changed by it. A test answers
// with what it wants to be recorded.
class World {
 public:
  virtual ~World() = default;

  // What is recorded of a system; nullopt where that cannot be read, and a diagnostic says why.
  virtual std::optional<RecordedSystem> recorded(const std::string& system) = 0;
  // What the other systems of the record hold.
  virtual OtherSystems others(const std::string& system) = 0;
  virtual LearntDurations durations() = 0;
  // The record's directory, which `${home}` stands for on this machine.
  virtual std::string home() = 0;
  // A text that is the same for the same tree, secrets and all, and shows none of them.
  virtual std::string fingerprint(const Value& tree) = 0;

  // A file that a configuration names as a template.
  virtual Result<const Source*> template_file(const std::string& path) = 0;
  // A directory of this machine as the file system has it, whatever links lead there.
  virtual std::string real_directory(const std::string& directory) = 0;
};

}  // namespace tutti::deploy
