#pragma once

#include <string>

#include "lang/puppet/types/value.h"

namespace tutti::puppet {

struct YamlLayout {
  int indent = 2, width = 0;
  bool canonical = false;
};

// YAML as Ruby prints it. Ruby, too, leaves the layout to libyaml and only says which strings want quotes; lists and
// hashes that stand in several places are written once and named.
std::string yaml_text(const Val& v, const YamlLayout& layout = {});

}  // namespace tutti::puppet
