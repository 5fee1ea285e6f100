#pragma once

#include "resource/provider.h"

namespace tutti::resource {

// One function for each provider; registry.cpp lists them.
const Provider& file_provider();
const Provider& exec_provider();
const Provider& package_provider();
const Provider& service_provider();
const Provider& user_provider();
const Provider& group_provider();
const Provider& cron_provider();
const Provider& host_provider();
const Provider& mount_provider();
const Provider& notify_provider();
const Provider& process_provider();
const Provider& purge_provider();
const Provider& tidy_provider();
const Provider& wait_provider();
const Provider& file_line_provider();
const Provider& ini_setting_provider();

}  // namespace tutti::resource
