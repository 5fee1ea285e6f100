#pragma once

#include <ctime>
#include <optional>
#include <string_view>

#include "tree/value.h"

namespace tutti::resource {

// The parameters of a schedule that Puppet has without being told: hourly, daily, weekly, monthly, never, puppet.
std::optional<Value> common_schedule(std::string_view name, const TreeBuilder& builder);

// Whether a resource with this schedule is due now. `last`: when it was looked at before, 0 when it never was.
bool is_due(const Value& schedule, std::time_t now, std::time_t last);

// "" or what is wrong with its parameters.
std::string wrong_schedule(const Value& schedule);

}  // namespace tutti::resource
