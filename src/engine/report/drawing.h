#pragma once

#include <string>
#include <vector>

#include "engine/estimate/graph.h"

// Pictures of a system: its assembly, the nets of its types, the dependency graph of its program.
namespace tutti::engine {

struct DrawnNode {
  std::string label;
  enum class Shape : u8 { kBox, kRound, kPoint } shape = Shape::kBox;
  std::string group;    // nodes of one group are drawn together
  bool strong = false;  // on the critical path, or initial
};
struct DrawnEdge {
  u32 from = 0, to = 0;
  std::string label;
  bool strong = false, dashed = false;
};
struct Drawing {
  std::string name;
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;
  bool apart = false;  // the groups have nothing to do with each other
};

Drawing draw_assembly(const model::System& system);  // as it is after the program, links of the program included
Drawing draw_nets(const model::System& system);      // places and transitions of every type, ports as groups' names
Drawing draw_dependencies(const Graph& graph);       // with the critical path

std::string to_dot(const Drawing& drawing);
// Layers from left to right, no program needed to look at it.
std::string to_svg(const Drawing& drawing);

}  // namespace tutti::engine
