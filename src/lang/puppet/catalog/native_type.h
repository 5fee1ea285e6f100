#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/symbol.h"

namespace tutti::puppet {

// What a compiler must know of a resource type that is implemented in Ruby: its attributes, which of them name the
// resource, and how they are read from its title. The table is in native_types.cpp.
struct TitlePattern {
  std::string_view regex;  // groups in order of `attributes`
  std::vector<Symbol> attributes;
};

struct NativeType {
  Symbol name;             // "File"
  bool isomorphic = true;  // two with the same name are a duplicate
  bool open = false;       // only its name is known: any attribute is taken
  std::vector<Symbol> namevars;
  std::vector<TitlePattern> patterns;
  std::vector<Symbol> attributes;  // without metaparameters
  bool has_attribute(Symbol s) const;
};

// The attributes that a title gives, in the order of the pattern that matches: none when no pattern does.
std::vector<std::pair<Symbol, std::string>> title_parts(const NativeType& type, std::string_view title);

// nullptr when there is no such type. `name` may be written in any case.
const NativeType* native_type(std::string_view name);
std::vector<std::string_view> native_type_names();  // of the table, in lower case
// A type that a module implements, with what is known of it: found by native_type from now on.
const NativeType* declare_type(std::string_view name, NativeType known);
bool is_metaparameter(Symbol s);
std::span<const Symbol> metaparameters();

}  // namespace tutti::puppet
