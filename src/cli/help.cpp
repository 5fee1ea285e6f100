#include "cli/help.h"

#include <fmt/format.h>

#include <array>
#include <iterator>

#include "cli/command_line.h"
#include "cli/doors/registry.h"
#include "cli/wording.h"

namespace tutti {
namespace {

void option_line(std::string& out, const OptionSpec& spec) {
  std::string left =
      spec.letter ? fmt::format("-{}, --{}", spec.letter, spec.name) : fmt::format("    --{}", spec.name);
  if (!spec.argument.empty()) left += fmt::format(" {}", spec.argument);
  constexpr std::size_t kColumn = 30;
  std::string help = wrapped(spec.help, kColumn);
  if (left.size() > kColumn - 4) {
    fmt::format_to(std::back_inserter(out), "  {}\n{:30}{}\n", left, "", help);
  } else {
    fmt::format_to(std::back_inserter(out), "  {:<28}{}\n", left, help);
  }
}

std::string verb_line(std::string_view name, std::string_view summary) {
  // A long name has a line of its own.
  if (name.size() > 11) return fmt::format("  {}\n{:14}{}\n", name, "", wrapped(summary, 14));
  return fmt::format("  {:<12}{}\n", name, wrapped(summary, 14));
}

}  // namespace

std::string help_text() {
  std::string out = "tutti evaluates configurations, explains every value and brings systems to\nwhat they say.\n\n";
  out += "usage: tutti VERB [OPTIONS] [ARGUMENTS]\n";
  constexpr std::array<std::string_view, 3> kGroups = {"Configuration", "Running", "Other"};
  for (std::string_view group : kGroups) {
    bool any = false;
    for (const Verb* verb : verbs()) {
      if (verb->hidden || verb->group != group) continue;
      if (!any) out += fmt::format("\n{}\n", group);
      any = true;
      out += verb_line(verb->name, verb->summary);
    }
  }
  out += "\nFor one language\n";
  for (const FrontEnd::OwnVerb& verb : front_end_verbs()) out += verb_line(verb.name, verb.summary);
  out +=
      "\n`tutti help VERB` says more, `tutti help CODE` what an error means and what to\ndo, `tutti help exit-codes` "
      "what the exit codes mean.\n";
  out += "example: tutti export site.yaml --out json\n";
  return out;
}

std::string help_text(const Verb& verb) {
  std::string out = wrapped(fmt::format("tutti {}: {}", verb.name, verb.summary), 0) + "\n\n";
  if (!verb.examples.empty()) out += fmt::format("{}\n\n", verb.examples);
  out += fmt::format("usage: tutti {} [OPTIONS]{}{}\n", verb.name, verb.arguments.empty() ? "" : " ", verb.arguments);
  if (!verb.details.empty()) out += fmt::format("\n{}\n", wrapped(verb.details, 0));
  std::vector<ShownOption> options = options_of(verb);
  out += "\noptions:\n";
  std::string_view heading;
  for (const ShownOption& o : options) {
    if (o.language.empty()) option_line(out, o.spec);
  }
  for (const OptionSpec& spec : global_options()) option_line(out, spec);
  for (const ShownOption& o : options) {
    if (o.language.empty()) continue;
    if (o.language != heading) out += fmt::format("\noptions for {}:\n", o.language);
    heading = o.language;
    option_line(out, o.spec);
  }
  return out;
}

std::string exit_codes_text() {
  return "exit codes, the same for every verb\n"
         "    0  done: nothing to do, or all succeeded\n"
         "    1  wrong use or wrong input; nothing was changed\n"
         "    2  there are differences, where that was the question: diff, drift, fmt --check,\n"
         "       and with --detailed-exitcode plan, apply, destroy, rollback\n"
         "    4  some actions failed\n"
         "    6  some changes were made and some actions failed\n"
         "    8  some hosts could not be reached (added to the others)\n"
         "   16  the result of an action is not known; `tutti resume` finds out\n"
         "   70  two ways to one answer contradict each other: a mistake in tutti; nothing was changed\n"
         "   75  somebody else holds the lock; try later\n"
         "  124  a limit was met (--limit NAME=N)\n"
         "  130  interrupted; what was recorded is consistent\n";
}

}  // namespace tutti
