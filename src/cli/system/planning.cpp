// A plan for what is wanted. Before it is made we look at what is really there: at all of it with --refresh, and always
// at what costs next to nothing to look at, the processes of this machine.
#include <fmt/format.h>

#include <algorithm>

#include "cli/system/recorded_call.h"
#include "deploy/looking/overwrite.h"

namespace tutti {
namespace {

// Under another name than its own a system is made a second time, beside the first one, of the same things.
void warn_beside(Call& call, deploy::Deployer& deployer, const Value& wanted, const std::string& system) {
  const Entry* named = wanted.find("system");
  if (system.empty() || !named || !named->value.is(Kind::kString) || named->value.text() == system) return;
  std::string own(named->value.text());
  auto there = deployer.recorded(own), beside = deployer.recorded(system);
  if (!there || there->components.empty() || !beside || !beside->components.empty()) return;
  call.session.diagnostics
      .warning("PLAN-BESIDE", call.session.origins.nearest(named->value.origin()),
               fmt::format("this is the system `{}`, and --system makes another one of it, `{}`", own, system))
      .note(fmt::format("`{}` is recorded too: what both hold goes with the last that goes", own));
}

// What costs next to nothing to look at: the processes of this machine.
engine::Recorded processes_here(const engine::Recorded& recorded) {
  engine::Recorded out;
  for (auto& name : recorded.order) {
    const engine::RecordedComponent& c = recorded.components.at(name);
    if (!c.host.empty() || !c.failed.empty()) continue;
    engine::RecordedComponent one = c;
    std::erase_if(one.held, [](const Value& held) {
      const Entry* type = held.find("type");
      return !type || !type->value.is(Kind::kString) || type->value.text() != "process";
    });
    if (one.held.empty()) continue;
    out.order.push_back(name);
    out.components.emplace(name, std::move(one));
  }
  return out;
}

}  // namespace

bool RecordedCall::only_names_components(const Value& wanted) {
  auto only = call.options.all("only");
  bool unnamed = std::find(only.begin(), only.end(), "") != only.end();
  if (!unnamed && (only.empty() || !resource::is_catalog(wanted))) return true;
  Diagnostic& d = call.session.diagnostics.error(
      "PLAN-ONLY", {},
      unnamed ? "--only wants the name of a component" : "--only is for components, and this is a catalog");
  if (!unnamed) d.suggest("--only-tag TAG looks at resources with this tag");
  return false;
}

std::set<std::string> RecordedCall::dead(const std::string& system, const engine::Recorded& recorded) {
  auto executor = settings("status").executor;
  executor.scope = deployer->scope_of(system);
  std::set<std::string> out;
  for (auto& d : deploy::look_for_drift(processes_here(recorded), executor))
    if (std::ranges::any_of(d.changes, [](const resource::Change& c) { return c.property == "ensure"; }))
      out.insert(d.component);
  return out;
}

std::optional<deploy::Prepared> RecordedCall::plan(const Value& wanted, int* unseen) {
  engine::PlanOptions options;
  if (!only_names_components(wanted)) return std::nullopt;
  options.only = call.options.all("only");
  options.restart = call.options.has("restart");
  std::string system = call.options.get("system");
  warn_beside(call, *deployer, wanted, system);
  auto prepared = deployer->prepare(wanted, system, "apply", options);
  if (!prepared || prepared->catalog) return prepared;
  hosts->describe(deploy::hosts_of(prepared->plan.flat));
  auto recorded = deployer->recorded(prepared->system);
  if (!recorded) return std::nullopt;
  bool all = call.options.has("refresh");
  engine::Recorded looked_at = all ? *recorded : processes_here(*recorded);
  auto executor = settings("plan").executor;
  executor.scope = deployer->scope_of(prepared->system);
  auto found = deploy::look_for_drift(looked_at, executor);
  for (auto& d : found)
    // What failed is repaired anyway.
    if (all && !d.problem.empty() && recorded->components.at(d.component).failed.empty()) {
      if (unseen) *unseen |= to_be_changed(call) | (d.unreachable ? exit_code::kUnreachable : 0);
      call.session.diagnostics.warning(
          "PLAN-UNSEEN", {}, fmt::format("{}: {} cannot be looked at: {}", d.component, d.resource, d.problem));
    }
  options.drift = deploy::deviations_of(found);
  if (!options.drift.empty()) prepared = deployer->prepare(wanted, system, "apply", options);
  if (!prepared) return prepared;
  deploy::note_overwritten(call.session, *prepared, executor, deployer->others(prepared->system));
  return prepared;
}

}  // namespace tutti
