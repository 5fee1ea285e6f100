#pragma once

#include "lang/common/links.h"
#include "tree/session.h"

namespace tutti::smartfrog {

// How kinds that data formats do not have are written: a DATA reference of the core as "$.a:b" (in YAML as a:b, as the
// paper prints it); what the production
// language leaves in the result as objects with one key, {"$LONG":"5"}, {"$REF":"LAZY x"}, {"$BYTES":"#HEX#00#"}; and a
// component that is only data, or whose attributes have tags, with the keys $DATA and $TAGS. Shared parts stay shared.
Value encode_tree(Session& session, const Value& value, bool yaml = false);

// The root of a tree in which there is nothing of that kind, so that it need not be looked for.
Symbol plain_tag();

}  // namespace tutti::smartfrog
