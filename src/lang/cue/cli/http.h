#pragma once

#include "lang/cue/cli/tasks.h"

namespace tutti::cue {

// The task tool/http.Do: one request, and what was answered.
TaskOutput run_http(const TaskInput& t);

}  // namespace tutti::cue
