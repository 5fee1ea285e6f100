#pragma once

#include "base/ruby_regex.h"

namespace tutti::puppet {

using tutti::Groups;
using tutti::Regex;
using tutti::regexp_escape;

}  // namespace tutti::puppet
