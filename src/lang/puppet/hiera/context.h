#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "lang/puppet/types/value.h"
#include "text/source.h"

namespace tutti::puppet {

class HieraHost;

// What a backend keeps from one call to the next. As in Puppet there is one for each place of each level.
struct BackendMemory {
  u64 number =
      next_number();  // no two in the life of the program have the same: functions in Ruby keep their cache there
  static u64 next_number();
  HashDraft cache;          // what the function put there itself
  std::optional<Val> data;  // data_hash: its answer
  HashDraft answers;        // lookup_key, data_dig: the answers by key
};

// Thrown by not_found(): the level does not have the key.
struct BackendHasNoSuchKey {};

// The look-up that calls a backend, as far as the backend may use it.
class BackendCaller {
 public:
  virtual ~BackendCaller() = default;
  virtual Val interpolated(const Val& value) = 0;
  virtual bool telling() const = 0;  // whether somebody wants an explanation
  virtual void tell(std::string text) = 0;
};

// `$context`, the last argument of a backend: a Puppet::LookupContext. Values of it may outlive the call it was made
// for; then only its cache can be used.
class LookupContext : public ObjectMethods {
 public:
  LookupContext(i64 number, HieraHost& host, BackendMemory& memory, BackendCaller& caller, Arena& arena,
                HashDraft& files)
      : number_(number), host_(host), memory_(memory), caller_(&caller), arena_(arena), files_(files) {}

  std::optional<Val> call(std::string_view method, std::span<const Val> args, const Closure* block) override;
  void call_ended() { caller_ = nullptr; }
  void tell(std::string text) const;  // explain() of a function in Ruby, which calls its block itself

  // The object that stands for it in the language.
  Val object(std::string_view module) const;
  static const Type* type();
  u64 memory_number() const { return memory_.number; }
  i64 number() const { return number_; }  // of the contexts of a compilation: its name on the way to Ruby

 private:
  BackendCaller& caller(std::string_view method) const;
  Val entries(const Closure* block);
  Val file(const Val& path, const Closure* block);

  i64 number_;
  HieraHost& host_;
  BackendMemory& memory_;
  BackendCaller* caller_;
  Arena& arena_;
  HashDraft& files_;
};

// Puppet::LookupContext, Puppet::LookupKey and Puppet::LookupValue; nullptr for other names.
const Type* lookup_type_named(std::string_view name);

}  // namespace tutti::puppet
