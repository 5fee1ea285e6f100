#include <fmt/format.h>

#include "base/base64.h"
#include "lang/puppet/facts/parts.h"
#include "lang/puppet/facts/reading.h"
#include "lang/puppet/text/digest.h"

namespace tutti::puppet {

std::optional<Value> ssh_facts(const TreeBuilder& build) {
  // The number of the algorithm is that of SSHFP records in DNS (RFC 4255, 6594, 7479).
  constexpr std::pair<std::string_view, int> kKinds[] = {{"rsa", 1}, {"dsa", 2}, {"ecdsa", 3}, {"ed25519", 4}};
  constexpr std::string_view kFolders[] = {"/etc/ssh", "/usr/local/etc/ssh", "/etc", "/usr/local/etc", "/etc/opt/ssh"};
  MapDraft all;
  for (std::string_view folder : kFolders) {
    for (auto [name, algorithm] : kKinds) {
      std::string line = slurp(fmt::format("{}/ssh_host_{}_key.pub", folder, name));
      std::size_t space = line.find(' ');
      if (space == std::string::npos) continue;
      std::string_view key = std::string_view(line).substr(space + 1);
      key = key.substr(0, key.find_first_of(" \n"));
      std::optional<std::string> bytes = base64_decode(key);
      if (!bytes) continue;
      MapDraft fingerprints, one;
      int number = 1;
      for (std::string_view digest : {"sha1", "sha256"})
        fingerprints.set(Symbol(digest),
                         build.string(fmt::format("SSHFP {} {} {}", algorithm, number++, digest_hex(digest, *bytes))));
      one.set(Symbol("fingerprints"), fingerprints.build(build));
      one.set(Symbol("key"), build.string(key));
      one.set(Symbol("type"), build.string(std::string_view(line).substr(0, space)));
      all.set(Symbol(name), one.build(build));
    }
  }
  if (all.entries().empty()) return std::nullopt;
  return all.build(build);
}

}  // namespace tutti::puppet
