#include "base/sandbox.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "base/landlock.h"

extern char** environ;  // NOLINT: POSIX declares it nowhere

namespace tutti {
namespace {

// --- the filter of system calls

#if defined(__x86_64__)
constexpr u32 kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr u32 kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr u32 kArchitecture = 0;
#endif

// What changes the machine, reaches into other processes, or is a door into the kernel that an interpreter has no use
// for.
constexpr long kRefused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_open_by_handle_at,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_acct,
    SYS_quotactl,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_fanotify_init,
    SYS_pidfd_open,
    SYS_pidfd_getfd,
    SYS_move_pages,
    SYS_migrate_pages,
    SYS_connect,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    SYS_personality,
#if defined(__x86_64__)
    SYS_iopl,
    SYS_ioperm,
    SYS_kexec_file_load,
    SYS_modify_ldt,
#endif
};

class Filter {
 public:
  explicit Filter(const Confinement& c) {
    load(offsetof(seccomp_data, arch));
    unless_equal(kArchitecture, SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    add(BPF_STMT(BPF_JMP | BPF_JGE | BPF_K, 0x40000000), 0, 1);  // the x32 numbers of the same calls
    give(SECCOMP_RET_ERRNO | ENOSYS);
#endif
    for (long call : kRefused) when_equal(static_cast<u32>(call), SECCOMP_RET_ERRNO | EPERM);
    refuse_sockets(c.sees_network);
    refuse_terminal_tricks();
    if (!c.starts_programs) refuse_processes();
    give(SECCOMP_RET_ALLOW);
  }

  sock_fprog program() { return {static_cast<unsigned short>(code_.size()), code_.data()}; }

 private:
  void add(sock_filter f, u8 if_true = 0, u8 if_false = 0) {
    f.jt = if_true;
    f.jf = if_false;
    code_.push_back(f);
  }
  void load(std::size_t offset) { add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<u32>(offset))); }
  void give(u32 action) { add(BPF_STMT(BPF_RET | BPF_K, action)); }
  void when_equal(u32 value, u32 action) {
    add(BPF_STMT(BPF_JMP | BPF_JEQ | BPF_K, value), 0, 1);
    give(action);
  }
  void unless_equal(u32 value, u32 action) {
    add(BPF_STMT(BPF_JMP | BPF_JEQ | BPF_K, value), 1, 0);
    give(action);
  }
  // The low half of an argument; `then` leaves the number of the call loaded again.
  void of_call(long call, u8 length) { add(BPF_STMT(BPF_JMP | BPF_JEQ | BPF_K, static_cast<u32>(call)), 0, length); }

  // Of all families only that which tells of interfaces, and that where it is wanted.
  void refuse_sockets(bool interfaces) {
    if (!interfaces) return when_equal(SYS_socket, SECCOMP_RET_ERRNO | EACCES);
    of_call(SYS_socket, 4);
    load(offsetof(seccomp_data, args[0]));
    add(BPF_STMT(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK), 1, 0);
    give(SECCOMP_RET_ERRNO | EACCES);
    give(SECCOMP_RET_ALLOW);
  }
  // Characters put into the input of the terminal are commands of the user's shell.
  void refuse_terminal_tricks() {
    constexpr u32 kLinuxConsole = 0x541C;  // TIOCLINUX
    of_call(SYS_ioctl, 5);
    load(offsetof(seccomp_data, args[1]));
    add(BPF_STMT(BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI), 1, 0);
    add(BPF_STMT(BPF_JMP | BPF_JEQ | BPF_K, kLinuxConsole), 0, 1);
    give(SECCOMP_RET_ERRNO | EPERM);
    give(SECCOMP_RET_ALLOW);
  }
  // Threads only. What clone3 is to make is in memory, where a filter cannot look: the C library takes clone instead.
  void refuse_processes() {
#if defined(__x86_64__)
    when_equal(SYS_fork, SECCOMP_RET_ERRNO | EPERM);
    when_equal(SYS_vfork, SECCOMP_RET_ERRNO | EPERM);
#endif
    when_equal(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
    of_call(SYS_clone, 4);
    load(offsetof(seccomp_data, args[0]));
    add(BPF_STMT(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD), 1, 0);
    give(SECCOMP_RET_ERRNO | EPERM);
    give(SECCOMP_RET_ALLOW);
  }

  std::vector<sock_filter> code_;
};

// --- what the process does between clone and exec: system calls only, on memory that is this process's

struct Limit {
  int which;
  rlim_t most;
};

struct Plan {
  std::vector<char*> argv;
  std::string directory;
  std::vector<int> descriptors;
  std::vector<Limit> limits;
  int ruleset = -1;
  sock_fprog filter{};
  sigset_t signals{};
  bool user_namespace = false, mount_namespace = false, drops_privileges = false;
  uid_t uid = 0;
  gid_t gid = 0;
  std::string uid_map, gid_map;
  int failed = 0;  // errno of what must not fail
};

void write_to(const char* path, const std::string& text) {
  int fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0));
  if (fd < 0) return;
  [[maybe_unused]] long n = ::syscall(SYS_write, fd, text.data(), text.size());
  ::syscall(SYS_close, fd);
}

