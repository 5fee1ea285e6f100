#include "store/holder.h"

#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "base/file.h"

namespace tutti::store {
namespace {

// Birth of a process of this machine (see transport/spawn.h; the store stands below it), 0 when it is no more.
u64 birth_of(i64 pid) {
  FILE* f = std::fopen(fmt::format("/proc/{}/stat", pid).c_str(), "re");
  if (!f) return 0;
  char text[1024];
  std::size_t n = std::fread(text, 1, sizeof text - 1, f);
  std::fclose(f);
  text[n] = 0;
  const char* at = std::strrchr(text, ')');
  if (!at || at[1] == 0 || at[2] == 'Z') return 0;
  unsigned long long birth = 0;
  std::sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &birth);
  return birth;
}

std::string line_of(const char* path) {
  auto text = read_own_file(path, 4096);
  return text ? text->substr(0, text->find('\n')) : "";
}

std::string link_of(const char* path) {
  char target[256];
  ssize_t n = ::readlink(path, target, sizeof target);
  return n > 0 ? std::string(target, static_cast<std::size_t>(n)) : "";
}

// Numbers of processes belong to the one namespace, times of their start to the other. "" where /proc shows those of
// another one than we live in.
std::string this_space() {
  std::string processes = link_of("/proc/self/ns/pid");
  bool ours = link_of("/proc/self") == std::to_string(::getpid());
  return processes.empty() || !ours ? "" : processes + " " + link_of("/proc/self/ns/time");
}

// The namespace that a machine boots with has the same number on every kernel.
bool is_first_space(const std::string& space) { return space.starts_with("pid:[4026531836] "); }

double clock_of(clockid_t which) {
  timespec t{};
  ::clock_gettime(which, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

double wall_clock() { return clock_of(CLOCK_REALTIME); }
double sleepless_clock() { return clock_of(CLOCK_BOOTTIME); }
double waking_clock() { return clock_of(CLOCK_MONOTONIC); }

Holder this_process(std::string command) {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  passwd* pw = ::getpwuid(::geteuid());
  i64 pid = ::getpid();
  return {name,          pw ? pw->pw_name : std::to_string(::geteuid()), std::move(command),         pid,
          birth_of(pid), line_of("/proc/sys/kernel/random/boot_id"),     line_of("/etc/machine-id"), this_space()};
}

Life life_of(const Holder& holder) {
  Holder me = this_process("");
  if (holder.boot.empty() || me.boot.empty() || holder.space.empty()) return Life::kUnknown;
  if (holder.boot == me.boot) {
    if (holder.space != me.space) return Life::kUnknown;
    u64 birth = birth_of(holder.pid);
    return birth != 0 && birth == holder.birth ? Life::kAlive : Life::kGone;
  }
  // This machine, before it booted. In a container nobody knows: several of one image have the same id.
  bool same = !me.machine.empty() && holder.machine == me.machine && holder.host == me.host;
  return same && is_first_space(holder.space) && is_first_space(me.space) ? Life::kGone : Life::kUnknown;
}

void end_holder(const Holder& holder) {
  if (life_of(holder) != Life::kAlive || holder.pid == ::getpid()) return;
  int fd = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(holder.pid), 0));
  if (fd < 0) return;
  // Asked again now that the descriptor keeps the number from being another's.
  if (birth_of(holder.pid) == holder.birth && ::syscall(SYS_pidfd_send_signal, fd, SIGKILL, nullptr, 0) == 0) {
    pollfd gone{fd, POLLIN, 0};
    ::poll(&gone, 1, 10000);
  }
  ::close(fd);
}

}  // namespace tutti::store
