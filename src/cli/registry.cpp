#include "cli/registry.h"

#include "format/formats.h"
#include "lang/cdl/language.h"
#include "lang/cue/cli/front_end.h"
#include "lang/cue/language.h"
#include "lang/puppet/front_end.h"
#include "lang/puppet/language.h"
#include "lang/smartfrog/language.h"

namespace tutti {

// Every language and data format that the program knows: an include above and a line here.
const Languages& languages() {
  static const Languages all({
      &json_format(),
      &yaml_format(),
      &cdl::language(),
      &cue::language(),
      &toml_format(),
      &xml_format(),
      &puppet::language(),
      &smartfrog::language(),
  });
  return all;
}

// Command lines of other tools that we answer to, asked in this order before our own verbs.
std::span<const FrontEnd* const> front_ends() {
  static const std::vector<const FrontEnd*> all = {&cue::front_end(), &puppet::front_end()};
  return all;
}

}  // namespace tutti
