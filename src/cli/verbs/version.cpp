#include <fmt/format.h>

#include "cli/libraries.h"
#include "cli/verb.h"

namespace tutti {
namespace {

constexpr OptionSpec kVersionOptions[] = {
    {"libraries", "", "what of other people's code is a part of the program, with the versions of its packages"},
};

int run_version(Call& call) {
  call.out.put("tutti " TUTTI_VERSION "\n");
  if (call.options.has("libraries"))
    for (const LinkedLibrary& l : linked_libraries()) call.out.put(fmt::format("{} ({})\n", l.package, l.file));
  return exit_code::kOk;
}

}  // namespace

extern const Verb version_verb = {
    .name = "version",
    .group = "Other",
    .summary = "the version of this program",
    .examples = "$ tutti version\n$ tutti version --libraries",
    .options = kVersionOptions,
    .run = run_version,
    .most = 0,
};

}  // namespace tutti
