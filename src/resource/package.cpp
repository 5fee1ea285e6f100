// package: by dpkg and apt. The list of what is installed is read once and again only when dpkg's status file has
// changed, so that many packages cost no more than one.
#include <fmt/format.h>

#include <algorithm>

#include "resource/changes.h"
#include "resource/former.h"
#include "resource/providers.h"

namespace tutti::resource {
namespace {

constexpr std::string_view kParameters[] = {
    "ensure",      "provider",         "source",      "install_options", "uninstall_options",
    "configfiles", "responsefile",     "mark",        "allow_virtual",   "reinstall_on_refresh",
    "adminfile",   "flavor",           "category",    "platform",        "root",
    "vendor",      "package_settings", "description", "instance",        "status",
    "enable_only", "allowcdrom",       "command",     "install_only"};

constexpr std::string_view kFormat = "-f=${binary:Package}\t${Version}\t${db:Status-Abbrev}\n";

struct Installed {
  std::string stamp;
  std::map<std::string, std::pair<std::string, std::string>> packages;  // name -> version, state ("ii", "rc", "hi")
};

Result<std::shared_ptr<const Installed>> installed(Host& host) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Installed>> known;
  auto st = host.stat("/var/lib/dpkg/status", true, false);
  if (!st) return tl::unexpected(st.error());
  std::string stamp = fmt::format("{}/{}", st->mtime, st->size);
  std::lock_guard lock(mutex);
  auto& slot = known[std::string(host.name())];
  if (slot && slot->stamp == stamp) return slot;
  Command k;
  k.argv = {"dpkg-query", "-W", std::string(kFormat)};
  k.most_output = u64{64} << 20;
  auto r = host.run(k);
  if (!r.ok()) return failure(fmt::format("dpkg-query: {} {}", r.describe(), r.err));
  auto fresh = std::make_shared<Installed>();
  fresh->stamp = stamp;
  for (std::size_t at = 0; at < r.out.size();) {
    std::size_t end = std::min(r.out.find('\n', at), r.out.size());
    std::string_view line(r.out.data() + at, end - at);
    at = end + 1;
    std::size_t a = line.find('\t'), b = line.rfind('\t');
    if (a == std::string_view::npos || a == b) continue;
    std::string name(line.substr(0, a));
    auto entry = std::pair(std::string(line.substr(a + 1, b - a - 1)), std::string(line.substr(b + 1, 2)));
    fresh->packages[name] = entry;
    std::size_t colon = name.find(':');  // libc6:amd64 is found as libc6 too
    if (colon != std::string::npos) fresh->packages.try_emplace(name.substr(0, colon), entry);
  }
  slot = fresh;
  return slot;
}

// ">=1.0 <2": each condition a sign and a version; empty when it is no range.
std::vector<std::pair<std::string, std::string>> range_of(const std::string& ensure) {
  std::vector<std::pair<std::string, std::string>> out;
  if (ensure.empty() || std::string_view("<>=").find(ensure[0]) == std::string_view::npos) return out;
  for (std::size_t at = 0; at < ensure.size();) {
    std::size_t sign = ensure.find_first_of("<>=", at);
    if (sign == std::string::npos) break;
    std::size_t version = ensure.find_first_not_of("<>= ", sign),
                end = std::min(ensure.find(' ', version), ensure.size());
    if (version == std::string::npos) break;
    std::string how = ensure.substr(sign, version - sign);
    how.erase(std::remove(how.begin(), how.end(), ' '), how.end());
    out.emplace_back(how, ensure.substr(version, end - version));
    at = end;
  }
  return out;
}

// Options may be words or maps of a name and its value: --name=value.
std::vector<std::string> options_of(const Value* given) {
  std::vector<std::string> out;
  if (!given) return out;
  auto one = [&](const Value& v) {
    if (v.is(Kind::kMap))
      for (const Entry& e : v.entries()) out.push_back(fmt::format("{}={}", e.key.text(), text_of(e.value)));
    else
      out.push_back(text_of(v));
  };
  if (given->is(Kind::kList))
    for (const Value& v : given->items()) one(v);
  else
    one(*given);
  return out;
}

class Package : public Provider {
 public:
  std::string_view type() const override { return "package"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  bool minds() const override { return true; }  // and does nothing: apt installs nothing again
  std::string_view exclusive() const override { return "packages"; }

  std::string check(const Resource& r) const override {
    static constexpr Rule kRules[] = {{"configfiles", "keep replace"},
                                      {"mark", "hold none"},
                                      {"allowcdrom", "true false"},
                                      {"reinstall_on_refresh", "true false"},
                                      {"allow_virtual", kTruthWords}};
    Params p(r.parameters);
    if (std::string wrong = wrong_name(r); !wrong.empty()) return wrong;
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    std::string ensure = p.text("ensure", "present");
    if (ensure.empty()) return "ensure: Invalid value \"\".";
    if (p.text("mark") == "hold" && (ensure == "absent" || ensure == "purged"))
      return "You cannot use \"mark\" property while \"ensure\" is one of [\"absent\", \"purged\"]";
    return "";
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto all = installed(c.host);
    if (!all) return tl::unexpected(all.error());
    std::string ensure = c.params.text("ensure", "present");
    auto name = real_name(c, **all);
    if (!name) return tl::unexpected(name.error());
    auto it = (*all)->packages.find(*name);
    std::string version, state = "un";
    if (it != (*all)->packages.end()) version = it->second.first, state = it->second.second;
    bool there = state.size() == 2 && state[1] == 'i';
    std::string is = there ? version : state[1] == 'c' ? "absent" : "purged";
    auto add = [&](std::string text, std::string to) {
      const Value* wanted = c.params.find("ensure");
      bool bare = wanted && wanted->is(Kind::kBool);
      f.changes.push_back({"ensure", std::move(text), is, std::move(to), "", false, false, bare});
    };
    if (ensure == "present" || ensure == "installed") {
      if (!there) add("created", "present");
    } else if (ensure == "absent") {
      if (there) add("removed", "absent");
    } else if (ensure == "purged") {
      if (there || state[1] == 'c') add("purged", "purged");
    } else if (ensure == "held") {
      if (state[0] != 'h') add("ensure changed to 'held'", "held");
    } else if (ensure == "latest") {
      auto r = c.host.shell("LC_ALL=C apt-cache policy " + shell_quote(*name), std::chrono::minutes(2), c.cancel);
      std::string candidate;
      if (std::size_t at = r.out.find("Candidate: "); at != std::string::npos)
        candidate = r.out.substr(at + 11, r.out.find('\n', at) - at - 11);
      if (!there || (!candidate.empty() && candidate != "(none)" && candidate != version))
        add(there ? fmt::format("ensure changed '{}' to '{}'", version, candidate) : "created",
            candidate.empty() ? "latest" : candidate);
    } else if (auto range = range_of(ensure); !range.empty()) {
      auto fits = there ? within(c, version, range) : Result<bool>(false);
      if (!fits) return tl::unexpected(fits.error());
      if (!*fits) add(there ? fmt::format("ensure changed '{}' to '{}'", version, ensure) : "created", ensure);
    } else if (!there || version != ensure) {
      add(there ? fmt::format("ensure changed '{}' to '{}'", version, ensure) : "created", ensure);
    }
    if (auto mark = c.params.maybe("mark"); mark && there)
      if (std::string now = state[0] == 'h' ? "hold" : "none"; now != *mark)
        f.changes.push_back(property_change("mark", {now}, {*mark}));
    return f;
  }

  // Another version of it stays as it is: an older one cannot be had again in general.
  Result<Former> keep_former(Context& c, const Findings& f) const override {
    return was_there(c, f) ? Former{{"ensure!", "present"}} : Former{};
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    auto all = installed(c.host);
    if (!all) return tl::unexpected(all.error());
    auto name = real_name(c, **all);
    if (!name) return tl::unexpected(name.error());
    auto it = (*all)->packages.find(*name);
    bool held = it != (*all)->packages.end() && it->second.second[0] == 'h';
    auto lock = exclusive_use(c.host, exclusive());
    for (const Change& ch : f.changes) {
      Result<void> r;
      if (ch.property == "mark")
        r = run(c, {"apt-mark", ch.to == "hold" ? "hold" : "unhold", *name});
      else
        r = bring(c, *name, held);
      if (r && ch.property == "ensure") r = brought(c, *name);
      if (!r) return r;
      if (ch.property == "ensure" && c.params.text("mark") == "hold")
        if (auto again = run(c, {"apt-mark", "hold", *name}); !again) return again;
      done.push_back(ch);
    }
    return {};
  }

  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    std::vector<std::pair<std::string, std::string>> out;
    for (const char* name : {"source", "responsefile", "adminfile"})
      if (auto path = Params(r.parameters).maybe(name)) out.emplace_back("file", *path);
    return out;
  }

