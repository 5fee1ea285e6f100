#pragma once

#include <optional>
#include <span>
#include <string>

#include "tree/session.h"

namespace tutti::puppet {

// Facts that have a file of their own; gather_facts puts them together.

// `networking`: interfaces with their addresses, and which of them is the way out.
Value network_facts(const TreeBuilder& build, const std::string& hostname, const std::string& domain);
// `partitions`: those of disks, and mapped and loop devices. What is on them is asked of udev's records.
Value partition_facts(const TreeBuilder& build);
// `ssh`: the public keys of this host and their fingerprints; nullopt when there are none.
std::optional<Value> ssh_facts(const TreeBuilder& build);
// `ruby`: the one on the path, from its configuration, without starting it; nullopt when there is none.
std::optional<Value> ruby_facts(const TreeBuilder& build);

// The program `ruby` on the path, links followed: /usr/bin/ruby3.1.
std::optional<std::string> ruby_program();

// Facts that variables FACTER_NAME of the environment say, and the files in these folders and in facter's own
// (facts.d); they stand in place of all others.
void add_external_facts(Session& session, std::span<const std::string> folders, MapDraft& facts);

}  // namespace tutti::puppet
