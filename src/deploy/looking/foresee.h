#pragma once

#include <map>
#include <string>
#include <vector>

#include "deploy/looking/drift.h"
#include "deploy/shared/prepared.h"

// What a run of a catalog will do, before it: in go the catalog, what was found where resources were looked at, and
// what is recorded of them; out comes, in the order of the run, each resource that will change or be refreshed, and
// why.
//
// A resource does something because it is not as wanted, or because something it is told of (`notify`, `subscribe`,
// through classes and defines) changes before it: the second is seen at no resource, only along the edges. So the plan
// follows the events as the run will (resource/catalog_action.cpp), with what was looked at instead of what was done.
// The other way, a run in which every resource only looks, was rejected: it would need a lease and a journal, and where
// it meets a resource of an earlier one it finds the world as it is now, as this does.
//
// What only running will tell (what a command does, whether its `unless` says something else by then) is not foreseen;
// a command that need not run since an earlier resource makes the file that it `creates` is.
namespace tutti::deploy {

struct Foreseen {
  std::string resource;                   // "File[/etc/motd]"
  std::vector<resource::Change> changes;  // of its own
  std::string refresh;               // what it does besides, because of others: "run `x`", "restart"; "" for nothing
  std::vector<std::string> because;  // of these
  std::string problem;               // it cannot be looked at
};

std::vector<Foreseen> foresee(const engine::PlannedSystem& catalog, const std::vector<Drift>& found,
                              const engine::Recorded& was);
// The same for a catalog that is prepared, with a look at all its resources.
std::vector<Foreseen> foresee(const Prepared& catalog, const engine::Recorded& was,
                              const resource::ExecutorOptions& options);

}  // namespace tutti::deploy
