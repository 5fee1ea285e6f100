// What `help VERB` says before the usage.
#include "lang/cue/cli/help_topics.h"

namespace tutti::cue {

namespace {

constexpr HelpTopic kVerbs[] = {
    {"def", "",
     R"(def prints the definitions of a package in one piece: references and constraints stay as they are written, only what is
said more than once is put together. With --out openapi or --out jsonschema definitions are written as schemas.)"},
    {"eval", "", R"(eval evaluates, checks and prints a configuration. Nothing is printed when it is wrong.

Inputs are packages, CUE files and data files; see "cue help inputs". -e prints the value of an expression instead, --all
shows optional and hidden fields, too, and --concrete asks for values that are decided.)"},
    {"export", "",
     R"(export evaluates a configuration and prints it as data: JSON unless --out or the name of --outfile says otherwise.
All values must be decided. See "cue help filetypes" for the formats and "cue help inputs" for what may be given.)"},
    {"fix", "",
     R"(fix rewrites packages, those of the current folder and below unless others are named, so that they are written as the
latest version of the language wants it. --exp rewrites for an experiment.)"},
    {"fmt", "",
     R"(fmt writes files in the usual form, in place. Folders and ./... stand for the CUE files in them, - for the standard
input. --check only tells which would change, --diff how.)"},
    {"import", "",
     R"(import makes CUE of other formats, a file beside each unless -o names one. The mode is auto, data, jsonschema, openapi
or proto; without files all that are known in the current folder are taken. -l puts values at a place, --files makes a
file for each; see "cue help flags".)"},
    {"mod", "", R"(mod groups the commands that work on cue.mod/module.cue.)"},
    {"trim", "",
     R"(trim takes out fields that the rest of the configuration says already. The value of the configuration stays the same.)"},
    {"vet", "",
     R"(vet checks packages and CUE files, and data files against them. Data is checked against the whole configuration, or
against the expression that --schema names. With --concrete values must be decided.)"},
};

constexpr HelpTopic kOthers[] = {
    {"completion", "completion [bash zsh fish powershell] [flags]",
     "completion writes a script for a shell. Here it is refused: there is none."},
    {"get", "get <language> [packages] [flags]",
     "get makes definitions out of other languages. Here it is refused: nothing is fetched from a network."},
    {"login", "login [flags]",
     "login keeps a token for a registry. Here it is refused: nothing is fetched from a network."},
    {"refactor", "refactor <cmd> [arguments] [flags]",
     "refactor groups commands that change the code of a module. Here it is refused."},
    {"version", "version [flags]", "version prints the version of the language that is followed."},
};

}  // namespace

std::string_view long_help(std::string_view verb) {
  for (const HelpTopic& t : kVerbs)
    if (t.name == verb) return t.text;
  return {};
}

std::span<const HelpTopic> other_verbs() { return kOthers; }

}  // namespace tutti::cue
