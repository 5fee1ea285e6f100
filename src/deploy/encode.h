#pragma once

#include <optional>
#include <string>

#include "store/seal.h"
#include "tree/session.h"

namespace tutti::deploy {

// Trees to and from the JSON that is stored. Secrets are sealed, {"$sealed": ...}; what is lazy stays lazy.
std::string encode(const Value& value, const store::Seal& seal);
std::optional<Value> decode(Session& session, const std::string& name, std::string text, const store::Seal& seal);

}  // namespace tutti::deploy
