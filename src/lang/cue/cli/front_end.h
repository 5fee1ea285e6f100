#pragma once

#include "lang/common/language.h"

namespace tutti::cue {

// The command line of cue: its verbs, flags, outputs and exit codes, for calls whose inputs are CUE.
class CueFrontEnd final : public FrontEnd {
 public:
  bool claims(std::span<const std::string> args) const override;
  int run(std::span<const std::string> args) const override;
  std::span<const OwnVerb> own_verbs() const override;
};

const FrontEnd& front_end();

}  // namespace tutti::cue