 private:
  static Result<void> run(Context& c, std::vector<std::string> argv) {
    Command k;
    k.argv = std::move(argv);
    k.environment = {{"DEBIAN_FRONTEND", "noninteractive"},
                     {"APT_LISTBUGS_FRONTEND", "none"},
                     {"APT_LISTCHANGES_FRONTEND", "none"},
                     {"LC_ALL", "C"}};
    k.cancel = c.cancel;
    k.timeout = std::chrono::hours(1);
    auto r = c.host.run(k);
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    if (!r.ok())
      return failure(
          fmt::format("{} of {}: {} {}", k.argv[0], k.argv.back(), r.describe(), r.err.empty() ? r.out : r.err));
    return {};
  }

  // With `allow_virtual` a name that no package has may stand for the one that provides it.
  static Result<std::string> real_name(Context& c, const Installed& all) {
    std::string name = c.params.text("name", c.resource.title);
    if (!c.params.truth("allow_virtual") || all.packages.count(name)) return name;
    Command k;
    k.argv = {"dpkg-query", "-W", "-f=${Package} ${db:Status-Abbrev} ${Provides}\n"};
    k.most_output = u64{64} << 20;
    auto r = c.host.run(k);
    if (!r.ok()) return failure(fmt::format("dpkg-query: {} {}", r.describe(), r.err));
    for (std::size_t at = 0; at < r.out.size();) {
      std::size_t end = std::min(r.out.find('\n', at), r.out.size());
      std::string line = r.out.substr(at, end - at);
      at = end + 1;
      std::replace(line.begin(), line.end(), ',', ' ');
      std::size_t space = line.find(' ');
      if (line.compare(space + 1, 2, "ii") == 0 && (line + " ").find(" " + name + " ", space) != std::string::npos)
        return line.substr(0, space);
    }
    return name;
  }

