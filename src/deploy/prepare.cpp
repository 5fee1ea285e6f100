#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "deploy/deployer.h"
#include "deploy/encode.h"
#include "deploy/first.h"
#include "deploy/share.h"
#include "format/yaml.h"
#include "model/component_model.h"
#include "model/reader.h"
#include "model/template.h"
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

bool holds_secrets(store::Store& store) {
  auto systems = store.systems();
  if (!systems) return false;
  for (auto& name : *systems)
    if (auto r = store.system(name); r && *r && has_sealed((*r)->state)) return true;
  return false;
}

}  // namespace

namespace {

constexpr const char* kKeyFact = "key";  // the birth of the key file that seals the record

// A key that came with a repository is known to whoever put it there.
auto strange_key(const store::OwnDirectory& own) {
  return failure(fmt::format("the key {}/{} was not made here: it came with a repository, an archive or a copy",
                             own.shown(), store::kKeyFile),
                 store::kFromElsewhere);
}

}  // namespace

Result<Place> open_place(const std::string& directory, bool adopt) {
  auto own = store::OwnDirectory::open(directory);
  if (!own) return tl::unexpected(own.error());
  std::string database = directory + "/state.db", key = directory + "/" + store::kKeyFile;
  // In this order: who makes a record makes its key last.
  bool key_there = own->has(store::kKeyFile), fresh = !own->has("state.db");
  if (fresh && key_there && !adopt) return strange_key(*own);
  Place p;
  p.directory = directory;
  auto store = store::open_sqlite(database, adopt);
  if (!store) {
    const Failure& why = store.error();
    bool told = why.code > store::kFenced;  // with the path that is meant
    return failure(told ? why.message : fmt::format("{}: {}", database, why.message), why.code);
  }
  p.store = std::move(*store);
  if (!own->has(store::kKeyFile) && holds_secrets(*p.store))
    return failure(
        fmt::format("the key file {} is gone: the secrets in {} cannot be opened without it. Put it back, or "
                    "begin anew with another --state DIRECTORY",
                    key, database));
  std::string known = p.store->fact(kKeyFact), birth = own->birth(store::kKeyFile);
  if (!known.empty() && !birth.empty() && known != birth && !adopt) return strange_key(*own);
  auto seal = store::Seal::open(*own);
  if (!seal) return tl::unexpected(seal.error());
  p.seal = std::move(*seal);
  birth = own->birth(store::kKeyFile);
  // On a disk that cannot be written nothing is done either.
  if (known != birth) [[maybe_unused]]
    auto noted = p.store->set_fact(kKeyFact, birth);
  return p;
}

Result<Place> no_place() {
  auto store = store::open_sqlite(":memory:");
  if (!store) return tl::unexpected(store.error());
  return Place{"", std::move(*store), store::Seal::with_key(std::string(32, '\0'))};
}

std::optional<engine::Recorded> Deployer::recorded(const std::string& system, i64* serial, std::string* lineage,
                                                   Value* tree) {
  auto r = place_.store->system(system);
  if (!r) {
    fail("STATE-READ", r.error());
    return std::nullopt;
  }
  TreeBuilder b(session_.arena);
  if (tree) *tree = b.map({});
  if (!*r) return engine::Recorded{};
  if (serial) *serial = (*r)->serial;
  if (lineage) *lineage = (*r)->lineage;
  if ((*r)->state.empty()) return engine::Recorded{};
  auto v = decode(session_, "state of " + system, (*r)->state, *place_.seal);
  if (!v) return std::nullopt;
  if (tree) *tree = *v;
  return engine::read_recorded(session_, *v);
}

bool Prepared::empty() const {
  const Entry* changes = plan.flat.find("changes");
  return program.system.program.size() <= 1 && (!changes || !changes->value.fits_i64() || changes->value.as_i64() == 0);
}

bool Prepared::hosts_differ() const {
  const Entry *now = plan.flat.find("hosts"), *before = state.is(Kind::kMap) ? state.find("hosts") : nullptr;
  return !catalog && now && before && !equal(now->value, before->value);
}

