#include "lang/puppet/facts/facts.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>

#include "lang/puppet/facts/parts.h"
#include "lang/puppet/facts/reading.h"

namespace tutti::puppet {
namespace {

// KEY=value and KEY="value" lines, as in /etc/os-release.
std::string setting(std::string_view text, std::string_view key) {
  std::string found;
  each_line(text, [&](std::string_view line) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') return;
    line.remove_prefix(key.size() + 1);
    if (line.size() >= 2 && (line[0] == '"' || line[0] == '\'')) line = line.substr(1, line.size() - 2);
    found = line;
  });
  return found;
}

class Gatherer {
 public:
  explicit Gatherer(Session& session) : build_(session.builder()) {}

  MapDraft run() {
    MapDraft all;
    kernel(all);
    set(all, "os", os());
    identity(all);
    memory(all);
    processors(all);
    set(all, "disks", disks());
    set(all, "mountpoints", mountpoints());
    set(all, "partitions", partition_facts(build_));
    filesystems(all);
    set(all, "networking", network_facts(build_, hostname(), domain()));
    if (std::optional<Value> keys = ssh_facts(build_)) set(all, "ssh", *keys);
    if (std::optional<Value> ruby = ruby_facts(build_)) set(all, "ruby", *ruby);
    text(all, "facterversion", "4.3.0");  // whose structure this is, and whose catalogs are made of it
    text(all, "puppetversion", "7.23.0");
    uptime(all);
    dmi(all);
    text(all, "timezone", timezone_name());
    if (const char* path = std::getenv("PATH")) text(all, "path", path);
    set(all, "fips_enabled", Value::boolean(trimmed(slurp("/proc/sys/crypto/fips_enabled")) == "1"));
    text(all, "virtual", virtual_kind());
    set(all, "is_virtual", Value::boolean(virtual_kind() != "physical"));
    return all;
  }

 private:
  static void set(MapDraft& map, std::string_view key, const Value& value) { map.set(Symbol(key), value); }
  void text(MapDraft& map, std::string_view key, std::string_view value) { set(map, key, build_.string(value)); }
  static void number(MapDraft& map, std::string_view key, i64 value) { set(map, key, Value::integer(value)); }
  Value real(double value, int digits) { return build_.number(fmt::format("{:.{}f}", value, digits)); }

  void kernel(MapDraft& all) {
    utsname u{};
    uname(&u);
    machine_ = u.machine;
    std::string_view release = u.release;
    std::string_view version = release.substr(0, release.find_first_not_of("0123456789."));
    std::size_t second = version.find('.', version.find('.') + 1);
    text(all, "kernel", u.sysname);
    text(all, "kernelrelease", release);
    text(all, "kernelversion", version);
    text(all, "kernelmajversion", version.substr(0, second));
  }

  Value os() {
    std::string release = slurp("/etc/os-release");
    std::string id = setting(release, "ID"), like = setting(release, "ID_LIKE"), full = setting(release, "VERSION_ID");
    std::string name = id == "debian"      ? "Debian"
                       : id == "ubuntu"    ? "Ubuntu"
                       : id == "centos"    ? "CentOS"
                       : id == "rhel"      ? "RedHat"
                       : id == "fedora"    ? "Fedora"
                       : id == "rocky"     ? "Rocky"
                       : id == "almalinux" ? "AlmaLinux"
                       : id == "arch"      ? "Archlinux"
                       : id == "alpine"    ? "Alpine"
                                           : setting(release, "NAME");
    auto is_like = [&](std::string_view what) { return id == what || like.find(what) != std::string::npos; };
    std::string family = is_like("debian") || id == "ubuntu"    ? "Debian"
                         : is_like("rhel") || is_like("fedora") ? "RedHat"
                         : is_like("suse")                      ? "Suse"
                                                                : name;
    if (id == "debian") {
      if (std::string exact(trimmed(slurp("/etc/debian_version")));
          !exact.empty() && exact[0] >= '0' && exact[0] <= '9')
        full = exact;
    }
    MapDraft versions;
    text(versions, "full", full);
    std::size_t dot = full.find('.');
    text(versions, "major", id == "ubuntu" ? full : full.substr(0, dot));
    if (dot != std::string::npos && id != "ubuntu") text(versions, "minor", std::string_view(full).substr(dot + 1));
    Value numbers = versions.build(build_);

    MapDraft distro;
    text(distro, "codename", setting(release, "VERSION_CODENAME"));
    text(distro, "description", setting(release, "PRETTY_NAME"));
    text(distro, "id", name);
    set(distro, "release", numbers);
    MapDraft selinux;
    bool enabled = std::filesystem::exists("/sys/fs/selinux/enforce");
    set(selinux, "enabled", Value::boolean(enabled));
    if (enabled)
      text(selinux, "current_mode", trimmed(slurp("/sys/fs/selinux/enforce")) == "1" ? "enforcing" : "permissive");

    MapDraft map;
    bool debian = family == "Debian";
    text(map, "architecture",
         debian && machine_ == "x86_64"    ? "amd64"
         : debian && machine_ == "aarch64" ? "arm64"
                                           : machine_);
    set(map, "distro", distro.build(build_));
    text(map, "family", family);
    text(map, "hardware", machine_);
    text(map, "name", name);
    set(map, "release", numbers);
    set(map, "selinux", selinux.build(build_));
    return map.build(build_);
  }

