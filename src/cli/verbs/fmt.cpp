#include <fmt/format.h>

#include "base/file.h"
#include "cli/output.h"
#include "text/edit.h"

namespace tutti {
namespace {

constexpr OptionSpec kFmtOptions[] = {
    {"check", "", "change nothing; name the files that are laid out otherwise"},
    {"diff", "", "change nothing; show what would change", false, 'd'},
};

// Files are changed in place; standard input, or a result sent elsewhere with -o, is printed.
int run_fmt(Call& call) {
  bool check = call.options.has("check"), show_diff = call.options.has("diff");
  bool different = false;
  for (const Part& part : call.parts(call.arguments)) {
    for (const std::string& file : part.files) {
      const Source* source = call.session.open(file);
      if (source == nullptr) continue;
      std::optional<std::string> text = part.language->format(call.session, *source);
      if (!text) continue;
      bool changed = *text != source->text;
      different |= changed;
      if (check || show_diff) {
        if (check && changed) call.out.put(file + "\n");
        if (show_diff) call.out.put(unified_diff(source->text, *text, file, file + " (formatted)"));
      } else if (file == "-" || !call.manner.output.empty()) {
        call.out.put(*text);
      } else if (changed) {
        if (Result<void> written = write_file_atomically(file, *text); !written) {
          call.session.diagnostics.error(std::string(write_failure_code(written.error())), {}, written.error().message);
        }
      }
    }
  }
  if (!call.session.diagnostics.ok()) return exit_code::kError;
  return (check || show_diff) && different ? exit_code::kDifferent : exit_code::kOk;
}

}  // namespace

extern const Verb fmt_verb = {
    .name = "fmt",
    .group = "Configuration",
    .summary = "lay out files in their language's style, comments kept",
    .arguments = "FILE...",
    .details =
        "Files are rewritten in place, and only when that changes them; what they mean never changes.\n"
        "With --check or --diff the exit code is 2 when a file is laid out otherwise.\n"
        "For CUE inputs the flags and texts are those of cue: `tutti cue help fmt`.",
    .examples = "$ tutti fmt *.yaml\n$ tutti fmt --check --diff site.json",
    .options = kFmtOptions,
    .run = run_fmt,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
