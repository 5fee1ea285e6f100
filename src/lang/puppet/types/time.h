#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"
#include "lang/puppet/syntax/ast.h"
#include "lang/puppet/types/value.h"

// Points in time and spans of it as text. Both are nanoseconds; what cannot be read or written throws TypeError.
namespace tutti::puppet {

constexpr i64 kSecond = 1'000'000'000;  // times and spans are in nanoseconds

inline bool is_number(const Val& v) { return v.is(VK::kInt) || v.is(VK::kFloat); }

std::string timestamp_text(i64 ns);  // 2020-01-02T03:04:05.000000000 UTC
std::string timespan_text(i64 ns);   // 2-10:30:05.5

double seconds_of(i64 ns);
i64 floor_seconds(i64 ns);

// What an operator makes of times and numbers of seconds; nullopt where it is not applicable.
std::optional<Val> time_arithmetic(Op op, const Val& a, const Val& b);
// -1, 0, 1; nullopt where one of them is neither, or no time is among them.
std::optional<int> compare_times(const Val& a, const Val& b);

// Seconds east of Greenwich: +02:00, +0200, UTC, CET, `current`. nullopt where the name is not known.
std::optional<i64> zone_offset(std::string_view zone);

// As Ruby's strftime does it. An empty zone is UTC.
std::string format_time(i64 ns, std::string_view format, std::string_view zone);
// By the first format that fits all of the text. Without formats, by the usual ones; a zone in the text and one that is
// given exclude each other.
i64 parse_time(std::string_view text, std::span<const std::string_view> formats, std::string_view zone);

// %D days, %H hours, %M minutes, %S seconds, %L milliseconds, %N nanoseconds; the first of the largest unit takes all
// that is above it.
std::string format_span(i64 ns, std::string_view format);
i64 parse_span(std::string_view text, std::span<const std::string_view> formats);

}  // namespace tutti::puppet
