#pragma once

#include <span>
#include <string_view>

namespace tutti::cue {

struct HelpTopic {
  std::string_view name, summary, text;
};
std::span<const HelpTopic> help_topics();

std::string_view long_help(std::string_view verb);  // "" where there is only the short one
std::span<const HelpTopic> other_verbs();           // of cue that have no answer; their summary is the usage

}  // namespace tutti::cue
