#pragma once

#include <functional>
#include <string>

#include "model/deployment.h"
#include "resource/real_path.h"
#include "tree/session.h"

namespace tutti::deploy {

// What comes first without being asked for, as in Puppet: the directory, link or mount that a file lies below, the file
// that it is copied from, the account that it belongs to, the directory that a command runs in; where another component
// of the same host brings that about. Never against what was asked for. `is_there` says of a component that this plan
// leaves out whether it has come already: what is not there nobody can wait for.
void imply_order(Session& session, model::Deployment& deployment,
                 const std::function<bool(const std::string& component)>& is_there,
                 const resource::CanonicalDirectory& real_directory);

}  // namespace tutti::deploy
