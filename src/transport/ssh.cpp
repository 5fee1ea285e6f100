// A host over ssh. Every call is one small shell script on the shared connection. The script goes in by standard input,
// so that neither secrets nor long texts are in anybody's argument list; how the command ended comes back in a trailer
// of its own, which is how a lost connection is told from a command that failed.
#include "transport/ssh.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "transport/ssh_connection.h"

namespace tutti {
namespace {

using std::chrono::milliseconds;

std::string nonce() {
  static thread_local std::mt19937_64 random{std::random_device{}()};
  return fmt::format("{:016x}", random());
}

std::string directory_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

// For a shell: what outlasts a loss of power then. A `sync` that takes names writes only these; an older one takes none
// and writes everything; where there is none the host's own pace has to do.
std::string on_disk(const std::vector<std::string>& paths) {
  std::string words;
  for (auto& p : paths)
    if (!p.empty()) words += " " + shell_quote(p);
  return fmt::format("{{ sync --{} 2>/dev/null || sync 2>/dev/null || :; }}", words);
}

// Side by side on one connection: an sshd as it ships allows ten (MaxSessions), and looks need some, too.
constexpr u32 kSessions = 8;

// For a shell: "chown ... && ", or nothing where nobody is said.
std::string give(const Ownership& owned, const std::string& path, bool follow = false) {
  if (owned.user.empty() && owned.group.empty()) return "";
  return fmt::format("chown {}-- {}{} {} && ", follow ? "" : "-h ", shell_quote(owned.user),
                     owned.group.empty() ? "" : ":" + shell_quote(owned.group), shell_quote(path));
}

class SshHost : public Host {
 public:
  explicit SshHost(SshTarget target) : local_(here()), name_(target.name), connection_(std::move(target), *local_) {}
  std::string_view name() const override { return name_; }

  CommandResult run(const Command& command) override;
  Result<void> reach(const Cancel* cancel) override {
    if (auto failed = connection_.ensure(cancel)) return failure(failed->describe(), failed->lost_code());
    return {};
  }
  u32 at_once() const override { return connection_.up() ? kSessions : 1; }
  Result<FileState> stat(const std::string& path, bool follow, bool digest) override;
  Result<std::string> read(const std::string& path) override;
  Result<void> write(const std::string& path, std::string_view bytes, u32 mode, const Ownership& owned) override;
  Result<void> make_directory(const std::string& path, u32 mode, const Ownership& owned) override {
    std::string p = shell_quote(path);
    return simple(fmt::format("( umask 077; mkdir -- {0} ) && {1}chmod {2:o} -- {0}", p, give(owned, path), mode),
                  "make directory", path, path);
  }
  // A link is made beside and given away before it has its name.
  Result<void> make_link(const std::string& path, const std::string& target, const Ownership& owned) override {
    if (owned.user.empty() && owned.group.empty())
      return simple(fmt::format("ln -sfn -- {} {}", shell_quote(target), shell_quote(path)), "make link", path);
    std::string beside = fmt::format("{}{}-{}", path, kUnfinished, nonce()), b = shell_quote(beside);
    return simple(fmt::format("ln -s -- {} {} && {}mv -fT -- {} {}", shell_quote(target), b, give(owned, beside), b,
                              shell_quote(path)),
                  "make link", path);
  }
  Result<void> remove(const std::string& path, bool tree) override {
    std::string p = shell_quote(path);
    return simple(fmt::format("if [ -d {0} ] && [ ! -L {0} ]; then {1} {0}; else rm -f -- {0}; fi", p,
                              tree ? "rm -rf --" : "rmdir --"),
                  "remove", path);
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return simple(fmt::format("mv -f -- {} {}", shell_quote(from), shell_quote(to)), "rename", from, directory_of(to));
  }
  Result<void> set_mode(const std::string& path, u32 mode) override {
    return simple(fmt::format("chmod {:o} -- {}", mode, shell_quote(path)), "set the mode of", path, path);
  }
  Result<void> set_owner(const std::string& path, const Ownership& owned, bool follow) override {
    return simple(fmt::format("{}:", give(owned, path, follow)), "change the owner of", path, follow ? path : "");
  }
  Result<std::vector<std::string>> list(const std::string& directory) override;
  Result<Started> start(const Daemon& daemon) override;
  Result<DaemonStanding> standing(const std::string& pid_file) override;
  Result<Stopped> stop(const DaemonIdentity& id, int signal, milliseconds limit) override;
  Result<bool> alive(const DaemonIdentity& id) override;
  Result<void> signal(const DaemonIdentity& id, int signal) override;
  bool connects(const std::string& address, u16 port, milliseconds timeout) override;
  void set_fence(const Fence& fence) override {
    std::lock_guard lock(fence_mutex_);
    fence_ = fence;
  }
  Result<void> raise(const Fence& fence) override;

