#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/cue/eval/vertex.h"

// Functions of the language: the predeclared ones and those of packages. A package is a table of Builtins registered
// once; the evaluator evaluates the arguments, checks their kinds and turns calls with one argument fewer into
// validators.
namespace tutti::cue {

class Context;

struct Param {
  Kinds kind = kTopKind;
  Node* otherwise = nullptr;  // the value when the argument is left out
};

// One call being made: its arguments are evaluated, have the kinds asked for and took their defaults.
class CallContext {
 public:
  CallContext(Context& c, const Call* x, const Builtin* b, std::span<Node*> a, bool v)
      : context(c), call(x), builtin(b), args(a), validating(v) {}

  Context& context;
  const Call* call;  // nullptr for a bare validator
  const Builtin* builtin;
  std::span<Node*> args;  // values; a struct or list is a Vertex
  bool validating;        // as a validator: args[0] is the value to check

  // Arguments as plain values. On failure they report and return something harmless; check failed() before the result.
  std::string_view string(std::size_t i);  // of a string
  std::string_view bytes(std::size_t i);   // of bytes or a string
  bool boolean(std::size_t i);
  i64 integer(std::size_t i);  // reports one that is far from fitting
  const Decimal& number(std::size_t i);
  std::vector<Node*> list(std::size_t i);  // elements, evaluated
  std::vector<std::string_view> strings(std::size_t i);
  Vertex* structure(std::size_t i);
  bool is_null(std::size_t i);
  bool failed() const;
  Node* wrong_for_good(std::string_view message);  // whatever is still open in the arguments; nullptr
  void report(Bottom* b);                          // "error in call to NAME: " and what is wrong with an argument

  // Results.
  Node* make_string(std::string_view s);  // copied
  Node* make_bytes(std::string_view s);
  Node* make_bool(bool b);
  Node* make_int(i64 i);
  Node* make_number(const Decimal& d, Kinds kind);
  Node* make_null();
  Node* make_list(std::span<Node* const> items);
  Node* make_struct(std::span<const std::pair<std::string_view, Node*>> fields);
  // "error in call to NAME: message"
  Node* error(std::string_view message);
  Node* incomplete(std::string_view message);

  std::size_t size() const { return args.size(); }

 private:
  Node* placed(Node* n) const;  // a result stands where the call does
};

// nullptr means that an error has been reported; a Bottom is an error too. A validator returns a Bool or a Bottom.
using BuiltinFunction = Node* (*)(CallContext&);

struct Builtin : Node {
  std::string_view package;  // "strings"; "" for predeclared ones
  std::string_view name;
  std::span<const Param> params;
  Kinds result = kTopKind;  // kBoolKind or kBottomKind: may be used as a validator
  BuiltinFunction function = nullptr;
  bool non_concrete = false;  // arguments need not be concrete; structs are passed as they are
  // Works on the unevaluated call.
  Node* (*raw)(Context&, const Call*) = nullptr;

  Builtin(std::string_view pkg, std::string_view n, std::span<const Param> p, Kinds r, BuiltinFunction f)
      : Node(NodeType::kBuiltin), package(pkg), name(n), params(p), result(r), function(f) {}
  bool is_validator(std::size_t args) const {
    return args + 1 == params.size() && (result & ~kBoolKind) == 0 && !params[args].otherwise;
  }
  bool is_bare_validator() const { return params.size() == 1 && (result == kBoolKind || result == kBottomKind); }
  std::string qualified() const {
    return package.empty() ? std::string(name) : std::string(package) + "." + std::string(name);
  }
};

// For tables: {"ToUpper", {kStringKind}, kStringKind, to_upper}
struct BuiltinSpec {
  std::string_view name;
  std::initializer_list<Kinds> params;
  Kinds result;
  BuiltinFunction function;
  bool non_concrete = false;
  const char* last = nullptr;  // what the last argument, a string, is when it is left out
};

// A member of a package that is not a function, as CUE source: {"Pi", "3.14159..."}.
struct ConstantSpec {
  std::string_view name;
  std::string_view source;
};

// Called by each package's file from register_packages(); the tables must be static.
void add_package(std::string_view path, std::span<const BuiltinSpec> functions,
                 std::span<const ConstantSpec> constants = {});

// Fills the registry with all packages (builtin/packages.cpp); done once, on first use.
void register_packages();

struct PackageTable {
  std::string_view path;
  std::vector<std::pair<std::string_view, Builtin*>> functions;
  std::span<const ConstantSpec> constants;
};
// The path of the builtin package that goes by a name ("json" is "encoding/json"); "" for none.
std::string_view package_by_name(std::string_view name);

// Their paths, for "did you mean".
std::span<const std::string_view> builtin_package_paths();

// nullptr when there is no such package.
const PackageTable* find_package(std::string_view path);

}  // namespace tutti::cue
