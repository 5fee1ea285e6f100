// What was there before a file came: kept as a copy, told in the record, and put back when the file goes.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "resource/file/file.h"
#include "resource/mode.h"

namespace tutti::resource {
namespace {

constexpr const char* kBackup = ".puppet-bak";  // what a copy is called where only `true` is said

// By its digest in our own directory, with a line of its own that tells which it is; its name there.
Result<std::string> keep_copy(Context& c, const std::string& path) {
  auto bytes = c.host.read(path);
  if (!bytes) return tl::unexpected(bytes.error());
  std::string dir = c.home + "/kept";
  auto st = c.host.stat(dir, true, false);
  if (st && st->kind == FileKind::kAbsent) {
    // on a host that has had no process yet, tutti's own directory is not there either
    auto r = c.host.shell("umask 077 && mkdir -p -- " + shell_quote(dir));
    if (r.lost_code()) return failure(r.message.empty() ? r.describe() : r.message, r.lost_code());
    if (!r.ok()) return failure(fmt::format("cannot make directory {}: {}", dir, r.err.substr(0, r.err.find('\n'))));
  }
  const Value* content = c.params.find("content");
  bool secret = c.sealing && ((content && content->secret()) || c.sealing->holds_secret(*bytes));
  std::string name = secret ? c.sealing->name(*bytes) : sha256_hex(*bytes);
  std::string to = dir + "/" + name;
  if (auto old = c.host.stat(to, true, false); !old || old->kind != FileKind::kFile)
    if (auto r = c.host.write(to, secret ? c.sealing->seal(*bytes) : *bytes, 0600); !r)
      return tl::unexpected(r.error());
  std::string of = c.sealing && c.sealing->holds_secret(path) ? "(secret)" : path;
  for (std::size_t at = 0; (at = of.find('\n', at)) != std::string::npos;) of.replace(at, 1, "\\n");
  auto told = c.host.append(c.home + "/kept.index", fmt::format("{} {} {}\n", time_text(std::time(nullptr)), name, of));
  return told ? Result<std::string>(name) : tl::unexpected(told.error());
}

// The content that is to come back; none where its copy is gone, or the key that it is sealed with.
Result<std::optional<std::string>> content_of(Context& c, const Params& former) {
  std::string copy = fmt::format("{}/kept/{}", c.home, former.text("copy"));
  auto is = c.host.stat(copy, true, false);
  if (!is) return tl::unexpected(is.error());
  if (is->kind != FileKind::kFile) return std::optional<std::string>();
  auto bytes = c.host.read(copy);
  if (!bytes) return tl::unexpected(bytes.error());
  return c.sealing && c.sealing->open ? c.sealing->open(*bytes) : std::optional(*bytes);
}

bool is_directory(const Params& former) { return !former.has("target") && !former.has("copy"); }

}  // namespace

Result<void> keep_file(Context& c, const std::string& path, const FileState& is) {
  std::string backup = c.params.text("backup", "puppet");
  if (c.catalog && backup == "true") backup = kBackup;
  bool beside = backup.starts_with('.');
  if (backup.empty() || backup == "false" || (!beside && c.home.empty())) return {};
  if (is.kind == FileKind::kDirectory) {
    if (beside) {
      std::string from = shell_quote(path), to = shell_quote(path + backup);
      auto r = c.host.shell(fmt::format("rm -rf -- {1} && cp -a -- {0} {1}", from, to));
      if (!r.ok()) return failure(fmt::format("cannot keep {}: {} {}", path, r.describe(), r.err), r.lost_code());
      return {};
    }
    auto names = c.host.list(path);
    if (!names) return tl::unexpected(names.error());
    for (auto& name : *names) {
      std::string inner = path + "/" + name;
      auto s = c.host.stat(inner, false, false);
      if (!s) return tl::unexpected(s.error());
      if (auto r = keep_file(c, inner, *s); !r) return r;
    }
    return {};
  }
  if (is.kind != FileKind::kFile) return {};
  if (beside) {
    auto bytes = c.host.read(path);
    return bytes ? c.host.write(path + backup, *bytes, is.mode) : tl::unexpected(bytes.error());
  }
  auto copy = keep_copy(c, path);
  return copy ? Result<void>{} : tl::unexpected(copy.error());
}

Result<Former> former_file(Context& c, const Findings& f) {
  if (c.params.has("former") || c.params.text("ensure") == "absent") return Former{};
  const FileStep& step = static_cast<const FileFindings*>(f.kept.get())->steps[0];
  const FileState& is = step.is;
  // A directory stays whatever becomes of what is in it: there is nothing to copy.
  bool directory = is.kind == FileKind::kDirectory && (step.changes.empty() || step.changes[0].property != "ensure");
  if (!directory && (step.changes.empty() || c.params.text("backup") == "false" || c.home.empty())) return Former{};
  Former out{{"mode", mode_text(is.mode)}, {"owner", is.owner}, {"group", is.group}};
  if (is.kind == FileKind::kLink) {
    out["target"] = is.target;
  } else if (is.kind == FileKind::kFile) {
    auto copy = keep_copy(c, step.want.path);
    if (!copy) return tl::unexpected(copy.error());
    out["copy"] = *copy;
  } else if (!directory) {
    return Former{};
  }
  return out;
}

Result<Findings> examine_former_file(Context& c, const Params& former) {
  auto kept = std::make_shared<FileFindings>();
  FileStep step;
  step.want.path = path_of(c.resource);
  auto is = c.host.stat(step.want.path, false, true);
  if (!is) return tl::unexpected(is.error());
  step.is = std::move(*is);
  bool directory = is_directory(former), as_mode = mode_text(step.is.mode) == former.text("mode");
  bool same = former.has("target") ? step.is.kind == FileKind::kLink && step.is.target == former.text("target")
              : directory          ? step.is.kind == FileKind::kDirectory
                                   : step.is.kind == FileKind::kFile && as_mode;
  if (same && former.has("copy")) {
    auto content = content_of(c, former);
    if (!content) return tl::unexpected(content.error());
    same = *content && sha256_hex(**content) == step.is.digest;
  }
  std::string from(kind_text(step.is.kind));
  if (!same)
    step.changes.push_back({"ensure", "restored to what it was before", from, "as before", "", false});
  else if (step.is.owner != former.text("owner") || step.is.group != former.text("group") || (directory && !as_mode))
    step.changes.push_back({"owner", "given back", step.is.owner, former.text("owner"), "", false});
  Findings f;
  f.changes = step.changes;
  kept->steps.push_back(std::move(step));
  f.kept = kept;
  return f;
}

// Whoever is killed on the way leaves what was, what came, or nothing; and in the end what was.
Result<void> restore_file(Context& c, const Params& former, const FileState& is) {
  std::string path = path_of(c.resource);
  auto mode = static_cast<u32>(std::strtoul(former.text("mode").c_str(), nullptr, 8));
  Ownership owned{former.text("owner"), former.text("group")};
  if (is_directory(former)) {
    if (is.kind == FileKind::kAbsent) return c.host.make_directory(path, mode, owned);
    auto r = c.host.set_owner(path, owned, true);
    return r ? c.host.set_mode(path, mode) : r;
  }
  bool link = former.has("target");
  auto content = link ? Result<std::optional<std::string>>(std::nullopt) : content_of(c, former);
  if (!content) return tl::unexpected(content.error());
  bool gone = !link && !*content;
  if (gone)
    c.say(Level::kWarning, fmt::format("{} is removed: the copy of what it was before, {}/kept/{}, cannot be read",
                                       path, c.home, former.text("copy")));
  bool other_kind = is.kind != FileKind::kAbsent && is.kind != (link ? FileKind::kLink : FileKind::kFile);
  if (gone || other_kind)
    if (auto r = c.host.remove(path, false); !r || gone) return r;
  return link ? c.host.make_link(path, former.text("target"), owned) : c.host.write(path, **content, mode, owned);
}

}  // namespace tutti::resource
