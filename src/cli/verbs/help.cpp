#include "cli/help.h"

#include <fmt/format.h>

#include "base/near.h"
#include "cli/code_help.h"
#include "cli/doors/registry.h"

namespace tutti {
namespace {

int run_help(Call& call) {
  if (call.arguments.empty()) {
    call.out.put(help_text());
    return exit_code::kOk;
  }
  const std::string& topic = call.arguments[0];
  if (topic == "exit-codes") {
    call.out.put(exit_codes_text());
    return exit_code::kOk;
  }
  if (const Verb* verb = verb_named(topic)) {
    call.out.put(help_text(*verb));
    return exit_code::kOk;
  }
  if (std::string text = code_help(topic); !text.empty()) {
    call.out.put(text);
    return exit_code::kOk;
  }
  std::vector<std::string_view> names{"exit-codes"};
  for (const FrontEnd* front_end : front_ends()) {
    for (const FrontEnd::OwnVerb& verb : front_end->own_verbs()) {
      if (verb.name == topic) return front_end->run(std::vector<std::string>{topic, "--help"});
      names.push_back(verb.name);
    }
  }
  for (const Verb* verb : verbs()) names.push_back(verb->name);
  for (std::string_view code : help_codes()) names.push_back(code);
  call.session.diagnostics.error("USE", {}, fmt::format("there is no help on `{}`", topic))
      .did_you_mean(nearest(topic, names));
  return exit_code::kError;
}

}  // namespace

extern const Verb help_verb = {
    .name = "help",
    .group = "Other",
    .summary = "this overview, or more on a verb, topic or error code",
    .arguments = "[VERB|CODE|exit-codes]",
    .examples = "$ tutti help export\n$ tutti help CUE-CONFLICT",
    .run = run_help,
    .most = 1,
};

}  // namespace tutti
