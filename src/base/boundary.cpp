#include "base/boundary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/minisign.h"

namespace tutti {

const int kOutside = EXDEV, kOutsideToWrite = EROFS;

namespace {

std::atomic<Boundary*> boundary_in_force{nullptr};

std::string real_path(const std::string& path) {
  char buffer[PATH_MAX];
  return ::realpath(path.c_str(), buffer) != nullptr ? std::string(buffer) : std::string();
}

std::string absolute_path(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::absolute(path, ignored).lexically_normal().string();
}

bool below(std::string_view path, std::string_view root) {
  if (!path.starts_with(root)) return false;
  return root.ends_with('/') || path.size() == root.size() || path[root.size()] == '/';
}

bool is_folder(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

// Where the kernel says that the descriptor leads; "" where there is no /proc.
std::string place_of(int fd) {
  char buffer[PATH_MAX];
  ssize_t n = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), buffer, sizeof buffer);
  return n > 0 ? std::string(buffer, static_cast<std::size_t>(n)) : std::string();
}

// Without /proc: from the root on, never out of it.
int open_beneath(const std::string& root, const std::string& path) {
  std::string rest = absolute_path(path);
  if (!below(rest, root)) {
    errno = EXDEV;
    return -1;
  }
  rest.erase(0, std::min(rest.size(), root.size() + 1));
  int at = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) return -1;
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  int fd = static_cast<int>(::syscall(SYS_openat2, at, rest.empty() ? "." : rest.c_str(), &how, sizeof how));
  ::close(at);
  return fd;
}

std::string outside(const std::string& what, const std::string& path, const std::string& leads_to, Boundary& boundary) {
  std::string roots;
  for (const std::string& root : boundary.roots()) roots += (roots.empty() ? "" : ", ") + root;
  std::string where = leads_to.empty() || leads_to == path ? "it is" : fmt::format("it leads to {},", leads_to);
  std::string of = roots.empty() ? "what was named" : fmt::format("the project ({})", roots);
  return fmt::format("cannot {} {}: {} outside of {}", what, path, where, of);
}

auto refused(const std::string& path, const std::string& leads_to, Boundary& boundary) {
  return failure(outside("read", path, leads_to, boundary) + ", which is not trusted", kOutside);
}

// The nearest folder above that is there, by its real path, with what is not there yet after it.
std::string would_be(const std::string& path) {
  std::filesystem::path at = absolute_path(path);
  std::string rest;
  for (;;) {
    std::string real = real_path(at.string());
    if (!real.empty()) return real + rest;
    if (at == at.root_path()) return absolute_path(path);
    rest = "/" + at.filename().string() + rest;
    at = at.parent_path();
  }
}

}  // namespace

Boundary* Boundary::in_force() { return boundary_in_force.load(std::memory_order_acquire); }

Boundary::InForce::InForce(Boundary& boundary) : before_(boundary_in_force.exchange(&boundary)) {}
Boundary::InForce::~InForce() { boundary_in_force.store(before_); }

void Boundary::add_root_locked(const std::string& folder) {
  std::string real = real_path(folder);
  if (real.empty()) return;
  for (const std::string& root : roots_)
    if (below(real, root)) return;
  roots_.push_back(real);
}

void Boundary::add_root(const std::string& folder) {
  std::lock_guard lock(mutex_);
  add_root_locked(folder);
}

void Boundary::add_project_locked(const std::string& folder, bool for_file) {
  std::string project = rules_.project_of ? rules_.project_of(folder) : folder;
  if (!for_file || !rules_.is_common || !rules_.is_common(project)) add_root_locked(project);
  for (const std::string& known : projects_)
    if (known == project) return;
  projects_.push_back(project);
}

void Boundary::name_folder(const std::string& folder) {
  std::lock_guard lock(mutex_);
  if (is_folder(folder)) add_project_locked(folder);
}

void Boundary::add_file(const std::string& path, std::set<std::string>& to) {
  std::string real = real_path(path);
  to.insert(path);
  to.insert(absolute_path(path));
  if (!real.empty()) to.insert(real);
}

void Boundary::name_argument(const std::string& given) {
  std::string word = given;
  auto there = [&] {
    struct stat st {};
    return ::lstat(word.c_str(), &st) == 0;
  };
  // The words of cue's command line: `./pkg/...`, `./pkg:name`, `json:file`.
  if (!there() && word.ends_with("...")) word.resize(word.size() - (word.ends_with("/...") ? 4 : 3));
  if (word.empty()) word = ".";
  if (std::size_t colon = word.rfind(':'); colon != std::string::npos && !there()) {
    std::string whole = word;
    word = whole.substr(0, colon);
    if (!there()) word = whole.substr(colon + 1);
  }
  std::lock_guard lock(mutex_);
  if (is_folder(word)) return add_project_locked(word);
  if (given == "-" || !there()) return add_file(given, arguments_);
  add_file(word, arguments_);
  struct stat st {};
  bool regular = ::stat(word.c_str(), &st) == 0 && S_ISREG(st.st_mode);
  std::string folder = std::filesystem::path(absolute_path(word)).parent_path().string();
  if (regular) add_project_locked(folder, true);
  if (regular) folders_.insert(real_path(folder));
}

