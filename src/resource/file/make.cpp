// Making what a step says. Where a run can be killed between two calls of the host, each leaves what was, what comes,
// or nothing.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "resource/changes.h"
#include "resource/file/file.h"
#include "resource/mode.h"

namespace tutti::resource {
namespace {

// As Puppet shows an error of Ruby's that kept something from being made. What could not be found is told as it is.
Failure in_rubys_words(const WantedFile& w, bool writes, const Failure& why) {
  using E = WantedFile::Ensure;
  if (why.code <= 0 || why.code == ECONNRESET || why.message.starts_with("Could not find")) return why;
  std::string what = std::strerror(why.code);
  if (w.ensure == E::kDirectory)
    what += " @ dir_s_mkdir - " + w.path;
  else if (w.ensure == E::kLink)
    what += fmt::format(" @ rb_file_s_symlink - ({}, {})", w.target, w.path);
  else if (why.code == ENOENT && writes)
    what += fmt::format(" - A directory component in {} does not exist or is a dangling symbolic link", w.path);
  else
    what += " @ rb_sysopen - " + w.path;
  return {what, why.code};
}

// Whoever gets a file gets it without set-user-ID and set-group-ID: a mode that is asked for is set once more. Where
// the file that has the name cannot be trusted to be the one that is meant, it is written anew for its owner.
Result<void> own(Context& c, const WantedFile& w, const Ownership& owned, bool link, u32 mode) {
  auto r = c.host.set_owner(w.path, owned, !link);
  if (!r && r.error().code == kUntrusted && w.content && !link)
    return c.host.write(w.path, *w.content, mode, {w.owner, w.group});
  return r && !link && !w.mode.empty() && (mode & 06000) ? c.host.set_mode(w.path, mode) : r;
}

Result<void> allow(Context& c, const WantedFile& w, bool link, u32 mode) {
  auto r = c.host.set_mode(w.path, mode);
  if (!r && r.error().code == kUntrusted && w.content && !link)
    return c.host.write(w.path, *w.content, mode, {w.owner, w.group});
  return r;
}

// For its owner from the first moment. Puppet changes the content of a file also where there is no such owner.
Result<void> write_content(Context& c, const WantedFile& w, u32 mode) {
  auto r = c.host.write(w.path, *w.content, mode, {w.owner, w.group});
  if (!r && c.catalog && r.error().message.starts_with("Could not find")) r = c.host.write(w.path, *w.content, mode);
  return r;
}

void keep_directory(Context& c, const FileStep& step) {
  std::string subject = step.changes[0].subject.empty() ? "" : "=" + step.changes[0].subject;
  if (std::string backup = c.params.text("backup", "false"); backup != "false")
    c.say(Level::kWarning, subject + ": Could not back up file of type directory");
  c.say(Level::kNotice, subject + ": Not removing directory; use 'force' to override");
}

// Without `force`: a catalog's stays, and Puppet says so and counts it as removed; any other goes when it is empty.
Result<void> leave_directory(Context& c, const FileStep& step) {
  if (c.catalog) {
    keep_directory(c, step);
    return {};
  }
  auto r = c.host.remove(step.want.path, false);
  if (r) return {};
  auto in_it = c.host.list(step.want.path);
  // Others may just have taken away what was in it.
  if (!in_it || in_it->empty()) return c.host.remove(step.want.path, false);
  // What others have put there is theirs.
  std::string_view why =
      c.params.truth("force") ? "others have files in it" : "it is not empty, and `force` is not said";
  c.say(Level::kWarning, fmt::format("directory {} is left: {}", step.want.path, why));
  return {};
}

// Whether keep_former has seen to it.
bool is_kept(const Context& c, const FileStep& step) {
  return !c.catalog && !step.want.child && step.is.kind == FileKind::kFile && !c.params.text("backup").starts_with('.');
}

// What is not there, or is something else.
Result<void> create(Context& c, const FileStep& step, std::vector<Change>& done) {
  using E = WantedFile::Ensure;
  const WantedFile& w = step.want;
  const FileState& is = step.is;
  bool there = is.kind != FileKind::kAbsent, writes = w.content && !w.content->empty();
  if (there && is.kind == FileKind::kDirectory && !c.params.truth("force")) {
    if (!c.catalog) return failure(fmt::format("will not replace directory {} without force", w.path));
    for (int times = 0; times < 2; ++times) keep_directory(c, step);  // Puppet tries twice
    if (w.ensure == E::kLink) return failure("Could not remove existing file");
    return failure(writes ? "Is a directory - Is a directory: " + w.path : "Is a directory @ rb_sysopen - " + w.path,
                   EISDIR);
  }
  if (there && is.kind == FileKind::kDirectory)
    if (std::string other = c.elsewhere(w.path, true); !other.empty())
      return failure(fmt::format("will not replace directory {}: {} has files in it", w.path, other));
  if (there) {
    if (auto r = is_kept(c, step) ? Result<void>{} : keep_file(c, w.path, is); !r) return r;
    if (w.ensure != E::kFile || is.kind == FileKind::kDirectory || is.kind == FileKind::kLink)
      if (auto r = c.host.remove(w.path, is.kind == FileKind::kDirectory); !r) return r;
  }
  auto told = [&](const Result<void>& r) -> Result<void> {
    return r || !c.catalog ? r : tl::unexpected(in_rubys_words(w, writes, r.error()));
  };
  // What is made with a symbolic mode gets it once more, on top of itself, as in Puppet: `u+x,g+X`.
  bool directory = w.ensure == E::kDirectory;
  u32 mode = directory ? 0755 : 0644;
  for (int times = 0; times < 2 && !w.mode.empty(); ++times) {
    auto next = mode_from(w.mode, mode, directory);
    if (!next) return tl::unexpected(next.error());
    mode = *next;
  }
  Ownership owned{w.owner, w.group};
  Result<void> made;
  if (directory) {
    std::string parent = parent_of(w.path);
    auto above = c.catalog ? c.host.stat(parent, true, false) : Result<FileState>(FileState{});
    if (c.catalog && above && above->kind == FileKind::kAbsent)
      return failure(fmt::format("Cannot create {}; parent directory {} does not exist", w.path, parent));
    made = c.host.make_directory(w.path, mode, owned);
  } else if (w.ensure == E::kLink) {
    made = c.host.make_link(w.path, w.target, owned);
  } else {
    made = c.host.write(w.path, w.content.value_or(""), mode, owned);
  }
  if (made) done.insert(done.end(), step.changes.begin(), step.changes.end());
  return told(made);
}

}  // namespace

Result<void> make_file(Context& c, const FileStep& step, std::vector<Change>& done) {
  using E = WantedFile::Ensure;
  const WantedFile& w = step.want;
  const FileState& is = step.is;
  auto all_done = [&](Result<void> r) {
    if (r) done.insert(done.end(), step.changes.begin(), step.changes.end());
    return r;
  };
  if (w.ensure == E::kAbsent && is.kind != FileKind::kAbsent && step.changes[0].property == "ensure") {
    bool left = is.kind == FileKind::kDirectory &&
                (!c.params.truth("force") || c.managed_below(w.path) || !c.elsewhere(w.path, true).empty());
    Result<void> gone = left ? leave_directory(c, step) : keep_file(c, w.path, is);
    if (gone && !left) gone = c.host.remove(w.path, true);
    if (gone) return all_done(gone);
    auto now = c.host.stat(w.path, false, false);  // another may have removed it at the same time
    return all_done(now && now->kind == FileKind::kAbsent ? Result<void>{} : gone);
  }
  if (step.changes[0].property == "ensure") return create(c, step, done);
  bool directory = is.kind == FileKind::kDirectory, link = is.kind == FileKind::kLink;
  auto mode = w.mode.empty() ? Result<u32>(is.mode) : mode_from(w.mode, is.mode, directory);
  for (const Change& change : step.changes) {
    Result<void> r;
    if (change.property == "content") {
      if (!is_kept(c, step)) r = keep_file(c, w.path, is);
      if (r) r = write_content(c, w, is.mode);
    } else if (change.property == "target") {
      r = c.host.make_link(w.path, w.target);
    } else if (change.property == "owner") {
      r = own(c, w, {w.owner, ""}, link, mode.value_or(is.mode));
    } else if (change.property == "group") {
      r = own(c, w, {"", w.group}, link, mode.value_or(is.mode));
    } else if (change.property == "mode") {
      r = mode ? allow(c, w, link, *mode) : tl::unexpected(mode.error());
    }
    if (r)
      done.push_back(change);
    else if (!goes_on(c, change, r.error()))
      return r;
  }
  return {};
}

}  // namespace tutti::resource