namespace {

// What is in a template belongs to the configuration: a changed template is a change. It is looked for beside the file
// that names it.
void read_templates(Session& session, model::Deployment& deployment) {
  model::Reader reader(session);
  TreeBuilder builder(session.arena);
  for (model::Component& c : deployment.components) {
    const Entry* settings = deployment.kinds.at(std::string(c.type.text())).tree.find("config");
    const Entry* e = settings && settings->value.find("template") ? c.config.find("template") : nullptr;
    if (!e || !e->value.is(Kind::kString)) continue;
    std::filesystem::path path(std::string(e->value.text()));
    const Source* source = session.sources->find(reader.at(e->value));
    if (path.is_relative() && source && !source->path.empty())
      path = std::filesystem::path(source->path).parent_path() / path;
    auto text = session.sources->open(path.string(), u64{64} << 20);
    if (!text) {
      session.diagnostics.error("DEPLOY-TEMPLATE", reader.at(e->value), text.error().message);
      continue;
    }
    MapDraft config;
    for (const Entry& x : c.config.entries())
      if (x.key.text() != "template") config.set(x.key, x.value, x.field);
    config.set(Symbol("content"), builder.string((*text)->text, Origin((*text)->first)));
    c.config = config.build(builder, c.config.origin());
  }
}

// A host that is no longer described is known as long as something is there: that has to be reached in order to go.
void keep_hosts(const Value& state, const engine::Recorded& was, model::Deployment& deployment) {
  const Entry* known = state.is(Kind::kMap) ? state.find("hosts") : nullptr;
  if (!known || !known->value.is(Kind::kMap)) return;
  for (auto& [name, c] : was.components)
    if (const Entry* host = known->value.find(c.host.text()))
      deployment.hosts.try_emplace(std::string(c.host.text()), host->value);
}

// Systems that say no name are all called the same: the second one in a folder would take away the first.
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

}  // namespace

bool Deployer::planned(const std::string& system, const engine::Recorded& was, Nature next) {
  if (was.components.empty()) return true;
  if (!was.program && was.catalog() && next == Nature::kNothing) {
    session_.diagnostics
        .error("STATE-CATALOG", {},
               fmt::format("`{}` is a catalog: what its resources were before nobody knows, so it cannot be taken away",
                           system))
        .suggest("apply one that says `ensure => absent` of what is to go");
    return false;
  }
  if (!was.program && next != Nature::kNothing && was.catalog() != (next == Nature::kCatalog)) {
    session_.diagnostics
        .error("STATE-NATURE", {},
               fmt::format("`{}` is recorded as {}, and this is {}", system,
                           was.catalog() ? "a catalog" : "a system of components",
                           was.catalog() ? "a system of components" : "a catalog"))
        .suggest("another name (--system)");
    return false;
  }
  if (!was.program) return true;
  session_.diagnostics
      .error(
          "STATE-PROGRAM", {},
          fmt::format("`{}` is what a program left that was run as it was written: no plan leads on from it", system))
      .suggest("a program (`tutti run --back` writes one that leads back), or another name (--system)");
  return false;
}