 private:
  // For a shell, before what acts: refuses it where a later run has told the host so. Until the shell ends or becomes
  // another program the number cannot be raised, so that what has passed has begun when somebody looks for it. Nothing
  // waits for our end of the connection meanwhile: we may be stopped for ever.
  std::string if_not_fenced() const;
  // Runs a script; `input` is what it reads from standard input.
  CommandResult script(const std::string& text, const std::string& input, milliseconds timeout, const Cancel* cancel,
                       u64 most_output, milliseconds grace);
  CommandResult ask(const std::string& text, const std::string& input = "") {
    return script(text, input, milliseconds(120000), nullptr, u64{1} << 31, milliseconds(2000));
  }
  // `changed`: what has another owner or mode now, beside the directory of the path, which has other entries.
  Result<void> simple(const std::string& text, std::string_view what, const std::string& path,
                      const std::string& changed = "") {
    auto r = ask(fmt::format("{}{} && {}", if_not_fenced(), text, on_disk({changed, directory_of(path)})));
    if (r.ok()) return {};
    return refused(r, what, path);
  }
  tl::unexpected<Failure> refused(const CommandResult& r, std::string_view what, const std::string& path) const {
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    std::string why = r.err.empty() ? r.describe() : r.err;
    while (!why.empty() && why.back() == '\n') why.pop_back();
    int code = why.find("No such file") != std::string::npos  ? ENOENT
               : why.find("File exists") != std::string::npos ? EEXIST
                                                              : 0;
    return failure(fmt::format("cannot {} {} on {}: {}", what, path, name_, why), code);
  }

