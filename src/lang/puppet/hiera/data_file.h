#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "lang/puppet/types/value.h"
#include "text/diagnostic.h"
#include "text/source.h"

namespace tutti::puppet {

// YAML as Ruby reads it (YAML 1.1, Psych): see text/psych.h. Every value has its place as origin. What is wrong is in
// `error` and nullopt comes back: a date or a key that is no string or number, an alias bomb, bad syntax.
struct DataError {
  std::string message;
  Span where;
};
enum class Dates : u8 { kRefused, kText };  // facts may hold dates, which are text there
// With `odd_keys` keys that are no strings or numbers are taken, and it is told there; without, they are refused.
std::optional<Val> read_yaml(const Source& source, Arena& arena, DataError& error, Dates dates = Dates::kRefused,
                             bool* odd_keys = nullptr);
std::optional<Val> read_json_data(const Source& source, Arena& arena, DataError& error);

// Data files parsed once and shared by all nodes of a site and all threads.
class DataFiles {
 public:
  explicit DataFiles(std::shared_ptr<Sources> sources) : sources_(std::move(sources)) {}

  struct File {
    bool exists = false;
    std::optional<Val> data;  // nullopt: unreadable, see error
    bool odd_keys = false;    // somewhere in it a key is no string or number
    DataError error;
  };
  enum class Format : u8 { kYaml, kJson };
  const File& get(const std::string& path, Format format);

 private:
  std::shared_ptr<Sources> sources_;
  std::mutex mutex_;
  Arena arena_;
  std::map<std::string, std::unique_ptr<File>, std::less<>> files_;
};

}  // namespace tutti::puppet
