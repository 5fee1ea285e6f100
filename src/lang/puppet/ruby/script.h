#pragma once

#include <string_view>

namespace tutti::puppet {

// The Ruby side of the protocol (protocol.md): just enough of Puppet's Ruby interface for templates and functions of
// modules.
extern const std::string_view kRubyScript;

}  // namespace tutti::puppet
