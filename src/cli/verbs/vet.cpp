#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.h"

namespace tutti {
namespace {

int run(Call& call) {
  std::vector<Part> parts = call.parts(call.arguments);
  bool fine = !parts.empty();
  for (const Part& part : parts) fine &= part.language->vet(call.session, Request{part.files, call.options, true});
  if (!fine || !call.session.diagnostics.ok()) return exit_code::kError;
  if (::isatty(1) == 1)
    call.out.put(fmt::format("{} file{} checked, nothing wrong.\n", call.arguments.size(),
                             call.arguments.size() == 1 ? "" : "s"));
  return exit_code::kOk;
}

}  // namespace

extern const Verb vet_verb = {
    .name = "vet",
    .group = "Configuration",
    .summary = "check files: all errors, nothing printed when there are none",
    .arguments = "FILE...",
    .details =
        "Each language checks what it can: syntax, references, types, and that the result is concrete.\n"
        "For CUE inputs the flags and texts are those of cue: `tutti cue help vet`.",
    .examples = "$ tutti vet site.cue && echo fine\n$ tutti vet --diagnostics line *.yaml",
    .run = run,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
