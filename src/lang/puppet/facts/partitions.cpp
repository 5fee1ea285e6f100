#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "lang/puppet/facts/parts.h"
#include "lang/puppet/facts/reading.h"

namespace tutti::puppet {
namespace {

// What is on a block device, from the record that udev keeps of it.
void add_contents(const TreeBuilder& build, const std::string& at, MapDraft& map) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {{"filesystem", "E:ID_FS_TYPE="},
                                                                      {"label", "E:ID_FS_LABEL="},
                                                                      {"partlabel", "E:ID_PART_ENTRY_NAME="},
                                                                      {"partuuid", "E:ID_PART_ENTRY_UUID="},
                                                                      {"uuid", "E:ID_FS_UUID="}};
  std::string number(trimmed(slurp(at + "/dev")));
  each_line(slurp("/run/udev/data/b" + number), [&](std::string_view line) {
    for (auto [name, key] : kNames) {
      if (line.starts_with(key)) map.set(Symbol(name), build.string(line.substr(key.size())));
    }
  });
}

}  // namespace

Value partition_facts(const TreeBuilder& build) {
  MapDraft all;
  std::string mounts = slurp("/proc/self/mounts");
  auto add = [&](const std::string& device, const std::string& at, std::string_view backing) {
    MapDraft map;
    if (!backing.empty()) map.set(Symbol("backing_file"), build.string(backing));
    add_contents(build, at, map);
    each_line(mounts, [&](std::string_view line) {
      if (!line.starts_with(device + " ") || map.find(Symbol("mount")) != nullptr) return;
      line.remove_prefix(device.size() + 1);
      map.set(Symbol("mount"), build.string(line.substr(0, line.find(' '))));
    });
    double bytes = std::strtod(slurp(at + "/size").c_str(), nullptr) * 512;
    map.set(Symbol("size"), build.string(human_bytes(bytes)));
    map.set(Symbol("size_bytes"), Value::integer(static_cast<i64>(bytes)));
    all.set(Symbol(device), map.build(build));
  };
  auto there = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  };
  for (const std::string& name : names_in("/sys/block")) {
    std::string at = "/sys/block/" + name;
    if (there(at + "/device")) {
      for (const std::string& part : names_in(at)) {
        if (part.starts_with(name)) add("/dev/" + part, at + "/" + part, {});
      }
    } else if (there(at + "/dm")) {
      std::string mapped(trimmed(slurp(at + "/dm/name")));
      add(mapped.empty() ? "/dev/" + name : "/dev/mapper/" + mapped, at, {});
    } else if (there(at + "/loop")) {
      add("/dev/" + name, at, trimmed(slurp(at + "/loop/backing_file")));
    }
  }
  return all.build(build);
}

}  // namespace tutti::puppet
