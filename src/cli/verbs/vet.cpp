#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/output.h"

namespace tutti {
namespace {

constexpr OptionSpec kVetOptions[] = {
    {"schema", "EXPRESSION", "what in the CUE files the others are checked against: '#Catalog'", false, 'd'},
    {"concrete", "", "values must be decided, as they always must here", false, 'c'},
};

int run_vet(Call& call) {
  if (refuses_reference(call, "checks more than the published rules say")) return exit_code::kError;
  std::vector<Part> parts = call.parts(call.arguments);
  bool fine = !parts.empty();
  // with a schema among several languages, the others' trees are checked against it
  auto schema = std::find_if(parts.begin(), parts.end(), [](const Part& p) { return p.language->checks_trees(); });
  bool against = schema != parts.end() && parts.size() > 1;
  for (const Part& part : parts) {
    if (!against || &part == &*schema) continue;
    std::optional<Value> tree = part.language->evaluate(call.session, Request{part.files, call.options, true});
    if (!tree || !call.session.diagnostics.ok()) return exit_code::kError;
    fine &= schema->language->check(call.session, Request{schema->files, call.options, true}, *tree);
  }
  for (const Part& part : parts)
    if (!against) fine &= part.language->vet(call.session, Request{part.files, call.options, true});
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
        "With CUE files beside those of another language, what the others mean is checked against the CUE "
        "files.\n"
        "For CUE inputs the flags and texts are those of cue: `tutti cue help vet`.",
    .examples =
        "$ tutti vet site.cue && echo fine\n$ tutti vet --diagnostics line *.yaml\n$ tutti vet schema.cue catalog.pp\n"
        "$ tutti vet -d '#Catalog' ./policy catalog.pp",
    .options = kVetOptions,
    .run = run_vet,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
