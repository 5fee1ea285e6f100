#pragma once

#include "deploy/shared/other_systems.h"
#include "deploy/shared/prepared.h"
#include "tree/session.h"

namespace tutti::deploy {

// Says of components that come to this machine which files they overwrite: those that are there with another content.
// Looking at other hosts would make every plan wait for them.
// `others` have things that are not purged.
void note_overwritten(Session& session, Prepared& prepared, const resource::ExecutorOptions& options,
                      const OtherSystems& others);

}  // namespace tutti::deploy