  std::unique_ptr<Host> local_;
  std::string name_;
  SshConnection connection_;
  mutable std::mutex fence_mutex_;
  Fence fence_;
};

constexpr std::string_view kFencedOff = "a later run has taken this system over";

// The lock of a fence, where there can be one, on descriptor 8.
std::string with_lock(const std::string& file, std::string_view how) {
  std::string lock = shell_quote(file + ".lock"), directory = shell_quote(directory_of(file));
  return fmt::format(
      "[ -d {0} ] || ( umask 077; mkdir -p -- {0} ) 2>/dev/null; if command -v flock >/dev/null && ( umask 077; : "
      ">>{1} "
      ") 2>/dev/null; then exec 8>>{1}; flock {2} 8; fi; ",
      directory, lock, how);
}

std::string SshHost::if_not_fenced() const {
  std::lock_guard lock(fence_mutex_);
  if (fence_.file.empty()) return "";
  return with_lock(fence_.file, "-s") + fmt::format(
                                            "[ ! -e {0} ] || [ \"$(cat {0})\" -le {1} ] || {{ echo '{2}' >&2; "
                                            "exit 1; }}; ",
                                            shell_quote(fence_.file), fence_.number, kFencedOff);
}

Result<void> SshHost::raise(const Fence& fence) {
  std::string file = shell_quote(fence.file);
  auto r =
      ask(with_lock(fence.file, "-x") +
          fmt::format("umask 077; n=$(cat {0} 2>/dev/null || echo 0); [ \"$n\" -le {1} ] || {{ echo '{2}' >&2; exit "
                      "1; }}; echo {1} > {0}.new && mv -f {0}.new {0} && {3}",
                      file, fence.number, kFencedOff, on_disk({fence.file, directory_of(fence.file)})));
  return r.ok() ? Result<void>() : refused(r, "write", fence.file);
}

CommandResult SshHost::script(const std::string& text, const std::string& input, milliseconds timeout,
                              const Cancel* cancel, u64 most_output, milliseconds grace) {
  if (auto failed = connection_.ensure(cancel)) return *failed;
  std::string mark = nonce();
  // On the other side a shell runs the script as a job of its own and says how it ended. The mark in the environment is
  // how everything that the script started is found when it has to be ended.
  std::string whole = fmt::format(
      "echo begins-{1} >&2; TUTTI_MARK={1}; export TUTTI_MARK; ( {0}\n); S=$?; printf '\\n%s %s\\n' {1} $S; "
      "printf '\\n%s %s\\n' {1} $S >&2; exit 0\n",
      text, mark);
  std::string sign = "begins-" + mark + "\n";  // not like the last line: ssh may have said something before it
  Command c;
  // dd takes exactly the script's bytes and leaves the rest of the input to it.
  c.argv = connection_.argv({}, fmt::format("exec sh -c 'eval \"$(dd bs=1 count={} 2>/dev/null)\"'", whole.size()));
  c.input = whole + input;
  c.timeout = timeout;
  c.cancel = cancel;
  c.grace = grace;
  c.most_output = most_output == u64{1} << 31 ? most_output : most_output + 4096;
  c.last_line = mark;
  bool begun = true;
  CommandResult r = connection_.run(c, sign, begun);
  if (!begun) return connection_.unreachable(r);
  // Before the sign ssh itself spoke (of sessions that were refused and made otherwise, of what the server greets
  // with).
  if (std::size_t at = r.err.find(sign); at != std::string::npos) r.err.erase(0, at + sign.size());
  for (std::string* stream : {&r.out, &r.err}) {
    std::size_t output = std::min(stream->rfind("\n" + mark + " "), stream->size());
    if (output > most_output) {
      r.dropped += output - most_output;
      output = most_output;
    }
    stream->resize(output);
  }
  int code = 0;
  const char* end = r.last_line ? r.last_line->data() + r.last_line->size() : nullptr;
  if (end && std::from_chars(r.last_line->data(), end, code).ptr == end && !r.last_line->empty()) {
    r.end = code > 128 && code < 192 ? CommandResult::End::kSignalled : CommandResult::End::kExited;
    r.code = r.end == CommandResult::End::kSignalled ? code - 128 : code;
    return r;
  }
  if (r.end == CommandResult::End::kTimedOut || r.end == CommandResult::End::kCancelled) {
    // Our ssh is gone; what it ran there is told by name to go too.
    Command k;
    k.argv = connection_.argv(
        {}, fmt::format("for e in /proc/[0-9]*/environ; do p=${{e#/proc/}}; p=${{p%/environ}}; tr '\\0' '\\n' "
                        "<$e 2>/dev/null | grep -q '^TUTTI_MARK={}$' && kill -9 $p 2>/dev/null; done; true",
                        mark));
    k.timeout = milliseconds(10000);
    local_->run(k);
    return r;
  }
  connection_.lost();
  r.end = CommandResult::End::kLost;
  r.code = 0;
  std::string why = said_by_ssh(r.err).substr(0, 200);
  r.message = fmt::format("the connection to {} was lost{}{}", name_, why.empty() ? "" : ": ", why);
  return r;
}

// For a shell: makes the environment a user's; with `clean` nothing of ours beside, where it is somebody else.
std::string environment_of(const std::string& user, bool clean) {
  std::string kept = fmt::format("{}", fmt::join(kKeptVariables, "|"));
  std::string drop = fmt::format(
      "for v in $(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p'); do case $v in {}|TUTTI_MARK) ;; *) unset "
      "$v "
      "2>/dev/null;; esac; done; PATH={}; export PATH; SHELL=$(echo \"$e\" | cut -d: -f7); export SHELL; ",
      kept, kUserPath);
  return fmt::format(
      "u={0}; e=$(getent passwd \"$u\"); {1}h=$(echo \"$e\" | cut -d: -f6); [ -z \"$h\" ] || {{ HOME=$h; export HOME; "
      "}}; "
      "USER=$u; LOGNAME=$u; export USER LOGNAME; ",
      shell_quote(user),
      clean ? fmt::format("if [ \"$(echo \"$e\" | cut -d: -f3)\" != \"$(id -u)\" ]; then {}fi; ", drop) : "");
}

CommandResult SshHost::run(const Command& command) {
  std::string text;
  if (!command.own_environment)
    text += "unset $(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/\\1/p' | grep -vx PATH); ";
  if (!command.without.empty()) text += fmt::format("unset {}; ", fmt::join(command.without, " "));
  const std::string& whose = command.environment_of.empty() ? command.user : command.environment_of;
  if (!whose.empty()) text += environment_of(whose, !command.keeps_environment);
  for (auto& [name, value] : command.environment) {
    if (!is_variable(name)) {
      CommandResult refused;
      refused.message = fmt::format("`{}` cannot be the name of a variable on {}", name, name_);
      return refused;
    }
    text += fmt::format("export {}={}; ", name, shell_quote(value));
  }
  if (command.umask >= 0) text += fmt::format("umask {:03o}; ", command.umask);
  if (!command.cwd.empty()) text += fmt::format("cd -- {} || exit 126; ", shell_quote(command.cwd));
  std::string words;
  for (auto& a : command.argv) words += (words.empty() ? "" : " ") + shell_quote(a);
  text = if_not_fenced() + text;
  // It takes the shell's place, and with that gives up the lock.
  text += "exec " + as_somebody(command);
  text += words + " 8>&-";
  return script(text, command.input, command.timeout, command.cancel, command.most_output, command.grace);
}

Result<FileState> SshHost::stat(const std::string& path, bool follow, bool digest) {
  std::string p = shell_quote(path);
  auto r = ask(
      fmt::format("if [ -e {0} ] || [ -L {0} ]; then stat {1}-c '%f %u %g %s %Y %Z %U %G' -- {0} && {{ [ ! -L {0} ] || "
                  "readlink -- {0}; }}"
                  "{2}; else echo absent; fi",
                  p, follow ? "-L " : "", digest ? fmt::format(" && if [ -f {0} ]; then sha256sum < {0}; fi", p) : ""));
  if (!r.ok()) {
    if (follow && r.err.find("No such file") != std::string::npos) return FileState{};
    return refused(r, "look at", path);
  }
  FileState s;
  if (r.out.rfind("absent", 0) == 0) return s;
  unsigned raw = 0, uid = 0, gid = 0;
  unsigned long long size = 0;
  long long mtime = 0, ctime = 0;
  char owner[256] = "", group[256] = "";
  if (std::sscanf(r.out.c_str(), "%x %u %u %llu %lld %lld %255s %255s", &raw, &uid, &gid, &size, &mtime, &ctime, owner,
                  group) != 8)
    return failure(fmt::format("cannot look at {} on {}: {}", path, name_, r.out));
  switch (raw & S_IFMT) {
    case S_IFREG: s.kind = FileState::Kind::kFile; break;
    case S_IFDIR: s.kind = FileState::Kind::kDirectory; break;
    case S_IFLNK: s.kind = FileState::Kind::kLink; break;
    default: s.kind = FileState::Kind::kOther;
  }
  s.mode = raw & 07777;
  s.uid = uid;
  s.gid = gid;
  s.owner = std::string_view(owner) == "UNKNOWN" ? std::to_string(uid) : owner;
  s.group = std::string_view(group) == "UNKNOWN" ? std::to_string(gid) : group;
  s.size = size;
  s.mtime = mtime;
  s.ctime = ctime;
  std::string rest = r.out.substr(r.out.find('\n') + 1);
  if (s.kind == FileState::Kind::kLink) s.target = rest.substr(0, rest.find('\n'));
  if (digest && s.kind == FileState::Kind::kFile && rest.size() >= 64)
    s.digest = rest.substr(rest.find_last_of('\n', rest.size() - 2) + 1).substr(0, 64);
  return s;
}

Result<std::string> SshHost::read(const std::string& path) {
  auto r =
      ask(fmt::format("if [ -p {0} ] || [ -S {0} ] || [ -b {0} ] || {{ [ -c {0} ] && [ {0} != /dev/null ]; }}; then "
                      "echo 'it is neither a file nor a directory nor a link to one' >&2; exit 1; fi; cat < {0}",
                      shell_quote(path)));
  if (!r.ok()) return refused(r, "read", path);
  return std::move(r.out);
}

Result<void> SshHost::write(const std::string& path, std::string_view bytes, u32 mode, const Ownership& owned) {
  std::string beside = fmt::format("{}{}-{}", path, kUnfinished, nonce());
  std::string p = shell_quote(path), t = shell_quote(beside);
  // Where we are killed on the way what comes ends early: half a file must not take the place of a whole one.
  auto r =
      ask(fmt::format(
              "( umask 077; cat > {1} ) && [ \"$(wc -c < {1})\" -eq {3} ] || {{ rm -f {1}; exit 1; }}; {7}{{ [ -L {0} "
              "] || [ ! -e {0} ] || chown "
              "--reference={0} -- {1}; }} && {6}chmod {2:o} -- {1} && {4} && mv -fT -- {1} {0} || {{ rm -f {1}; exit "
              "1; }}; {5}",
              p, t, mode, bytes.size(), on_disk({beside}), on_disk({directory_of(path)}), give(owned, beside),
              if_not_fenced()),
          std::string(bytes));
  if (!r.ok()) return refused(r, "write", path);
  return {};
}

Result<std::vector<std::string>> SshHost::list(const std::string& path) {
  auto r = ask(fmt::format(
      "cd -- {} && for f in * .[!.]* ..?*; do if [ -e \"$f\" ] || [ -L \"$f\" ]; then printf '%s\\0' \"$f\"; fi; done",
      shell_quote(path)));
  if (!r.ok()) return refused(r, "list", path);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < r.out.size();) {
    std::size_t end = r.out.find('\0', at);
    if (end == std::string::npos) break;
    names.push_back(r.out.substr(at, end - at));
    at = end + 1;
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Sets $1 to the birth of process $p, or fails where it is not there.
constexpr std::string_view kBirth =
    "birth() { s=$(cat /proc/$p/stat 2>/dev/null) || return 1; s=${s##*) }; set -- $s; "
    "case $1 in Z|X) return 1;; esac; shift 19; echo $1; }; ";

// "PID BIRTH TAG", as a pid file has it.
bool read_identity(std::string_view line, DaemonIdentity& id) {
  unsigned long long birth = 0;
  long long number = 0;
  char tag[128] = "";
  if (std::sscanf(std::string(line).c_str(), "%lld %llu %127s", &number, &birth, tag) < 1 || number <= 0) return false;
  id.pid = number;
  id.birth = birth;
  id.tag = tag;
  return true;
}

Result<Started> SshHost::start(const Daemon& daemon) {
  constexpr i64 kLook = 50;  // ms: what ends at once is told how, also where it would be waited for
  Command c = daemon.command;
  // It becomes another user's once its number is on file: the files are ours.
  std::string words = " " + as_somebody(c);
  c.environment_of = c.user;
  c.user = c.group = {};
  for (auto& a : daemon.command.argv) words += " " + shell_quote(a);
  std::string log = daemon.log_file.empty() ? "/dev/null" : shell_quote(daemon.log_file),
              pid = shell_quote(daemon.pid_file);
  c.argv = {
      "/bin/sh", "-c",
      fmt::format("( umask 077; mkdir -p -- \"$(dirname -- {0})\" \"$(dirname -- {2})\" && : >> {2} ) || exit 1; {3}"
                  "wc -c < {2} 2>/dev/null || echo 0; rm -f {0}; "
                  "setsid sh -c 'b=$(sed \"s/.*) //\" /proc/$$/stat | cut -d\" \" -f20); echo \"$$ $b "
                  "$TUTTI_TAG\" > \"$TUTTI_PID_FILE\";"
                  " unset TUTTI_PID_FILE TUTTI_TAG TUTTI_ACTION TUTTI_MARK; exec \"$@\"' daemon{1} </dev/null >>{2} "
                  "2>&1 & d=$!; "
                  "i=0; while [ ! -s {0} ] && [ $i -lt 100 ]; do sleep 0.02; i=$((i+1)); done; cat {0} || exit 1; "
                  "sleep {4}; p=$(cut -d' ' -f1 < {0}); birth || {{ wait $d; echo ended $?; }}",
                  pid, words, log, kBirth, static_cast<double>(std::max<i64>(daemon.settle.count(), kLook)) / 1000)};
  c.environment.emplace_back("TUTTI_PID_FILE", daemon.pid_file);
  c.environment.emplace_back("TUTTI_TAG", daemon.tag.empty() ? "-" : daemon.tag);
  c.timeout = milliseconds(30000) + daemon.settle;
  auto r = run(c);
  std::string what = daemon.command.argv.empty() ? "" : daemon.command.argv[0];
  if (!r.ok()) return refused(r, "start", what);
  Started started;
  started.log_from = std::strtoull(r.out.c_str(), nullptr, 10);
  std::size_t second = r.out.find('\n') + 1;
  if (!read_identity(std::string_view(r.out).substr(second), started.identity) || !started.identity.birth)
    return failure(fmt::format("cannot start {} on {}: {}", what, name_, r.out));
  if (std::size_t ended = r.out.find("\nended "); ended != std::string::npos) {
    started.ended = true;
    started.how = [code = std::atoi(r.out.c_str() + ended + 7)] { return how_shell_says(code); };
  }
  return started;
}

Result<DaemonStanding> SshHost::standing(const std::string& pid_file) {
  // Whoever wrote a pid file says which process is going to be ended: another user only one of that user's own.
  auto r = ask(fmt::format(
      "[ -e {0} ] || exit 0; p=$(cut -d' ' -f1 < {0}) || exit 1; u=$(stat -L -c %u -- {0}); "
      "[ \"$u\" = 0 ] || [ -O {0} ] || [ ! -e \"/proc/$p\" ] || [ \"$u\" = \"$(stat -c %u \"/proc/$p\")\" ] || "
      "{{ echo \"it belongs to user $u and names process $p, which does not\" >&2; exit 1; }}; "
      "cat < {0} && {{ {1}birth || :; }}",
      shell_quote(pid_file), kBirth));
  if (!r.ok()) return refused(r, "read", pid_file);
  DaemonStanding out;
  DaemonIdentity id;
  if (!read_identity(r.out, id)) return out;
  out.known = id;
  std::string birth = r.out.substr(r.out.find('\n') + 1);
  out.alive = !birth.empty() && (!id.birth || std::strtoull(birth.c_str(), nullptr, 10) == id.birth);
  return out;
}

Result<bool> SshHost::alive(const DaemonIdentity& id) {
  auto r = ask(fmt::format("p={}; {}birth || echo gone", id.pid, kBirth));
  if (!r.ok()) return refused(r, "look at", fmt::format("process {}", id.pid));
  if (r.out.rfind("gone", 0) == 0) return false;
  return id.birth == 0 || std::strtoull(r.out.c_str(), nullptr, 10) == id.birth;
}

Result<Host::Stopped> SshHost::stop(const DaemonIdentity& id, int signal, milliseconds limit) {
  constexpr i64 kStep = 50, kLast = 5000;
  auto r = script(
      fmt::format("p={0}; {1}there() {{ b=$(birth) && {{ [ {2} = 0 ] || [ \"$b\" = {2} ]; }}; }}; "
                  "tell() {{ kill -$1 -- -$p 2>/dev/null || kill -$1 $p 2>/dev/null || :; }}; "
                  "await() {{ i=0; while there; do [ $i -lt $1 ] || return 1; sleep 0.05; i=$((i+1)); done; }}; "
                  "there || {{ echo gone; exit 0; }}; [ {3} = 0 ] || tell {3}; await {4} && {{ echo gone; exit 0; }}; "
                  "tell 9; await {5} && echo killed || echo stays",
                  id.pid, kBirth, id.birth, signal, limit.count() / kStep, kLast / kStep),
      "", limit + milliseconds(120000), nullptr, u64{1} << 31, milliseconds(2000));
  if (!r.ok()) return refused(r, "stop", fmt::format("process {}", id.pid));
  return r.out.starts_with("gone") ? Stopped::kGone : r.out.starts_with("killed") ? Stopped::kKilled : Stopped::kStays;
}

Result<void> SshHost::signal(const DaemonIdentity& id, int signal) {
  auto is = alive(id);
  if (!is) return tl::unexpected(is.error());
  if (!*is) return {};
  auto r = ask(fmt::format("kill -{0} -- -{1} 2>/dev/null || kill -{0} {1} 2>/dev/null || true", signal, id.pid));
  if (!r.ok()) return refused(r, "signal", fmt::format("process {}", id.pid));
  return {};
}

bool SshHost::connects(const std::string& address, u16 port, milliseconds timeout) {
  std::string a = shell_quote(address);
  auto r = ask(fmt::format(
      "if command -v bash >/dev/null; then timeout {2} bash -c 'exec 3<>\"/dev/tcp/$1/$2\"' connects {0} {1}; "
      "elif command -v nc >/dev/null; then nc -z -w 2 -- {0} {1}; "
      "else python3 -c 'import socket,sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)' {0} {1}; fi",
      a, port, std::max<i64>(1, timeout.count() / 1000)));
  return r.ok();
}

}  // namespace

std::unique_ptr<Host> ssh(SshTarget target) { return std::make_unique<SshHost>(std::move(target)); }

}  // namespace tutti
