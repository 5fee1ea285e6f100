#include "engine/plan/planner.h"

namespace tutti::engine {

std::map<std::string_view, std::vector<u32>> PlannedSystem::instances_of() const {
  std::map<std::string_view, std::vector<u32>> of;
  for (u32 i = 0; i < component_of.size(); ++i) of[component_of[i]].push_back(i);
  return of;
}

std::optional<Plan> Planner::make() {
  std::size_t before = session_.diagnostics.errors();
  gather();
  count_what_goes();
  if (session_.diagnostics.errors() != before || !compile_types()) return std::nullopt;
  hold_when_all_is_done();
  for (auto& item : items_) decide(item);
  if (session_.diagnostics.errors() != before) return std::nullopt;
  propagate();
  count_from_return();
  count_orders();
  if (!compile_types()) return std::nullopt;
  order();
  emit();
  if (session_.diagnostics.errors() != before) return std::nullopt;
  return std::move(plan_);
}

std::optional<Plan> make_plan(Session& session, const Deployment& wanted, const Recorded& recorded,
                              const PlanOptions& options) {
  return Planner(session, wanted, recorded, options).make();
}

}  // namespace tutti::engine
