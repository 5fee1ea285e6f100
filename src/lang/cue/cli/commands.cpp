// The commands and their flags.
#include "lang/cue/cli/flags.h"

namespace tutti::cue {

namespace {

using F = FlagSpec;

constexpr F kGlobal[] = {
    {"simplify", 's', F::kBool, "simplify output"},
    {"ignore", 'i', F::kBool, "proceed in the presence of errors"},
    {"all-errors", 'E', F::kBool, "print all available errors"},
    {"chdir", 'C', F::kString, "change working directory before running command (must be the first flag)"},
    {"help", 'h', F::kBool, "help for the command"},
    {"limit", 0, F::kStrings, "change a limit: input, nodes, steps, memory, depth, errors, time (ms)"},
    {"diagnostics", 0, F::kString, "errors with codes and help: text (with the line and a caret), line, json"},
    {"color", 0, F::kString, "auto, always or never"},
    {"trust", 0, F::kBool, "the project may read elsewhere and run its own code, in this call"},
    {"reveal", 0, F::kBool, "secrets (@secret()) in clear"},
    {"require-signature", 0, F::kStrings, "a public key of minisign: everything that is read must be signed"},
    {"cpuprofile", 0, F::kString, ""},
    {"memprofile", 0, F::kString, ""},
};

#define TUTTI_OUT_FLAGS                                                                                \
  {"out", 0, F::kString, "output format (run 'cue help filetypes' for more info)"},                    \
      {"outfile", 'o', F::kString,                                                                     \
       "filename or - for stdout with optional file prefix (run 'cue help filetypes' for more info)"}, \
  {                                                                                                    \
    "force", 'f', F::kBool, "force overwriting existing files"                                         \
  }
#define TUTTI_DATA_FLAGS                                                                                         \
  {"package", 'p', F::kString, "package name for non-CUE files"},                                                \
      {"schema", 'd', F::kString, "expression to select schema for evaluating values in non-CUE files"},         \
      {"path", 'l', F::kStrings, "CUE expression for single path component (see 'cue help flags' for details)"}, \
      {"list", 0, F::kBool, "concatenate multiple objects into a list"},                                         \
      {"with-context", 0, F::kBool, "import as object with contextual data (see 'cue help flags' for details)"}, \
      {"proto_path", 'I', F::kStrings, "paths in which to search for imports"},                                  \
      {"proto_enum", 0, F::kString, "mode for rendering enums (int|json)", "int"},                               \
      {"name", 'n', F::kString, "regexp filter for non-CUE file names in directories"}, {                        \
    "merge", 0, F::kBool, "merge non-CUE files", "true"                                                          \
  }
#define TUTTI_TAG_FLAGS                                              \
  {"inject", 't', F::kStrings, "set the value of a tagged field"}, { \
    "inject-vars", 'T', F::kBool, "inject system variables in tags"  \
  }

constexpr F kEval[] = {
    TUTTI_OUT_FLAGS,
    TUTTI_DATA_FLAGS,
    TUTTI_TAG_FLAGS,
    {"expression", 'e', F::kStrings, "evaluate this expression only"},
    {"concrete", 'c', F::kBool, "require the evaluation to be concrete"},
    {"show-hidden", 'H', F::kBool, "display hidden fields"},
    {"show-optional", 'O', F::kBool, "display optional fields"},
    {"show-attributes", 'A', F::kBool, "display field attributes"},
    {"all", 'a', F::kBool, "show optional and hidden fields"},
};
constexpr F kExport[] = {
    TUTTI_OUT_FLAGS,
    TUTTI_DATA_FLAGS,
    TUTTI_TAG_FLAGS,
    {"escape", 0, F::kBool, "use HTML escaping"},
    {"expression", 'e', F::kStrings, "export this expression only"},
};
constexpr F kDef[] = {
    TUTTI_OUT_FLAGS,
    TUTTI_DATA_FLAGS,
    TUTTI_TAG_FLAGS,
    {"expression", 'e', F::kStrings, "evaluate this expression only"},
    {"show-attributes", 'A', F::kBool, "display field attributes"},
    {"inline-imports", 0, F::kBool, "expand references to non-core imports"},
};
constexpr F kVet[] = {
    TUTTI_DATA_FLAGS,
    TUTTI_TAG_FLAGS,
    {"concrete", 'c', F::kBool, "require the evaluation to be concrete, or set -c=false to allow incomplete values"},
};
constexpr F kFmt[] = {
    {"check", 0, F::kBool, "exits with non-zero status if any files are not formatted"},
    {"diff", 'd', F::kBool, "display diffs instead of rewriting files"},
    {"files", 0, F::kBool, "treat arguments as paths to files or directories to recursively format"},
};
constexpr F kImport[] = {
    {"outfile", 'o', F::kString,
     "filename or - for stdout with optional file prefix (run 'cue help filetypes' for more info)"},
    {"force", 'f', F::kBool, "force overwriting existing files"},
    TUTTI_DATA_FLAGS,
    {"files", 0, F::kBool, "split multiple entries into different files"},
    {"dry-run", 0, F::kBool, "show what files would be created"},
    {"recursive", 'R', F::kBool, "recursively parse string values"},
    {"ext", 0, F::kStrings, "match files with these extensions"},
};
constexpr F kTrim[] = {
    {"outfile", 'o', F::kString,
     "filename or - for stdout with optional file prefix (run 'cue help filetypes' for more info)"},
    {"force", 'f', F::kBool, "force overwriting existing files"},
    {"trace", 0, F::kBool, "trace computation"},
    {"dry-run", 'n', F::kBool, "only run simulation"},
};
constexpr F kCmd[] = {
    {"inject", 't', F::kStrings, "set the value of a tagged field"},
    {"inject-vars", 'T', F::kBool, "inject system variables in tags", "true"},
};
constexpr F kFix[] = {
    {"force", 'f', F::kBool, "rewrite even when there are errors"},
    {"exp", 0, F::kStrings, "list of experiments to port"},
    {"remove-list-commas", 0, F::kBool, "remove commas between list elements at ends of lines"},
};
constexpr F kExp[] = {{"outfile", 'o', F::kString, "filename or - for stdout"}};
constexpr F kInit[] = {
    {"force", 'f', F::kBool, "force moving old-style cue.mod file"},
    {"source", 0, F::kString, "set the source field"},
    {"language-version", 0, F::kString, "set the language version ('current' means current language version)",
     "current"},
};

constexpr F kEdit[] = {
    {"drop-replace", 0, F::kString, "remove a module replace from local-module.cue"},
    {"drop-require", 0, F::kStrings, "remove a requirement"},
    {"drop-source", 0, F::kBool, "remove the source field"},
    {"language-version", 0, F::kString, "set language.version ('current' means current language version)"},
    {"module", 0, F::kString, "set the module path"},
    {"replace", 0, F::kString, "add a module replace (path@majorversion=replacement) to local-module.cue"},
    {"require", 0, F::kStrings, "add a required module@version"},
    {"source", 0, F::kString, "set the source field"},
};
constexpr F kTidy[] = {
    {"check", 0, F::kBool, "check for tidiness; fail if module.cue would be updated"},
    {"local-only", 0, F::kBool, "only update cue.mod/local-module.cue, leaving cue.mod/module.cue unchanged"},
};

constexpr F kPublish[] = {
    {"dry-run", 'n', F::kBool, "only run simulation of publishing"},
    {"json", 0, F::kBool, "print verbose information in JSON format (requires --dry-run)"},
};
constexpr F kResolve[] = {{"deps", 0, F::kBool, "resolve all dependencies in the current module"}};

constexpr CommandSpec kCommands[] = {
    {"cmd", "cmd <name> [inputs] [flags]", "run a user-defined workflow command", kCmd},
    {"def", "def [flags]", "print consolidated definitions", kDef},
    {"eval", "eval [flags]", "evaluate and print a configuration", kEval},
    {"exp", "exp <cmd> [arguments]", "experimental commands: gengotypes", kExp},
    {"export", "export [flags]", "output data in a standard format", kExport},
    {"fix", "fix [packages] [flags]", "rewrite packages to latest standards", kFix},
    {"fmt", "fmt [-s] [inputs] [flags]", "formats CUE configuration files", kFmt},
    {"import", "import [mode] [inputs] [flags]", "convert other formats to CUE files", kImport},
    {"mod", "mod <cmd> [arguments]", "module maintenance", {}},
    {"mod edit", "mod edit [flags]", "edit cue.mod/module.cue", kEdit},
    {"mod fix", "mod fix [flags]", "fix a legacy cue.mod/module.cue file", {}},
    {"mod get", "mod get <modulepath>[@<version>] ... [flags]", "add and upgrade module dependencies", {}},
    {"mod init", "mod init [module] [flags]", "create new module", kInit},
    {"mod publish", "mod publish <version> [flags]", "publish the current module to a registry", kPublish},
    {"mod rename", "mod rename <newModulePath> [flags]", "rename the current module", {}},
    {"mod resolve", "mod resolve [<modulepath>[@<version>] ...] [flags]",
     "Show how a module path resolves to a registry", kResolve},
    {"mod tidy", "mod tidy [flags]", "tidy module dependencies", kTidy},
    {"trim", "trim [flags]", "remove superfluous fields", kTrim},
    {"vet", "vet [flags]", "validate data", kVet},
};

}  // namespace

std::span<const FlagSpec> global_flags() { return kGlobal; }
std::span<const CommandSpec> commands() { return kCommands; }

const CommandSpec* find_command(std::string_view name) {
  for (const CommandSpec& c : kCommands)
    if (c.name == name) return &c;
  return nullptr;
}

}  // namespace tutti::cue
