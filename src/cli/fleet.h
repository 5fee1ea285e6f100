#pragma once

#include <map>

#include "cli/verb.h"
#include "tree/diff.h"

namespace tutti {

// The trees of many nodes, by node name: what a change does to a fleet is told once for all nodes that it does it to.
struct Fleet {
  std::map<std::string, Value> trees;
  std::vector<std::string> failed;  // nodes without one, for errors that are in the diagnostics
};

// The files of a call, where folders stand for the Puppet manifests in them; that of an environment names it too.
std::vector<std::string> with_folders(Call& call, std::span<const std::string> files, Options& options);

// What an argument of `diff` means: a file, a folder with a file for each node, or a Puppet environment (a folder with
// `manifests`).
std::optional<Value> evaluate_side(Call& call, const std::string& argument);

// The fleet that a tree is: catalogs by node name, or several documents that are catalogs. nullopt: it is none.
std::optional<Fleet> fleet_of(Session& session, const Value& tree);
// A tree as it is compared: of a catalog, what says something about the node.
Value comparable(Session& session, const Value& tree);

struct FleetChange {
  Difference difference;  // of the first node that has it
  std::vector<u32> nodes;
  bool named = false;  // each node has it with its own name in it
};
struct FleetDiff {
  std::vector<std::string> names;  // of the nodes on both sides
  std::vector<FleetChange> changes;
  std::size_t same = 0;  // nodes without a change
  std::vector<std::string> only_before, only_after;
  std::vector<std::string> failed_before, failed_after;
};
// The text with a node's name, and what of it is before the first dot, as `<node>` and `<host>`.
std::string without_name(std::string_view text, std::string_view node);
FleetDiff diff_fleets(const Fleet& before, const Fleet& after, bool ordered);

}  // namespace tutti
