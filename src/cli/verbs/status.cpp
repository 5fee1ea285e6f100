#include <fmt/format.h>

#include <algorithm>

#include "cli/system/recorded_call.h"
#include "cli/system_input.h"
#include "cli/wording.h"

namespace tutti {
namespace {

constexpr OptionSpec kStatusOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    kTellOption,
};

// Where it stands. A resource of a catalog that failed or was skipped has had its turn, but is not done.
std::vector<std::string> state_of(const engine::RecordedComponent& c) {
  auto st = c.outputs.find("status");
  if (c.type == "resource" && st != c.outputs.end() && st->second != "ok") return {st->second};
  std::vector<std::string> names;
  for (Symbol e : c.marking) names.emplace_back(e.text());
  return names;
}

// Several systems: a line for each.
int overview(RecordedCall& here, const std::vector<std::string>& systems) {
  Call& call = here.call;
  TreeMaker make(call.session);
  std::vector<Value> list;
  std::string text;
  bool unfinished = false;
  for (auto& name : systems) {
    auto there = here.deployer->system(name);
    if (!there) return exit_code::kError;
    const engine::Recorded* recorded = &there->recorded;
    i64 serial = there->serial;
    i64 run = here.deployer->unfinished(name);
    unfinished = unfinished || run;
    std::size_t failed = 0;
    for (auto& [unused, c] : recorded->components) failed += !c.failed.empty();
    text += fmt::format("{} (state {}, {}){}{}\n", name, serial, counted(recorded->components.size(), "component"),
                        failed ? fmt::format("  {} FAILED", failed) : "",
                        run ? fmt::format("  run {} has not ended", run) : "");
    list.push_back(make.map({{"system", make.text(name)},
                             {"serial", make.integer(serial)},
                             {"components", make.integer(static_cast<i64>(recorded->components.size()))},
                             {"failed", make.integer(static_cast<i64>(failed))},
                             {"unfinished_run", make.integer(run)}}));
  }
  std::string out = call.options.get("out", "text");
  if (out != "text") return write_answer(call, make.list(list), out) ? exit_code::kOk : exit_code::kError;
  call.out.put(text + "One of them: --system NAME\n");
  return unfinished ? exit_code::kUnknown : exit_code::kOk;
}

int run_status(Call& call) {
  RecordedCall here(call);
  if (!here.look()) return exit_code::kError;
  if (!call.options.has("system")) {
    auto all = here.systems();
    if (!all) return exit_code::kError;
    if (all->size() > 1) return overview(here, *all);
  }
  std::string system = here.the_system();
  if (system.empty()) return exit_code::kError;
  auto there = here.deployer->system(system);
  if (!there) return exit_code::kError;
  i64 serial = there->serial;
  engine::Recorded* recorded = &there->recorded;
  auto lock = here.record->store->lock(system);
  bool held = lock && *lock && store::held(**lock, store::wall_clock());
  i64 unfinished = here.deployer->unfinished(system);
  // In a run that has not ended things are where its journal says, not where the last one left them.
  std::map<std::string, std::vector<std::string>> open;
  if (unfinished)
    if (auto standing = here.deployer->standing(unfinished)) {
      *recorded = std::move(standing->recorded);
      open = std::move(standing->open);
    }
  std::set<std::string> dead;
  if (!unfinished && !recorded->program) dead = here.dead(system, *recorded);
  // What became of an action whose run was cut off nobody knows before `resume` has looked.
  auto doing = [&](const std::string& name) -> std::string {
    auto it = open.find(name);
    if (it == open.end()) return "";
    return fmt::format("{} {}", held ? "doing" : "interrupted in", fmt::join(it->second, ", "));
  };
  TreeMaker make(call.session);
  std::string out = call.options.get("out", "text");
  if (out != "text") {
    std::vector<Entry> components;
    for (auto& name : recorded->order) {
      auto& c = recorded->components.at(name);
      std::vector<Entry> outputs;
      for (auto& [k, v] : c.outputs)
        outputs.push_back({Symbol(k), Field::kPlain, c.secret.count(k) ? make.text(v).as_secret() : make.text(v)});
      components.push_back({Symbol(name), Field::kPlain,
                            make.map({{"type", make.text(c.type)},
                                      {"host", make.text(c.host.text())},
                                      {"state", make.list(state_of(c))},
                                      {"forgotten", Value::boolean(c.forgotten)},
                                      {"failed", make.text(open.count(name) ? "" : c.failed)},
                                      {"dead", Value::boolean(dead.count(name) != 0)},
                                      {held ? "doing" : "interrupted", make.list(open[name])},
                                      {"outputs", make.builder().map(outputs)}})});
    }
    Value root = make.map({{"system", make.text(system)},
                           {"serial", make.integer(serial)},
                           {"unfinished_run", make.integer(unfinished)},
                           {"components", make.builder().map(components)}});
    return write_answer(call, root, out) ? exit_code::kOk : exit_code::kError;
  }
  call.out.put(fmt::format("{} (state {}, {})\n", system, serial, counted(recorded->components.size(), "component")));
  std::size_t wide = 9;
  for (auto& name : recorded->order) wide = std::max(wide, name.size());
  for (auto& name : recorded->order) {
    auto& c = recorded->components.at(name);
    std::vector<std::string> places = state_of(c);
    if (open.count(name) && !held) places = {"unknown"};
    std::string uses;
    for (bool hold : {true, false}) {
      std::vector<std::string_view> names;
      for (auto& n : c.needs)
        if (n.hold == hold && std::find(names.begin(), names.end(), n.provider.text()) == names.end())
          names.push_back(n.provider.text());
      if (!names.empty()) uses += fmt::format("  {} {}", hold ? "uses" : "after", fmt::join(names, ", "));
    }
    call.out.put(fmt::format("  {:<{}}  {:<10} {:<12} {}{}{}\n", name, wide, fmt::format("{}", fmt::join(places, ", ")),
                             c.type, c.host.empty() ? "here" : c.host.text(), uses,
                             open.count(name)   ? "  " + doing(name)
                             : c.forgotten      ? "  forgotten, until nobody uses it"
                             : dead.count(name) ? "  DEAD: the next apply starts it"
                             : c.failed.empty() ? ""
                                                : fmt::format("  FAILED in {}", c.failed)));
  }
  if (held) call.out.put(fmt::format("In use by {}.\n", store::describe(**lock, store::wall_clock())));
  if (unfinished && !held) call.out.put(fmt::format("Run {} did not end: tutti resume\n", unfinished));
  return unfinished && !held ? exit_code::kUnknown : exit_code::kOk;
}

}  // namespace

extern const Verb status_verb = {
    .name = "status",
    .group = "Running",
    .summary = "what is deployed, and in which state",
    .arguments = "",
    .details =
        "Shows what is recorded, and which processes of this machine have died; `tutti drift` looks at all "
        "that is really there. Exit code 16 when a run did not end.",
    .examples = "$ tutti status\n$ tutti status --out json",
    .options = kStatusOptions,
    .run = run_status,
    .most = 0,
};

}  // namespace tutti
