#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lang/puppet/types/type.h"

namespace tutti::puppet {

// One way in which a function may be called.
struct Signature {
  std::vector<const Type*> types;  // of the parameters; the last one is that of all that follow
  std::vector<std::string> names;  // none: "parameter 1"
  i64 least = 0, most = 0;         // kNoMax: any number
  const Type* block = nullptr;     // a Callable; nullptr: a block is refused
  bool block_optional = false;
  std::string_view block_name = "block";
};

bool accepts(const Signature& signature, std::span<const Val> args, const Type* block);

// Why none of the signatures takes the arguments. `block` is the type of the block that was given, or nullptr.
std::string describe_call(std::string_view function, std::span<const Signature> signatures, std::span<const Val> args,
                          const Type* block);

std::string describe_count(i64 least, i64 most, std::size_t given);  // expects 1 argument, got none

}  // namespace tutti::puppet
