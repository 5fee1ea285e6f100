#pragma once

#include "lang/puppet/types/type.h"

namespace tutti::puppet {

// String(value, format): `format` is undef, one format ("%#x") or a hash of types and formats. Throws TypeError.
std::string format_value(const Val& value, const Val& format);

}  // namespace tutti::puppet