std::optional<Prepared> Deployer::prepare(const Value& wanted, const std::string& system, const std::string& kind,
                                          const engine::PlanOptions& options) {
  if (resource::is_catalog(wanted)) return prepare_catalog(wanted, system, {});
  if (model::is_component_model(wanted)) {
    std::size_t before = session_.diagnostics.errors();
    Value plain = model::system_of_components(session_, wanted);
    auto prepared = prepare(plain, system, kind, options);
    return session_.diagnostics.errors() == before ? std::move(prepared) : std::nullopt;
  }
  auto deployment = model::read_deployment(session_, wanted, library(session_),
                                           [&](model::Deployment& d) { read_templates(session_, d); });
  bool steps = check_steps(wanted);  // all that is wrong at once
  if (!deployment || !steps) return std::nullopt;
  Prepared p;
  p.system = !system.empty() ? system : !deployment->name.empty() ? deployment->name : "system";
  p.kind = kind;
  p.wanted = model::plain_tree(*deployment, wanted, TreeBuilder(session_.arena));
  auto was = recorded(p.system, &p.serial, &p.lineage, &p.state);
  if (!was || !planned(p.system, *was, Nature::kSystem)) return std::nullopt;
  std::vector<std::string> notes;
  engine::PlanOptions how = options;
  how.renames = engine::find_renames(*deployment, *was, options.only, kind == kRollbackRun, notes);
  for (auto& [name, old] : how.renames)
    if (auto drift = how.drift.extract(old)) drift.key() = name, how.drift.insert(std::move(drift));
  rename(p, how.renames, *was);
  keep_hosts(p.state, *was, *deployment);
  imply_order(session_, *deployment, [&](const std::string& name) {
    auto& only = options.only;
    return only.empty() || was->components.count(name) || std::find(only.begin(), only.end(), name) != only.end();
  });
  if (system.empty() && deployment->name.empty()) warn_unnamed(session_, *deployment, *was);
  auto make_plan = [&] {
    auto plan = engine::make_plan(session_, *deployment, *was, how);
    if (!plan) return false;
    p.plan = std::move(*plan);
    return finish_preparing(p);
  };
  if (!make_plan()) return std::nullopt;
  how.present = present(p, *was);
  if (!how.present.empty() && !make_plan()) return std::nullopt;
  for (auto& [name, unused] : how.present) p.renewed.push_back(name);
  p.plan.notes.insert(p.plan.notes.end(), notes.begin(), notes.end());
  if (!check_resources(*deployment, p.program)) return std::nullopt;
  note_may_change(p, *was);
  note_let_go(p, *was);
  note_elsewhere(p, *was);
  note_taken_along(p, *was);
  note_actions(p, *was);
  return p;
}

void Deployer::rename(Prepared& p, const engine::Renames& renames, engine::Recorded& was) {
  if (renames.empty()) return;
  TreeBuilder b(session_.arena);
  was = engine::renamed(was, renames, b);
  MapDraft state;
  for (const Entry& e : p.state.entries()) state.set(e.key, e.value);
  for (const Entry& e : engine::write_recorded(was, b).entries()) state.set(e.key, e.value);
  p.state = state.build(b);
}

void Deployer::note_let_go(Prepared& p, const engine::Recorded& was) {
  const model::System& s = p.program.system;
  resource::Knowledge knowledge(p.program);
  teach(knowledge, p, was);
  resource::Scrubber scrub(p.plan.flat);
  std::map<std::string_view, engine::PlanChange*> changes;
  for (auto& c : p.plan.changes) changes.emplace(c.component, &c);
  for (u32 i = 0; i < s.assembly; ++i) {
    auto self = was.components.find(p.program.component_of[i]);
    auto found = changes.find(p.program.component_of[i]);
    if (self == was.components.end() || self->second.instance != s.instances[i].name.text() || found == changes.end())
      continue;
    engine::PlanChange* change = found->second;
    Share share = Share::of(self->second);
    std::set<std::string> goes, left, restored;
    for (auto& t : s.type_of(i).transitions) {
      std::string problem;
      for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), session_.arena, problem))
        if (r.let_go) (share.is_left(r) ? left : share.was_otherwise(r) ? restored : goes).insert(scrub.clean(r.title));
    }
    auto add = [&](std::string_view what, const std::set<std::string>& files, std::string_view why) {
      if (files.empty()) return;
      std::string words = fmt::format("{} {}{}", what, fmt::join(files, ", "), why);
      change->why += (change->why.empty() ? "" : "; ") + words;
    };
    add("removes", goes, "");
    add("restores", restored, fmt::format(" to what {} before", restored.size() == 1 ? "it was" : "they were"));
    add("leaves", left, fmt::format(", which {} there before", left.size() == 1 ? "was" : "were"));
  }
}