void make_mounts_read_only() {
  struct {
    u64 set, clear, propagation, user_namespace;
  } attributes{MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, 0, 0, 0};
  if (::syscall(SYS_mount, nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  ::syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attributes, sizeof attributes);
}

[[noreturn]] void give_up(Plan& p) {
  p.failed = errno;
  for (;;) ::syscall(SYS_exit_group, 127);
}

// The raw calls: those of the C library change all threads, and these are still the parent's.
void drop_privileges(Plan& p) {
  constexpr unsigned long kLastCapability = 63;
  for (unsigned long c = 0; c <= kLastCapability; ++c) ::syscall(SYS_prctl, PR_CAPBSET_DROP, c, 0, 0, 0);
  ::syscall(SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (p.uid != 0) {
    // Within a namespace of its own root is nobody's user but itself.
    bool changed = ::syscall(SYS_setgroups, 0, nullptr) == 0 && ::syscall(SYS_setresgid, p.gid, p.gid, p.gid) == 0 &&
                   ::syscall(SYS_setresuid, p.uid, p.uid, p.uid) == 0;
    if (!changed && !p.user_namespace) give_up(p);
  }
  struct {
    u32 version;
    int pid;
  } header{0x20080522, 0};  // version 3
  struct {
    u32 effective, permitted, inheritable;
  } none[2] = {};
  ::syscall(SYS_capset, &header, none);
}

// Where a descriptor that is to be moved lies among those that are targets it would be closed on the way.
void place_descriptors(Plan& p) {
  for (std::size_t n = 0; n < p.descriptors.size(); ++n) {
    int from = p.descriptors[n], to = static_cast<int>(n);
    if (from < 0) {
      ::syscall(SYS_close, to);
    } else if (from == to) {
      ::syscall(SYS_fcntl, from, F_SETFD, 0);
    } else if (::syscall(SYS_dup3, from, to, 0) < 0) {
      give_up(p);
    }
  }
}

int become(void* given) {
  Plan& p = *static_cast<Plan*>(given);
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  ::syscall(SYS_setpgid, 0, 0);
  if (p.user_namespace) {
    write_to("/proc/self/setgroups", "deny");
    write_to("/proc/self/uid_map", p.uid_map);
    write_to("/proc/self/gid_map", p.gid_map);
  }
  if (p.mount_namespace) make_mounts_read_only();
  place_descriptors(p);
  if (!p.directory.empty() && ::syscall(SYS_chdir, p.directory.c_str()) != 0) give_up(p);
  for (const Limit& l : p.limits) {
    rlimit value{l.most, l.most};
    ::syscall(SYS_prlimit64, 0, l.which, &value, nullptr);
  }
  if (p.drops_privileges) drop_privileges(p);
  if (::syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(p);
  if (p.ruleset >= 0 && ::syscall(SYS_landlock_restrict_self, p.ruleset, 0) != 0) give_up(p);
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &p.signals, nullptr, _NSIG / 8);
  // Once more: a change of user takes it back.
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (p.filter.len > 0) ::syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p.filter, 0, 0);
  ::syscall(SYS_execve, p.argv[0], p.argv.data(), environ);
  give_up(p);
}

// --- before that

// The loader of the program and what libraries want to know at their start.
std::vector<std::string> always_readable() {
  return {"/usr/lib",         "/usr/lib64",     "/usr/libexec",  "/usr/share",         "/usr/local/lib",
          "/usr/local/share", "/lib",           "/lib64",        "/opt/puppetlabs",    "/var/lib/gems",
          "/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/ld.so.preload", "/etc/ssl/openssl.cnf",
          "/dev/null",        "/dev/zero",      "/dev/urandom",  "/dev/random"};
}

std::vector<std::string> of_system() {
  return {"/etc", "/proc", "/sys", "/run", "/var", "/usr", "/bin", "/sbin", "/opt", "/dev"};
}

// A script needs its interpreter, and whatever that starts (the shims of version managers).
bool is_script(const std::string& program) {
  int fd = ::open(program.c_str(), O_RDONLY | O_CLOEXEC);
  char begin[2] = {};
  bool script = fd >= 0 && ::read(fd, begin, 2) == 2 && begin[0] == '#' && begin[1] == '!';
  if (fd >= 0) ::close(fd);
  return script;
}

int make_ruleset(const std::string& program, const Confinement& c) {
  Landlock rules;
  if (!rules.available()) return -1;
  for (const std::string& path : always_readable()) rules.let_read(path);
  for (const std::string& path : c.readable) rules.let_read(path);
  if (c.reads_system)
    for (const std::string& path : of_system()) rules.let_read(path);
  rules.let_write("/dev/null");
  rules.let_execute(program);
  for (const char* loader : {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"}) rules.let_execute(loader);
  if (c.starts_programs)
    for (const std::string& path : {std::string("/usr"), std::string("/bin"), std::string("/sbin"), std::string("/opt"),
                                    std::string("/lib"), std::string("/lib64")})
      rules.let_execute(path);
  std::error_code error;
  std::filesystem::path real = std::filesystem::canonical(program, error);
  if (!error) rules.let_execute(real.string());
  if (!error && real.parent_path().filename() == "bin" && real.parent_path().parent_path() != "/")
    rules.let_read(real.parent_path().parent_path().string() + "/lib");
  return rules.take();
}

std::vector<Limit> limits_of(const Confinement& c) {
  constexpr rlim_t kMostWritten = rlim_t{64} << 20;  // what it prints may go to a file
  std::vector<Limit> out{{RLIMIT_CORE, 0}, {RLIMIT_FSIZE, kMostWritten}, {RLIMIT_NOFILE, 256}, {RLIMIT_MSGQUEUE, 0}};
  if (c.memory != 0) out.push_back({RLIMIT_AS, c.memory});
  return out;
}

void run_as_owner(Plan& plan, const std::string& folder) {
  struct stat st {};
  if (folder.empty() || ::stat(folder.c_str(), &st) != 0) return;
  plan.uid = st.st_uid;
  plan.gid = st.st_gid;
}

pid_t clone_with(Plan& plan, int flags, char* stack_top) {
  plan.user_namespace = (flags & CLONE_NEWUSER) != 0;
  plan.mount_namespace = (flags & CLONE_NEWNS) != 0;
  plan.failed = 0;
  return ::clone(become, stack_top, flags | CLONE_VM | CLONE_VFORK | SIGCHLD, &plan);
}

// The most that is to be had: a user who may not make namespaces may where he makes one of users first.
pid_t clone_as_alone_as_possible(Plan& plan, const Confinement& c, char* stack_top, std::string& lacking) {
  const int own = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | (c.sees_network ? 0 : CLONE_NEWNET);
  std::vector<int> wishes;
  if (::geteuid() == 0) wishes.push_back(own);
  wishes.insert(wishes.end(), {own | CLONE_NEWUSER, 0});
  for (int flags : wishes) {
    pid_t pid = clone_with(plan, flags, stack_top);
    if (pid < 0 && flags != 0) continue;
    if (flags == 0) lacking += lacking.empty() ? "namespaces" : ", namespaces";
    return pid;
  }
  return -1;
}

}  // namespace

Result<HelperProcess> start_confined(const std::vector<std::string>& words, const std::vector<int>& descriptors,
                                     const std::string& directory, const Confinement& given) {
  Confinement c = given;
  if (is_script(words[0])) c.starts_programs = true;
  HelperProcess out;
  Plan plan;
  std::vector<std::string> kept = words;
  for (std::string& word : kept) plan.argv.push_back(word.data());
  plan.argv.push_back(nullptr);
  plan.directory = directory;
  plan.descriptors = descriptors;
  plan.limits = limits_of(c);
  plan.drops_privileges = ::geteuid() == 0;
  if (plan.drops_privileges) run_as_owner(plan, c.owner_of);
  plan.uid_map = fmt::format("{0} {0} 1", ::geteuid());
  plan.gid_map = fmt::format("{0} {0} 1", ::getegid());
  plan.ruleset = make_ruleset(words[0], c);
  if (plan.ruleset < 0) out.lacking = "landlock";
  Filter filter(c);
  if (kArchitecture != 0 && ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0)
    plan.filter = filter.program();
  else
    out.lacking += out.lacking.empty() ? "seccomp" : ", seccomp";

  constexpr std::size_t kStack = std::size_t{256} << 10;
  void* stack = ::mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return failure(fmt::format("cannot run {}: {}", words[0], std::strerror(errno)), errno);
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &plan.signals);  // no handler of ours runs in the other process
  out.pid = clone_as_alone_as_possible(plan, c, static_cast<char*>(stack) + kStack, out.lacking);
  int why = out.pid < 0 ? errno : plan.failed;
  ::pthread_sigmask(SIG_SETMASK, &plan.signals, nullptr);
  ::munmap(stack, kStack);
  if (plan.ruleset >= 0) ::close(plan.ruleset);
  if (why == 0) return out;
  if (out.pid > 0) end_confined(out.pid);
  return failure(fmt::format("cannot run {}: {}", words[0], std::strerror(why)), why);
}

void end_confined(pid_t pid) {
  if (pid <= 0) return;
  ::kill(-pid, SIGKILL);  // where there is no pid namespace, what it started is in its group
  ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

std::string said_once(const std::string& lacking) {
  static std::atomic<bool> said{false};
  return lacking.empty() || said.exchange(true) ? std::string() : lacking;
}

}  // namespace tutti
