#include "cli/output.h"

namespace tutti {
namespace {

constexpr OptionSpec kEvalOptions[] = {
    {"out", "FORMAT", "json (the default), leaves, yaml, toml, xml, or a format of the language"},
    {"compact", "", "as few bytes as the format allows"},
    {"reveal", "", "show secrets in clear"},
};

// What could be evaluated is printed even when something was wrong.
int run_eval(Call& call) {
  Evaluated e = evaluate_files(call, call.arguments, false);
  if (e.value && !write_result(call, e, call.options.get("out", "json"), false)) return exit_code::kError;
  return e.value ? call.code() : exit_code::kError;
}

}  // namespace

extern const Verb eval_verb = {
    .name = "eval",
    .group = "Configuration",
    .summary = "evaluate and print the tree, also where it is not concrete",
    .arguments = "FILE...",
    .details =
        "The language follows from a file's name; `-` is standard input. Values that are still open are shown "
        "as such.\n"
        "Several data files are several documents; a language that can evaluates its files together.\n"
        "For CUE inputs the flags and texts are those of cue: `tutti cue help eval`.",
    .examples = "$ tutti eval site.cue\n$ tutti eval --out leaves site.yaml | grep port",
    .options = kEvalOptions,
    .run = run_eval,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