  static Result<bool> within(Context& c, const std::string& version,
                             const std::vector<std::pair<std::string, std::string>>& range) {
    for (auto& [sign, limit] : range) {
      Command k;
      std::string how = sign == "<" ? "lt" : sign == "<=" ? "le" : sign == ">" ? "gt" : sign == ">=" ? "ge" : "eq";
      k.argv = {"dpkg", "--compare-versions", version, how, limit};
      auto r = c.host.run(k);
      if (r.end != CommandResult::End::kExited) return failure(r.describe(), r.lost_code());
      if (r.code != 0) return false;
    }
    return true;
  }

  // The newest version that apt knows and the range allows.
  static Result<std::string> best(Context& c, const std::string& name, const std::string& ensure) {
    auto range = range_of(ensure);
    auto r = c.host.shell("LC_ALL=C apt-cache madison " + shell_quote(name), std::chrono::minutes(2), c.cancel);
    if (!r.ok()) return failure(fmt::format("apt-cache: {} {}", r.describe(), r.err), r.lost_code());
    std::string found;
    for (std::size_t at = 0; at < r.out.size();) {
      std::size_t end = std::min(r.out.find('\n', at), r.out.size());
      std::string line = r.out.substr(at, end - at);
      at = end + 1;
      std::size_t from = line.find("| "), to = line.find(" |", from + 2);
      if (from == std::string::npos || to == std::string::npos) continue;
      std::string version = line.substr(from + 2, to - from - 2);
      version.erase(0, version.find_first_not_of(' '));
      version.erase(version.find_last_not_of(' ') + 1);
      auto fits = within(c, version, range);
      auto newer = found.empty() ? Result<bool>(true) : within(c, version, {{">", found}});
      if (!fits) return tl::unexpected(fits.error());
      if (!newer) return tl::unexpected(newer.error());
      if (*fits && *newer) found = version;
    }
    if (found.empty()) return failure(fmt::format("no version of {} is {}", name, ensure));
    return found;
  }