  void identity(MapDraft& all) {
    MapDraft map;
    number(map, "gid", getegid());
    if (const group* g = getgrgid(getegid())) text(map, "group", g->gr_name);
    set(map, "privileged", Value::boolean(geteuid() == 0));
    number(map, "uid", geteuid());
    if (const passwd* p = getpwuid(geteuid())) text(map, "user", p->pw_name);
    set(all, "identity", map.build(build_));
  }

  Value usage(double total, double available) {
    MapDraft map;
    double used = total - available;
    text(map, "available", human_bytes(available));
    number(map, "available_bytes", static_cast<i64>(available));
    text(map, "capacity", fmt::format("{:.2f}%", total > 0 ? used * 100 / total : 0));
    text(map, "total", human_bytes(total));
    number(map, "total_bytes", static_cast<i64>(total));
    text(map, "used", human_bytes(used));
    number(map, "used_bytes", static_cast<i64>(used));
    return map.build(build_);
  }

  void memory(MapDraft& all) {
    std::string info = slurp("/proc/meminfo");
    auto kilobytes = [&](std::string_view key) {
      double found = 0;
      each_line(info, [&](std::string_view line) {
        if (line.starts_with(key)) found = std::strtod(std::string(line.substr(key.size())).c_str(), nullptr) * 1024;
      });
      return found;
    };
    MapDraft map;
    set(map, "system", usage(kilobytes("MemTotal:"), kilobytes("MemAvailable:")));
    if (double swap = kilobytes("SwapTotal:"); swap > 0) set(map, "swap", usage(swap, kilobytes("SwapFree:")));
    set(all, "memory", map.build(build_));
    std::string load = slurp("/proc/loadavg");
    double one = 0, five = 0, fifteen = 0;
    if (std::sscanf(load.c_str(), "%lf %lf %lf", &one, &five, &fifteen) == 3) {
      MapDraft averages;
      set(averages, "15m", real(fifteen, 2));
      set(averages, "1m", real(one, 2));
      set(averages, "5m", real(five, 2));
      set(all, "load_averages", averages.build(build_));
    }
  }

  void processors(MapDraft& all) {
    std::vector<Value> models;
    std::set<std::string> packages;
    int siblings = 1, cores = 1;
    double fastest = 0;
    each_line(slurp("/proc/cpuinfo"), [&](std::string_view line) {
      std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) return;
      std::string_view key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
      if (key == "model name" || key == "Processor") models.push_back(build_.string(value));
      if (key == "physical id") packages.emplace(value);
      if (key == "siblings") siblings = std::atoi(std::string(value).c_str());
      if (key == "cpu cores") cores = std::max(1, std::atoi(std::string(value).c_str()));
      if (key == "cpu MHz") fastest = std::max(fastest, std::strtod(std::string(value).c_str(), nullptr));
    });
    MapDraft map;
    number(map, "cores", cores);
    number(map, "count", sysconf(_SC_NPROCESSORS_ONLN));
    text(map, "isa", "unknown");
    set(map, "models", build_.list(models));
    number(map, "physicalcount", static_cast<i64>(std::max<std::size_t>(1, packages.size())));
    if (fastest > 0) text(map, "speed", fmt::format("{:.2f} GHz", fastest / 1000));
    number(map, "threads", std::max(1, siblings / cores));
    set(all, "processors", map.build(build_));
  }

  Value disks() {
    MapDraft map;
    for (const std::string& name : names_in("/sys/block")) {
      std::string at = "/sys/block/" + name;
      if (!std::filesystem::exists(at + "/device")) continue;
      MapDraft disk;
      std::string model(trimmed(slurp(at + "/device/model"))), vendor(trimmed(slurp(at + "/device/vendor")));
      if (!model.empty()) text(disk, "model", model);
      double bytes = std::strtod(slurp(at + "/size").c_str(), nullptr) * 512;
      text(disk, "size", human_bytes(bytes));
      number(disk, "size_bytes", static_cast<i64>(bytes));
      text(disk, "type", trimmed(slurp(at + "/queue/rotational")) == "0" ? "ssd" : "hdd");
      if (!vendor.empty()) text(disk, "vendor", vendor);
      set(map, name, disk.build(build_));
    }
    return map.build(build_);
  }

