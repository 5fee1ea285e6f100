#pragma once

// What the command line asks of Puppet beyond a tree: the door for the front end that answers as `puppet apply` does
// (cli/puppet_apply), for facts, for fleets of nodes and for files of modules. Whoever needs more of Puppet puts it
// here, where all of it can be seen; other files of cli may include nothing of lang/puppet (tests/layers).
#include "lang/puppet/facts/facts.h"         // what is known of this machine
#include "lang/puppet/facts/module_facts.h"  // and what modules add to that
#include "lang/puppet/failed_nodes.h"        // of a fleet, nodes whose catalog could not be made
#include "lang/puppet/front_end.h"           // the arguments of `puppet apply`
#include "lang/puppet/log.h"                 // what notice() and the others say
#include "lang/puppet/request.h"             // settings, environments, manifests
