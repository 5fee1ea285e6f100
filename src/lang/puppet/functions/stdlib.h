#pragma once

#include "lang/puppet/functions/function.h"
#include "lang/puppet/types/value_text.h"

namespace tutti::puppet {

// The functions of the stdlib module, in native code: modules call them everywhere, and so they are there whether or
// not the module is. Most are of the old kind (add3x): they count and check their arguments themselves.
void add_stdlib_collection_functions(Functions& f);
void add_stdlib_string_functions(Functions& f);
void add_stdlib_check_functions(Functions& f);
void add_stdlib_data_functions(Functions& f);
void add_stdlib_random_functions(Functions& f);
void add_module_functions(Functions& f);  // those of other modules that templates and classes call all the time
void add_lookup_functions(Functions& f);  // lookup, hiera*, template, inline_template
void add_text_functions(Functions& f);    // core functions on text
void add_value_functions(Functions& f);   // core functions on the rest

// Shared by them.
void expect_count(const FunctionCall& c, std::size_t least, std::size_t most);
i64 ruby_to_i(const Val& v);           // "12ab" -> 12, 3.9 -> 3, anything else 0
std::string ruby_class(const Val& v);  // "String", "Integer", "NilClass", ...
bool is_empty_text(const Val& v);      // undef or ''
// Whether Ruby's Float() takes the text.
bool ruby_float_text(std::string_view text, double& out);

}  // namespace tutti::puppet
