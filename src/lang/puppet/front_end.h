#pragma once

#include "lang/common/language.h"

namespace tutti::puppet {

// A call of puppet's own command line: --name value, --name=value, --name, --no-name; -e CODE.
struct Arguments {
  std::vector<std::string> words;
  Options options;
};
Arguments read_arguments(std::span<const std::string> args);
Options own_options(const Arguments& arguments);  // the original's settings as ours

// `tutti puppet ...`: the calls of puppet's own command line that need no agent: `parser validate`, `lookup
// [--explain]`, `catalog compile`, with the original's main flags. (`apply` is in cli/puppet_apply.h: it acts.)
class PuppetFrontEnd final : public FrontEnd {
 public:
  bool claims(std::span<const std::string> args) const override;
  int run(std::span<const std::string> args) const override;
  std::span<const OwnVerb> own_verbs() const override;
};

const FrontEnd& front_end();

}  // namespace tutti::puppet
