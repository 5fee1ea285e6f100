#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "lang/puppet/facts/parts.h"
#include "lang/puppet/facts/reading.h"

namespace tutti::puppet {
namespace {

struct Binding {
  std::string address, netmask, network, scope;
  std::vector<std::string_view> flags;
};

struct Interface {
  std::string mac;
  i64 mtu = 0;
  std::vector<Binding> v4, v6;
};

std::string show(int family, const void* bytes) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(family, bytes, text, sizeof text);
  return text;
}

std::string_view scope_of(const in6_addr& a) {
  if (IN6_IS_ADDR_LOOPBACK(&a)) return "host";
  if (IN6_IS_ADDR_LINKLOCAL(&a)) return "link";
  if (IN6_IS_ADDR_SITELOCAL(&a)) return "site";
  return "global";
}

template <std::size_t N>
Binding binding(int family, const std::array<u8, N>& address, const std::array<u8, N>& mask) {
  std::array<u8, N> network{};
  for (std::size_t i = 0; i < N; i++) network[i] = address[i] & mask[i];
  return {show(family, address.data()), show(family, mask.data()), show(family, network.data()), {}, {}};
}

// What the kernel says of an address of an interface, by the names that facter has for it.
std::vector<std::string_view> flags_of(std::string_view table, std::string_view name,
                                       const std::array<u8, 16>& wanted) {
  constexpr std::string_view kNames[] = {"temporary",   "noad",       "optimistic", "dadfailed",
                                         "homeaddress", "deprecated", "tentative",  "permanent"};
  std::string hex;
  for (u8 byte : wanted) hex += fmt::format("{:02x}", byte);
  std::vector<std::string_view> found;
  each_line(table, [&](std::string_view line) {
    char owner[64] = {};
    unsigned flags = 0;
    if (!line.starts_with(hex) ||
        std::sscanf(std::string(line).c_str(), "%*s %*x %*x %*x %x %63s", &flags, owner) != 2 || name != owner)
      return;
    for (std::size_t i = 0; i < std::size(kNames); i++) {
      if ((flags >> i & 1) != 0) found.push_back(kNames[i]);
    }
  });
  return found;
}

std::map<std::string, Interface> interfaces() {
  std::map<std::string, Interface> found;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return found;
  std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  std::string flags = slurp("/proc/net/if_inet6");
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    Interface& one = found[at->ifa_name];
    if (at->ifa_addr->sa_family == AF_PACKET) {
      sockaddr_ll link{};
      std::memcpy(&link, at->ifa_addr, sizeof link);
      bool any = false;
      std::string mac;
      for (int i = 0; i < link.sll_halen && i < 8; i++) {
        any |= link.sll_addr[i] != 0;
        mac += fmt::format("{}{:02x}", i > 0 ? ":" : "", link.sll_addr[i]);
      }
      if (any) one.mac = mac;
      std::string mtu = slurp(fmt::format("/sys/class/net/{}/mtu", at->ifa_name));
      one.mtu = std::strtol(mtu.c_str(), nullptr, 10);
    } else if (at->ifa_netmask == nullptr) {
      continue;
    } else if (at->ifa_addr->sa_family == AF_INET) {
      std::array<u8, 4> address{}, mask{};
      std::memcpy(address.data(), &reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr, 4);
      std::memcpy(mask.data(), &reinterpret_cast<const sockaddr_in*>(at->ifa_netmask)->sin_addr, 4);
      one.v4.push_back(binding(AF_INET, address, mask));
    } else if (at->ifa_addr->sa_family == AF_INET6) {
      const in6_addr& raw = reinterpret_cast<const sockaddr_in6*>(at->ifa_addr)->sin6_addr;
      std::array<u8, 16> address{}, mask{};
      std::memcpy(address.data(), &raw, 16);
      std::memcpy(mask.data(), &reinterpret_cast<const sockaddr_in6*>(at->ifa_netmask)->sin6_addr, 16);
      Binding b = binding(AF_INET6, address, mask);
      b.scope = scope_of(raw);
      b.flags = flags_of(flags, at->ifa_name, address);
      one.v6.push_back(b);
    }
  }
  return found;
}

