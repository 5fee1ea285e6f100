#include <fmt/format.h>

#include <cstdio>

#include "base/terminal.h"
#include "lang/cue/cli/help_topics.h"
#include "lang/cue/cli/program.h"

namespace tutti::cue {

int print_help(std::span<const std::string> topic, bool as_cue) {
  std::string out;
  std::string_view called = as_cue ? "cue" : "tutti";
  for (const HelpTopic& t : help_topics())
    if (!topic.empty() && topic[0] == t.name) {
      fmt::print("{}", t.text);
      return 0;
    }
  const CommandSpec* c = topic.size() > 1 ? find_command(topic[0] + " " + topic[1]) : nullptr;
  if (!topic.empty() && !c) c = find_command(topic[0]);
  for (const HelpTopic& t : other_verbs())
    if (!topic.empty() && topic[0] == t.name) {
      fmt::print("{}\n\nUsage:\n  {} {}\n", t.text, called, t.summary);
      return 0;
    }
  if (!topic.empty() && !c) {
    print_to(stderr, fmt::format("Unknown help topic: {}\n", topic[0]));
    return 1;
  }
  auto flags = [&](std::span<const FlagSpec> list) {
    for (const FlagSpec& f : list) {
      if (f.help.empty()) continue;
      std::string left = f.letter ? fmt::format("  -{}, --{}", f.letter, f.name) : fmt::format("      --{}", f.name);
      if (f.kind != FlagSpec::kBool) left += f.kind == FlagSpec::kStrings ? " stringArray" : " string";
      out +=
          fmt::format("{:<30} {}{}\n", left, f.help, f.initial.empty() ? "" : fmt::format(" (default {})", f.initial));
    }
  };
  if (c) {
    std::string_view text = long_help(c->name);
    out = fmt::format("{}\n\nUsage:\n  {} {}\n\nFlags:\n", text.empty() ? c->summary : text, called, c->usage);
    flags(c->flags);
    out += "\nGlobal Flags:\n";
    flags(global_flags());
  } else {
    out = "The verbs of cue, answered for CUE inputs.\n\nAvailable Commands:\n";
    for (const CommandSpec& s : commands()) out += fmt::format("  {:<12}{}\n", s.name, s.summary);
    out += "\nAdditional help topics:\n";
    for (const HelpTopic& t : help_topics()) out += fmt::format("  {:<16}{}\n", t.name, t.summary);
    out += "\nUse \"tutti cue help [command]\" for more information about a command.\n";
  }
  print_to(stdout, out);
  return 0;
}

}  // namespace tutti::cue
