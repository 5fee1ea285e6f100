#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "lang/puppet/types/value.h"
#include "text/source.h"

namespace tutti::puppet {

class Compiler;
struct Scope;

// Looks keys up in the data of the environment and its modules (Hiera 5). One for each compilation: it remembers what it
// has found, and interpolates with the node's own facts.
class Hiera {
 public:
  explicit Hiera(Compiler& compiler);
  ~Hiera();

  // The value of a class parameter by automatic lookup, under `class::param`. nullopt: no data has it.
  std::optional<Val> class_parameter(std::string_view key, Scope& scope, Pos at);

 private:
  struct State;
  Compiler& compiler_;
  std::unique_ptr<State> state_;
};

}  // namespace tutti::puppet