  // Whoever is told to install and says that all went well may have installed nothing.
  static Result<void> brought(Context& c, const std::string& name) {
    std::string ensure = c.params.text("ensure", "present");
    if (ensure == "held" || c.params.has("source")) return {};
    Command k;
    k.argv = {"dpkg-query", "-W", std::string(kFormat), name};
    auto r = c.host.run(k);
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    std::size_t state = r.ok() ? r.out.rfind('\t') : std::string::npos;
    bool there = state != std::string::npos && r.out.compare(state + 2, 1, "i") == 0;
    bool gone = ensure == "absent" || ensure == "purged";
    if (there != gone) return {};
    return failure(fmt::format("apt-get went well, but {} is {}", name, gone ? "still installed" : "not installed"));
  }

  static Result<void> bring(Context& c, const std::string& name, bool held) {
    std::string ensure = c.params.text("ensure", "present"), source = c.params.text("source");
    std::string confold = c.params.text("configfiles", "keep") == "keep" ? "--force-confold" : "--force-confnew";
    bool dpkg = c.params.text("provider") == "dpkg";
    if (auto answers = c.params.maybe("responsefile")) {
      auto s = c.host.stat(*answers, true, false);
      if (!s) return tl::unexpected(s.error());
      if (s->kind == FileState::Kind::kFile)
        if (auto r = run(c, {"debconf-set-selections", *answers}); !r) return r;
    }
    std::vector<std::string> argv{"apt-get", "-q", "-y"};
    if (held) argv.emplace_back("--allow-change-held-packages");
    if (ensure == "held") return run(c, {"apt-mark", "hold", name});
    if (ensure == "absent" || ensure == "purged") {
      if (dpkg) return run(c, {"dpkg", ensure == "absent" ? "-r" : "--purge", name});
      argv.insert(argv.end(), {ensure == "absent" ? "remove" : "purge", name});
      return run(c, argv);
    }
    if (dpkg && source.empty()) return failure("You cannot install dpkg packages without a source");
    if (dpkg) return run(c, {"dpkg", confold, "-i", source});
    if (!c.params.truth("allowcdrom")) {
      auto cdrom = c.host.shell("grep -q '^[^#]*cdrom:' /etc/apt/sources.list", std::chrono::minutes(1), c.cancel);
      if (cdrom.ok())
        return failure(
            "/etc/apt/sources.list contains a cdrom source; not installing. Use 'allowcdrom' to override this "
            "failure.");
    }
    argv.insert(argv.end(), {"-o", "DPkg::Options::=" + confold, "-o", "DPkg::Lock::Timeout=120"});
    for (auto& o : options_of(c.params.find("install_options"))) argv.push_back(o);
    argv.emplace_back("install");
    std::string what = source.empty() ? name : source;
    if (source.empty() && ensure != "present" && ensure != "installed" && ensure != "latest") {
      argv.emplace_back("--allow-downgrades");
      auto version = range_of(ensure).empty() ? Result<std::string>(ensure) : best(c, name, ensure);
      if (!version) return tl::unexpected(version.error());
      what += "=" + *version;
    }
    argv.push_back(what);
    return run(c, argv);
  }
};

}  // namespace

const Provider& package_provider() {
  static const Package provider;
  return provider;
}

}  // namespace tutti::resource
