// file: a file, directory or link, with content, owner, group and mode; directories may be filled from another one.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "resource/mode.h"
#include "resource/providers.h"
#include "transport/host.h"

namespace tutti::resource {
namespace {

using FileKind = FileState::Kind;

constexpr std::string_view kParameters[] = {"path",
                                            "ensure",
                                            "content",
                                            "source",
                                            "target",
                                            "owner",
                                            "group",
                                            "mode",
                                            "recurse",
                                            "recurselimit",
                                            "purge",
                                            "force",
                                            "replace",
                                            "links",
                                            "backup",
                                            "ignore",
                                            "checksum",
                                            "checksum_value",
                                            "show_diff",
                                            "validate_cmd",
                                            "validate_replacement",
                                            "sourceselect",
                                            "source_permissions",
                                            "max_files",
                                            "provider",
                                            "selinux_ignore_defaults",
                                            "seluser",
                                            "selrole",
                                            "seltype",
                                            "selrange",
                                            "ctime",
                                            "mtime",
                                            "type",
                                            "staging_location",
                                            "parents"};

std::string path_of(const Resource& r) {
  std::string p = Params(r.parameters).text("path", r.title);
  while (p.size() > 1 && p.back() == '/') p.pop_back();
  return p;
}

std::string parent_of(const std::string& path) {
  std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string_view kind_text(FileKind k) {
  switch (k) {
    case FileKind::kAbsent: return "absent";
    case FileKind::kFile: return "file";
    case FileKind::kDirectory: return "directory";
    case FileKind::kLink: return "link";
    default: return "other";
  }
}

// As Puppet shows times.
std::string time_text(i64 seconds) {
  std::time_t t = seconds;
  std::tm tm{};
  ::localtime_r(&t, &tm);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z", &tm);
  return text;
}

// What one path should be, worked out from the parameters and, for `source`, from the source itself.
struct Wanted {
  std::string path;
  enum class Ensure { kUnset, kAbsent, kPresent, kFile, kDirectory, kLink } ensure = Ensure::kUnset;
  std::optional<std::string> content;
  bool secret = false;
  std::string target, mode, owner, group;
  bool child = false;    // made by recursion
  bool implied = false;  // for children: only what differs is said with their own name
};

struct Step {
  Wanted want;
  FileState is;
  std::vector<Change> changes;
};

struct Kept {
  std::vector<Step> steps;
};

std::string brace(const std::string& digest) { return "{sha256}" + digest; }

class File : public Provider {
 public:
  std::string_view type() const override { return "file"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::string check(const Resource& r) const override;
  Result<Findings> examine(Context& c) const override;
  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override;
  // In Puppet's words, so that what it recorded and what we record read alike.
  Result<std::optional<std::string>> current(Context& c, std::string_view property) const override {
    auto is = c.host.stat(path_of(c.resource), c.params.text("links") == "follow", property == "content");
    if (!is) return tl::unexpected(is.error());
    using Text = std::optional<std::string>;
    if (is->kind == FileKind::kAbsent) return Text("absent");
    if (property == "content") return is->kind == FileKind::kFile ? Text(brace(is->digest)) : std::nullopt;
    if (property == "ensure" || property == "type") return Text(kind_text(is->kind));
    if (property == "mode") return Text(fmt::format("{:04o}", is->mode));
    if (property == "owner") return Text(std::to_string(is->uid));
    if (property == "group") return Text(std::to_string(is->gid));
    if (property == "target") return Text(is->kind == FileKind::kLink ? is->target : "notlink");
    if (property == "mtime" || property == "ctime") return Text(time_text(property == "mtime" ? is->mtime : is->ctime));
    return std::nullopt;
  }
  std::span<const std::string_view> audited() const override {
    static constexpr std::string_view kAudited[] = {"ensure",  "content",  "checksum_value", "target",  "owner",
                                                    "group",   "mode",     "type",           "seluser", "selrole",
                                                    "seltype", "selrange", "ctime",          "mtime"};
    return kAudited;
  }
  std::vector<std::string> writes(const Resource& r) const override { return {"file:" + path_of(r)}; }
  std::vector<std::string> reads(const Resource& r) const override {
    std::vector<std::string> out;
    for (auto& s : Params(r.parameters).list("source"))
      if (!s.empty() && s[0] == '/') out.push_back("file:" + s);
    return out;
  }
  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    Params p(r.parameters);
    std::vector<std::pair<std::string, std::string>> out;
    // The nearest parent that is managed: the caller takes the first that exists among several.
    for (std::string at = path_of(r); at.size() > 1;) {
      at = parent_of(at);
      out.emplace_back("file", at);
    }
    if (p.has("owner")) out.emplace_back("user", p.text("owner"));
    if (p.has("group")) out.emplace_back("group", p.text("group"));
    return out;
  }

 private:
  Result<Step> compare(Context& c, Wanted want) const;
  Result<void> children(Context& c, const Wanted& root, Host& there, const std::string& source, int depth,
                        std::vector<Step>& steps) const;
  Result<void> make(Context& c, const Step& step) const;
  Result<void> keep(Context& c, const std::string& path, const FileState& is) const;
};

std::string File::check(const Resource& r) const {
  Params p(r.parameters);
  std::string path = path_of(r);
  if (path.empty() || path[0] != '/') return fmt::format("File paths must be fully qualified, not '{}'", path);
  int given = p.has("content") + p.has("source") + p.has("target");
  if (given > 1) return "only one of content, source and target can be given";
  if (auto m = p.maybe("mode"); m && !mode_from(*m, 0, false)) return fmt::format("{} is not a mode", *m);
  if (auto e = p.maybe("ensure")) {
    static constexpr std::string_view kKnown[] = {"absent", "false", "present", "file", "directory", "link"};
    bool known = std::find(std::begin(kKnown), std::end(kKnown), *e) != std::end(kKnown);
    if (!known && (e->empty() || (*e)[0] != '/')) return fmt::format("ensure cannot be {}", *e);
    if (*e == "link" && !p.has("target")) return "a link needs a target";
  }
  return "";
}

Wanted wanted(const Params& p, const Resource& r) {
  Wanted w;
  using E = Wanted::Ensure;
  w.path = path_of(r);
  w.target = p.text("target");
  w.mode = p.text("mode");
  w.owner = p.text("owner");
  w.group = p.text("group");
  if (const Value* content = p.find("content")) {
    w.content = text_of(*content);
    w.secret = content->secret();
  }
  std::string e = p.text("ensure");
  if (e == "absent" || e == "false")
    w.ensure = E::kAbsent;
  else if (e == "present")
    w.ensure = E::kPresent;
  else if (e == "file")
    w.ensure = E::kFile;
  else if (e == "directory")
    w.ensure = E::kDirectory;
  else if (e == "link")
    w.ensure = E::kLink;
  else if (!e.empty())
    w.ensure = E::kLink, w.target = e;  // ensure => '/where/it/points'
  else if (!w.target.empty())
    w.ensure = E::kLink;
  else if (w.content)
    w.ensure = E::kFile;
  return w;
}

Result<Step> File::compare(Context& c, Wanted want) const {
  using E = Wanted::Ensure;
  Step step;
  bool follow = c.params.text("links") == "follow";
  auto is = c.host.stat(want.path, follow, want.content.has_value());
  if (!is) return tl::unexpected(is.error());
  step.is = std::move(*is);
  const FileState& s = step.is;
  auto add = [&](std::string property, std::string text, std::string from, std::string to) {
    step.changes.push_back({std::move(property), std::move(text), std::move(from), std::move(to),
                            want.child ? fmt::format("File[{}]", want.path) : "", false});
  };
  bool there = s.kind != FileKind::kAbsent;
  FileKind wanted_kind = want.ensure == E::kDirectory ? FileKind::kDirectory
                         : want.ensure == E::kLink    ? FileKind::kLink
                         : want.ensure == E::kFile    ? FileKind::kFile
                                                      : FileKind::kAbsent;
  std::string from(kind_text(s.kind));
  if (want.ensure == E::kAbsent) {
    if (there) add("ensure", "removed", from, "absent");
  } else if (want.ensure == E::kUnset && !there) {
    // nothing said about its being there
  } else if (!there) {
    std::string what = want.content ? fmt::format("defined content as '{}'",
                                                  want.secret ? "[redacted]" : brace(sha256_hex(*want.content)))
                                    : "created";
    std::string to = want.ensure == E::kDirectory ? "directory"
                     : want.ensure == E::kLink    ? "link"
                     : want.ensure == E::kPresent ? "present"
                                                  : "file";
    add("ensure", what, "absent", to);
  } else if (wanted_kind != FileKind::kAbsent && s.kind != wanted_kind) {
    std::string to(kind_text(wanted_kind));
    add("ensure", fmt::format("ensure changed '{}' to '{}'", from, to), from, to);
  } else {
    if (want.content && s.kind == FileKind::kFile && c.params.truth("replace", true)) {
      std::string digest = sha256_hex(*want.content);
      if (digest != s.digest) {
        std::string a = want.secret ? "[redacted]" : brace(s.digest), b = want.secret ? "[redacted]" : brace(digest);
        add("content", fmt::format("content changed '{}' to '{}'", a, b), a, b);
      }
    }
    if (want.ensure == E::kLink && s.target != want.target)
      add("target", fmt::format("target changed '{}' to '{}'", s.target, want.target), s.target, want.target);
    if (!want.owner.empty() && want.owner != s.owner && want.owner != std::to_string(s.uid))
      add("owner", fmt::format("owner changed '{}' to '{}'", s.owner, want.owner), s.owner, want.owner);
    if (!want.group.empty() && want.group != s.group && want.group != std::to_string(s.gid))
      add("group", fmt::format("group changed '{}' to '{}'", s.group, want.group), s.group, want.group);
    if (!want.mode.empty() && s.kind != FileKind::kLink) {
      auto mode = mode_from(want.mode, s.mode, s.kind == FileKind::kDirectory);
      if (!mode) return failure(fmt::format("{} is not a mode", want.mode));
      if (*mode != s.mode) {
        std::string a = mode_text(s.mode), b = mode_text(*mode);
        add("mode",
            fmt::format("mode changed '{}' to '{}'{}", a, b, mode_is_symbolic(want.mode) ? " (" + want.mode + ")" : ""),
            a, b);
      }
    }
  }
  step.want = std::move(want);
  return step;
}

// The children of a directory: those that the source has, and those that only the target has when purging.
Result<void> File::children(Context& c, const Wanted& root, Host& there, const std::string& source, int depth,
                            std::vector<Step>& steps) const {
  using E = Wanted::Ensure;
  if (depth == 0) return {};
  std::vector<std::string> ignore = c.params.list("ignore");
  auto ignored = [&](const std::string& name) {
    return std::any_of(ignore.begin(), ignore.end(),
                       [&](auto& p) { return ::fnmatch(p.c_str(), name.c_str(), 0) == 0; });
  };
  std::vector<std::string> from, here;
  if (!source.empty()) {
    auto names = there.list(source);
    if (!names) return tl::unexpected(names.error());
    from = std::move(*names);
  }
  auto target = c.host.stat(root.path, true, false);
  if (!target) return tl::unexpected(target.error());
  if (target->kind == FileKind::kDirectory && c.params.text("recurse") != "remote") {
    auto names = c.host.list(root.path);
    if (!names) return tl::unexpected(names.error());
    here = std::move(*names);
  }
  std::vector<std::string> all;
  std::set_union(from.begin(), from.end(), here.begin(), here.end(), std::back_inserter(all));
  for (const std::string& name : all) {
    std::string path = root.path + "/" + name;
    if (ignored(name) || c.managed(path)) continue;
    Wanted w;
    w.path = path;
    w.child = true;
    w.mode = root.mode;
    w.owner = root.owner;
    w.group = root.group;
    bool in_source = std::binary_search(from.begin(), from.end(), name);
    std::string child_source;
    bool directory = false;
    if (in_source) {
      child_source = source + "/" + name;
      auto s = there.stat(child_source, c.params.text("links") == "follow", false);
      if (!s) return tl::unexpected(s.error());
      if (s->kind == FileKind::kDirectory) {
        w.ensure = E::kDirectory;
        directory = true;
      } else if (s->kind == FileKind::kLink) {
        w.ensure = E::kLink;
        w.target = s->target;
      } else {
        w.ensure = E::kFile;
        auto bytes = there.read(child_source);
        if (!bytes) return tl::unexpected(bytes.error());
        w.content = std::move(*bytes);
      }
    } else if (c.params.truth("purge")) {
      w.ensure = E::kAbsent;
    } else {
      auto s = c.host.stat(path, false, false);
      if (!s) return tl::unexpected(s.error());
      directory = s->kind == FileKind::kDirectory;
    }
    auto step = compare(c, w);
    if (!step) return tl::unexpected(step.error());
    if (!step->changes.empty()) steps.push_back(std::move(*step));
    if (directory)
      if (auto r = children(c, w, there, child_source, depth - 1, steps); !r) return r;
  }
  return {};
}

Result<Findings> File::examine(Context& c) const {
  using E = Wanted::Ensure;
  auto kept = std::make_shared<Kept>();
  Wanted want = wanted(c.params, c.resource);
  std::string source;
  auto sources = c.params.list("source");
  // A path is the host's own; what a module brings along (puppet:///modules/NAME/PATH) lies on this machine.
  Host* there = &c.host;
  for (auto& s : sources) {
    std::string path = s.starts_with("file:///") ? s.substr(7) : s;
    if (!path.starts_with('/')) {
      auto located = c.locate ? c.locate(s) : std::nullopt;
      if (!located) continue;
      static const std::unique_ptr<Host> kHere = here();
      there = kHere.get();
      path = *located;
    }
    auto st = there->stat(path, true, false);
    if (!st) return tl::unexpected(st.error());
    if (st->kind == FileKind::kAbsent) continue;
    source = path;
    if (st->kind == FileKind::kDirectory) {
      if (want.ensure == E::kUnset || want.ensure == E::kPresent) want.ensure = E::kDirectory;
    } else if (want.ensure != E::kAbsent) {
      auto bytes = there->read(path);
      if (!bytes) return tl::unexpected(bytes.error());
      want.content = std::move(*bytes);
      want.ensure = E::kFile;
    }
    break;
  }
  if (!sources.empty() && source.empty() && want.ensure != E::kAbsent)
    return failure(fmt::format("could not find a source among {}", fmt::join(sources, ", ")), ENOENT);
  auto step = compare(c, want);
  if (!step) return tl::unexpected(step.error());
  kept->steps.push_back(std::move(*step));
  std::string recurse = c.params.text("recurse", "false");
  bool directory =
      want.ensure == E::kDirectory || (want.ensure == E::kUnset && kept->steps[0].is.kind == FileKind::kDirectory);
  if (directory && recurse != "false") {
    int depth = static_cast<int>(c.params.number("recurselimit", 1000));
    if (auto r = children(c, want, *there, source, depth, kept->steps); !r) return tl::unexpected(r.error());
  }
  Findings f;
  for (auto& s : kept->steps) f.changes.insert(f.changes.end(), s.changes.begin(), s.changes.end());
  f.kept = kept;
  return f;
}

// Before a file's content goes: a copy beside it (`backup => '.old'`) or, by its digest, in our own directory.
Result<void> File::keep(Context& c, const std::string& path, const FileState& is) const {
  if (is.kind != FileKind::kFile) return {};
  std::string backup = c.params.text("backup", "puppet");
  if (backup == "false" || backup == "main" || (backup[0] != '.' && c.home.empty())) return {};
  auto bytes = c.host.read(path);
  if (!bytes) return tl::unexpected(bytes.error());
  if (backup[0] == '.') return c.host.write(path + backup, *bytes, is.mode);
  std::string dir = c.home + "/kept";
  auto st = c.host.stat(dir, true, false);
  if (st && st->kind == FileKind::kAbsent)
    if (auto r = c.host.make_directory(dir, 0700); !r && r.error().code != EEXIST) return r;
  std::string to = dir + "/" + sha256_hex(*bytes);
  auto old = c.host.stat(to, true, false);
  if (old && old->kind == FileKind::kFile) return {};
  return c.host.write(to, *bytes, 0600);
}

Result<void> File::make(Context& c, const Step& step) const {
  using E = Wanted::Ensure;
  const Wanted& w = step.want;
  const FileState& is = step.is;
  bool there = is.kind != FileKind::kAbsent;
  auto has = [&](std::string_view p) {
    return std::any_of(step.changes.begin(), step.changes.end(), [&](auto& ch) { return ch.property == p; });
  };
  if (w.ensure == E::kAbsent) {
    if (is.kind == FileKind::kDirectory && !c.params.truth("force") && !w.child)
      return failure(fmt::format("will not remove directory {} without force", w.path));
    if (auto r = keep(c, w.path, is); !r) return r;
    return c.host.remove(w.path, true);
  }
  bool fresh = has("ensure");
  if (fresh && there) {
    if (is.kind == FileKind::kDirectory && !c.params.truth("force"))
      return failure(fmt::format("will not replace directory {} without force", w.path));
    if (auto r = keep(c, w.path, is); !r) return r;
    if (w.ensure != E::kFile || is.kind == FileKind::kDirectory)
      if (auto r = c.host.remove(w.path, true); !r) return r;
  }
  auto mode = [&](u32 base, bool dir) { return w.mode.empty() ? base : mode_from(w.mode, base, dir).value_or(base); };
  if (fresh) {
    switch (w.ensure) {
      case E::kDirectory:
        if (auto r = c.host.make_directory(w.path, mode(0755, true)); !r) return r;
        break;
      case E::kLink:
        if (auto r = c.host.make_link(w.path, w.target); !r) return r;
        break;
      default:
        if (there && is.kind == FileKind::kLink)
          if (auto r = c.host.remove(w.path, false); !r) return r;
        if (auto r = c.host.write(w.path, w.content.value_or(""), mode(0644, false)); !r) return r;
    }
    if (!w.owner.empty() || !w.group.empty()) return c.host.set_owner(w.path, w.owner, w.group, w.ensure != E::kLink);
    return {};
  }
  if (has("content")) {
    if (auto r = keep(c, w.path, is); !r) return r;
    if (auto r = c.host.write(w.path, *w.content, is.mode); !r) return r;
  }
  if (has("target"))
    if (auto r = c.host.make_link(w.path, w.target); !r) return r;
  if (has("owner") || has("group"))
    if (auto r = c.host.set_owner(w.path, has("owner") ? w.owner : "", has("group") ? w.group : "",
                                  is.kind != FileKind::kLink);
        !r)
      return r;
  if (has("mode"))
    if (auto r = c.host.set_mode(w.path, mode(is.mode, is.kind == FileKind::kDirectory)); !r) return r;
  return {};
}

Result<void> File::apply(Context& c, const Findings& f, std::vector<Change>& done) const {
  const auto& kept = *static_cast<const Kept*>(f.kept.get());
  if (c.params.truth("parents")) {
    auto r = c.host.shell("mkdir -p " + shell_quote(parent_of(path_of(c.resource))));
    if (!r.ok()) return failure(r.err.empty() ? r.describe() : r.err);
  }
  for (const Step& step : kept.steps) {
    if (step.changes.empty()) continue;
    if (auto check = c.params.maybe("validate_cmd"); check && step.want.content && !step.want.child) {
      std::string beside = step.want.path + ".tutti-check";
      if (auto r = c.host.write(beside, *step.want.content, 0600); !r) return r;
      std::string command = *check, mark = c.params.text("validate_replacement", "%");
      for (std::size_t at = 0; (at = command.find(mark, at)) != std::string::npos; at += beside.size())
        command.replace(at, mark.size(), beside);
      auto r = c.host.shell(command, std::chrono::minutes(5), c.cancel);
      [[maybe_unused]] auto removed = c.host.remove(beside, false);
      if (!r.ok())
        return failure(fmt::format("the new content does not pass '{}': {} {}", *check, r.describe(), r.err));
    }
    if (auto r = make(c, step); !r) return r;
    done.insert(done.end(), step.changes.begin(), step.changes.end());
  }
  return {};
}

}  // namespace

const Provider& file_provider() {
  static const File provider;
  return provider;
}

}  // namespace tutti::resource
