// file: a file, directory or link, with content, owner, group and mode; directories may be filled from another one.
#include "resource/file/file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>

#include "resource/changes.h"
#include "resource/mode.h"
#include "resource/providers.h"
#include "tree/raw_mark.h"

namespace tutti::resource {
namespace {

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

class File : public Provider {
 public:
  std::string_view type() const override { return "file"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::string check(const Resource& r) const override;
  Result<Findings> examine(Context& c) const override;
  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override;
  Result<Former> keep_former(Context& c, const Findings& f) const override { return former_file(c, f); }
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

std::string no_source(const Context& c, std::vector<std::string> sources) {
  if (!c.catalog) return fmt::format("could not find a source among {}", fmt::join(sources, ", "));
  for (auto& s : sources)
    if (s.starts_with('/')) s = "file://" + s;
  return fmt::format("Could not evaluate: Could not retrieve information from environment production source(s) {}",
                     fmt::join(sources, ", "));
}

Result<Findings> File::examine(Context& c) const {
  using E = WantedFile::Ensure;
  if (const Value* former = c.params.find("former"); former && former->is(Kind::kMap))
    return examine_former_file(c, Params(*former));
  auto kept = std::make_shared<FileFindings>();
  WantedFile want = wanted_file(c.params, c.resource);
  std::vector<FileOrigin> found;
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
  auto step = compare_file(c, want);
  if (!step) return tl::unexpected(step.error());
  kept->steps.push_back(std::move(*step));
  std::string recurse = c.params.text("recurse", "false");
  bool directory =
      want.ensure == E::kDirectory || (want.ensure == E::kUnset && kept->steps[0].is.kind == FileKind::kDirectory);
  if (directory && recurse != "false") {
    int depth = static_cast<int>(c.params.number("recurselimit", 1000));
    if (auto r = compare_children(c, want, found, depth, kept->steps); !r) return tl::unexpected(r.error());
  }
  Findings f;
  for (auto& s : kept->steps) f.changes.insert(f.changes.end(), s.changes.begin(), s.changes.end());
  f.kept = kept;
  return f;
}

// Puppet tells why of the first that is left alone.
bool below_a_failure(Context& c, const WantedFile& want, std::map<std::string, bool>& failed) {
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
  const auto& kept = *static_cast<const FileFindings*>(f.kept.get());
  if (const Value* former = c.params.find("former"); former && former->is(Kind::kMap)) {
    auto r = restore_file(c, Params(*former), kept.steps[0].is);
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
  const FileStep* now = nullptr;
  auto broken = c.broken;
  if (broken)
    c.broken = [&](const Change& change, const Failure& why) {
      failed.emplace(now->want.path, false);
      broken(change, why);
    };
  for (const FileStep& step : kept.steps) {
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
    if (auto r = make_file(c, step, done); !r && !goes_on(c, step.changes[0], r.error())) return r;
  }
  return {};
}

}  // namespace

const Provider& file_provider() {
  static const File provider;
  return provider;
}

}  // namespace tutti::resource
