// A directory that is filled: a step for each path below it, those that its sources have and those that only it has.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "resource/changes.h"
#include "resource/file/file.h"
#include "resource/providers.h"

namespace tutti::resource {
namespace {

using Ensure = WantedFile::Ensure;

// One directory of it, and through itself those below.
class Children {
 public:
  Children(Context& c, const WantedFile& root, const std::vector<FileOrigin>& sources, int depth,
           std::vector<FileStep>& steps)
      : c_(c), root_(root), sources_(sources), depth_(depth), steps_(steps) {}

  Result<void> go() {
    auto all = names();
    if (!all) return tl::unexpected(all.error());
    if (std::string wrong = too_many_files(c_.params, root_.path, all->size()); !wrong.empty()) return failure(wrong);
    for (const std::string& name : *all) {
      if (is_ignored(name) || c_.managed(root_.path + "/" + name)) continue;
      if (auto done = child(name); !done) return done;
    }
    return {};
  }

 private:
  struct Child {
    WantedFile want;
    bool directory = false;  // there is something below it
    std::vector<FileOrigin> sources;
  };

  bool is_ignored(const std::string& name) const {
    if (name.find(kUnfinished) != std::string::npos) return true;  // another is just writing it
    auto patterns = c_.params.list("ignore");
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](auto& p) { return ::fnmatch(p.c_str(), name.c_str(), 0) == 0; });
  }

  // Of the sources and of the directory itself.
  Result<std::vector<std::string>> names() {
    std::vector<std::string> from, here, all;
    for (const FileOrigin& source : sources_) {
      auto found = source.host->list(source.path);
      if (!found) return tl::unexpected(found.error());
      for (auto& name : *found) offered_[name].push_back(&source);
    }
    for (auto& [name, by] : offered_) from.push_back(name);
    auto target = c_.host.stat(root_.path, true, false);
    if (!target) return tl::unexpected(target.error());
    if (target->kind == FileKind::kDirectory && c_.params.text("recurse") != "remote") {
      auto found = c_.host.list(root_.path);
      if (!found) return tl::unexpected(found.error());
      here = std::move(*found);
    }
    std::set_union(from.begin(), from.end(), here.begin(), here.end(), std::back_inserter(all));
    return all;
  }

  Result<void> child(const std::string& name) {
    Child one;
    one.want.path = root_.path + "/" + name;
    one.want.child = true;
    one.want.mode = root_.mode;
    one.want.owner = root_.owner;
    one.want.group = root_.group;
    auto by = offered_.find(name);
    auto known = by != offered_.end() ? from_source(one, name, by->second) : only_here(one);
    if (!known) return known;
    auto step = compare_file(c_, one.want);
    if (!step) return tl::unexpected(step.error());
    // A directory in place of which a file is wanted stays with what is in it, which Puppet tells, too.
    one.directory = one.directory || (c_.catalog && one.want.ensure == Ensure::kFile &&
                                      step->is.kind == FileKind::kDirectory && !c_.params.truth("force"));
    // A directory that goes when it is empty comes after what is in it.
    bool last = one.want.ensure == Ensure::kAbsent && !c_.catalog;
    if (!step->changes.empty() && !last) steps_.push_back(*step);
    if (one.directory)
      if (auto r = compare_children(c_, one.want, one.sources, depth_ - 1, steps_); !r) return r;
    if (!step->changes.empty() && last) steps_.push_back(std::move(*step));
    return {};
  }

  // As the first source that has it says; of a directory all of them together.
  Result<void> from_source(Child& one, const std::string& name, const std::vector<const FileOrigin*>& by) {
    Host& there = *by[0]->host;
    std::string path = by[0]->path + "/" + name;
    auto s = there.stat(path, c_.params.text("links") == "follow", false);
    if (!s) return tl::unexpected(s.error());
    if (auto r = take_permissions(c_, *s, one.want); !r) return r;
    if (s->kind == FileKind::kLink) {
      one.want.ensure = Ensure::kLink;
      one.want.target = s->target;
    } else if (s->kind == FileKind::kDirectory) {
      one.want.ensure = Ensure::kDirectory;
      one.directory = true;
      for (const FileOrigin* source : by) {
        FileOrigin below{source->host, source->path + "/" + name};
        auto kind = below.host->stat(below.path, true, false);
        if (!kind) return tl::unexpected(kind.error());
        if (kind->kind == FileKind::kDirectory) one.sources.push_back(std::move(below));
      }
    } else {
      one.want.ensure = Ensure::kFile;
      auto bytes = there.read(path);
      if (!bytes) return tl::unexpected(bytes.error());
      one.want.content = std::move(*bytes);
    }
    return {};
  }

  // With `purge` what nobody has goes; what others have in a directory keeps that, too.
  Result<void> only_here(Child& one) {
    const std::string& path = one.want.path;
    auto s = c_.host.stat(path, false, false);
    if (!s) return tl::unexpected(s.error());
    one.directory = s->kind == FileKind::kDirectory;
    if (!c_.params.truth("purge")) return {};
    if (std::string other = c_.elsewhere(path, one.directory); !other.empty()) {
      c_.say(Level::kWarning,
             fmt::format("{} is not purged: {} has {}", path, other, one.directory ? "files in it" : "it"));
      return {};
    }
    if (one.directory && c_.managed_below(path)) return {};
    one.want.ensure = Ensure::kAbsent;
    one.directory = one.directory && !c_.params.truth("force");  // it stays; what is in it goes
    return {};
  }

  Context& c_;
  const WantedFile& root_;
  const std::vector<FileOrigin>& sources_;
  int depth_;
  std::vector<FileStep>& steps_;
  std::map<std::string, std::vector<const FileOrigin*>> offered_;  // by whom; the first one counts
};

}  // namespace

Result<void> compare_children(Context& c, const WantedFile& root, const std::vector<FileOrigin>& sources, int depth,
                              std::vector<FileStep>& steps) {
  return depth == 0 ? Result<void>{} : Children(c, root, sources, depth, steps).go();
}

}  // namespace tutti::resource
