// Whether the record under a name can be planned from. A name belongs to one kind of thing: components, the resources
// of a catalog, or what a program left that was run as it was written. Going from one kind to another was rejected:
// what a catalog's resources were before nobody knows, and from an assembly of a program no plan leads on.
#include <fmt/format.h>

#include <algorithm>

#include "deploy/planning/stages.h"

namespace tutti::deploy {

void warn_unnamed(Session& session, const model::Deployment& wanted, const engine::Recorded& was) {
  if (was.components.empty() || wanted.components.empty() ||
      std::any_of(was.order.begin(), was.order.end(), [&](auto& name) { return wanted.find(Symbol(name)) != nullptr; }))
    return;
  session.diagnostics
      .warning("DEPLOY-UNNAMED", wanted.components[0].at,
               "nothing of what is recorded is in this configuration, and all of it goes")
      .note("a configuration without `system` is the system called `system`, whichever file it is in")
      .suggest("`system: NAME`, where this is another one");
}

bool can_plan_from(Session& session, const std::string& system, const engine::Recorded& was, Nature next) {
  if (was.components.empty()) return true;
  if (!was.program && was.catalog() && next == Nature::kNothing) {
    session.diagnostics
        .error("STATE-CATALOG", {},
               fmt::format("`{}` is a catalog: what its resources were before nobody knows, so it cannot be taken away",
                           system))
        .suggest("apply one that says `ensure => absent` of what is to go");
    return false;
  }
  if (!was.program && next != Nature::kNothing && was.catalog() != (next == Nature::kCatalog)) {
    session.diagnostics
        .error("STATE-NATURE", {},
               fmt::format("`{}` is recorded as {}, and this is {}", system,
                           was.catalog() ? "a catalog" : "a system of components",
                           was.catalog() ? "a system of components" : "a catalog"))
        .suggest("another name (--system)");
    return false;
  }
  if (!was.program) return true;
  session.diagnostics
      .error(
          "STATE-PROGRAM", {},
          fmt::format("`{}` is what a program left that was run as it was written: no plan leads on from it", system))
      .suggest("a program (`tutti run --back` writes one that leads back), or another name (--system)");
  return false;
}

}  // namespace tutti::deploy
