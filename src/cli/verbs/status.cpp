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

// One system, as it is told.
struct Shown {
  std::string system;
  i64 serial = 0, unfinished = 0;
  engine::Recorded recorded;
  std::optional<store::LockInfo> holder;                 // who uses it now
  std::map<std::string, std::vector<std::string>> open;  // component -> what a run has begun there and not ended
  std::set<std::string> dead;                            // components whose process is to run and does not
};

Value component_tree(const TreeMaker& make, const Shown& s, const engine::RecordedComponent& c) {
  std::vector<Entry> outputs;
  for (auto& [k, v] : c.outputs)
    outputs.push_back({Symbol(k), Field::kPlain, c.secret.count(k) ? make.text(v).as_secret() : make.text(v)});
  auto doing = s.open.find(c.name);
  bool open = doing != s.open.end();
  return make.map({{"type", make.text(c.type)},
                   {"host", make.text(c.host.text())},
                   {"state", make.list(state_of(c))},
                   {"forgotten", Value::boolean(c.forgotten)},
                   {"failed", make.text(open ? "" : c.failed)},
                   {"dead", Value::boolean(s.dead.count(c.name) != 0)},
                   {s.holder ? "doing" : "interrupted", make.list(open ? doing->second : std::vector<std::string>{})},
                   {"outputs", make.builder().map(outputs)}});
}

Value as_tree(const TreeMaker& make, const Shown& s) {
  std::vector<Entry> components;
  for (auto& name : s.recorded.order)
    components.push_back({Symbol(name), Field::kPlain, component_tree(make, s, s.recorded.components.at(name))});
  return make.map({{"system", make.text(s.system)},
                   {"serial", make.integer(s.serial)},
                   {"unfinished_run", make.integer(s.unfinished)},
                   {"components", make.builder().map(components)}});
}

std::string uses_text(const engine::RecordedComponent& c) {
  std::string uses;
  for (bool hold : {true, false}) {
    std::vector<std::string_view> names;
    for (auto& n : c.needs)
      if (n.hold == hold && std::find(names.begin(), names.end(), n.provider.text()) == names.end())
        names.push_back(n.provider.text());
    if (!names.empty()) uses += fmt::format("  {} {}", hold ? "uses" : "after", fmt::join(names, ", "));
  }
  return uses;
}

std::string component_line(const Shown& s, const engine::RecordedComponent& c, std::size_t wide) {
  auto doing = s.open.find(c.name);
  bool open = doing != s.open.end();
  // What became of an action whose run was cut off nobody knows before `resume` has looked.
  std::vector<std::string> places = open && !s.holder ? std::vector<std::string>{"unknown"} : state_of(c);
  std::string how;
  if (open)
    how = fmt::format("  {} {}", s.holder ? "doing" : "interrupted in", fmt::join(doing->second, ", "));
  else if (c.forgotten)
    how = "  forgotten, until nobody uses it";
  else if (s.dead.count(c.name))
    how = "  DEAD: the next apply starts it";
  else if (!c.failed.empty())
    how = fmt::format("  FAILED in {}", c.failed);
  return fmt::format("  {:<{}}  {:<10} {:<12} {}{}{}\n", c.name, wide, fmt::format("{}", fmt::join(places, ", ")),
                     c.type, c.host.empty() ? "here" : c.host.text(), uses_text(c), how);
}

std::string as_text(const Shown& s) {
  std::string text =
      fmt::format("{} (state {}, {})\n", s.system, s.serial, counted(s.recorded.components.size(), "component"));
  std::size_t wide = 9;
  for (auto& name : s.recorded.order) wide = std::max(wide, name.size());
  for (auto& name : s.recorded.order) text += component_line(s, s.recorded.components.at(name), wide);
  if (s.holder)
    text += fmt::format("In use by {}.\n", store::describe(*s.holder, store::wall_clock()));
  else if (s.unfinished)
    text += fmt::format("Run {} did not end: tutti resume\n", s.unfinished);
  return text;
}

int run_status(Call& call) {
  RecordedCall here(call);
  if (!here.look()) return exit_code::kError;
  if (!call.options.has("system")) {
    auto all = here.systems();
    if (!all) return exit_code::kError;
    if (all->size() > 1) return overview(here, *all);
  }
  Shown s;
  s.system = here.the_system();
  if (s.system.empty()) return exit_code::kError;
  auto there = here.deployer->system(s.system);
  if (!there) return exit_code::kError;
  s.serial = there->serial;
  s.recorded = std::move(there->recorded);
  auto lock = here.record->store->lock(s.system);
  if (lock && *lock && store::held(**lock, store::wall_clock())) s.holder = **lock;
  s.unfinished = here.deployer->unfinished(s.system);
  // In a run that has not ended things are where its journal says, not where the last one left them.
  if (auto standing = s.unfinished ? here.deployer->standing(s.unfinished) : std::nullopt) {
    s.recorded = std::move(standing->recorded);
    s.open = std::move(standing->open);
  }
  if (!s.unfinished && !s.recorded.program) s.dead = here.dead(s.system, s.recorded);
  if (std::string out = call.options.get("out", "text"); out != "text")
    return write_answer(call, as_tree(TreeMaker(call.session), s), out) ? exit_code::kOk : exit_code::kError;
  call.out.put(as_text(s));
  return s.unfinished && !s.holder ? exit_code::kUnknown : exit_code::kOk;
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
