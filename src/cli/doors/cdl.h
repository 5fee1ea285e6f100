#pragma once

// What the command line asks of XML-CDL beyond a tree: `tutti resolve` gives values to a system of lazy references, in
// rounds. Other files of cli may include nothing of lang/cdl (tests/layers).
#include "lang/cdl/resolve/system.h"
#include "lang/cdl/resolve/types.h"
