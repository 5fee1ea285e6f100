#pragma once

#include <string_view>
#include <vector>

#include "model/deployment.h"
#include "tree/session.h"

// What components refer to (`${db.port}`): each reference leads somewhere, and none back to where it came from. Called in
// this order by deployment.cpp. `broken`: components whose own trouble was reported, so that nothing more is said of who
// refers to them.
namespace tutti::model {

using BrokenNames = std::vector<std::string_view>;

// What the actions of types refer to, beside the configuration of their component.
void check_action_references(Session& session, Deployment& deployment, const BrokenNames& broken);
// What settings refer to; false, and errors, where that is nothing.
bool check_references(Session& session, Deployment& deployment, const BrokenNames& broken);
// Settings that refer to others' settings are put in now, so that a change there is a change here. What only a run can
// tell (outputs, addresses) stays open.
void settle_configs(Session& session, Deployment& deployment);
// Whoever refers to what another gives when it runs comes after it. (In the component model orders say so.)
void imply_needs(Session& session, Deployment& deployment);

}  // namespace tutti::model
