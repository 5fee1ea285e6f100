#include "lang/smartfrog/syntax/loader.h"

#include <filesystem>

#include "base/boundary.h"

namespace tutti::smartfrog {
namespace fs = std::filesystem;

Loader::Loader(Session& session, std::vector<std::string> roots) : session_(session), roots_(std::move(roots)) {}

namespace {
constexpr std::string_view kModelName = "tutti:component-model.sf";
}

const Source* Loader::open(const std::string& path, Span wanted_at) {
  if (path != kModelName) return session_.open(path, wanted_at);
  if (!model_)
    if (auto added = session_.sources->add(path, std::string(kComponentModel))) model_ = *added;
  return model_;
}

std::string Loader::find(std::string_view name, const Source& from) const {
  if (name == kModelName) return std::string(name);
  while (name.starts_with('/')) name.remove_prefix(1);
  if (name.empty() || name.find("//") != std::string_view::npos) return {};
  std::error_code ec;
  // Of places that may not be looked at nothing is told, not even whether something is there: opening refuses.
  auto is_file = [&](const fs::path& p) { return fs::is_regular_file(p, ec) || !may_look_at(p.string()); };
  fs::path here = from.path.empty() ? fs::path(".") : fs::path(from.path).parent_path();
  if (here.empty()) here = ".";
  fs::path real_here = fs::weakly_canonical(here, ec);
  bool in_library = false;
  for (const std::string& root : roots_) {
    std::string prefix = fs::weakly_canonical(root, ec).string();
    std::string h = real_here.string();
    if (h == prefix || h.starts_with(prefix + "/")) in_library = true;
  }
  if (!in_library && is_file(here / name)) return (here / name).lexically_normal().string();
  for (const std::string& root : roots_)
    if (is_file(fs::path(root) / name)) return (fs::path(root) / name).lexically_normal().string();
  return {};
}

}  // namespace tutti::smartfrog
