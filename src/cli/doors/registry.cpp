#include "cli/doors/registry.h"

#include <algorithm>

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

std::vector<FrontEnd::OwnVerb> front_end_verbs() {
  std::vector<FrontEnd::OwnVerb> all;
  for (const FrontEnd* front_end : front_ends()) {
    all.insert(all.end(), front_end->own_verbs().begin(), front_end->own_verbs().end());
  }
  std::ranges::sort(all, {}, &FrontEnd::OwnVerb::name);
  return all;
}

}  // namespace tutti
