#pragma once

#include <optional>

#include "base/sink.h"
#include "tree/session.h"

namespace tutti {

// Reads TOML 1.0. Numbers are kept as written (underscores removed), keys in their order in the text, positions on
// every value; dates and times are strings tagged "datetime", "date" or "time"; inf and nan strings tagged "float".
std::optional<Value> read_toml(Session& session, const Source& source);

// Keys keep their order: a table that is followed by plain values is written with dotted keys. False, with diagnostics,
// for what TOML cannot say: null, integers beyond 64 bits, anything but a map at the top.
bool write_toml(Session& session, const Value& value, Sink& sink);

}  // namespace tutti
