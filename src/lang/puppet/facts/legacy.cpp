#include <fmt/format.h>

#include "lang/puppet/facts/facts.h"
#include "tree/path.h"

namespace tutti::puppet {
namespace {

struct Legacy {
  std::string_view name, path;
};

// Flat names of old, and where their values are now.
constexpr Legacy kLegacy[] = {
    {"architecture", "os.architecture"},
    {"bios_release_date", "dmi.bios.release_date"},
    {"bios_vendor", "dmi.bios.vendor"},
    {"bios_version", "dmi.bios.version"},
    {"domain", "networking.domain"},
    {"fqdn", "networking.fqdn"},
    {"gid", "identity.group"},
    {"hardwareisa", "processors.isa"},
    {"hardwaremodel", "os.hardware"},
    {"hostname", "networking.hostname"},
    {"id", "identity.user"},
    {"ipaddress", "networking.ip"},
    {"ipaddress6", "networking.ip6"},
    {"lsbdistcodename", "os.distro.codename"},
    {"lsbdistdescription", "os.distro.description"},
    {"lsbdistid", "os.distro.id"},
    {"lsbdistrelease", "os.distro.release.full"},
    {"lsbmajdistrelease", "os.distro.release.major"},
    {"lsbminordistrelease", "os.distro.release.minor"},
    {"macaddress", "networking.mac"},
    {"manufacturer", "dmi.manufacturer"},
    {"memoryfree", "memory.system.available"},
    {"memorysize", "memory.system.total"},
    {"netmask", "networking.netmask"},
    {"netmask6", "networking.netmask6"},
    {"network", "networking.network"},
    {"network6", "networking.network6"},
    {"operatingsystem", "os.name"},
    {"operatingsystemmajrelease", "os.release.major"},
    {"operatingsystemrelease", "os.release.full"},
    {"osfamily", "os.family"},
    {"physicalprocessorcount", "processors.physicalcount"},
    {"processorcount", "processors.count"},
    {"productname", "dmi.product.name"},
    {"rubyplatform", "ruby.platform"},
    {"rubysitedir", "ruby.sitedir"},
    {"rubyversion", "ruby.version"},
    {"scope6", "networking.scope6"},
    {"selinux", "os.selinux.enabled"},
    {"swapfree", "memory.swap.available"},
    {"swapsize", "memory.swap.total"},
    {"uptime", "system_uptime.uptime"},
    {"uptime_days", "system_uptime.days"},
    {"uptime_hours", "system_uptime.hours"},
    {"uptime_seconds", "system_uptime.seconds"},
    {"uuid", "dmi.product.uuid"},
};

template <class Add>
void add_ssh_keys(const TreeBuilder& build, const Value& root, Add&& add) {
  const Value* keys = find(root, *Path::parse("ssh"));
  if (keys == nullptr) return;
  for (const Entry& e : keys->entries()) {
    add(fmt::format("ssh{}key", e.key.text()), e.value.find("key")->value);
    const Value& prints = e.value.find("fingerprints")->value;
    add(fmt::format("sshfp_{}", e.key.text()),
        build.string(fmt::format("{}\n{}", prints.find("sha1")->value.text(), prints.find("sha256")->value.text())));
  }
}

template <class Add>
void add_block_devices(const TreeBuilder& build, const Value& root, Add&& add) {
  const Value* disks = find(root, *Path::parse("disks"));
  if (disks == nullptr || disks->entries().empty()) return;
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"model", "model"}, {"size", "size_bytes"}, {"vendor", "vendor"}};
  std::string names;
  for (const Entry& e : disks->entries()) {
    names += (names.empty() ? "" : ",") + std::string(e.key.text());
    for (auto [flat, key] : kParts) {
      if (const Entry* found = e.value.find(key))
        add(fmt::format("blockdevice_{}_{}", e.key.text(), flat), found->value);
    }
  }
  add("blockdevices", build.string(names));
}

}  // namespace

void add_legacy_facts(Session& session, MapDraft& facts) {
  TreeBuilder build = session.builder();
  Value root = facts.build(build);
  auto add = [&](std::string_view name, const Value& value) {
    Symbol key(name);
    if (facts.find(key) == nullptr) facts.set(key, value);
  };
  for (const Legacy& l : kLegacy) {
    if (const Value* v = find(root, *Path::parse(l.path))) add(l.name, *v);
  }
  add_ssh_keys(build, root, add);
  add_block_devices(build, root, add);
  if (const Value* models = find(root, *Path::parse("processors.models"))) {
    std::size_t number = 0;
    for (const Value& model : models->items()) add(fmt::format("processor{}", number++), model);
  }
  const Value* interfaces = find(root, *Path::parse("networking.interfaces"));
  if (interfaces == nullptr) return;
  constexpr std::pair<std::string_view, std::string_view> kPerInterface[] = {
      {"ipaddress", "ip"},    {"ipaddress6", "ip6"},    {"macaddress", "mac"},
      {"mtu", "mtu"},         {"netmask", "netmask"},   {"netmask6", "netmask6"},
      {"network", "network"}, {"network6", "network6"}, {"scope6", "scope6"}};
  std::string names;
  for (const Entry& e : interfaces->entries()) {
    std::string plain(e.key.text());
    for (char& c : plain) {
      bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      if (!word) c = '_';
    }
    names += (names.empty() ? "" : ",") + plain;
    for (auto [flat, key] : kPerInterface) {
      if (const Entry* found = e.value.find(key)) add(fmt::format("{}_{}", flat, plain), found->value);
    }
  }
  add("interfaces", build.string(names));
}

}  // namespace tutti::puppet