// Every resource of a catalog is looked at in every run, whatever is recorded: the world is what counts.
std::optional<Prepared> Deployer::prepare_catalog(const Value& wanted, const std::string& system,
                                                  const resource::CatalogOptions& options) {
  Value types = library(session_);
  auto catalog = resource::read_catalog(session_, wanted, types, options);
  if (!catalog) return std::nullopt;
  Prepared p;
  const Entry* name = wanted.find("name");
  p.system = !system.empty()                         ? system
             : name && name->value.is(Kind::kString) ? std::string(name->value.text())
                                                     : "catalog";
  p.kind = "apply";
  p.catalog = true;
  p.wanted = wanted;
  p.conflicts = catalog->conflicts;
  p.managed = std::move(catalog->managed);
  p.resources = catalog->resources;
  auto was = recorded(p.system, &p.serial, &p.lineage, &p.state);
  if (!was || !planned(p.system, *was, Nature::kCatalog)) return std::nullopt;
  auto plan = engine::make_plan(session_, catalog->deployment, {});
  if (!plan) return std::nullopt;
  p.plan = std::move(*plan);
  if (!finish_preparing(p)) return std::nullopt;
  return p;
}

std::optional<Prepared> Deployer::prepare_removal(const std::string& system) {
  Prepared p;
  p.system = system;
  p.kind = "destroy";
  auto was = recorded(system, &p.serial, &p.lineage, &p.state);
  if (!was || !planned(system, *was, Nature::kNothing)) return std::nullopt;
  model::Deployment nothing;
  nothing.name = system;
  keep_hosts(p.state, *was, nothing);
  auto plan = engine::make_plan(session_, nothing, *was);
  if (!plan) return std::nullopt;
  p.plan = std::move(*plan);
  TreeBuilder b(session_.arena);
  std::vector<Entry> none{{Symbol("system"), Field::kPlain, b.string(system)},
                          {Symbol("components"), Field::kPlain, b.map({})}};
  p.wanted = b.map(none);
  if (!finish_preparing(p)) return std::nullopt;
  note_elsewhere(p, *was);
  note_taken_along(p, *was);
  note_actions(p, *was);
  return p;
}

bool Deployer::finish_preparing(Prepared& p) {
  auto program = engine::build_system(session_, p.plan.flat);
  if (!program) return false;
  p.program = std::move(*program);
  set_durations(p.program);
  p.digest = sha256_hex(fingerprint(p.plan.flat, *place_.seal)).substr(0, 12);
  return true;
}

std::vector<std::string> duration_keys(const engine::PlannedSystem& plan, u32 instance, u32 transition, bool former) {
  const engine::PlannedInstance& self = plan.instances[instance];
  std::string_view t = plan.system.type_of(instance).transitions[transition].name.text();
  std::vector<std::string> keys{fmt::format("{}/{}", self.component, t)};
  if (former)
    for (auto name = self.former.rbegin(); name != self.former.rend(); ++name)
      keys.push_back(fmt::format("{}/{}", name->substr(0, name->find('#')), t));
  keys.push_back(fmt::format("{}:{}", self.kind, t));
  return keys;
}

// What a type's actions took for others says how long this one's take only where it was much the same for all.
bool is_like_others(const store::Learnt& l) { return l.count >= 3 && l.deviation <= 0.25 * l.mean; }

void Deployer::set_durations(engine::PlannedSystem& program) {
  auto learnt = place_.store->learnt();
  model::System& s = program.system;
  program.timed.assign(s.instances.size(), 0);
  for (u32 i = 0; i < s.instances.size(); ++i) {
    const model::ComponentType& type = s.type_of(i);
    std::vector<model::Duration> own;
    for (u32 t = 0; t < type.transitions.size(); ++t) {
      const model::Action& action = type.action_of(type.transitions[t]);
      bool known = action.what.is(Kind::kNull) || action.duration.mean() > 0;
      auto keys = learnt && !learnt->empty() ? duration_keys(program, i, t, true) : std::vector<std::string>();
      for (auto& key : keys)
        if (auto it = learnt->find(key); it != learnt->end()) {
          if (own.empty())
            for (auto& a : type.actions) own.push_back(a.duration);
          own[type.transitions[t].action] = model::Duration::fixed(it->second.mean);
          known = &key != &keys.back() || is_like_others(it->second);
          break;
        }
      if (known && t < 64) program.timed[i] |= u64{1} << t;
    }
    if (!own.empty()) s.durations[i] = std::move(own);
  }
}

namespace {

// The signature is the first thing after the mark, so that the rest can be taken as it is.
constexpr std::string_view kMark = R"({"tutti_plan":2,)", kSignature = R"("signature":")";

}  // namespace

