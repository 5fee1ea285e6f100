// file: a file, directory or link, with content, owner, group and mode; directories may be filled from another one.
#include <fmt/format.h>
#include <fnmatch.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/base64.h"
#include "resource/catalog.h"
#include "resource/changes.h"
#include "resource/mode.h"
#include "resource/providers.h"
#include "transport/host.h"
#include "tree/raw_mark.h"

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

constexpr const char* kBackup = ".puppet-bak";  // what a copy is called where only `true` is said

std::string path_of(const Resource& r) { return managed_as(r); }

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

// A directory that another one is filled from: on the host itself, or on this machine.
struct Origin {
  Host* host;
  std::string path;
};

// How digests are shown. What `checksum` may say beyond these is about when Puppet looks; here contents are compared.
std::string digest_word(const Context& c) {
  std::string word = c.params.text("checksum", "sha256");
  static constexpr std::string_view kDigests[] = {"md5", "md5lite", "sha1", "sha224", "sha256lite", "sha384", "sha512"};
  return std::find(std::begin(kDigests), std::end(kDigests), word) == std::end(kDigests) ? "sha256" : word;
}

std::string digest_of(std::string word, std::string_view bytes) {
  if (word.ends_with("lite")) {
    word.resize(word.size() - 4);
    bytes = bytes.substr(0, 512);
  }
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const EVP_MD* how = ::EVP_get_digestbyname(word.c_str());
  if (!how || ::EVP_Digest(bytes.data(), bytes.size(), out, &size, how, nullptr) != 1) return "";
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", out[i]);
  return hex;
}

std::string brace(const Context& c, std::string_view bytes) {
  std::string word = digest_word(c);
  return fmt::format("{{{}}}{}", word, digest_of(word, bytes));
}

class File : public Provider {
 public:
  std::string_view type() const override { return "file"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::string check(const Resource& r) const override;
  Result<Findings> examine(Context& c) const override;
  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override;
  Result<Former> keep_former(Context& c, const Findings& f) const override;
  // In Puppet's words, so that what it recorded and what we record read alike.
  Result<std::optional<std::string>> current(Context& c, std::string_view property) const override {
    auto is = c.host.stat(path_of(c.resource), c.params.text("links") == "follow", property == "content");
    if (!is) return tl::unexpected(is.error());
    using Text = std::optional<std::string>;
    if (is->kind == FileKind::kAbsent) return Text("absent");
    if (property == "content") return is->kind == FileKind::kFile ? Text("{sha256}" + is->digest) : std::nullopt;
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
      if (std::string path = s.starts_with("file:///") ? s.substr(7) : s; path.starts_with('/')) {
        while (path.size() > 1 && path.ends_with('/')) path.pop_back();
        out.push_back("file:" + path);
      }
    return out;
  }
  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    Params p(r.parameters);
    std::vector<std::pair<std::string, std::string>> out;
    // The nearest parent that is managed: the caller takes the first that exists among several.
    for (std::string at = path_of(r); at.size() > 1;) {
      at = parent_of(at);
      out.emplace_back("file", at);
      out.emplace_back("mount", at);
    }
    if (p.has("target")) out.emplace_back("file", p.text("target"));
    if (p.has("owner")) out.emplace_back("user", p.text("owner"));
    if (p.has("group")) out.emplace_back("group", p.text("group"));
    return out;
  }

 private:
  Result<Step> compare(Context& c, Wanted want) const;
  Result<void> children(Context& c, const Wanted& root, const std::vector<Origin>& sources, int depth,
                        std::vector<Step>& steps) const;
  Result<void> make(Context& c, const Step& step, std::vector<Change>& done) const;
  Result<void> create(Context& c, const Step& step, std::vector<Change>& done) const;
  static bool below_a_failure(Context& c, const Wanted& want, std::map<std::string, bool>& failed);
  static void keep_directory(Context& c, const Step& step);
  static Result<void> leave_directory(Context& c, const Step& step);
  Result<void> keep(Context& c, const std::string& path, const FileState& is) const;
  static Result<std::string> keep_copy(Context& c, const std::string& path);
  Result<Findings> examine_former(Context& c, const Params& former) const;
  Result<void> restore(Context& c, const Params& former, const FileState& is) const;
};

