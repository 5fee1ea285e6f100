#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "resource/provider.h"
#include "resource/providers.h"

namespace tutti::resource {
namespace {

// What may stand behind the name of a package of this kind of machine.
#if defined(__aarch64__)
constexpr std::string_view kNative = ":arm64";
#else
constexpr std::string_view kNative = ":amd64";
#endif

std::vector<const Provider*> all() {
  return {&file_provider(),  &exec_provider(),   &package_provider(),   &service_provider(),
          &user_provider(),  &group_provider(),  &cron_provider(),      &host_provider(),
          &mount_provider(), &notify_provider(), &process_provider(),   &wait_provider(),
          &tidy_provider(),  &purge_provider(),  &file_line_provider(), &ini_setting_provider()};
}

// What `provider` may be: those that are done here, and those that Puppet has and nobody here can do.
struct Providers {
  std::string_view type;
  std::vector<std::string_view> here, elsewhere;
};
const Providers kProviders[] = {
    {"package",
     {"apt", "aptitude", "dpkg"},
     {"aix",
      "appdmg",
      "apple",
      "aptrpm",
      "blastwave",
      "dnf",
      "dnfmodule",
      "fink",
      "freebsd",
      "gem",
      "hpux",
      "macports",
      "nim",
      "openbsd",
      "opkg",
      "pacman",
      "pip",
      "pip2",
      "pip3",
      "pkg",
      "pkgdmg",
      "pkgin",
      "pkgng",
      "pkgutil",
      "portage",
      "ports",
      "portupgrade",
      "puppet_gem",
      "puppetserver_gem",
      "rpm",
      "rug",
      "sun",
      "sunfreeware",
      "tdnf",
      "up2date",
      "urpmi",
      "windows",
      "xbps",
      "yum",
      "zypper"}},
    {"service",
     {"base", "debian", "init", "systemd"},
     {"bsd", "daemontools", "freebsd", "gentoo", "launchd", "openbsd", "openrc", "openwrt", "rcng", "redhat", "runit",
      "service", "smf", "src", "upstart", "windows"}},
    {"user",
     {"useradd"},
     {"aix", "directoryservice", "hpuxuseradd", "ldap", "openbsd", "pw", "user_role_add", "windows_adsi"}},
    {"group", {"groupadd"}, {"aix", "directoryservice", "ldap", "pw", "windows_adsi"}},
    {"exec", {"posix", "shell"}, {"windows"}},
    {"file", {"posix"}, {"windows"}},
    {"cron", {"crontab"}, {}},
    {"host", {"parsed"}, {}},
    {"mount", {"parsed"}, {}},
};

// What Puppet has for other systems, and does not manage on this one either.
struct Unmanaged {
  std::string_view type, provider, feature, parameters;
};
constexpr Unmanaged kUnmanaged[] = {
    {"user", "useradd", "manages_roles", "roles"},
    {"user", "useradd", "manages_solaris_rbac", "auths profiles keys project"},
    {"user", "useradd", "manages_aix_lam", "attributes ia_load_module"},
    {"user", "useradd", "manages_password_salt", "salt iterations"},
    {"user", "useradd", "manages_loginclass", "loginclass"},
    {"group", "groupadd", "manages_members", "members"},
    {"group", "groupadd", "manages_aix_lam", "attributes ia_load_module"},
    {"service", "systemd", "flaggable", "flags"},
    {"service", "systemd", "controllable", "control manifest"},
    {"service", "systemd", "manages_logon_credentials", "logonaccount logonpassword"},
    {"service", "systemd", "configurable_timeout", "timeout"},
    {"package", "apt", "package_settings", "package_settings"},
    {"package", "apt", "supports_flavors", "flavor"},
    {"package", "apt", "disableable", "enable_only"},
    {"package", "apt", "targetable", "command"},
    {"package", "apt", "uninstall_options", "uninstall_options"},
    {"package", "apt", "install_only", "install_only"},
    {"package", "apt", "reinstallable", "reinstall_on_refresh"},
    {"mount", "parsed", "atboot", "atboot blockdevice"},
};

constexpr std::string_view kCommon[] = {"require", "before", "notify",   "subscribe", "tag",   "noop",
                                        "alias",   "audit",  "loglevel", "schedule",  "stage", "name"};

}  // namespace

const Provider* find_provider(std::string_view type) {
  static const std::vector<const Provider*> providers = all();
  for (const Provider* p : providers)
    if (p->type() == type) return p;
  return nullptr;
}

std::vector<std::string_view> provider_types() {
  std::vector<std::string_view> names;
  for (const Provider* p : all()) names.push_back(p->type());
  return names;
}

std::span<const std::string_view> common_parameters() { return kCommon; }

std::string wrong_provider(const Resource& r, bool& elsewhere) {
  elsewhere = false;
  std::string name = Params(r.parameters).text("provider");
  if (name.empty()) return "";
  for (auto& p : kProviders) {
    if (p.type != r.type) continue;
    if (std::find(p.here.begin(), p.here.end(), name) != p.here.end()) return "";
    elsewhere = std::find(p.elsewhere.begin(), p.elsewhere.end(), name) != p.elsewhere.end();
    return elsewhere ? fmt::format("Provider {} is not functional on this host", name)
                     : fmt::format("Invalid {} provider '{}'", r.type, name);
  }
  return "";
}

std::vector<std::string> not_managed(const Resource& r) {
  std::vector<std::string> out;
  Params p(r.parameters);
  for (auto& u : kUnmanaged)
    for (std::size_t at = 0; u.type == r.type && at < u.parameters.size();) {
      std::size_t end = std::min(u.parameters.find(' ', at), u.parameters.size());
      std::string_view name = u.parameters.substr(at, end - at);
      at = end + 1;
      if (p.has(name))
        out.push_back(fmt::format("Provider {} does not support features {}; not managing attribute {}",
                                  p.text("provider", u.provider), u.feature, name));
    }
  return out;
}

std::vector<std::string> Provider::writes(const Resource& r) const {
  std::string_view of = type();
  std::string name = Params(r.parameters).text("name", r.title);
  // One thing under several names is one thing.
  if (of == "service" && name.ends_with(".service")) name.resize(name.size() - std::strlen(".service"));
  if (of == "package" && name.ends_with(kNative)) name.resize(name.size() - kNative.size());
  while (of == "mount" && name.size() > 1 && name.ends_with('/')) name.pop_back();
  return {fmt::format("{}:{}", of, name)};
}

std::unique_lock<std::mutex> exclusive_use(const Host& host, std::string_view word) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<std::mutex>> held;
  std::mutex* one = nullptr;
  {
    std::lock_guard lock(mutex);
    auto& slot = held[std::string(host.name()) + "/" + std::string(word)];
    if (!slot) slot = std::make_unique<std::mutex>();
    one = slot.get();
  }
  return std::unique_lock(*one);
}

std::string file_name(std::string_view name) {
  std::string out;
  for (char c : name) {
    if (c == '/' || c == '%' || c == '\0') {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  if (out.size() > 200) out = out.substr(0, 150) + "%" + sha256_hex(name).substr(0, 32);
  return out;
}

}  // namespace tutti::resource
