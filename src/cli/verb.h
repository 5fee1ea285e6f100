#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/sink.h"
#include "cli/exit_code.h"
#include "lang/common/language.h"
#include "project/project.h"

namespace tutti {

// How a call talks to the user; set from the global options.
struct Manner {
  DiagnosticStyle diagnostics = DiagnosticStyle::kExcerpt;
  bool colour = false;      // of standard error
  bool colour_out = false;  // of standard output
  std::string output;       // -o FILE; "" is standard output
  std::string lang;         // --lang
  Limits limits;
};

// How verbs about systems tell what they found.
inline constexpr OptionSpec kTellOption = {"out", "FORMAT", "text (the default), json, yaml, toml, xml or leaves",
                                           false, 0,        "text json yaml toml xml leaves"};

// One call of a verb. The verb puts its result into `out` and what it has to say into session.diagnostics, and returns
// the exit code; the caller writes the result and shows the diagnostics.
struct Call {
  explicit Call(Manner m) : manner(std::move(m)), session(manner.limits), out(manner.output) {}

  Manner manner;
  Session session;
  FileSink out;
  std::vector<std::string> arguments;  // what is neither an option nor an option's value
  Options options;                     // of the verb and of the languages
  bool acted = false;                  // something was done: whoever does not hear of it does not undo it

  // The parts of the files given, by language; empty when something is wrong.
  std::vector<Part> parts(std::span<const std::string> files);
  // Ok, unless there were errors.
  int code() const { return session.diagnostics.ok() ? exit_code::kOk : exit_code::kError; }
};

// A verb of the command line. Each lives in its own file cli/verbs/NAME.cpp, which defines `extern const Verb
// NAME_verb`
// (`-` in a name is `_` there); the build makes the table of all verbs from the files that are there.
struct Verb {
  std::string_view name;
  std::string_view group;      // heading in `tutti help`: "Configuration", "Running", "Other"
  std::string_view summary;    // one line, lower case
  std::string_view arguments;  // as shown after the name: "FILE..."
  std::string_view details;    // paragraphs of the verb's help
  std::string_view examples;   // lines, each beginning with `$ ` or with a comment `# `
  std::span<const OptionSpec> options = {};
  int (*run)(Call& call) = nullptr;
  std::size_t least = 0, most = SIZE_MAX;  // number of arguments
  bool reads = false;                      // reads configurations: takes --lang and the languages' options
  bool hidden = false;                     // not in `tutti help`
  bool shows_steps = false;                // tells what happens while it happens, and may ask
};

std::span<const Verb* const> verbs();
const Verb* verb_named(std::string_view name);

}  // namespace tutti
