#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/verb.h"

namespace tutti {

// What a command line said, after the verb's name.
struct Parsed {
  Manner manner;
  std::vector<std::string> arguments;
  Options options;
  bool help = false;
  std::string wrong;  // what is wrong with it, "" when nothing is
};

Parsed parse_command_line(const Verb& verb, std::span<const std::string> args);

// What is wrong when an option's long name stands after one dash (`-out json`); "" when none does. Asked before anybody
// takes the letters for short options.
std::string one_dash(const Verb& verb, std::span<const std::string> args);

// The only values that an option takes; none: any value.
std::vector<std::string_view> choices_of(const OptionSpec& spec);

// The global options, for help and completion.
std::span<const OptionSpec> global_options();
// A verb's own options and those of the languages where it reads files, without repetition.
struct ShownOption {
  OptionSpec spec;
  std::string_view language;  // "" for the verb's own
};
std::vector<ShownOption> options_of(const Verb& verb);

}  // namespace tutti
