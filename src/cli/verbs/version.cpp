#include <fmt/format.h>

#include "cli/verb.h"

namespace tutti {
namespace {

int run_version(Call& call) {
  call.out.put("tutti " TUTTI_VERSION "\n");
  return exit_code::kOk;
}

}  // namespace

extern const Verb version_verb = {
    .name = "version",
    .group = "Other",
    .summary = "the version of this program",
    .examples = "$ tutti version",
    .run = run_version,
    .most = 0,
};

}  // namespace tutti
