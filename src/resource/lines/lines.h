#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resource/provider.h"

// Resources that are lines of a file of the system: host (/etc/hosts), mount (/etc/fstab), cron (a user's crontab).
// Each changes its own line and leaves all others as they are, comments included. What they share is here.
namespace tutti::resource {

inline constexpr u32 kOwnersAlone = 0600;  // of a file that is not there yet

std::vector<std::string> fields_of(std::string_view line);
// A line that is data, without its comment.
inline std::string_view data_of(std::string_view line) { return line.substr(0, line.find('#')); }
inline bool has_space(const std::string& text) { return text.find_first_of(" \t\n\r") != std::string::npos; }

// A resource that is not to be.
Resource absent(std::string_view type, std::string title, Arena& arena, std::vector<Entry> more = {});
// Entries that are known by their second field.
Result<std::optional<std::vector<Resource>>> entries_of(Context& c, std::string_view type, const std::string& path,
                                                        Arena& arena);
bool given_any(const Params& p, std::initializer_list<std::string_view> properties);

}  // namespace tutti::resource
