#pragma once

#include <span>
#include <string_view>

namespace tutti::cue {

struct HelpTopic {
  std::string_view name, summary, text;
};
std::span<const HelpTopic> help_topics();

}  // namespace tutti::cue
