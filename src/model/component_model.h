#pragma once

#include <optional>
#include <string_view>

#include "tree/session.h"

// The CDDLM component model (appendix B of the XML-CDL specification): a Component has a ClassName; a Compound is a
// component made of components, with a policy for each of the operations deploy, undeploy, start and stop that says in
// which order the operation reaches its children: Sequential, ReverseSequential or Parallel.
//
// It becomes an ordinary system (model/deployment.h): every component one of its own, every policy a set of orders
// between places of their life cycles. Nothing else in the program knows about policies.
namespace tutti::model {

// Whether a tree is written in that model: it, or something directly in it, has a ClassName (or SmartFrog's sfClass).
bool is_component_model(const Value& root);

// The same as {system, components, types, hosts}. Complaints are diagnostics at the user's own lines.
Value system_of_components(Session& session, const Value& root);

// The life cycle of a type with the four operations apart and gates in front of them, for orders to hold on to. `base`
// is the whole tree of a type; its `operations` say which of its transitions belong to which operation, else all of
// `deploy` but its last transition is deploy, the last is start, and `undeploy` the other way round. nullopt and `why`:
// it cannot be cut that way.
//
//   places  deploy-gate [deploy-begun deploy-all] deployed  start-gate [start-begun start-all] GOAL
//           stop-gate [stop-all] stop-end stopped  undeploy-gate [undeploy-all] INITIAL
//
// Those in brackets only with children: a parent acts before its children when it deploys and starts, after them when
// it stops and undeploys, and is done when they are.
std::optional<Value> component_life(const Value& base, bool children, const TreeBuilder& builder, std::string& why);

}  // namespace tutti::model