void Boundary::name_option(std::string_view option, std::string_view value) {
  constexpr std::string_view kNoPaths[] = {"execute", "expression", "inject", "set", "limit", "trust"};
  constexpr std::string_view kOfCode[] = {"environment", "modulepath"};
  if (value.empty() || std::find(std::begin(kNoPaths), std::end(kNoPaths), option) != std::end(kNoPaths)) return;
  const bool of_code = std::find(std::begin(kOfCode), std::end(kOfCode), option) != std::end(kOfCode);
  std::lock_guard lock(mutex_);
  auto add = [&](std::string_view piece) {
    if (piece.empty() || piece == "/" || piece.size() > PATH_MAX) return;
    std::string path(piece);
    if (!is_folder(path)) return add_file(path, options_);
    if (of_code) return add_project_locked(path);
    add_root_locked(path);
  };
  add(value);
  for (std::size_t at = 0; at < value.size();) {
    std::size_t end = std::min(value.find_first_of(":,=", at), value.size());
    if (end - at < value.size()) add(value.substr(at, end - at));
    at = end + 1;
  }
}

void Boundary::need_project() {
  std::error_code error;
  if (projects_.empty()) add_project_locked(std::filesystem::current_path(error).string());
}

void Boundary::give_trust() {
  std::lock_guard lock(mutex_);
  trusted_ = true;
}

bool Boundary::trusted() {
  std::lock_guard lock(mutex_);
  need_project();
  if (!trusted_) trusted_ = rules_.trusted && rules_.trusted(projects_, runs_);
  return *trusted_;
}

std::string Boundary::way_out() {
  std::lock_guard lock(mutex_);
  need_project();
  return rules_.way_out ? rules_.way_out(projects_, runs_) : std::string();
}

bool Boundary::named(const std::string& path, const std::string& leads_to) {
  if (named_output(path, leads_to)) return true;
  std::lock_guard lock(mutex_);
  return arguments_.contains(path) || arguments_.contains(leads_to) || arguments_.contains(absolute_path(path));
}

bool Boundary::named_output(const std::string& path, const std::string& leads_to) {
  std::lock_guard lock(mutex_);
  return options_.contains(path) || options_.contains(leads_to) || options_.contains(absolute_path(path));
}

bool Boundary::below_root(std::string_view leads_to) {
  std::lock_guard lock(mutex_);
  need_project();
  return std::any_of(roots_.begin(), roots_.end(), [&](const std::string& root) { return below(leads_to, root); });
}

bool Boundary::beside_argument(const std::string& leads_to) {
  std::lock_guard lock(mutex_);
  return folders_.contains(std::filesystem::path(leads_to).parent_path().string());
}

std::vector<std::string> Boundary::roots() {
  std::lock_guard lock(mutex_);
  return roots_;
}

std::vector<std::string> Boundary::projects() {
  std::lock_guard lock(mutex_);
  need_project();
  return projects_;
}

Result<Held> hold_inside(const std::string& path) {
  Boundary* boundary = Boundary::in_force();
  Held held{::open(path.c_str(), O_PATH | O_CLOEXEC), boundary == nullptr};
  int why = errno;
  // What is not there is not told of places that may not be looked at.
  if (held.fd < 0 && (boundary == nullptr || may_look_at(path)))
    return failure(fmt::format("cannot read {}: {}", path, std::strerror(why)), why);
  if (held.fd < 0) return refused(path, would_be(path), *boundary);
  if (boundary == nullptr) return held;
  std::string leads_to = place_of(held.fd);
  held.named = boundary->named(path, leads_to);
  if (held.named || (!leads_to.empty() && boundary->below_root(leads_to))) return held;
  if (leads_to.empty()) {
    for (const std::string& root : boundary->roots()) {
      int inside = open_beneath(root, path);
      if (inside < 0) continue;
      ::close(held.fd);
      return Held{inside, false};
    }
  }
  if (boundary->trusted()) return held;
  ::close(held.fd);
  return refused(path, leads_to, *boundary);
}

bool may_look_at(const std::string& path) {
  Boundary* boundary = Boundary::in_force();
  if (boundary == nullptr) return true;
  std::string leads_to = would_be(path);
  return boundary->below_root(leads_to) || boundary->named(path, leads_to) || boundary->trusted();
}

Result<void> may_read(const std::string& path) {
  if (may_look_at(path)) return {};
  return refused(path, would_be(path), *Boundary::in_force());
}

Result<void> may_write(const std::string& path) {
  Boundary* boundary = Boundary::in_force();
  if (boundary == nullptr || boundary->runs()) return {};
  std::string leads_to = would_be(path);
  if (boundary->below_root(leads_to) || boundary->named_output(path, leads_to) || boundary->beside_argument(leads_to))
    return {};
  return failure(outside("write", path, leads_to, *boundary), kOutsideToWrite);
}

bool may_run_code() {
  // Programs read files of their own, whose signatures nobody checks.
  if (RequiredSignatures::in_force()) return false;
  Boundary* boundary = Boundary::in_force();
  return boundary == nullptr || boundary->trusted();
}

std::string way_to_trust() {
  if (RequiredSignatures::in_force()) return "with --require-signature no code of a project runs";
  Boundary* boundary = Boundary::in_force();
  return boundary != nullptr ? boundary->way_out() : std::string();
}

}  // namespace tutti
