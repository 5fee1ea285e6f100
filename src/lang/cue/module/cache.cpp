#include "lang/cue/module/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/boundary.h"
#include "base/file.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/module/unzip.h"
#include "lang/cue/module/version.h"
#include "lang/cue/syntax/parser.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLargestModule = std::size_t{500} << 20;
constexpr u64 kLongestModuleFile = 1 << 20;

std::string base_of_module(const std::string& path) { return path.substr(0, path.find('@')); }

// The folder is ours and the user's, and no project's: it is written without asking what a project may.
Result<void> put_file(const std::string& path, std::string_view bytes, bool read_only = false) {
  std::error_code ec;
  fs::create_directories(fs::path(path).parent_path(), ec);
  std::string beside = fmt::format("{}.{}.tmp", path, ::getpid());
  {
    std::ofstream out(beside, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) return failure(fmt::format("cannot write {}: {}", path, std::strerror(errno)), errno);
  }
  if (read_only) fs::permissions(beside, fs::perms{0444}, ec);
  if (std::rename(beside.c_str(), path.c_str()) != 0)
    return failure(fmt::format("cannot write {}: {}", path, std::strerror(errno)), errno);
  return {};
}

// Held by one program at a time, ours or cue.
class FileLock {
 public:
  explicit FileLock(const std::string& path) {
    std::error_code ec;
    fs::create_directories(fs::path(path).parent_path(), ec);
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ >= 0) ::flock(fd_, LOCK_EX);
  }
  ~FileLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

void remove_tree(const std::string& folder) {
  std::error_code ec;
  for (const auto& e : fs::recursive_directory_iterator(folder, ec))
    if (e.is_directory(ec) && !e.is_symlink(ec)) fs::permissions(e.path(), fs::perms{0755}, ec);
  fs::permissions(folder, fs::perms{0755}, ec);
  fs::remove_all(folder, ec);
}

void make_read_only(const std::string& folder) {
  std::error_code ec;
  for (const auto& e : fs::recursive_directory_iterator(folder, ec))
    if (e.is_directory(ec)) fs::permissions(e.path(), fs::perms{0555}, ec);
  fs::permissions(folder, fs::perms{0555}, ec);
}

bool is_there(const std::string& path) {
  std::error_code ec;
  return fs::exists(path, ec);
}

}  // namespace

Result<ModuleFile> module_file_of(const std::string& name, const std::string& text) {
  Arena arena;
  Sources sources;
  Result<const Source*> source = sources.add(name, text);
  if (!source) return failure(source.error().message);
  ParsedFile parsed = parse_file(**source, arena);
  if (!parsed.errors.empty()) return failure(fmt::format("invalid module file {}: {}", name, parsed.errors[0].message));
  ModuleFile m = read_module_file(*parsed.file, name);
  if (!m.problems.empty()) return failure(m.problems[0].message);
  return m;
}

std::string ModuleCache::root() const {
  const char* own = std::getenv("CUE_CACHE_DIR");
  if (own && *own) return std::string(own) + "/mod";
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (cache && *cache ? std::string(cache) : std::string(home ? home : "") + "/.cache") + "/cue/mod";
}

std::string ModuleCache::download(const std::string& module, const std::string& version,
                                  std::string_view ending) const {
  return fmt::format("{}/download/{}/@v/{}.{}", root(), module, version, ending);
}

// Paths and versions become names of files, and a project says them.
static Result<void> is_fit(const std::string& module, const std::string& version) {
  if (std::string why = wrong_module_path(module); !why.empty())
    return failure(fmt::format("malformed module path {}: {}", quote(module), why));
  if (!is_whole_version(version)) return failure(fmt::format("module version {} is not canonical", quote(version)));
  return {};
}

Result<RegistryClient*> ModuleCache::registry() {
  if (client_) return client_.get();
  const char* text = std::getenv("CUE_REGISTRY");
  Result<RegistryMap> map = RegistryMap::parse(text ? text : "");
  if (!map) return failure("bad value for registry: " + map.error().message);
  client_ = std::make_unique<RegistryClient>(std::move(*map));
  return client_.get();
}

Result<std::string> ModuleCache::module_text(const std::string& path, const std::string& version) {
  std::string module = base_of_module(path), file = download(module, version, "mod");
  if (Result<void> fit = is_fit(module, version); !fit) return failure(fit.error().message);
  if (Result<std::string> text = read_own_file(file, kLongestModuleFile)) return text;
  if (!fetches_)
    return failure(fmt::format("module {}@{} is not in the cache, and this project may fetch nothing: {}", module,
                               version, way_to_trust()));
  Result<RegistryClient*> client = registry();
  if (!client) return failure(client.error().message);
  FileLock lock(download(module, version, "lock"));
  if (Result<std::string> text = read_own_file(file, kLongestModuleFile)) return text;
  Result<std::string> text = (*client)->module_file(module, version);
  if (!text) return text;
  if (Result<void> put = put_file(file, *text); !put) return failure(put.error().message);
  return text;
}

Result<ModuleFile> ModuleCache::module_file(const std::string& path, const std::string& version) {
  auto known = read_.find({path, version});
  if (known != read_.end()) return known->second;
  Result<std::string> text = module_text(path, version);
  if (!text) return failure(text.error().message);
  Result<ModuleFile> m = module_file_of(path + "@" + version, *text);
  if (m) read_[{path, version}] = *m;
  return m;
}

Result<void> ModuleCache::unpack(const std::string& module, const std::string& version, const std::string& to) {
  std::string archive = download(module, version, "zip");
  Result<std::string> bytes = read_own_file(archive, kLargestModule);
  if (!bytes) {
    if (!fetches_)
      return failure(fmt::format("module {}@{} is not in the cache, and this project may fetch nothing: {}", module,
                                 version, way_to_trust()));
    Result<RegistryClient*> client = registry();
    if (!client) return failure(client.error().message);
    bytes = (*client)->archive(module, version);
    if (!bytes) return failure(bytes.error().message);
    if (Result<void> put = put_file(archive, *bytes); !put) return put;
  }
  std::string partial = download(module, version, "partial");
  if (is_there(to)) remove_tree(to);
  if (Result<void> put = put_file(partial, ""); !put) return put;
  std::error_code ec;
  fs::create_directories(to, ec);
  Result<void> done = unzip(*bytes, kLargestModule, [&](const std::string& name, std::string_view content) {
    return put_file(to + "/" + name, content, true);
  });
  if (!done) {
    remove_tree(to);
    fs::remove(partial, ec);
    return done;
  }
  fs::remove(partial, ec);
  make_read_only(to);
  return {};
}

Result<std::string> ModuleCache::folder(const std::string& path, const std::string& version) {
  std::string module = base_of_module(path), to = fmt::format("{}/extract/{}@{}", root(), module, version);
  if (Result<void> fit = is_fit(module, version); !fit) return failure(fit.error().message);
  auto ready = [&] { return is_there(to) && !is_there(download(module, version, "partial")); };
  if (!ready()) {
    FileLock lock(download(module, version, "lock"));
    if (!ready())
      if (Result<void> done = unpack(module, version, to); !done) return failure(done.error().message);
  }
  // What the user's own cache holds may be read, whatever the project is.
  if (Boundary* boundary = Boundary::in_force()) boundary->add_root(to);
  return to;
}

}  // namespace tutti::cue
