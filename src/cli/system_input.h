#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cli/verb.h"
#include "model/read.h"

namespace tutti {

// Options that all verbs about systems take.
#define TUTTI_SYSTEM_OPTIONS                                                              \
  {"set", "NAME=NUMBER", "a parameter of the program's loops (n, m, ...)", true}, {       \
    "program", "NAME", "which of the `programs`; the default is the one called `program`" \
  }

// A system that a call names: configurations in any language, and perhaps a program in its text form (a file whose name
// ends in .concerto or .prog). Several configurations are laid over each other, key by key.
struct SystemInput {
  Value root;
  model::System system;
  model::ReadOptions options;  // with which it was read
};
bool is_program_file(std::string_view file);
std::optional<SystemInput> read_system_input(Call& call, std::span<const std::string> files);

// A small maker of result trees.
class TreeMaker {
 public:
  explicit TreeMaker(Session& session) : builder_(session.builder()) {}
  Value text(std::string_view s) const { return builder_.string(s); }
  Value number(double d) const;
  Value integer(i64 i) const { return Value::integer(i); }
  Value list(const std::vector<std::string>& items) const;
  Value list(const std::vector<Value>& items) const { return builder_.list(items); }
  Value map(std::initializer_list<std::pair<std::string_view, Value>> entries) const;
  const TreeBuilder& builder() const { return builder_; }

 private:
  TreeBuilder builder_;
};

// Writes a result tree as JSON or YAML or whatever `--out` names.
bool write_answer(Call& call, const Value& value, std::string_view output);

}  // namespace tutti
