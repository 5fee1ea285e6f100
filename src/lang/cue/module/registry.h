#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Registries of modules as `cue` uses them: OCI registries, in which a module is a repository, a version a tag, and its
// content a manifest of two layers, the archive and the module file. CUE_REGISTRY says which registry has which
// modules.
namespace tutti::cue {

constexpr std::string_view kCentralRegistry = "registry.cue.works";

struct RegistryLocation {
  std::string host, repository, tag;
  bool insecure = false;  // http
};

// Which registry has a module.
class RegistryMap {
 public:
  // The value of CUE_REGISTRY: "", a list `prefix=host/path+insecure,host`, `simple:` such a list, `file:PATH`,
  // `inline:CUE`. `none` has no modules.
  static Result<RegistryMap> parse(const std::string& text);

  // Nowhere where there is no registry for it. Without a version the tag is what all versions begin with.
  std::optional<RegistryLocation> locate(const std::string& module, const std::string& version) const;

 private:
  enum class Encoding { kPath, kHashAsRepository, kHashAsTag };
  struct Registry {
    std::string host, repository, tag_prefix;
    Encoding encoding = Encoding::kPath;
    bool none = false, insecure = false, strip_prefix = false;
  };
  static Result<Registry> parse_registry(std::string text);
  static Result<RegistryMap> parse_list(const std::string& text);
  static Result<RegistryMap> parse_file(const std::string& name, const std::string& text);

  std::map<std::string, Registry> by_prefix_;
  Registry others_;
};

// Speaks with registries. Names and passwords are those of Docker's and cue's own settings (config.json, logins.json).
class RegistryClient {
 public:
  explicit RegistryClient(RegistryMap map) : map_(std::move(map)) {}

  struct Content {
    std::string archive, module_file;
  };
  // What a version of a module is; of a module's path without its major version.
  Result<std::string> module_file(const std::string& module, const std::string& version);
  Result<std::string> archive(const std::string& module, const std::string& version);
  Result<std::vector<std::string>> versions(const std::string& module);
  Result<void> publish(const std::string& module, const std::string& version, const Content& content);
  const RegistryMap& map() const { return map_; }

 private:
  struct Answer {
    long status = 0;
    std::string body, location;
  };
  struct Call {
    std::string method = "GET", path, accept, type, body;
    bool push = false;
  };
  Result<Answer> call(const RegistryLocation& at, const Call& c);
  Result<std::string> layer(const std::string& module, const std::string& version, std::size_t index);
  Result<std::string> blob(const RegistryLocation& at, const std::string& digest);
  Result<std::string> push_blob(const RegistryLocation& at, const std::string& bytes);
  Result<std::string> authorize(const RegistryLocation& at, const std::string& challenge, bool push);

  RegistryMap map_;
  std::map<std::string, std::string> tokens_;  // what a host wants to see, by host and repository
};

std::string sha256_text(std::string_view bytes);  // in lower-case hexadecimal

}  // namespace tutti::cue
