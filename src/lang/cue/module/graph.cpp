#include "lang/cue/module/graph.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "lang/cue/format/literal.h"
#include "lang/cue/module/version.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

bool is_folder(const std::string& replacement) {
  return replacement.starts_with("./") || replacement.starts_with("../") || replacement.starts_with('/') ||
         replacement == "." || replacement == "..";
}

bool has_cue_files(const std::string& folder) {
  std::error_code ec;
  for (const auto& e : fs::directory_iterator(folder, ec))
    if (e.path().extension() == ".cue" && e.is_regular_file(ec)) return true;
  return false;
}

// A folder with a module file of its own belongs to that module.
bool other_module_between(const std::string& root, const std::string& folder) {
  std::error_code ec;
  for (fs::path p = folder; p.string().size() > root.size(); p = p.parent_path())
    if (fs::exists(p / "cue.mod" / "module.cue", ec)) return true;
  return false;
}

std::string base_of(const std::string& path) { return path.substr(0, path.find('@')); }

}  // namespace

std::optional<ModuleGraph::Replacement> ModuleGraph::replacement(const std::string& path) {
  auto it = main_.needs.find(path);
  if (it == main_.needs.end() || it->second.replacement.empty()) return std::nullopt;
  const std::string& by = it->second.replacement;
  if (is_folder(by)) {
    std::string folder = by.starts_with('/') ? by : (fs::path(root_) / by).lexically_normal().string();
    if (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    return Replacement{folder, "", ""};
  }
  // A module is replaced by the version that is needed of the other.
  std::size_t at = std::min(by.find('@'), by.size());
  std::string version = at < by.size() ? by.substr(at + 1) : "v0";
  std::optional<Version> v = version_of(version);
  std::string other = by.substr(0, at) + "@" + (v ? v->major() : version);
  if (v && v->whole) return Replacement{"", other, version};
  auto needed = main_.needs.find(other);
  return Replacement{"", other, needed == main_.needs.end() ? "" : needed->second.version};
}

Result<ModuleFile> ModuleGraph::needs_of(const std::string& path, const std::string& version) {
  if (std::optional<Replacement> by = replacement(path))
    return by->folder.empty() ? source_.module_file(by->path, by->version) : folder_file_(by->folder);
  return source_.module_file(path, version);
}

Result<std::string> ModuleGraph::folder_of(const std::string& path, const std::string& version, bool& is_local) {
  if (std::optional<Replacement> by = replacement(path)) {
    is_local = !by->folder.empty();
    if (!is_local) return source_.folder(by->path, by->version);
    std::error_code ec;
    if (!fs::is_directory(by->folder, ec))
      return failure(
          fmt::format("replacement directory {} of {} is not there", quote(main_.needs.at(path).replacement), path));
    return by->folder;
  }
  return source_.folder(path, version);
}

Result<std::map<std::string, std::string>> ModuleGraph::selected() {
  if (selected_) return *selected_;
  std::map<std::string, std::string> versions;
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<std::pair<std::string, std::string>> work;
  auto need = [&](const ModuleFile& m) {
    for (const auto& [path, d] : m.needs) {
      if (base_of(path) == main_.module) continue;
      std::string& version = versions[path];
      if (is_older(version, d.version)) version = d.version;
      if (seen.emplace(path, d.version).second) work.emplace_back(path, d.version);
    }
  };
  need(main_);
  while (!work.empty()) {
    auto [path, version] = work.back();
    work.pop_back();
    Result<ModuleFile> m = needs_of(path, version);
    if (!m) return failure(fmt::format("{}@{}: {}", base_of(path), version, m.error().message));
    need(*m);
  }
  selected_ = versions;
  return versions;
}

// The major version that an import without one means: the only one, or the one that says so.
std::string ModuleGraph::default_major(const std::string& path,
                                       const std::map<std::string, std::string>& versions) const {
  std::string found;
  for (auto it = versions.lower_bound(path + "@"); it != versions.end() && base_of(it->first) == path; ++it) {
    std::string major = it->first.substr(path.size() + 1);
    auto own = main_.needs.find(it->first);
    if (own != main_.needs.end() && own->second.is_default) return major;
    if (!found.empty()) return {};
    found = major;
  }
  return found;
}

Result<std::optional<PackagePlace>> ModuleGraph::find_among(const std::string& path, const std::string& major,
                                                            const std::map<std::string, std::string>& versions) {
  std::vector<std::pair<std::string, PackagePlace>> found;  // by module
  for (std::string prefix = path;;) {
    std::string of = major.empty() ? default_major(prefix, versions) : major;
    if (auto it = versions.find(prefix + "@" + of); it != versions.end()) {
      bool is_local = false;
      Result<std::string> root = folder_of(it->first, it->second, is_local);
      if (!root) return failure(fmt::format("cannot fetch {}@{}: {}", prefix, it->second, root.error().message));
      std::string folder = *root + path.substr(prefix.size());
      if (has_cue_files(folder) && !(is_local && other_module_between(*root, folder)))
        found.push_back({fmt::format("{}@{}", prefix, it->second), {folder, *root, prefix, it->first, is_local}});
    }
    std::size_t slash = prefix.rfind('/');
    if (slash == prefix.npos) break;
    prefix.resize(slash);
  }
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return found[0].second;
  std::string all;
  for (std::size_t i = found.size(); i-- > 0;) all += "\n\t" + found[i].first;
  return failure(fmt::format("ambiguous import: found package {} in multiple locations:{}", path, all));
}

Result<std::optional<PackagePlace>> ModuleGraph::find(const std::string& path, const std::string& major) {
  if (main_.needs.empty()) return std::nullopt;
  std::map<std::string, std::string> own;
  for (const auto& [of, need] : main_.needs) own[of] = need.version;
  Result<std::optional<PackagePlace>> place = find_among(path, major, own);
  if (!place || *place) return place;
  Result<std::map<std::string, std::string>> all = selected();
  if (!all) return failure("cannot expand module graph: " + all.error().message);
  return find_among(path, major, *all);
}

}  // namespace tutti::cue