std::string File::check(const Resource& r) const {
  Params p(r.parameters);
  std::string path = path_of(r);
  if (path.empty() || path[0] != '/') return fmt::format("File paths must be fully qualified, not '{}'", path);
  static constexpr Rule kRules[] = {
      {"recurse", "true false remote =inf"},
      {"links", "follow manage"},
      {"purge", kTruthWords},
      {"force", kTruthWords},
      {"replace", kTruthWords},
      {"show_diff", kTruthWords},
      {"sourceselect", "first all"},
      {"source_permissions", "use use_when_creating ignore"},
      {"checksum", "sha256 sha256lite md5 md5lite sha1 sha1lite sha512 sha384 sha224 mtime ctime none"},
      {"recurselimit", kNaturalWord},
      {"max_files", kNumberWord}};
  if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
  for (const char* name : {"ctime", "mtime", "type"})
    if (p.has(name)) return fmt::format("{} is read-only", name);
  if (auto cmd = p.maybe("validate_cmd"); cmd && cmd->find(p.text("validate_replacement", "%")) == std::string::npos)
    return fmt::format("validate_cmd: \"{}\" does not say where the file's name goes ({})", *cmd,
                       p.text("validate_replacement", "%"));
  int given = p.has("content") + p.has("source") + p.has("target");
  if (given > 1) return "You cannot specify more than one of content, source, target";
  if (p.text("recurse") == "remote" && !p.has("source"))
    return "You cannot specify a remote recursion without a source";
  if (std::string sum = p.text("checksum"); sum == "none" && p.has("source"))
    return "You cannot specify source when using checksum 'none'";
  else if ((sum == "none" || sum == "mtime" || sum == "ctime") && p.has("content"))
    return fmt::format("You cannot specify content when using checksum '{}'", sum);
  // A number has lost what it was written like: 0644 is 420 in Puppet.
  if (const Value* m = p.find("mode"); m && !m->is(Kind::kString))
    return "mode: The file mode specification must be a string, not 'Integer'";
  if (auto m = p.maybe("mode"); m && !is_mode(*m))
    return fmt::format("mode: The file mode specification is invalid: \"{}\"", *m);
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
    const Entry* bytes = content->is(Kind::kMap) ? content->find("__pvalue") : nullptr;  // Puppet's Binary
    w.content = bytes ? base64_decode(text_of(bytes->value)).value_or("") : text_of(*content);
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

// "{sha256}2cf2..." as the content of a catalog's file is a checksum, as in Puppet.
bool is_checksum(std::string_view text) {
  static constexpr std::pair<std::string_view, std::size_t> kSums[] = {
      {"{md5}", 32}, {"{sha1}", 40}, {"{sha224}", 56}, {"{sha256}", 64}, {"{sha384}", 96}, {"{sha512}", 128}};
  return std::any_of(std::begin(kSums), std::end(kSums), [&](auto& sum) {
    return text.starts_with(sum.first) && text.size() == sum.first.size() + sum.second &&
           text.find_first_not_of("0123456789abcdef", sum.first.size()) == std::string_view::npos;
  });
}

Result<Step> File::compare(Context& c, Wanted want) const {
  using E = Wanted::Ensure;
  Step step;
  if (c.catalog && want.content && !want.child && is_checksum(*want.content)) {
    auto now = c.host.stat(want.path, c.params.text("links") == "follow", true);
    if (!now) return tl::unexpected(now.error());
    if (now->kind != FileKind::kFile || "{sha256}" + now->digest != *want.content)
      return failure(fmt::format("content {} is a checksum of what is in no filebucket here", *want.content));
    want.content.reset();
  }
  bool follow = c.params.text("links") == "follow";
  auto is = c.host.stat(want.path, follow, want.content.has_value());
  if (!is) return tl::unexpected(is.error());
  step.is = std::move(*is);
  const FileState& s = step.is;
  auto add = [&](std::string property, std::string text, std::string from, std::string to) {
    step.changes.push_back({std::move(property), std::move(text), std::move(from), std::move(to),
                            want.child ? fmt::format("File[{}]", want.path) : "", false});
  };
  // Numbers are shown without quotes.
  auto change_id = [&](const char* property, const std::string& from, const std::string& to) {
    bool number = to.find_first_not_of("0123456789") == std::string::npos;
    add(property, fmt::format("{0} changed '{1}' to {3}{2}{3}", property, from, to, number ? "" : "'"), from, to);
    step.changes.back().bare_to = number;
  };
  bool there = s.kind != FileKind::kAbsent;
  FileKind wanted_kind = want.ensure == E::kDirectory ? FileKind::kDirectory
                         : want.ensure == E::kLink    ? FileKind::kLink
                         : want.ensure == E::kFile    ? FileKind::kFile
                                                      : FileKind::kAbsent;
  if (s.kind == FileKind::kOther && (wanted_kind != FileKind::kAbsent || want.content))
    return failure(fmt::format("{} is neither a file nor a directory nor a link, and is left", want.path));
  std::string from(kind_text(s.kind));
  bool replace = c.params.truth("replace", true);  // without it what is there stays, whatever it is
  if (want.ensure == E::kPresent && want.content && there && s.kind != FileKind::kFile)
    c.say(Level::kWarning,
          fmt::format(": Ensure set to :present but file type is {} so no content will be synced", from));
  if (want.ensure == E::kAbsent) {
    if (there && replace) add("ensure", "removed", from, "absent");
  } else if (want.ensure == E::kUnset && !there) {
    // nothing said about its being there
  } else if (!there) {
    std::string what = want.secret    ? "changed [redacted] to [redacted]"
                       : want.content ? fmt::format("defined content as '{}'", brace(c, *want.content))
                                      : "created";
    std::string to = want.ensure == E::kDirectory ? "directory"
                     : want.ensure == E::kLink    ? "link"
                     : want.ensure == E::kPresent ? "present"
                                                  : "file";
    add("ensure", what, "absent", to);
  } else if (wanted_kind != FileKind::kAbsent && s.kind != wanted_kind && replace) {
    std::string to(kind_text(wanted_kind));
    bool content = want.content && !want.secret;
    add("ensure",
        content ? fmt::format("defined content as '{}'", brace(c, *want.content))
                : fmt::format("ensure changed '{}' to '{}'", from, to),
        from, to);
  } else {
    if (want.content && s.kind == FileKind::kFile && replace) {
      if (sha256_hex(*want.content) != s.digest) {
        if (want.secret) {
          add("content", "changed [redacted] to [redacted]", "[redacted]", "[redacted]");
        } else {
          auto old = digest_word(c) == "sha256" ? Result<std::string>("") : c.host.read(want.path);
          if (!old) return tl::unexpected(old.error());
          std::string a = digest_word(c) == "sha256" ? "{sha256}" + s.digest : brace(c, *old),
                      b = brace(c, *want.content);
          add("content", fmt::format("content changed '{}' to '{}'", a, b), a, b);
        }
      }
    }
    if (want.ensure == E::kLink && s.kind == FileKind::kLink && s.target != want.target)
      add("target", fmt::format("target changed '{}' to '{}'", s.target, want.target), s.target, want.target);
    if (!want.owner.empty() && want.owner != s.owner && want.owner != std::to_string(s.uid))
      change_id("owner", s.owner, want.owner);
    if (!want.group.empty() && want.group != s.group && want.group != std::to_string(s.gid))
      change_id("group", s.group, want.group);
    if (!want.mode.empty() && s.kind != FileKind::kLink) {
      auto mode = mode_from(want.mode, s.mode, s.kind == FileKind::kDirectory);
      if (!mode) {
        add("mode", "", mode_text(s.mode), want.mode);  // it fails when it is made, as in Puppet
      } else if (*mode != s.mode) {
        std::string a = mode_text(s.mode), b = mode_text(*mode);
        add("mode",
            fmt::format("mode changed '{}' to '{}'{}", a, b, mode_is_symbolic(want.mode) ? " (" + want.mode + ")" : ""),
            a, mode_is_symbolic(want.mode) ? want.mode : b);
      }
    }
  }
  step.want = std::move(want);
  return step;
}

// With `source_permissions` owner, group and mode that are not said come from the source.
Result<void> take_permissions(Context& c, const FileState& source, Wanted& want) {
  std::string how = c.params.text("source_permissions", "ignore");
  if (how == "ignore") return {};
  if (how == "use_when_creating") {
    auto is = c.host.stat(want.path, false, false);
    if (!is) return tl::unexpected(is.error());
    if (is->kind != FileKind::kAbsent) return {};
  }
  if (!c.params.has("owner")) want.owner = std::to_string(source.uid);
  if (!c.params.has("group")) want.group = std::to_string(source.gid);
  if (!c.params.has("mode")) want.mode = mode_text(source.mode);
  return {};
}

// What Puppet can and we cannot is said, not left out.
Result<void> not_done_here(Context& c) {
  if (c.params.has("staging_location")) return failure("staging_location cannot be done: files are written in place");
  for (const char* label : {"seluser", "selrole", "seltype", "selrange"}) {
    if (!c.params.has(label)) continue;
    auto s = c.host.stat("/sys/fs/selinux/enforce", true, false);  // without SELinux there is nothing to set
    if (!s) return tl::unexpected(s.error());
    if (s->kind != FileKind::kAbsent) return failure(fmt::format("{} cannot be set: SELinux is not managed", label));
  }
  return {};
}

// The children of a directory: those that the source has, and those that only the target has when purging.
Result<void> File::children(Context& c, const Wanted& root, const std::vector<Origin>& sources, int depth,
                            std::vector<Step>& steps) const {
  using E = Wanted::Ensure;
  if (depth == 0) return {};
  std::vector<std::string> ignore = c.params.list("ignore");
  auto ignored = [&](const std::string& name) {
    if (name.find(kUnfinished) != std::string::npos) return true;  // another is just writing it
    return std::any_of(ignore.begin(), ignore.end(),
                       [&](auto& p) { return ::fnmatch(p.c_str(), name.c_str(), 0) == 0; });
  };
  std::map<std::string, std::vector<const Origin*>> offered;  // by whom, the first one counts
  std::vector<std::string> from, here;
  for (const Origin& source : sources) {
    auto names = source.host->list(source.path);
    if (!names) return tl::unexpected(names.error());
    for (auto& name : *names) offered[name].push_back(&source);
  }
  for (auto& [name, by] : offered) from.push_back(name);
  auto target = c.host.stat(root.path, true, false);
  if (!target) return tl::unexpected(target.error());
  if (target->kind == FileKind::kDirectory && c.params.text("recurse") != "remote") {
    auto names = c.host.list(root.path);
    if (!names) return tl::unexpected(names.error());
    here = std::move(*names);
  }
  std::vector<std::string> all;
  std::set_union(from.begin(), from.end(), here.begin(), here.end(), std::back_inserter(all));
  if (std::string wrong = too_many_files(c.params, root.path, all.size()); !wrong.empty()) return failure(wrong);
  for (const std::string& name : all) {
    std::string path = root.path + "/" + name;
    if (ignored(name) || c.managed(path)) continue;
    Wanted w;
    w.path = path;
    w.child = true;
    w.mode = root.mode;
    w.owner = root.owner;
    w.group = root.group;
    std::vector<Origin> child_sources;
    bool directory = false;
    if (auto by = offered.find(name); by != offered.end()) {
      Host& there = *by->second[0]->host;
      std::string child_source = by->second[0]->path + "/" + name;
      auto s = there.stat(child_source, c.params.text("links") == "follow", false);
      if (!s) return tl::unexpected(s.error());
      if (auto r = take_permissions(c, *s, w); !r) return tl::unexpected(r.error());
      if (s->kind == FileKind::kDirectory) {
        w.ensure = E::kDirectory;
        directory = true;
        for (const Origin* source : by->second) {
          Origin below{source->host, source->path + "/" + name};
          auto kind = below.host->stat(below.path, true, false);
          if (!kind) return tl::unexpected(kind.error());
          if (kind->kind == FileKind::kDirectory) child_sources.push_back(std::move(below));
        }
      } else if (s->kind == FileKind::kLink) {
        w.ensure = E::kLink;
        w.target = s->target;
      } else {
        w.ensure = E::kFile;
        auto bytes = there.read(child_source);
        if (!bytes) return tl::unexpected(bytes.error());
        w.content = std::move(*bytes);
      }
    } else {
      auto s = c.host.stat(path, false, false);
      if (!s) return tl::unexpected(s.error());
      directory = s->kind == FileKind::kDirectory;
      // What others have in a directory keeps that, too.
      std::string other = c.params.truth("purge") ? c.elsewhere(path, directory) : "";
      if (!other.empty())
        c.say(Level::kWarning,
              fmt::format("{} is not purged: {} has {}", path, other, directory ? "files in it" : "it"));
      if (c.params.truth("purge") && other.empty() && !(directory && c.managed_below(path))) {
        w.ensure = E::kAbsent;
        directory = directory && !c.params.truth("force");  // it stays; what is in it goes
      }
    }
    auto step = compare(c, w);
    if (!step) return tl::unexpected(step.error());
    // A directory in place of which a file is wanted stays with what is in it, which Puppet tells, too.
    directory = directory || (c.catalog && w.ensure == E::kFile && step->is.kind == FileKind::kDirectory &&
                              !c.params.truth("force"));
    // A directory that goes when it is empty comes after what is in it.
    bool last = w.ensure == E::kAbsent && !c.catalog;
    if (!step->changes.empty() && !last) steps.push_back(*step);
    if (directory)
      if (auto r = children(c, w, child_sources, depth - 1, steps); !r) return r;
    if (!step->changes.empty() && last) steps.push_back(std::move(*step));
  }
  return {};
}

std::string no_source(const Context& c, std::vector<std::string> sources) {
  if (!c.catalog) return fmt::format("could not find a source among {}", fmt::join(sources, ", "));
  for (auto& s : sources)
    if (s.starts_with('/')) s = "file://" + s;
  return fmt::format("Could not evaluate: Could not retrieve information from environment production source(s) {}",
                     fmt::join(sources, ", "));
}

// As Puppet shows an error of Ruby's that kept something from being made. What could not be found is told as it is.
Failure in_rubys_words(const Wanted& w, bool writes, const Failure& why) {
  using E = Wanted::Ensure;
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

Result<Findings> File::examine(Context& c) const {
  using E = Wanted::Ensure;
  if (const Value* former = c.params.find("former"); former && former->is(Kind::kMap))
    return examine_former(c, Params(*former));
  auto kept = std::make_shared<Kept>();
  Wanted want = wanted(c.params, c.resource);
  std::vector<Origin> found;
  auto sources = c.params.list("source");
  bool all = c.params.text("sourceselect") == "all" && c.params.text("recurse", "false") != "false";
  if (auto no = not_done_here(c); !no) return tl::unexpected(no.error());
  // A path is the host's own; what a module brings along (puppet:///modules/NAME/PATH) lies on this machine.
  for (auto& s : sources) {
    Host* there = &c.host;
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
    // Puppet copies a link as a link, whatever `ensure` says, unless `links` is `follow`.
    if (c.params.text("links") != "follow") {
      st = there->stat(path, false, false);
      if (!st) return tl::unexpected(st.error());
    }
    found.push_back({there, path});
    if (found.size() > 1) continue;
    if (auto r = take_permissions(c, *st, want); !r) return tl::unexpected(r.error());
    if (st->kind == FileKind::kLink) {
      if (want.ensure != E::kAbsent) want.ensure = E::kLink;
      want.target = st->target;
    } else if (st->kind == FileKind::kDirectory) {
      if (want.ensure != E::kAbsent) want.ensure = E::kDirectory;
    } else if (want.ensure != E::kAbsent) {
      auto bytes = there->read(path);
      if (!bytes) return tl::unexpected(bytes.error());
      want.content = std::move(*bytes);
      want.ensure = E::kFile;
    }
    if (!all) break;
  }
  if (!sources.empty() && found.empty() && want.ensure != E::kAbsent) return failure(no_source(c, sources), ENOENT);
  if (auto sum = c.params.maybe("checksum_value"); sum && want.content)
    if (std::string is = digest_of(digest_word(c), *want.content); is != *sum)
      return failure(fmt::format("the new content has the checksum {}, not {} as checksum_value says", is, *sum));
  auto step = compare(c, want);
  if (!step) return tl::unexpected(step.error());
  kept->steps.push_back(std::move(*step));
  std::string recurse = c.params.text("recurse", "false");
  bool directory =
      want.ensure == E::kDirectory || (want.ensure == E::kUnset && kept->steps[0].is.kind == FileKind::kDirectory);
  if (directory && recurse != "false") {
    int depth = static_cast<int>(c.params.number("recurselimit", 1000));
    if (auto r = children(c, want, found, depth, kept->steps); !r) return tl::unexpected(r.error());
  }
  Findings f;
  for (auto& s : kept->steps) f.changes.insert(f.changes.end(), s.changes.begin(), s.changes.end());
  f.kept = kept;
  return f;
}

// Whoever gets a file gets it without set-user-ID and set-group-ID: a mode that is asked for is set once more. Where
// the file that has the name cannot be trusted to be the one that is meant, it is written anew for its owner.
Result<void> own(Context& c, const Wanted& w, const Ownership& owned, bool link, u32 mode) {
  auto r = c.host.set_owner(w.path, owned, !link);
  if (!r && r.error().code == kUntrusted && w.content && !link)
    return c.host.write(w.path, *w.content, mode, {w.owner, w.group});
  return r && !link && !w.mode.empty() && (mode & 06000) ? c.host.set_mode(w.path, mode) : r;
}

Result<void> allow(Context& c, const Wanted& w, bool link, u32 mode) {
  auto r = c.host.set_mode(w.path, mode);
  if (!r && r.error().code == kUntrusted && w.content && !link)
    return c.host.write(w.path, *w.content, mode, {w.owner, w.group});
  return r;
}

// For its owner from the first moment. Puppet changes the content of a file also where there is no such owner.
Result<void> write_content(Context& c, const Wanted& w, u32 mode) {
  auto r = c.host.write(w.path, *w.content, mode, {w.owner, w.group});
  if (!r && c.catalog && r.error().message.starts_with("Could not find")) r = c.host.write(w.path, *w.content, mode);
  return r;
}

// Before something goes: a copy beside it (`backup => '.old'`) or, by its digest, in our own directory; of a directory
// all files in it.
Result<void> File::keep(Context& c, const std::string& path, const FileState& is) const {
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
      if (auto r = keep(c, inner, *s); !r) return r;
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

// By its digest in our own directory, with a line of its own that tells which it is; its name there.
Result<std::string> File::keep_copy(Context& c, const std::string& path) {
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

// A link, or a file with its content, in place of which something else is to come, or which is to be otherwise; of a
// directory that stays one its mode and owner.
Result<Former> File::keep_former(Context& c, const Findings& f) const {
  if (c.params.has("former") || c.params.text("ensure") == "absent") return Former{};
  const Step& step = static_cast<const Kept*>(f.kept.get())->steps[0];
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

Result<Findings> File::examine_former(Context& c, const Params& former) const {
  auto kept = std::make_shared<Kept>();
  Step step;
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
Result<void> File::restore(Context& c, const Params& former, const FileState& is) const {
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

void File::keep_directory(Context& c, const Step& step) {
  std::string subject = step.changes[0].subject.empty() ? "" : "=" + step.changes[0].subject;
  if (std::string backup = c.params.text("backup", "false"); backup != "false")
    c.say(Level::kWarning, subject + ": Could not back up file of type directory");
  c.say(Level::kNotice, subject + ": Not removing directory; use 'force' to override");
}

// Without `force`: a catalog's stays, and Puppet says so and counts it as removed; any other goes when it is empty.
Result<void> File::leave_directory(Context& c, const Step& step) {
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
bool is_kept(const Context& c, const Step& step) {
  return !c.catalog && !step.want.child && step.is.kind == FileKind::kFile && !c.params.text("backup").starts_with('.');
}

// What is not there, or is something else.
Result<void> File::create(Context& c, const Step& step, std::vector<Change>& done) const {
  using E = Wanted::Ensure;
  const Wanted& w = step.want;
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
    if (auto r = is_kept(c, step) ? Result<void>{} : keep(c, w.path, is); !r) return r;
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

Result<void> File::make(Context& c, const Step& step, std::vector<Change>& done) const {
  using E = Wanted::Ensure;
  const Wanted& w = step.want;
  const FileState& is = step.is;
  auto all_done = [&](Result<void> r) {
    if (r) done.insert(done.end(), step.changes.begin(), step.changes.end());
    return r;
  };
  if (w.ensure == E::kAbsent && is.kind != FileKind::kAbsent && step.changes[0].property == "ensure") {
    bool left = is.kind == FileKind::kDirectory &&
                (!c.params.truth("force") || c.managed_below(w.path) || !c.elsewhere(w.path, true).empty());
    Result<void> gone = left ? leave_directory(c, step) : keep(c, w.path, is);
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
      if (!is_kept(c, step)) r = keep(c, w.path, is);
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

// Puppet tells why of the first that is left alone.
bool File::below_a_failure(Context& c, const Wanted& want, std::map<std::string, bool>& failed) {
  for (std::string at = want.path; at.size() > 1;) {
    at = parent_of(at);
    auto it = failed.find(at);
    if (it == failed.end()) continue;
    std::string self = fmt::format("=File[{}]: ", want.path);
    if (!it->second) c.say(Level::kNotice, fmt::format("{}Dependency File[{}] has failures: true", self, at));
    it->second = true;
    c.say(Level::kWarning, self + "Skipping because of failed dependencies");
    return true;
  }
  return false;
}

Result<void> File::apply(Context& c, const Findings& f, std::vector<Change>& done) const {
  const auto& kept = *static_cast<const Kept*>(f.kept.get());
  if (const Value* former = c.params.find("former"); former && former->is(Kind::kMap)) {
    auto r = restore(c, Params(*former), kept.steps[0].is);
    if (r) done = f.changes;
    return r;
  }
  if (c.params.truth("parents")) {
    std::string parent = parent_of(path_of(c.resource));
    auto there = c.host.stat(parent, true, false);
    if (!there) return tl::unexpected(there.error());
    if (there->kind != FileKind::kDirectory)
      if (auto r = c.host.make_parents(path_of(c.resource)); !r) return r;
  }
  // What is below a directory comes after it: where that could not be made what it should be, it is left alone.
  std::map<std::string, bool> failed;  // by path: whether it has been told why others are left alone
  const Step* now = nullptr;
  auto broken = c.broken;
  if (broken)
    c.broken = [&](const Change& change, const Failure& why) {
      failed.emplace(now->want.path, false);
      broken(change, why);
    };
  for (const Step& step : kept.steps) {
    if (step.changes.empty() || (!failed.empty() && below_a_failure(c, step.want, failed))) continue;
    now = &step;
    if (auto check = c.params.maybe("validate_cmd"); check && step.want.content && !step.want.child) {
      // Put into the command's text as it is, so it must be one plain word; another path's content is checked
      // elsewhere.
      std::string beside = step.want.path + ".tutti-check";
      if (!is_plain_word(beside)) beside = fmt::format("{}/check-{}", c.home, sha256_hex(beside).substr(0, 16));
      if (!is_plain_word(beside)) return failure(fmt::format("{} cannot be put into validate_cmd", beside), EINVAL);
      if (auto r = c.host.make_parents(beside); !r) return r;
      if (auto r = c.host.write(beside, *step.want.content, 0600); !r) return r;
      std::string command = *check, mark = c.params.text("validate_replacement", "%");
      for (std::size_t at = 0; (at = command.find(mark, at)) != std::string::npos; at += beside.size())
        command.replace(at, mark.size(), beside);
      auto r = c.host.shell(command, std::chrono::minutes(5), c.cancel);
      [[maybe_unused]] auto removed = c.host.remove(beside, false);
      if (!r.ok()) return failure(fmt::format("Execution of '{}' returned {}: {}{}", command, r.code, r.out, r.err));
    }
    if (auto r = make(c, step, done); !r && !goes_on(c, step.changes[0], r.error())) return r;
  }
  return {};
}

}  // namespace

const Provider& file_provider() {
  static const File provider;
  return provider;
}

}  // namespace tutti::resource
