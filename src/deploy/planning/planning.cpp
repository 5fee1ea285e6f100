#include "deploy/planning/planning.h"

#include <fmt/format.h>

#include <algorithm>

#include "deploy/planning/implied_order.h"
#include "deploy/planning/stages.h"
#include "format/yaml.h"
#include "model/component_model.h"
#include "transport/host.h"

namespace tutti::deploy {

std::string_view types_text();  // schema/types.yaml, see cmake/schema.cmake

Value library(Session& session) {
  auto source = session.sources->add("schema/types.yaml", std::string(types_text()));
  if (!source) return Value::null();
  auto v = read_yaml(session, **source);
  return v ? *v : Value::null();
}

namespace {

// A host that is no longer described is known as long as something is there: that has to be reached in order to go.
void keep_hosts(const engine::Recorded& was, model::Deployment& deployment) {
  if (!was.hosts.is(Kind::kMap)) return;
  for (auto& [name, c] : was.components)
    if (const Entry* host = was.hosts.find(c.host.text()))
      deployment.hosts.try_emplace(std::string(c.host.text()), host->value);
}

// Gives components other names in what the plan starts from, which is the state that its run is begun with.
void rename(Session& session, Prepared& p, const engine::Renames& renames, engine::Recorded& was) {
  if (renames.empty()) return;
  TreeBuilder b(session.arena);
  was = engine::renamed(was, renames, b);
  p.state = engine::write_recorded(was, b);
}

void start_from(Prepared& p, const RecordedSystem& there) {
  p.state = there.state;
  p.serial = there.serial;
  p.lineage = there.lineage;
}

Value nothing_wanted(const std::string& system, const TreeBuilder& b) {
  std::vector<Entry> none{{Symbol("system"), Field::kPlain, b.string(system)},
                          {Symbol("components"), Field::kPlain, b.map({})}};
  return b.map(none);
}

std::string first_of(std::initializer_list<std::string> names) {
  for (auto& name : names)
    if (!name.empty()) return name;
  return "";
}

}  // namespace

bool Planning::complete(Prepared& p) {
  auto program = engine::build_system(session_, p.plan.flat);
  if (!program) return false;
  p.program = std::move(*program);
  set_durations(p.program, world_.durations());
  p.digest = sha256_hex(world_.fingerprint(p.plan.flat)).substr(0, 12);
  return true;
}

bool Planning::make(Prepared& p, const model::Deployment& wanted, const engine::Recorded& was,
                    const engine::PlanOptions& options) {
  auto plan = engine::make_plan(session_, wanted, was, options);
  if (!plan) return false;
  p.plan = std::move(*plan);
  return complete(p);
}

std::optional<Prepared> Planning::prepare(const Value& wanted, const std::string& system, const std::string& kind,
                                          const engine::PlanOptions& options) {
  if (resource::is_catalog(wanted)) return prepare_catalog(wanted, system, {});
  if (!model::is_component_model(wanted)) return prepare_system(wanted, system, kind, options);
  std::size_t before = session_.diagnostics.errors();
  Value plain = model::system_of_components(session_, wanted);
  auto prepared = prepare_system(plain, system, kind, options);
  return session_.diagnostics.errors() == before ? std::move(prepared) : std::nullopt;
}

std::optional<Prepared> Planning::prepare_system(const Value& wanted, const std::string& system,
                                                 const std::string& kind, const engine::PlanOptions& options) {
  auto deployment = model::read_deployment(session_, wanted, library(session_),
                                           [&](model::Deployment& d) { read_templates(session_, world_, d); });
  bool steps = check_steps(session_, wanted);  // all that is wrong at once
  if (!deployment || !steps) return std::nullopt;
  Prepared p;
  p.system = first_of({system, deployment->name, "system"});
  p.kind = kind;
  p.wanted = model::plain_tree(*deployment, wanted, TreeBuilder(session_.arena));
  auto there = world_.recorded(p.system);
  if (!there || !can_plan_from(session_, p.system, there->recorded, Nature::kSystem)) return std::nullopt;
  engine::Recorded& was = there->recorded;
  start_from(p, *there);
  std::vector<std::string> notes;
  engine::PlanOptions how = options;
  how.renames = engine::find_renames(*deployment, was, options.only, kind == kRollbackRun, notes);
  for (auto& [name, old] : how.renames)
    if (auto drift = how.drift.extract(old)) drift.key() = name, how.drift.insert(std::move(drift));
  rename(session_, p, how.renames, was);
  keep_hosts(was, *deployment);
  auto real = [this](const std::string& directory) { return world_.real_directory(directory); };
  auto is_there = [&](const std::string& name) {
    auto& only = options.only;
    return only.empty() || was.components.count(name) || std::find(only.begin(), only.end(), name) != only.end();
  };
  imply_order(session_, *deployment, is_there, real);
  if (system.empty() && deployment->name.empty()) warn_unnamed(session_, *deployment, was);
  // Once to see with which values the components that are there were made, and again where these are others now.
  if (!make(p, *deployment, was, how)) return std::nullopt;
  how.present = changed_values(session_, p, was, world_.home());
  if (!how.present.empty() && !make(p, *deployment, was, how)) return std::nullopt;
  for (auto& [name, unused] : how.present) p.renewed.push_back(name);
  p.plan.notes.insert(p.plan.notes.end(), notes.begin(), notes.end());
  if (!check_resources(session_, *deployment, p.program, real, told_)) return std::nullopt;
  Noting noting{session_, p, was, world_.home()};
  note_may_change(noting);
  note_let_go(noting);
  note_others(noting, world_.others(p.system), told_);
  note_actions(noting);
  return p;
}

std::optional<Prepared> Planning::prepare_catalog(const Value& wanted, const std::string& system,
                                                  const resource::CatalogOptions& options) {
  auto catalog = resource::read_catalog(session_, wanted, library(session_), options);
  if (!catalog) return std::nullopt;
  Prepared p;
  const Entry* name = wanted.find("name");
  std::string own = name && name->value.is(Kind::kString) ? std::string(name->value.text()) : "";
  p.system = first_of({system, own, "catalog"});
  p.kind = kApplyRun;
  p.catalog = true;
  p.wanted = wanted;
  p.conflicts = catalog->conflicts;
  p.managed = std::move(catalog->managed);
  p.resources = catalog->resources;
  auto there = world_.recorded(p.system);
  if (!there || !can_plan_from(session_, p.system, there->recorded, Nature::kCatalog)) return std::nullopt;
  start_from(p, *there);
  if (!make(p, catalog->deployment, {}, {})) return std::nullopt;
  return p;
}

std::optional<Prepared> Planning::prepare_removal(const std::string& system) {
  Prepared p;
  p.system = system;
  p.kind = kDestroyRun;
  auto there = world_.recorded(system);
  if (!there || !can_plan_from(session_, system, there->recorded, Nature::kNothing)) return std::nullopt;
  start_from(p, *there);
  model::Deployment nothing;
  nothing.name = system;
  keep_hosts(there->recorded, nothing);
  p.wanted = nothing_wanted(system, TreeBuilder(session_.arena));
  if (!make(p, nothing, there->recorded, {})) return std::nullopt;
  Noting noting{session_, p, there->recorded, world_.home()};
  note_others(noting, world_.others(system), told_);
  note_actions(noting);
  return p;
}

std::optional<Prepared> Planning::take_up(Prepared p) {
  auto there = world_.recorded(p.system);
  if (!there) return std::nullopt;
  if (there->serial != p.serial || (!p.lineage.empty() && there->lineage != p.lineage)) {
    session_.diagnostics
        .error("PLAN-STALE", {},
               fmt::format("the plan was made against state {} of `{}`, which is at {} now", p.serial, p.system,
                           there->serial))
        .suggest("make a new plan");
    return std::nullopt;
  }
  p.state = there->state;
  rename(session_, p, engine::read_head(p.plan.flat).renames, there->recorded);
  p.saved = true;
  if (!complete(p)) return std::nullopt;
  return p;
}

}  // namespace tutti::deploy
