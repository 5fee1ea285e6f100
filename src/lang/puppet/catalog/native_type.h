#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/symbol.h"

namespace tutti::puppet {

// What a compiler must know of a resource type that is implemented in Ruby: its attributes, which of them name the
// resource, and how they are read from its title. The table is in native_type_table.cpp.
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

// As the program knows it: what a module of the environment brings is asked for there (Environment::native_type).
// nullptr when there is no such type. `name` may be written in any case.
const NativeType* native_type(std::string_view name);
std::vector<std::string_view> native_type_names();  // of the table, in lower case
// The release of a module that the table's line was made from, where its file of the type has this text: "" where it is
// another one, of which the line says nothing.
std::string_view made_from(std::string_view name, std::string_view text);
bool is_metaparameter(Symbol s);
std::span<const Symbol> metaparameters();

}  // namespace tutti::puppet
