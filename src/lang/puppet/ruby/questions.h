#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/puppet/functions/function.h"
#include "tree/value.h"

namespace tutti::puppet {

// What Ruby code asks of the compiler while it works on a request: variables, functions, resources, what exists
// (protocol.md lists the questions). One is made for each request, for the scope that it came from.
class Questions {
 public:
  // Calls a block that Ruby code has given to a function, by its number there.
  using CallBlock = std::function<Val(i64 number, std::span<const Val> args)>;

  Questions(Compiler& compiler, Scope& scope, const Closure* block, Pos at, CallBlock call_block)
      : compiler_(compiler), caller_(scope), block_(block), at_(at), call_block_(std::move(call_block)) {}

  // The value as it is written on the wire. Throws EvalError and TypeError, as evaluation does.
  std::string answer(const Value& question);

 private:
  std::string variable(const Value& q, Scope& scope);
  std::string variables(const Value& q, Scope& scope);
  std::string all_variables(const Value& q, Scope& scope);
  std::string fact(const Value& q, Scope& scope);
  std::string call(const Value& q, Scope& scope);
  std::string yield(const Value& q, Scope& scope);
  std::string instance(const Value& q, Scope& scope);
  std::string method(const Value& q, Scope& scope);
  std::string defaults(const Value& q, Scope& scope);
  std::string resource(const Value& q, Scope& scope);
  std::string resources(const Value& q, Scope& scope);
  std::string known(const Value& q, Scope& scope);
  std::string file(const Value& q, Scope& scope);
  std::string module(const Value& q, Scope& scope);
  std::string modules(const Value& q, Scope& scope);
  std::string context(const Value& q, Scope& scope);
  std::string set(const Value& q, Scope& scope);
  std::string changed(const Value& q, Scope& scope);
  std::string dns(const Value& q, Scope& scope);
  std::string log(const Value& q, Scope& scope);
  std::vector<Val> args_of(const Value& question);

  Compiler& compiler_;
  Scope& caller_;
  const Closure* block_;
  Pos at_;
  CallBlock call_block_;
};

}  // namespace tutti::puppet
