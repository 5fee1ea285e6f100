#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lang/puppet/catalog/native_type.h"
#include "lang/puppet/functions/function.h"
#include "tree/value.h"

namespace tutti::puppet {

struct RubyFunction;
class Environment;

// Ruby code on behalf of a compilation: ERB templates and the functions that modules write in Ruby (protocol.md). Each
// thread has one Ruby process, kept from node to node.
std::string render_erb_file(Compiler& compiler, Scope& scope, const std::string& path, Pos at);
std::string render_erb_text(Compiler& compiler, Scope& scope, std::string_view text, Pos at);

// Puppet's values are Ruby's: what a template did to a variable is seen by the scope and by the resource whose
// parameter the variable is.
void change_variable(Compiler& compiler, Scope& scope, Symbol name, const Val& value);

// A Ruby function of a module (Environment::ruby_function).
Val call_ruby_function(Compiler& compiler, Scope& scope, const RubyFunction& f, std::string_view name,
                       std::span<const Val> args, const Closure* block, Pos at);

// Whether a file that Ruby has read defines an old function of that name besides the one it is named after. Ruby is not
// started to find out.
bool ruby_knows_function(Compiler& compiler, Symbol name);

// What the file of a native type says of it: open where only a part could be read. nullopt when there is no Ruby or it
// cannot be read at all.
std::optional<NativeType> describe_ruby_type(Environment& environment, const std::string& name,
                                             const std::string& file);

// Values on the wire.
std::string to_wire(const Val& v);
Val from_wire(const Value& v, Arena& arena, Compiler* compiler);

}  // namespace tutti::puppet
