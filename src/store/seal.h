#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "store/own_directory.h"

namespace tutti::store {

inline constexpr const char* kKeyFile = "key";

// Keeps secrets unreadable where they are at rest: AES-256-GCM under a key in a file of its own (mode 0600) beside the
// state. A copy of the database without the key file shows no secret.
class Seal {
 public:
  static Result<Seal> open(const OwnDirectory& directory);                    // made when it is not there
  static Seal with_key(std::string key) { return Seal(std::move(key), ""); }  // 32 bytes

  std::string seal(std::string_view secret) const;                   // base64
  std::optional<std::string> unseal(std::string_view sealed) const;  // nullopt: another key, or damaged
  std::string sign(std::string_view text) const;                     // base64; nobody without the key can make it

  const std::string& file() const { return file_; }

 private:
  Seal(std::string key, std::string file) : key_(std::move(key)), file_(std::move(file)) {}
  std::string key_, file_;
};

}  // namespace tutti::store
