#pragma once

#include <optional>
#include <string>

#include "store/seal.h"
#include "tree/session.h"

namespace tutti::deploy {

// Trees to and from the JSON that is stored. Secrets are sealed, {"$sealed": ...}; what is lazy stays lazy.
std::string encode(const Value& value, const store::Seal& seal);
// The same for what is stored with a run: with the version of its form (format.h), which `decode` reads again.
std::string encode_for_run(const Value& tree, const store::Seal& seal);
// Whether a stored text has anything sealed in it.
bool has_sealed(std::string_view stored);
// A text that is the same for the same tree, secrets and all, and shows none of them to whoever has not the key.
std::string fingerprint(const Value& value, const store::Seal& seal);
// What was encoded; nullopt, and an error, where it cannot be read or opened. `name`: what it is, for people.
std::optional<Value> decode(Session& session, const std::string& name, std::string text, const store::Seal& seal);

// How a copy of a file begins that held secrets (in `kept`): the rest is sealed.
inline constexpr std::string_view kSealedCopy = "tutti-sealed:";

}  // namespace tutti::deploy
