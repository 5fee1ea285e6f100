#pragma once

#include "deploy/deployer.h"

namespace tutti::deploy {

// Says of components that come to this machine which files they overwrite: those that are there with another content.
// Looking at other hosts would make every plan wait for them.
void note_overwritten(Session& session, Prepared& prepared, const resource::ExecutorOptions& options);

// Says of files that go with their component which content they had before it came, and where that is kept.
void note_former(Session& session, Prepared& prepared, const engine::Recorded& was, const Place& place);

}  // namespace tutti::deploy
