#include "cli/output.h"

namespace tutti {
namespace {

constexpr OptionSpec kExportOptions[] = {
    {"out", "FORMAT",
     "json, yaml, toml, xml, leaves, or a format of the language; by default what the name of the file written says, "
     "or json"},
    {"compact", "", "as few bytes as the format allows"},
    {"reveal", "", "write secrets in clear"},
};

// The format that the name of a file asks for.
std::string_view output_by_name(std::string_view file) {
  static constexpr std::pair<std::string_view, std::string_view> kFormats[] = {
      {".yaml", "yaml"}, {".yml", "yaml"}, {".toml", "toml"}, {".xml", "xml"}, {".cdl", "cdl"}, {".sf", "sf"}};
  for (const auto& [ending, format] : kFormats)
    if (file.ends_with(ending)) return format;
  return "json";
}

int run_export(Call& call) {
  std::string output = call.options.get("out", output_by_name(call.manner.output));
  Evaluated e = evaluate_files(call, call.arguments, true, output);
  if (!e.value) return exit_code::kError;
  if (!call.session.diagnostics.ok()) {
    // Of a fleet, the nodes that came out well are written.
    static const Symbol catalogs("catalogs");
    if (e.value->tag() == catalogs && write_result(call, e, output, true)) (void)call.out.commit();
    return exit_code::kError;
  }
  return write_result(call, e, output, true) ? call.code() : exit_code::kError;
}

}  // namespace

extern const Verb export_verb = {
    .name = "export",
    .group = "Configuration",
    .summary = "evaluate to data: everything concrete, or an error",
    .arguments = "FILE...",
    .details =
        "Several data files are several documents (`plan` and `apply` lay them over each other).\n"
        "Nothing is printed when something is wrong; of a fleet (--all-nodes) the good nodes are.\n"
        "Secrets are written as \"(secret)\" unless revealed.\n"
        "For CUE inputs the flags and texts are those of cue: `tutti cue help export`.",
    .examples = "$ tutti export site.sf --out yaml -o site.yaml\n$ cat site.toml | tutti export --lang toml -",
    .options = kExportOptions,
    .run = run_export,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
