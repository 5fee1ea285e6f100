#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

// Time as Go writes and reads it: layouts made of the reference time Mon Jan 2 15:04:05 MST 2006.
namespace tutti::cue {

struct Time {
  i64 seconds = 0;      // since 1970 in UTC
  i32 nanoseconds = 0;  // 0 to 999999999
  i32 offset = 0;       // of the zone, in seconds east of UTC
  std::string zone;     // its abbreviation; "" shows as an offset
};

struct CivilTime {
  i64 year;
  int month, day, hour, minute, second, weekday, yearday;
};
CivilTime civil(const Time& t);  // in the zone of t
i64 days_from_civil(i64 year, int month, int day);

extern const char kRfc3339Nano[];

std::string format_time(const Time& t, std::string_view layout);
// nullopt with Go's text of the error.
std::optional<Time> parse_time(std::string_view layout, std::string_view value, std::string& error);

std::string format_duration(i64 nanoseconds);
std::optional<i64> parse_duration(std::string_view text, std::string& error);

}  // namespace tutti::cue
