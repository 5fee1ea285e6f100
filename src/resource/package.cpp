// package: by dpkg and apt. The list of what is installed is read once and again only when dpkg's status file has
// changed, so that many packages cost no more than one.
#include <fmt/format.h>

#include <algorithm>

#include "resource/providers.h"

namespace tutti::resource {
namespace {

constexpr std::string_view kParameters[] = {
    "ensure",      "provider",         "source",      "install_options", "uninstall_options",
    "configfiles", "responsefile",     "mark",        "allow_virtual",   "reinstall_on_refresh",
    "adminfile",   "flavor",           "category",    "platform",        "root",
    "vendor",      "package_settings", "description", "instance",        "status",
    "enable_only", "allowcdrom",       "command"};

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
  k.argv = {"dpkg-query", "-W", "-f=${binary:Package}\t${Version}\t${db:Status-Abbrev}\n"};
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

class Package : public Provider {
 public:
  std::string_view type() const override { return "package"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }
  std::string_view exclusive() const override { return "packages"; }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto all = installed(c.host);
    if (!all) return tl::unexpected(all.error());
    std::string name = c.params.text("name", c.resource.title), ensure = c.params.text("ensure", "present");
    auto it = (*all)->packages.find(name);
    std::string version, state = "un";
    if (it != (*all)->packages.end()) version = it->second.first, state = it->second.second;
    bool there = state.size() == 2 && state[1] == 'i';
    std::string is = there ? version : state[1] == 'c' ? "absent" : "purged";
    auto add = [&](std::string text, std::string to) {
      f.changes.push_back({"ensure", std::move(text), is, std::move(to), "", false});
    };
    if (ensure == "present" || ensure == "installed") {
      if (!there) add("created", "present");
    } else if (ensure == "absent") {
      if (there) add("removed", "absent");
    } else if (ensure == "purged") {
      if (there || state[1] == 'c') add("removed", "purged");
    } else if (ensure == "held") {
      if (state[0] != 'h') add("ensure changed to 'held'", "held");
    } else if (ensure == "latest") {
      auto r = c.host.shell("LC_ALL=C apt-cache policy " + shell_quote(name), std::chrono::minutes(2), c.cancel);
      std::string candidate;
      if (std::size_t at = r.out.find("Candidate: "); at != std::string::npos)
        candidate = r.out.substr(at + 11, r.out.find('\n', at) - at - 11);
      if (!there || (!candidate.empty() && candidate != "(none)" && candidate != version))
        add(there ? fmt::format("ensure changed '{}' to '{}'", version, candidate) : "created",
            candidate.empty() ? "latest" : candidate);
    } else if (!there || version != ensure) {
      add(there ? fmt::format("ensure changed '{}' to '{}'", version, ensure) : "created", ensure);
    }
    return f;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    std::string name = c.params.text("name", c.resource.title), ensure = c.params.text("ensure", "present"),
                source = c.params.text("source");
    Command k;
    k.environment = {{"DEBIAN_FRONTEND", "noninteractive"}, {"APT_LISTCHANGES_FRONTEND", "none"}, {"LC_ALL", "C"}};
    k.cancel = c.cancel;
    k.timeout = std::chrono::hours(1);
    std::string confold = c.params.text("configfiles", "keep") == "keep" ? "--force-confold" : "--force-confnew";
    if (ensure == "absent") {
      k.argv = {"apt-get", "-q", "-y", "remove"};
    } else if (ensure == "purged") {
      k.argv = {"apt-get", "-q", "-y", "purge"};
    } else if (ensure == "held") {
      k.argv = {"apt-mark", "hold"};
    } else if (c.params.text("provider") == "dpkg" || (!source.empty() && c.params.text("provider") != "apt")) {
      k.argv = {"dpkg", confold, "-i", source};
    } else {
      k.argv = {"apt-get", "-q", "-y", "-o", "DPkg::Options::=" + confold, "-o", "DPkg::Lock::Timeout=120"};
      for (auto& o : c.params.list("install_options")) k.argv.push_back(o);
      k.argv.push_back("install");
      if (ensure != "present" && ensure != "installed" && ensure != "latest") {
        k.argv.push_back("--allow-downgrades");
        name += "=" + ensure;
      }
    }
    if (k.argv[0] != "dpkg") k.argv.push_back(name);
    auto lock = exclusive_use(c.host, exclusive());
    auto r = c.host.run(k);
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    if (!r.ok())
      return failure(fmt::format("{} of {}: {} {}", k.argv[0], name, r.describe(), r.err.empty() ? r.out : r.err));
    done = f.changes;
    return {};
  }

  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    std::string source = Params(r.parameters).text("source");
    if (source.empty()) return {};
    return {{"file", source}};
  }
};

}  // namespace

const Provider& package_provider() {
  static const Package provider;
  return provider;
}

}  // namespace tutti::resource
