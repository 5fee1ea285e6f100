#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

// Instants and durations as text. A layout shows how the reference time, Monday 2 January 2006 15:04:05 in a zone seven
// hours west of Greenwich, would be written.
namespace tutti::cue {

struct Time {
  i64 seconds = 0;      // since 1970 in UTC
  i32 nanoseconds = 0;  // 0 to 999999999
  i32 offset = 0;       // of the zone, in seconds east of UTC
  std::string zone;     // its abbreviation; "" shows as an offset
};

struct CivilTime {
  i64 year;
  int month, day, hour, minute, second, weekday, yearday;  // weekday 0 is Sunday, yearday 1 is the first of January
};
CivilTime civil(const Time& t);  // in the zone of t

extern const char kRfc3339Nano[];

std::string format_time(const Time& t, std::string_view layout);
// nullopt with the text of the error, as users of the `time` package know it.
std::optional<Time> parse_time(std::string_view layout, std::string_view value, std::string& error);

std::string format_duration(i64 nanoseconds);  // 1h2m3.5s
std::optional<i64> parse_duration(std::string_view text, std::string& error);

}  // namespace tutti::cue
