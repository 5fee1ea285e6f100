#pragma once

#include "tree/session.h"
#include "tree/value.h"

namespace tutti::model {

// The tree of a system with those settings marked as secret that its components name (`secret: [environment.PW]`) and
// that types declare so, ours (`secrets`) and its own; any other tree as it is. So that what a file says of a system is
// as secret where it is only looked at (export, why, graph) as where it is run.
Value with_secret_settings(const Value& root, const TreeBuilder& builder);

// A map with the setting at a dotted path marked as secret.
Value setting_hidden(const Value& map, std::string_view path, const TreeBuilder& builder, bool& found);

}  // namespace tutti::model