  Value mountpoints() {
    MapDraft map;
    each_line(slurp("/proc/self/mounts"), [&](std::string_view line) {
      std::vector<std::string> field;
      while (!line.empty() && field.size() < 4) {
        std::size_t end = std::min(line.find(' '), line.size());
        field.emplace_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
      }
      if (field.size() < 4 || (!field[0].starts_with("/dev/") && field[2] != "tmpfs")) return;
      struct statvfs s {};
      if (statvfs(field[1].c_str(), &s) != 0 || s.f_blocks == 0) return;
      double unit = static_cast<double>(s.f_frsize);
      MapDraft mount;
      for (const Entry& e :
           usage(static_cast<double>(s.f_blocks) * unit, static_cast<double>(s.f_bavail) * unit).entries()) {
        if (e.key.text() == "total" || e.key.text() == "total_bytes") {
          set(mount, e.key.text() == "total" ? "size" : "size_bytes", e.value);
        } else {
          mount.set(e.key, e.value);
        }
      }
      text(mount, "device", field[0]);
      text(mount, "filesystem", field[2]);
      std::vector<Value> options;
      for (std::string_view rest = field[3]; !rest.empty();) {
        std::size_t end = std::min(rest.find(','), rest.size());
        options.push_back(build_.string(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      set(mount, "options", build_.list(options));
      set(map, field[1], mount.build(build_));
    });
    return map.build(build_);
  }

  void filesystems(MapDraft& all) {
    std::vector<std::string> names;
    each_line(slurp("/proc/filesystems"), [&](std::string_view line) {
      if (line.starts_with("nodev")) return;
      std::string name(trimmed(line));
      if (!name.empty() && name != "fuseblk") names.push_back(name);
    });
    std::sort(names.begin(), names.end());
    std::string joined;
    for (const std::string& n : names) joined += (joined.empty() ? "" : ",") + n;
    text(all, "filesystems", joined);
  }

  static std::string hostname() {
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return name;
  }

  static std::string domain() {
    std::string found;
    each_line(slurp("/etc/resolv.conf"), [&](std::string_view line) {
      for (std::string_view key : {"domain ", "search "}) {
        if (!line.starts_with(key)) continue;
        std::string_view rest = trimmed(line.substr(key.size()));
        found = rest.substr(0, rest.find_first_of(" \t"));
      }
    });
    return found == "." ? "" : found;
  }

  void uptime(MapDraft& all) {
    i64 seconds = static_cast<i64>(std::strtod(slurp("/proc/uptime").c_str(), nullptr));
    MapDraft map;
    number(map, "days", seconds / 86400);
    number(map, "hours", seconds / 3600);
    number(map, "seconds", seconds);
    i64 days = seconds / 86400;
    text(map, "uptime",
         days > 0 ? fmt::format("{} day{}", days, days == 1 ? "" : "s")
                  : fmt::format("{}:{:02} hours", seconds / 3600, seconds / 60 % 60));
    set(all, "system_uptime", map.build(build_));
  }

  void dmi(MapDraft& all) {
    auto read = [](std::string_view name) {
      return std::string(trimmed(slurp(fmt::format("/sys/class/dmi/id/{}", name))));
    };
    std::string maker = read("sys_vendor"), product = read("product_name");
    if (maker.empty() && product.empty()) return;
    MapDraft map, bios, item;
    text(bios, "release_date", read("bios_date"));
    text(bios, "vendor", read("bios_vendor"));
    text(bios, "version", read("bios_version"));
    set(map, "bios", bios.build(build_));
    text(map, "manufacturer", maker);
    text(item, "name", product);
    if (std::string uuid = read("product_uuid"); !uuid.empty()) text(item, "uuid", uuid);
    set(map, "product", item.build(build_));
    set(all, "dmi", map.build(build_));
  }

  static std::string timezone_name() {
    std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    return local.tm_zone != nullptr ? local.tm_zone : "UTC";
  }

  static std::string virtual_kind() {
    std::string maker = slurp("/sys/class/dmi/id/sys_vendor"), product = slurp("/sys/class/dmi/id/product_name");
    auto has = [](const std::string& s, std::string_view what) { return s.find(what) != std::string::npos; };
    if (std::filesystem::exists("/.dockerenv")) return "docker";
    if (has(slurp("/proc/1/cgroup"), "/lxc/")) return "lxc";
    if (has(product, "VMware")) return "vmware";
    if (has(product, "VirtualBox")) return "virtualbox";
    if (has(product, "KVM") || has(maker, "QEMU") || has(product, "Standard PC")) return "kvm";
    if (has(maker, "Microsoft")) return "hyperv";
    if (has(maker, "Xen")) return "xen";
    if (has(maker, "Amazon")) return "kvm";
    return has(slurp("/proc/cpuinfo"), "hypervisor") ? "kvm" : "physical";
  }

  TreeBuilder build_;
  std::string machine_;
};

}  // namespace

Value gather_facts(Session& session, bool legacy, std::span<const std::string> external) {
  MapDraft facts = Gatherer(session).run();
  if (legacy) add_legacy_facts(session, facts);
  add_external_facts(session, external, facts);
  std::vector<Entry> sorted = facts.entries();
  std::sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) { return a.key.text() < b.key.text(); });
  return session.builder().map(sorted);
}

}  // namespace tutti::puppet
