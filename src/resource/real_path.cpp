#include "resource/real_path.h"

#include <filesystem>

namespace tutti::resource {
namespace {

constexpr int kMostLinks = 40;  // as the kernel follows

}  // namespace

std::string canonical_directory(const std::string& directory) {
  std::error_code none;
  std::string path = std::filesystem::weakly_canonical(directory, none).string();
  if (none) path = directory;
  // Of what is not there yet `x/..` is left with a slash behind it.
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

void RealPaths::learn(const Resource& r) {
  if (r.type != "file") return;
  Params p(r.parameters);
  std::string ensure = p.text("ensure"), path = p.text("path", r.title);
  std::string target = ensure == "link" ? p.text("target") : ensure.starts_with('/') ? ensure : "";
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (!target.empty()) links_[path] = target;
}

std::string RealPaths::through_new_links(const std::string& directory, int left) const {
  for (std::size_t slash = directory.find('/', 1);; slash = directory.find('/', slash + 1)) {
    std::string head = directory.substr(0, slash);
    if (auto link = links_.find(head); link != links_.end() && left > 0) {
      std::filesystem::path to(link->second);
      if (to.is_relative()) to = std::filesystem::path(head).parent_path() / to;
      std::string rest = slash == std::string::npos ? "" : directory.substr(slash);
      return through_new_links(to.lexically_normal().string() + rest, left - 1);
    }
    if (slash == std::string::npos) return directory;
  }
}

std::string RealPaths::of_path(const std::string& path) {
  std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return path;
  auto [known, fresh] = known_.try_emplace(path.substr(0, slash));
  if (fresh) {
    known->second = canonical_(links_.empty() ? known->first : through_new_links(known->first, kMostLinks));
  }
  return (known->second == "/" ? "" : known->second) + path.substr(slash);
}

std::string RealPaths::of_thing(const std::string& thing) {
  constexpr std::string_view kFile = "file:";
  return thing.starts_with(kFile) ? std::string(kFile) + of_path(thing.substr(kFile.size())) : thing;
}

}  // namespace tutti::resource
