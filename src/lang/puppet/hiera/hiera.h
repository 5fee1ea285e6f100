#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lang/puppet/hiera/merge.h"
#include "lang/puppet/types/value.h"
#include "text/source.h"

namespace tutti::puppet {

class Compiler;
class Story;
struct Scope;

// Looks keys up in the data of the environment and its modules (Hiera 5) for one compilation: interpolates with the
// node's own facts, converts as lookup_options say, and turns what goes wrong into errors with a place.
class Hiera {
 public:
  explicit Hiera(Compiler& compiler);
  ~Hiera();

  // The value of a class parameter by automatic lookup, under `class::param`. nullopt: no data has it. Null in the data
  // comes back as undef, which gives way to a default.
  std::optional<Val> class_parameter(std::string_view key, Scope& scope, Pos at);

  // The value of any key. `merge` beats what lookup_options say. `story` receives what was searched.
  std::optional<Val> lookup(std::string_view key, const MergeSpec* merge, Scope& scope, Pos at, Story* story = nullptr);
  Val context(i64 number) const;  // of a backend that is being called
  // How the lookup_options that hold for a key are found.
  void tell_options(std::string_view key, Scope& scope, Story& story);

 private:
  class Host;
  Compiler& compiler_;
  std::unique_ptr<Host> host_;
};

}  // namespace tutti::puppet
