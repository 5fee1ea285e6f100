#include "base/process_limits.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace tutti {
namespace {

constexpr int kLimitExit = 124;
constexpr std::chrono::milliseconds kAfterBudget{300};

// Written before the timer is set, read by the handler only.
char end_message[4096];
std::size_t end_length = 0;
char unnamed_file[PATH_MAX];
std::atomic<bool> has_unnamed{false};
u64 most_memory = 0;

void write_last(const char* text, std::size_t size) {
  while (size > 0) {
    ssize_t n = ::write(2, text, size);
    if (n <= 0) return;
    text += n;
    size -= static_cast<std::size_t>(n);
  }
}

void time_is_up(int) {
  if (has_unnamed.load()) ::unlink(unnamed_file);
  write_last(end_message, end_length);
  ::_exit(kLimitExit);
}

// Memory that runs out where nothing may be thrown, or in a thread.
[[noreturn]] void no_way_on() {
  if (std::exception_ptr now = std::current_exception()) {
    try {
      std::rethrow_exception(now);
    } catch (const std::bad_alloc&) {
      constexpr char kText[] = "error[LIMIT-MEMORY]: there is not enough memory\n";
      write_last(kText, sizeof kText - 1);
      if (has_unnamed.load()) ::unlink(unnamed_file);
      ::_exit(kLimitExit);
    } catch (...) {
      std::abort();
    }
  }
  std::abort();
}

// Pages of data and stack that the process has addresses for, as the kernel counts them.
u64 data_now() {
  char text[256] = {};
  int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd >= 0 ? ::read(fd, text, sizeof text - 1) : 0;
  if (fd >= 0) ::close(fd);
  unsigned long long pages = 0;
  bool read = n > 0 && std::sscanf(text, "%*u %*u %*u %*u %*u %llu", &pages) == 1;
  return read ? pages * static_cast<u64>(::sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

void end_process_after(std::chrono::milliseconds limit, const std::string& message) {
  if (limit.count() <= 0) return;
  end_length = std::min(message.size(), sizeof end_message);
  std::memcpy(end_message, message.data(), end_length);
  struct sigaction act {};
  act.sa_handler = time_is_up;
  ::sigaction(SIGALRM, &act, nullptr);
  std::chrono::milliseconds wait = limit + kAfterBudget;
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(wait.count() / 1000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(wait.count() % 1000 * 1000);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void limit_process_memory(u64 bytes) {
  std::set_terminate(no_way_on);
  u64 now = data_now();
  rlimit limit{};
  if (now == 0 || ::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  u64 wanted = now + bytes < now ? RLIM_INFINITY : now + bytes;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  if (::setrlimit(RLIMIT_DATA, &limit) == 0) most_memory = bytes;
}

std::string out_of_memory() {
  if (most_memory == 0) return "there is not enough memory";
  return fmt::format("needs more than {} bytes of memory (--limit memory=N)", most_memory);
}

void let_reserve(u64 bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur + bytes, limit.rlim_max);
  ::setrlimit(RLIMIT_DATA, &limit);
}

void remove_at_end(const std::string& path) {
  has_unnamed.store(false);
  if (path.empty() || path.size() >= sizeof unnamed_file) return;
  std::memcpy(unnamed_file, path.c_str(), path.size() + 1);
  has_unnamed.store(true);
}

}  // namespace tutti
