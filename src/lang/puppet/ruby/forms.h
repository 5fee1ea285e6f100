#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/puppet/functions/function.h"
#include "lang/puppet/types/signature.h"
#include "tree/value.h"

namespace tutti::puppet {

// How a function in Ruby (of the newer interface) may be called, as its file says. It is read once in a compilation:
// the arguments of each call are then checked here, and Ruby is only told which dispatch it is.
class RubyForms {
 public:
  // `described` is Ruby's answer to `load` (protocol.md).
  RubyForms(Compiler& compiler, const Value& described, Pos at);

  // The number of the first dispatch that takes the arguments; fails where none does.
  std::size_t choose(Compiler& compiler, std::string_view function, std::span<const Val> args, const Closure* block,
                     Pos at) const;
  // Fails where a function gave back something else than that dispatch has promised.
  void check_returned(Compiler& compiler, std::string_view function, std::size_t number, const Val& v, Pos at) const;

 private:
  std::vector<Signature> forms_;
  std::vector<const Type*> returns_;  // nullptr: nothing is promised
  std::size_t usual_ = 0;             // those after them refuse what they take, and are not told of
};

}  // namespace tutti::puppet
