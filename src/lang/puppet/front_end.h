#pragma once

#include "lang/common/language.h"

namespace tutti::puppet {

// `tutti puppet ...`: the calls of puppet's own command line that need no agent: `parser validate`, `lookup
// [--explain]`, `apply --noop`, `catalog compile`, with the original's main flags.
class PuppetFrontEnd final : public FrontEnd {
 public:
  bool claims(std::span<const std::string> args) const override;
  int run(std::span<const std::string> args) const override;
  std::span<const OwnVerb> own_verbs() const override;
};

const FrontEnd& front_end();

}  // namespace tutti::puppet