// The interface that the default route leaves by.
std::string primary_interface() {
  std::string routes = slurp("/proc/net/route"), best;
  for (std::size_t at = 0; at < routes.size();) {
    std::size_t end = std::min(routes.find('\n', at), routes.size());
    char name[64] = {};
    unsigned destination = 1;
    if (std::sscanf(routes.substr(at, end - at).c_str(), "%63s %x", name, &destination) == 2 && destination == 0 &&
        best.empty()) {
      best = name;
    }
    at = end + 1;
  }
  return best;
}

class Writer {
 public:
  explicit Writer(const TreeBuilder& build) : build_(build) {}

  void text(MapDraft& map, std::string_view key, std::string_view value) const {
    map.set(Symbol(key), build_.string(value));
  }

  Value bindings(const std::vector<Binding>& all) const {
    std::vector<Value> items;
    for (const Binding& b : all) {
      MapDraft map;
      text(map, "address", b.address);
      text(map, "netmask", b.netmask);
      text(map, "network", b.network);
      if (!b.scope.empty()) text(map, "scope6", b.scope);
      if (!b.scope.empty()) {
        std::vector<Value> flags;
        for (std::string_view f : b.flags) flags.push_back(build_.string(f));
        map.set(Symbol("flags"), build_.list(flags));
      }
      items.push_back(map.build(build_));
    }
    return build_.list(items);
  }

  // What holds of an interface, and again of the host for its primary one.
  void summary(MapDraft& map, const Interface& one) const {
    auto first = [&](const std::vector<Binding>& all, std::string_view suffix) {
      const Binding* pick = all.empty() ? nullptr : &all.front();
      for (const Binding& b : all) {
        if (b.scope == "global") {
          pick = &b;
          break;
        }
      }
      if (pick == nullptr) return;
      text(map, suffix.empty() ? "ip" : "ip6", pick->address);
      text(map, fmt::format("netmask{}", suffix), pick->netmask);
      text(map, fmt::format("network{}", suffix), pick->network);
      if (!pick->scope.empty()) text(map, "scope6", pick->scope);
    };
    first(one.v4, "");
    first(one.v6, "6");
    if (!one.mac.empty()) text(map, "mac", one.mac);
    map.set(Symbol("mtu"), Value::integer(one.mtu));
  }

 private:
  const TreeBuilder& build_;
};

}  // namespace

Value network_facts(const TreeBuilder& build, const std::string& hostname, const std::string& domain) {
  Writer write(build);
  std::size_t dot = hostname.find('.');
  std::string host = hostname.substr(0, dot);
  std::string home = dot == std::string::npos ? domain : hostname.substr(dot + 1);
  std::map<std::string, Interface> all = interfaces();
  MapDraft map, each;
  if (!home.empty()) write.text(map, "domain", home);
  write.text(map, "fqdn", home.empty() ? host : host + "." + home);
  write.text(map, "hostname", host);
  for (const auto& [name, one] : all) {
    MapDraft entry;
    if (!one.v4.empty()) entry.set(Symbol("bindings"), write.bindings(one.v4));
    if (!one.v6.empty()) entry.set(Symbol("bindings6"), write.bindings(one.v6));
    write.summary(entry, one);
    each.set(Symbol(name), entry.build(build));
  }
  map.set(Symbol("interfaces"), each.build(build));
  std::string primary = primary_interface();
  if (primary.empty()) {
    for (const auto& [name, one] : all) {
      if (!one.v4.empty() && name != "lo" && primary.empty()) primary = name;
    }
  }
  if (auto it = all.find(primary); it != all.end()) {
    write.summary(map, it->second);
    write.text(map, "primary", primary);
  }
  return map.build(build);
}

}  // namespace tutti::puppet
