#include "deploy/looking/taken_along.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "deploy/shared/machines.h"
#include "deploy/shared/share.h"
#include "resource/holdings.h"

namespace tutti::deploy {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLooked = 20000;  // what is larger is somebody's data for sure
constexpr std::size_t kMostNamed = 3;

// What is in a directory that nobody of ours has made: by its name there, a directory as one.
class Strangers {
 public:
  Strangers(const resource::Holdings& holdings, fs::path root, std::vector<std::string> sources)
      : holdings_(holdings), root_(std::move(root)), sources_(std::move(sources)) {
    look(root_);
  }
  const std::set<std::string>& all() const { return found_; }

 private:
  void look(const fs::path& directory) {
    std::error_code wrong;
    for (fs::directory_iterator it(directory, wrong), end; !wrong && it != end; it.increment(wrong)) {
      if (++looked_ > kMostLooked) return;
      fs::path path = it->path(), inside = path.lexically_relative(root_);
      std::error_code none;
      bool is_directory = it->symlink_status(none).type() == fs::file_type::directory;
      bool held = holdings_.has(Symbol(), path.string());
      bool copied = std::any_of(sources_.begin(), sources_.end(), [&](const std::string& source) {
        return fs::exists(fs::symlink_status(fs::path(source) / inside, none));
      });
      bool above = is_directory && !holdings_.below(Symbol(), path.string()).empty();
      if (is_directory && (held || copied || above))
        look(path);
      else if (!held && !copied)
        found_.insert(inside.string() + (is_directory ? "/" : ""));
    }
  }

  const resource::Holdings& holdings_;
  fs::path root_;
  std::vector<std::string> sources_;  // directories that it was copied from
  std::set<std::string> found_;
  std::size_t looked_ = 0;
};

}  // namespace

// Only on this machine: looking at other hosts would make every plan wait for them.
void note_taken_along(Prepared& p, const OtherSystems& others) {
  using Kind = engine::PlanChange::Kind;
  engine::Recorded was = engine::read_recorded(p.state);
  resource::Holdings holdings, staying;
  std::set<std::string> going;
  for (auto& change : p.plan.changes)
    if (change.kind == Kind::kRemove || change.kind == Kind::kReplace) going.insert(change.component);
  if (going.empty()) return;
  for (auto& [name, c] : was.components)
    if (!c.forgotten && machine(c.host, p.state).empty())
      for (auto& held : c.held) {
        holdings.add(Symbol(), resource_of(held), 0);
        if (!going.count(name)) staying.add(Symbol(), resource_of(held), 0);
      }
  resource::Scrubber scrub(p.plan.flat);
  for (auto& change : p.plan.changes) {
    auto self = was.components.find(change.component);
    if (!going.count(change.component) || self == was.components.end() || !machine(change.host, p.state).empty())
      continue;
    Share share = Share::of(self->second);
    for (auto& held : self->second.held) {
      resource::Resource r = resource_of(held);
      resource::Params params(r.parameters);
      std::string path = params.text("path", r.title);
      std::error_code none;
      // What others of ours have something in stays, and so does what was there before.
      if (r.type != "file" || !params.truth("force") || share.is_left(r) || share.was_otherwise(r) ||
          !staying.below(Symbol(), path).empty() || others.holder("", path, true) ||
          fs::symlink_status(path, none).type() != fs::file_type::directory)
        continue;
      Strangers strangers(holdings, path, params.truth("recurse") ? params.list("source") : std::vector<std::string>());
      auto& all = strangers.all();
      if (all.empty()) continue;
      std::vector<std::string> named(
          all.begin(), std::next(all.begin(), static_cast<std::ptrdiff_t>(std::min(all.size(), kMostNamed))));
      change.why += scrub.clean(
          fmt::format("{}takes along what others put into {}: {}{} (copies are kept)", change.why.empty() ? "" : "; ",
                      path, fmt::join(named, ", "),
                      all.size() > named.size() ? fmt::format(" and {} more", all.size() - named.size()) : ""));
    }
  }
}

}  // namespace tutti::deploy
