#pragma once

#include <span>
#include <string>

#include "tree/session.h"

namespace tutti::puppet {

// Facts of this host, in the structure and with the names that Puppet's facter gives them: os, kernel, networking,
// memory, processors, disks, mountpoints, identity and the like. Read from /proc, /sys and system calls, so that
// gathering takes about a millisecond; the only programs started are those that lie in a folder of external facts.
// Legacy flat facts (`ipaddress`, `osfamily`, ...) are derived where asked for.
Value gather_facts(Session& session, bool legacy, std::span<const std::string> external = {});

// The flat facts that follow from structured ones; used for facts that come from a file, too.
void add_legacy_facts(Session& session, MapDraft& facts);

}  // namespace tutti::puppet
