#pragma once

#include <optional>
#include <string>

namespace tutti::puppet {

// What the name server says of a name, as a DNS message; nullopt when none says anything. Each question is asked once
// in the life of the program: the nodes of a site have most names in common.
std::optional<std::string> dns_answer(const std::string& name, int record_class, int type);

}  // namespace tutti::puppet
