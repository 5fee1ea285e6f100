#pragma once

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace tutti {

// Told once, seen by everybody who waits: ends the commands in flight. Safe from any thread and from a signal handler.
class Cancel {
 public:
  Cancel();
  ~Cancel();
  Cancel(const Cancel&) = delete;
  Cancel& operator=(const Cancel&) = delete;
  void raise() const;
  bool raised() const;
  int fd() const { return fd_; }  // readable once raised

 private:
  int fd_;
};

// In the environment of whatever an action starts: which action it was. How its processes are found when they must end.
inline constexpr std::string_view kActionMark = "TUTTI_ACTION";

// A program to run on a host. Secrets go in `environment` or `input`, never in `argv`: those two do not show in a list
// of processes.
struct Command {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;  // added to the host's own; later ones win
  bool own_environment = true;                                   // false: only what is above
  std::vector<std::string_view> without;                         // of the host's own
  std::string cwd;
  std::string user, group;  // names or numbers; "" is whoever we are there
  // Another user's command has that user's environment and nothing of ours but language and time zone: what is in
  // root's (keys, tokens, an agent's socket) is nobody else's. This one takes ours along all the same, as Puppet does.
  bool keeps_environment = false;
  std::string environment_of;  // whose it has where something else makes it theirs; "": the user's
  int umask = -1;
  std::string input;
  std::vector<int> descriptors;           // of ours, on this machine only: they become 3, 4, ...
  std::chrono::milliseconds timeout{0};   // 0: none
  std::chrono::milliseconds grace{2000};  // between SIGTERM and SIGKILL
  const Cancel* cancel = nullptr;
  bool launches = false;           // what has left its group is to stay also where this is cancelled
  u64 most_output = u64{4} << 20;  // of each stream; what is over is dropped and counted
  // Where it is not empty: a line that begins with this word, on both streams, is the last; who keeps them open longer
  // is not waited for.
  std::string last_line;
};

struct CommandResult {
  enum class End : u8 {
    kExited,      // code is the exit status
    kSignalled,   // code is the signal
    kTimedOut,    // ended by us, with all it started in its group
    kCancelled,   // the same, because somebody asked
    kNotStarted,  // no such program, no such directory...: message says what
    kLost,        // the host went away: whether it ran to its end is not known
  };
  End end = End::kNotStarted;
  int code = 0;
  std::string out, err;
  std::optional<std::string> last_line;  // what that line of `err` says behind its first word
  u64 dropped = 0;
  std::string message;

  bool ok() const { return end == End::kExited && code == 0; }
  // Of one that is lost, as a failure's code (0 of any other): EHOSTUNREACH when the host was never reached and nothing
  // was begun, ECONNRESET when it went away in the middle.
  int lost_code() const;
  std::string describe() const;  // "exit status 3", "no answer in 20 s", ...
};

// A process that stays when we end: its identity is its number together with its birth, so that another process that
// was given the same number later is not taken for it.
struct DaemonIdentity {
  i64 pid = 0;
  u64 birth = 0;    // start time since boot, in clock ticks (/proc/PID/stat, field 22)
  std::string tag;  // what it was started from, see Daemon
};

// What a pid file says, and whether it is so.
struct DaemonStanding {
  std::optional<DaemonIdentity> known;
  bool alive = false;
};

struct Daemon {
  Command command;       // timeout, input and cancel do not count
  std::string pid_file;  // "PID BIRTH TAG\n", written before the program begins
  std::string tag;       // a word that changes when the daemon is to be another one
  std::string log_file;  // standard output and error are added to it; "" throws them away
  // Directories of these files are made where there are none. It must last so long to have been started.
  std::chrono::milliseconds settle{0};
};

struct Started {
  DaemonIdentity identity;
  u64 log_from = 0;    // how long the log was before
  bool ended = false;  // before `settle` was over
  // How it ended ("exit status 3"), once it has and as long as this is kept; "" where nobody knows.
  std::function<std::string()> how;
};

struct FileState {
  enum class Kind : u8 { kAbsent, kFile, kDirectory, kLink, kOther };
  Kind kind = Kind::kAbsent;
  u32 mode = 0;  // permission bits, with setuid, setgid and sticky
  u32 uid = 0, gid = 0;
  std::string owner, group;  // names, or the numbers where there is none
  u64 size = 0;
  i64 mtime = 0, ctime = 0;
  std::string target;  // of a link
  std::string digest;  // sha256 of a file's content as hex, where it was asked for
};

// Who a new thing is to belong to; "" leaves one as it comes.
struct Ownership {
  std::string user, group;
};

// A failure's code: a path leads over a link that another user can have made, or to a thing that one can have put
// there.
inline constexpr int kUntrusted = ENOLINK;

// In whose name something is done on another host: the file there has the highest number that has been told to it, and
// whatever comes with a lower one is refused before it begins.
struct Fence {
  std::string file;
  i64 number = 0;
};

// What can be done on a machine. Calls block; they are made from worker threads, several at once. `here()` acts by
// system calls, a host over ssh by small shell scripts: nothing needs to be installed there beyond a shell and the
// usual tools.
class Host {
 public:
  virtual ~Host() = default;
  std::string directory;  // of tutti's own on it; "": the usual one
  virtual std::string_view name() const = 0;

  virtual CommandResult run(const Command& command) = 0;

  // What is done from now on is done with this number. For a host whose acts are sent to it.
  virtual void set_fence(const Fence&) {}
  // Tells the host the number: nothing with a lower one begins there once this is done.
  virtual Result<void> raise(const Fence&) { return {}; }

  // Makes the connection, where one is needed and there is none.
  virtual Result<void> reach(const Cancel* cancel) {
    (void)cancel;
    return {};
  }
  // How many commands it takes side by side: one until it has answered for the first time. 0: no limit of its own.
  virtual u32 at_once() const { return 0; }

  virtual Result<FileState> stat(const std::string& path, bool follow, bool digest) = 0;  // absent is no failure
  virtual Result<std::string> read(const std::string& path) = 0;
  // Beside the target and renamed over it: a reader sees the old or the new. The mode is the new file's from the first
  // byte, and so is the owner that is said; where none is, who owned the old one owns the new one.
  virtual Result<void> write(const std::string& path, std::string_view bytes, u32 mode,
                             const Ownership& owned = {}) = 0;
  virtual Result<void> append(const std::string& path, std::string_view bytes);  // made for its owner alone
  virtual Result<void> make_directory(const std::string& path, u32 mode, const Ownership& owned = {}) = 0;
  // The directories above a path, as far as they are not there.
  virtual Result<void> make_parents(const std::string& path);
  // Replaces a link.
  virtual Result<void> make_link(const std::string& path, const std::string& target, const Ownership& owned = {}) = 0;
  virtual Result<void> remove(const std::string& path, bool tree) = 0;
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> set_mode(const std::string& path, u32 mode) = 0;
  virtual Result<void> set_owner(const std::string& path, const Ownership& owned, bool follow) = 0;
  virtual Result<std::vector<std::string>> list(const std::string& directory) = 0;  // names, sorted

  // What was written, made, renamed, removed and given away until now outlasts a loss of power once this is done. Many
  // may ask for it at once.
  virtual Result<void> flush() { return {}; }

  virtual Result<Started> start(const Daemon& daemon) = 0;
  virtual Result<DaemonStanding> standing(const std::string& pid_file);
  virtual Result<bool> alive(const DaemonIdentity& identity) = 0;
  // To the process's group when it leads one. Nothing happens to a process that is not the one meant.
  virtual Result<void> signal(const DaemonIdentity& identity, int signal) = 0;
  // Sends it the signal (0: it was told to go already) and waits until it is gone; kills it after so long.
  enum class Stopped : u8 { kGone, kKilled, kStays };
  virtual Result<Stopped> stop(const DaemonIdentity& identity, int signal, std::chrono::milliseconds limit);

  // Whether somebody accepts connections there, seen from the host.
  virtual bool connects(const std::string& address, u16 port, std::chrono::milliseconds timeout) = 0;

  // For commands through a shell.
  CommandResult shell(std::string script, std::chrono::milliseconds timeout = std::chrono::milliseconds{0},
                      const Cancel* cancel = nullptr);
  Result<std::optional<DaemonIdentity>> read_pid_file(const std::string& path);
};

std::unique_ptr<Host> here();

// What a shell's exit status says of a command: 128 and more is a signal.
std::string how_shell_says(int code);

// Whether a shell can set a variable of that name.
bool is_variable(std::string_view name);

// A word quoted for a POSIX shell.
std::string shell_quote(std::string_view word);

// How the name of a file that is being written ends until it is whole and takes the other's place.
inline constexpr std::string_view kUnfinished = ".tutti-new";
std::string sha256_hex(std::string_view bytes);
// Of what is ours, another user's command keeps these (those ending in `*`: all that begin so) ...
inline constexpr std::string_view kKeptVariables[] = {"LANG", "LANGUAGE", "LC_*", "TZ", "TERM"};
// ... and looks for programs here.
inline constexpr std::string_view kUserPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
// For a shell, before the words of a command: what makes it another user's or group's; "" where it is nobody else's.
std::string as_somebody(const Command& command);

}  // namespace tutti
