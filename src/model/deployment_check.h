#pragma once

#include "model/deployment.h"
#include "model/reader.h"

// What can be wrong in the description of a system beside its components; each complaint at the user's own line.
namespace tutti::model {

// One of `hosts`: a destination of ssh, `local`, or a map of how to get there.
void check_host(Reader& reader, const Entry& host);

// What a type says of its settings: which there are, what they may be, and what a change of one means. `whole` is the
// type with all that it extends, `own` what is written in it.
void check_settings(Reader& reader, std::string_view type, const Value& own, const Value& whole);

// What `was` names must be nobody's name any more, and no two can have been the same.
void check_former_names(Session& session, const Deployment& deployment);

// Components that cannot come up because each waits for another.
void check_absent(Session& session, const Deployment& deployment);  // needed, and wanted to be gone
void check_circles(Session& session, const Deployment& deployment);

}  // namespace tutti::model
