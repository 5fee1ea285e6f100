#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tutti {

// Which projects the user trusts: whose own code (Ruby, programs) may run while they are read, and which may read files
// outside of themselves.
//
// In: a folder. Out: whether there is a record of it, made by `tutti trust`, in the user's own state directory
// ($XDG_STATE_HOME/tutti/trust, else ~/.local/state/tutti/trust).
//
// A record holds a folder's path, its device and inode, and its owner. Another folder that later has the same name (a
// clone in /tmp that was deleted and made again by somebody else) is not the one that was trusted. It holds for all
// below it, as long as that belongs to the same owner, the user or root. No hash of the content is kept, unlike
// direnv's: direnv trusts one file, which its user has read; a project is thousands of files, changes with every pull,
// and whoever trusts it trusts those who write to it, as git's safe.directory does. Hashing them would read all of a
// site for each call, and teach to say yes.
//
// Nothing in a project can make it trusted: not a record of runs (.tutti) that came with it, not a file, not a
// variable of the environment other than the directory of the user's own state.
class TrustStore {
 public:
  struct Record {
    std::string path;  // as the kernel calls it
    u64 device = 0, inode = 0;
    u32 owner = 0;
  };

  // The records; a failure where the file is not the user's own (another owner, others may write it, a link).
  static Result<std::vector<Record>> read();
  static Result<void> add(const std::string& folder);
  // False where there was none.
  static Result<bool> remove(const std::string& folder);
  static std::string file();
};

// Whether a folder's project is trusted by a record, and if not, why not in a few words ("" where there is no record).
struct Trust {
  bool given = false;
  std::string why_not;
};
Trust trust_in(const std::string& folder);

// Whether the folder is the user's own and nobody else may write into it: a run that the user asks for in it needs no
// record.
bool is_own_folder(const std::string& folder);

// A folder in which things lie that have nothing to do with each other: a home, /, one into which everybody writes.
bool is_common_folder(const std::string& folder);

// The folder that a configuration belongs to: the nearest above with .git, else with cue.mod or environment.conf, else
// the folder itself. A mark that belongs to neither the owner of the folder, the user nor root counts for nothing:
// anybody could put one into /tmp.
std::string project_of(const std::string& folder);

}  // namespace tutti
