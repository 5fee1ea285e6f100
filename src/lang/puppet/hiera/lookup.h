#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lang/puppet/hiera/context.h"
#include "lang/puppet/hiera/data_file.h"
#include "lang/puppet/hiera/merge.h"

namespace tutti::puppet {

// What a look-up needs of the compilation it is made for.
class HieraHost {
 public:
  virtual ~HieraHost() = default;
  // A variable as interpolation names it: `facts`, `trusted`, `osfamily`, `mymod::x`; without a leading `::`.
  virtual const Val* variable(std::string_view name, std::string_view within) = 0;  // `within` it: what is wanted
  // Where the module is, or "".
  virtual std::string module_directory(std::string_view module) = 0;
  // Calls a function that serves as a backend (data_hash, lookup_key, data_dig). Throws HieraError where there is none.
  virtual Val call_backend(std::string_view function, std::span<const Val> args) = 0;
  virtual bool has_function(std::string_view name) = 0;
  virtual bool strict_errors() const = 0;  // what is doubtful is an error
  // The type that the backend says it returns, nullptr: it does not.
  virtual const Type* backend_returns(std::string_view function) = 0;
  // A block that a backend gave to a method of its context, and how many parameters it takes.
  virtual Val call_block(const Closure& block, std::span<const Val> args) = 0;
  virtual std::size_t block_takes(const Closure& block) const = 0;
  virtual std::string_view environment_name() const = 0;
  virtual u64 longest_file() const = 0;
  // A key is looked up, within the look-ups of so many others.
  virtual void looks(std::size_t within) = 0;
  virtual void warn(std::string_view message) = 0;
};

// Ends a look-up: bad data, a bad hierarchy, an interpolation that goes in circles.
class HieraError : public std::runtime_error {
 public:
  HieraError(const std::string& what, Span at = {}) : std::runtime_error(what), where(at) {}
  Span where;
};

struct HieraLevel;  // one entry of a hierarchy with its paths
struct HieraLayer;  // a hiera.yaml: of an environment or a module

struct HieraFound {
  Val value;
  std::string level;  // "nodes/web1.yaml (per node)": for `why`
};

class Story;

// Hiera 5: the global hierarchy first, then the environment's, then that of the module whose name the key begins with,
// then the module's default hierarchy. One per compilation; the files it reads are shared.
class DataLookup {
 public:
  // `global_config` is the hiera.yaml of the global layer, "": none.
  DataLookup(std::shared_ptr<DataFiles> files, Arena& arena, std::string environment_directory,
             std::string global_config);
  ~DataLookup();

  // The value of a key (`a::b`, or with digging `a.b.0`), merged as `merge` says or else as the key's lookup_options
  // do. nullopt when no level has it. `story` receives what was searched when given.
  std::optional<HieraFound> lookup(HieraHost& host, std::string_view key, const MergeSpec* merge,
                                   Story* story = nullptr);
  // The key's entry of lookup_options (merge, convert_to), or undef.
  Val options_for(HieraHost& host, std::string_view key);
  // The context of a backend's call by its number; undef where there is none.
  Val context(i64 number) const;
  // How the lookup_options that hold for a key are found.
  void tell_options(HieraHost& host, std::string_view key, Story& story);

 private:
  friend class HieraSearch;
  const HieraLayer* global_layer(HieraHost& host);
  const HieraLayer* environment_layer(HieraHost& host);
  const HieraLayer* module_layer(HieraHost& host, std::string_view module);
  enum class Of : u8 { kAll, kEnvironment, kModule };
  const HieraLayer* load_layer(HieraHost& host, const std::string& config, Of of);

  std::shared_ptr<DataFiles> files_;
  Arena& arena_;
  std::string environment_, global_config_;
  std::map<std::string, std::unique_ptr<HieraLayer>, std::less<>> layers_;
  // The keys that are being looked up and who is told of it: also those of a look-up that a backend makes itself.
  std::vector<std::string> active_;
  Story* story_ = nullptr;
  std::map<std::pair<const HieraLevel*, std::string>, BackendMemory> memories_;  // by level and place
  std::deque<LookupContext> contexts_;
  HashDraft read_by_backends_;                      // cached_file_data, by path
  std::set<std::string, std::less<>> empty_files_;  // said to hold no hash
  // lookup_options that hold for keys of a module, "": for others; and those of default hierarchies.
  std::map<std::string, Val, std::less<>> options_, default_options_;
};

// A part of a dotted key; without quotes, digits are a number.
struct KeySegment {
  std::string text;
  bool number = false;
};
// `a."b.c".0` -> a, b.c, 0. Throws HieraError where it is no key.
std::vector<KeySegment> split_key(std::string_view key);

}  // namespace tutti::puppet