bool is_saved_plan(std::string_view text) { return text.starts_with(R"({"tutti_plan":)"); }

std::string Deployer::save(const Prepared& p) const {
  TreeBuilder b(session_.arena);
  std::vector<Entry> root{{Symbol("tutti_plan"), Field::kPlain, Value::integer(2)},
                          {Symbol("system"), Field::kPlain, b.string(p.system)},
                          {Symbol("kind"), Field::kPlain, b.string(p.kind)},
                          {Symbol("serial"), Field::kPlain, Value::integer(p.serial)},
                          {Symbol("lineage"), Field::kPlain, b.string(p.lineage)},
                          {Symbol("digest"), Field::kPlain, b.string(p.digest)},
                          {Symbol("catalog"), Field::kPlain, Value::boolean(p.catalog)},
                          {Symbol("resources"), Field::kPlain, Value::integer(static_cast<i64>(p.resources))},
                          {Symbol("wanted"), Field::kPlain, p.wanted},
                          {Symbol("shown"), Field::kPlain, engine::write_changes(p.plan, b)},
                          {Symbol("flat"), Field::kPlain, p.plan.flat}};
  std::string body = encode(b.map(root), *place_.seal);
  while (body.ends_with('\n')) body.pop_back();
  return fmt::format("{}{}{}\",{}\n", kMark, kSignature, place_.seal->sign(body), body.substr(kMark.size()));
}

std::optional<Prepared> Deployer::load(const std::string& saved, const std::string& name) {
  auto broken = [&](std::string_view why) {
    session_.diagnostics.error("PLAN-BROKEN", {}, fmt::format("{} {}", name, why)).suggest("make a new plan");
    return std::nullopt;
  };
  std::string_view rest = saved;
  if (!rest.starts_with(fmt::format("{}{}", kMark, kSignature))) return broken("is not a saved plan of this version");
  rest.remove_prefix(kMark.size() + kSignature.size());
  std::size_t end = std::min(rest.find("\","), rest.size());
  std::string body = fmt::format("{}{}", kMark, rest.substr(std::min(end + 2, rest.size())));
  while (body.ends_with('\n')) body.pop_back();
  if (place_.seal->sign(body) != rest.substr(0, end))
    return broken("was altered after it was made, or made with another key");
  auto v = decode(session_, name, std::move(body), *place_.seal);
  if (!v) return std::nullopt;
  Prepared p;
  auto text = [&](std::string_view key) {
    const Entry* e = v->find(key);
    return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
  };
  p.system = text("system");
  p.kind = text("kind");
  p.lineage = text("lineage");
  if (const Entry* e = v->find("serial"); e && e->value.fits_i64()) p.serial = e->value.as_i64();
  if (const Entry* e = v->find("catalog")) p.catalog = e->value.is(Kind::kBool) && e->value.as_bool();
  if (const Entry* e = v->find("resources"); e && e->value.fits_i64())
    p.resources = static_cast<std::size_t>(e->value.as_i64());
  if (const Entry* e = v->find("wanted")) p.wanted = e->value;
  if (const Entry* e = v->find("flat")) p.plan.flat = e->value;
  if (const Entry* e = v->find("shown")) engine::read_changes(e->value, p.plan);
  i64 serial = 0;
  std::string lineage;
  auto was = recorded(p.system, &serial, &lineage, &p.state);
  if (!was) return std::nullopt;
  if (serial != p.serial || (!p.lineage.empty() && lineage != p.lineage)) {
    session_.diagnostics
        .error(
            "PLAN-STALE", {},
            fmt::format("the plan was made against state {} of `{}`, which is at {} now", p.serial, p.system, serial))
        .suggest("make a new plan");
    return std::nullopt;
  }
  engine::Renames renames;
  if (const Entry* e = p.plan.flat.find("renames"); e && e->value.is(Kind::kMap))
    for (const Entry& r : e->value.entries()) renames[std::string(r.key.text())] = r.value.text();
  rename(p, renames, *was);
  if (!finish_preparing(p)) return std::nullopt;
  p.saved = true;
  return p;
}

}  // namespace tutti::deploy
