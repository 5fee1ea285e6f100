#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tutti {

// A helper process that runs what a project brings (Ruby of modules, generate(), programs of facts), kept small by the
// kernel: the project is trusted to compute, not to be free of mistakes.
//
// In: a command line, the descriptors it gets, and what it may read. Out: a process that
// - reads nothing but that, writes no file, and makes no connection (landlock, a mount namespace that is read only, a
//   network namespace without a network, and a filter of system calls);
// - has no privileges and gains none (no_new_privs, no capabilities; root becomes the owner of the project);
// - starts no other program, unless it is what it is for, and sees no process but its own (a pid namespace);
// - has limits of memory, files and processes, and ends with its parent, with all that it started.
//
// The filter is written by hand: it names what is refused, on two architectures, in a hundred lines that need no
// library at start. A list of what is allowed was rejected: interpreters and the C library call what they like from
// version to version, and what reaches the world is refused by three other means already.
//
// Everything is prepared before the process is made, since between clone and exec it shares this one's memory (as
// posix_spawn does): a fork would copy the page tables of gigabytes of catalogs.
struct Confinement {
  std::vector<std::string> readable;  // folders and files
  bool reads_system = false;          // also /etc, /proc, /sys, /run, /var: facts are about the machine
  bool starts_programs = false;       // those of the system, as many as it likes
  bool sees_network = false;          // its interfaces, that is; to connect is refused all the same
  u64 memory = 0;                     // bytes of address space; 0: no limit of its own
  std::string owner_of;               // root becomes who this folder belongs to; "": stays, without privileges
};

struct HelperProcess {
  pid_t pid = -1;
  std::string lacking;  // what this kernel or container does not give, in words; "" for nothing
};

// `descriptors[n]` becomes descriptor n of the process; -1 leaves it closed. The first word is the program's path.
Result<HelperProcess> start_confined(const std::vector<std::string>& words, const std::vector<int>& descriptors,
                                     const std::string& directory, const Confinement& confinement);

// Ends it and all that it started.
void end_confined(pid_t pid);

// Says `lacking` once in the life of the program; "" where it has been said or there is nothing to say.
std::string said_once(const std::string& lacking);

}  // namespace tutti
