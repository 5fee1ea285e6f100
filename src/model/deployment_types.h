#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "model/deployment.h"
#include "model/reader.h"

namespace tutti::model {

// The types that a system may use: those that it writes itself, and those that ship with tutti. A type is read with all
// that it extends when it is first asked for, and put among the deployment's kinds.
class DeploymentTypes : public Reader {
 public:
  // `own`: the system's `types`, a map or null.
  DeploymentTypes(Session& session, const Value& own, const Value& library, Deployment& deployment)
      : Reader(session), types_(own), library_(library), out_(deployment), builder_(session.arena) {}

  // All that the user wrote, whether anybody uses it or not.
  void check();
  // nullptr, and an error, where there is no such type or it is no life cycle.
  const ComponentKind* kind_named(const Named& n);

 private:
  // A type with all that it extends. What is wrong with one of the user's is said once.
  std::optional<Value> whole_type(const Named& n);
  std::optional<Value> type_tree(Symbol n, Pos wanted_at, std::vector<Symbol>& chain);
  // A type of the CDDLM component model: another type with its operations apart.
  std::optional<Value> component_tree(const Value& type, const Value& of, std::vector<Symbol>& chain);

  Value types_, library_;
  Deployment& out_;
  TreeBuilder builder_;
  std::map<Symbol, std::optional<Value>> types_read_;  // those of the user's
  std::set<Symbol> keys_checked_;
};

}  // namespace tutti::model
