#pragma once

#include "cli/verb.h"

namespace tutti {

// What progress is shown as.
std::string what_is_read(std::span<const std::string> files);

// Evaluates the files of a call: what `eval`, `export` and most others begin with.
struct Evaluated {
  std::vector<Part> parts;
  std::optional<Value> value;
};
// `output`: the format it is written in, when nothing else is done with the result.
Evaluated evaluate_files(Call& call, std::span<const std::string> files, bool concrete, std::string_view output = {});

// Whether --reference was given to a verb that cannot do without the fast evaluators; it is then in the diagnostics.
bool refuses_reference(Call& call, std::string_view because);

// Writes a tree as `--out` says: in a format of the language that made it, or in one of the common ones.
bool write_result(Call& call, const Evaluated& evaluated, std::string_view output, bool concrete);

// Ends the call where a value is nested so deep that no text with indentation or paths can hold it. Asked only of those
// who raised the limit.
void refuse_too_deep(const Call& call, const Value& value);

// Whether a file can be made or replaced: asked before anything is done whose result goes there. False: a diagnostic.
bool can_write(Call& call, const std::string& path);

// Names of all output formats, for help: the common ones, then those of each language.
std::vector<std::string_view> all_outputs();

}  // namespace tutti
