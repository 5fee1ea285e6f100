#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/puppet/eval/error.h"
#include "lang/puppet/eval/scope.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {

class Compiler;

// A block that is not written in the language: Ruby code has given it to a function.
struct ForeignBlock {
  std::size_t params = 0;
  bool rest = false;  // the last one takes all that follow
  std::function<Val(std::span<const Val>)> call;
};

// A lambda with the scope it was written in, or a block of somebody else.
struct Closure {
  const Lambda* lambda = nullptr;  // nullptr: `foreign` is set
  Scope* scope = nullptr;
  const ForeignBlock* foreign = nullptr;

  std::size_t params() const { return foreign ? foreign->params : lambda->params.size(); }
  bool rest() const { return foreign ? foreign->rest : !lambda->params.empty() && lambda->params.back().rest; }
  std::size_t required() const;  // parameters that must be given
};

// One call of a built-in function: everything it may need.
struct FunctionCall {
  Compiler& compiler;  // eval/compiler.h, for the functions that touch the catalog, the environment or other functions
  Scope& scope;        // of the caller
  std::string_view name;
  std::span<const Val> args;
  const Closure* block = nullptr;
  Pos at;

  Arena& arena() const;
  std::size_t count() const { return args.size(); }
  const Val& arg(std::size_t n) const { return args[n]; }
  bool has(std::size_t n) const { return n < args.size() && !args[n].undefined(); }
  std::string_view text(std::size_t n) const { return args[n].text(); }

  // The block, called with values; a block that takes one parameter more than there are is given undef.
  Val yield(std::span<const Val> values, bool wanted = true) const;
  Val yield(const Val& a) const { return yield(std::span<const Val>(&a, 1)); }
  Val yield(const Val& a, const Val& b) const {
    Val both[2] = {a, b};
    return yield(both);
  }
  std::size_t block_params() const;  // how many parameters the block takes
  bool block_takes_any() const;      // its last one is *$rest

  // Results.
  Val string(std::string_view s) const;  // copies
  Val array(const std::vector<Val>& items) const;
  Val hash(const HashDraft& draft) const;

  [[noreturn]] void fail(const std::string& message) const;
  void warn(const std::string& message) const;
};

using Implementation = Val (*)(const FunctionCall&);

// How to add a function
//
//   Val downcase_string(const FunctionCall& c) { return c.string(downcase(c.text(0))); }
//   ...
//   constexpr... see functions/strings.cpp:
//   void add_string_functions(Functions& f) {
//     f.add("downcase", {{"String", downcase_string}, {"Array", downcase_array}});
//   }
//
// and name add_..._functions in functions/functions.cpp. Each overload has a signature: the types of the parameters as
// the language writes them, separated by commas. After a type: `?` the parameter may be left out, `*` any number of
// them, `+` at least one. The block comes last: `&Callable[1, 2]` must be given, `&?Callable[1, 2]` may be given;
// without either a block is refused. The first overload that takes the arguments is called; when none does the caller
// gets an error that shows all of them. A function added with add3x is one that Puppet implements in its old interface:
// no signature, and undef arguments arrive as empty strings.
struct Overload {
  const char* signature;
  Implementation run;
};

struct Param3 {
  const Type* type;
  char repeat;  // 0, '?', '*', '+'
};

// A built-in function. Its signatures are parsed when it is first called: a run calls few of them.
class Builtin {
 public:
  struct Form {
    std::string_view signature;
    std::vector<Param3> params;
    const Type* block = nullptr;
    bool block_optional = false;
    std::size_t least = 0, most = 0;
    Implementation run = nullptr;
  };
  std::string_view name;
  Implementation run3x = nullptr;
  std::string_view module;     // that it stands in for; "": it is Puppet's own
  bool keeps_nothing = false;  // neither it nor the catalog holds its arguments or its answer when the call is over
  const std::vector<Form>& forms() const;

 private:
  friend class Functions;
  std::vector<Overload> overloads_;
  mutable std::once_flag parsed_;
  mutable std::vector<Form> forms_;
  mutable Arena arena_;
};

// All built-in functions. Made once for the program, read by all threads.
class Functions {
 public:
  static const Functions& all();

  const Builtin* find(Symbol name) const;
  void add(const char* name, std::initializer_list<Overload> overloads);
  void add3x(const char* name, Implementation run);
  void keeping_nothing(bool yes) { keeping_nothing_ = yes; }  // those that are added next
  void of_module(std::string_view name) { module_ = name; }   // likewise
  std::vector<std::string_view> names() const;

 private:
  std::vector<Builtin*> by_symbol_;  // indexed by Symbol id: looking one up is an array access
  std::vector<std::unique_ptr<Builtin>> all_;
  bool keeping_nothing_ = false;
  std::string_view module_;
};

// Calls the overload that takes the arguments, or fails with a message that lists what the function takes.
Val call_builtin(const Builtin& f, const FunctionCall& call);

// The elements of anything that can be iterated over; a hash gives [key, value] pairs.
std::vector<Val> iterate(const FunctionCall& call, const Val& over);

// Written in functions/*.cpp, gathered in functions/functions.cpp.
void add_core_functions(Functions& f);
void add_iteration_functions(Functions& f);
void add_string_functions(Functions& f);
void add_collection_functions(Functions& f);
void add_catalog_functions(Functions& f);
void add_type_functions(Functions& f);

}  // namespace tutti::puppet
