#include <fmt/format.h>

#include <algorithm>

#include "base/private_file.h"
#include "cli/system/recorded_call.h"
#include "cli/system_input.h"
#include "cli/wording.h"
#include "deploy/looking/foresee.h"

namespace tutti {
namespace {

constexpr OptionSpec kPlanOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    {"save", "FILE", "keep the plan, for `tutti apply FILE`"},
    {"only", "COMPONENT", "look at this component only", true},
    {"restart", "", "also restart what did not change"},
    {"refresh", "", "look at what is really there, and plan to bring it back"},
    {"detailed-exitcode", "", "2 when there is something to do"},
    {"full", "", "show every value of the plan uncut"},
    {"program", "", "show the reconfiguration program too"},
    kMaxStates,
    kTellOption,
};

// For `tutti apply`, where that is asked for.
bool save(RecordedCall& here, const deploy::Prepared& prepared) {
  Call& call = here.call;
  std::string file = call.options.get("save");
  if (file.empty()) return true;
  if (auto r = write_private_file(file, here.deployer->save(prepared)); !r) {
    call.session.diagnostics.error("IO-WRITE", {}, r.error().message);
    return false;
  }
  if (call.options.get("out", "text") == "text") call.out.put(fmt::format("Saved. To do it: tutti apply {}\n", file));
  return true;
}

// What a catalog's resource will do, a line for each property and one for a refresh.
std::string foreseen_text(const deploy::Foreseen& f) {
  if (!f.problem.empty()) return fmt::format("? {}: cannot be looked at: {}\n", f.resource, f.problem);
  std::string t;
  for (auto& c : f.changes)
    t +=
        fmt::format("~ {}{}/{}: {} -> {}{}\n", f.resource, c.subject.empty() ? "" : " " + c.subject, c.property, c.from,
                    c.to, c.unknown ? "  # it has no check: it runs, and what it changes cannot be known" : "");
  if (f.refresh.empty()) return t;
  std::size_t shown = std::min<std::size_t>(f.because.size(), 3);
  t += fmt::format("~ {}: {}  # {} changes", f.resource, f.refresh,
                   fmt::join(f.because.begin(), f.because.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (f.because.size() > shown) t += fmt::format(", and so do {} more", f.because.size() - shown);
  return t + "\n";
}

void foreseen_tree(const TreeMaker& make, const deploy::Foreseen& f, std::vector<Value>& told) {
  if (!f.problem.empty())
    told.push_back(make.map({{"resource", make.text(f.resource)}, {"problem", make.text(f.problem)}}));
  for (auto& c : f.changes)
    told.push_back(make.map({{"resource", make.text(f.resource)},
                             {"subject", make.text(c.subject)},
                             {"property", make.text(c.property)},
                             {"from", make.text(c.from)},
                             {"to", make.text(c.to)},
                             {"known", Value::boolean(!c.unknown)}}));
  if (!f.refresh.empty())
    told.push_back(make.map({{"resource", make.text(f.resource)},
                             {"refresh", make.text(f.refresh)},
                             {"because", make.list(f.because)},
                             {"known", Value::boolean(true)}}));
}

// A catalog has no other plan than to look at every resource: what differs will be changed, what is told of a change
// refreshed, what cannot be seen is said so.
int plan_catalog(RecordedCall& here, const deploy::Prepared& prepared) {
  Call& call = here.call;
  for (auto& c : prepared.conflicts)
    call.session.diagnostics.warning("CATALOG-ORDER", {},
                                     fmt::format("{} and {} both {} {}, and no order is said between them", c.first,
                                                 c.second, c.reads ? "have to do with" : "change", c.thing));
  u32 changes = 0, unknown = 0;
  std::string out = call.options.get("out", "text");
  TreeMaker make(call.session);
  std::vector<Value> told;
  auto was = here.deployer->recorded(prepared.system).value_or(engine::Recorded{});
  for (auto& f : deploy::foresee(prepared, was, here.settings("plan").executor)) {
    ++(f.problem.empty() ? changes : unknown);
    if (out == "text")
      call.out.put(foreseen_text(f));
    else
      foreseen_tree(make, f, told);
  }
  int code = changes + unknown ? to_be_changed(call) : exit_code::kOk;
  if (out != "text") {
    Value answer = make.map({{"resources", make.integer(prepared.resources)},
                             {"to_change", make.integer(changes)},
                             {"unknown", make.integer(unknown)},
                             {"changes", make.list(told)}});
    return write_answer(call, answer, out) && save(here, prepared) ? code : exit_code::kError;
  }
  call.out.put(fmt::format("Plan: {} resources, {} to change, {} unknown.\n", prepared.resources, changes, unknown));
  return save(here, prepared) ? code : exit_code::kError;
}

int run_plan(Call& call) {
  RecordedCall here(call);
  if (!(call.options.has("save") ? here.open() : here.look())) return exit_code::kError;
  auto wanted = here.wanted();
  if (!wanted) return exit_code::kError;
  int unseen = exit_code::kOk;
  auto prepared = here.plan(*wanted, &unseen);
  if (!prepared) return exit_code::kError;
  if (int busy = here.nothing_unfinished(prepared->system)) return busy;
  if (prepared->catalog) return plan_catalog(here, *prepared);
  bool nothing = prepared->empty();
  deploy::Check check;
  if (!nothing) check = here.deployer->check(*prepared, here.most_states(), here.parallel());
  std::string out = call.options.get("out", "text");
  if (out != "text") {
    if (!write_answer(call, plan_tree(call, *prepared, nothing ? nullptr : &check), out)) return exit_code::kError;
  } else if (nothing) {
    auto only = call.options.all("only");
    std::string what = only.empty() ? fmt::format("`{}`", prepared->system)
                                    : fmt::format("{} of `{}`", fmt::join(only, ", "), prepared->system);
    std::string size = only.empty() ? fmt::format(" ({})", counted(prepared->plan.unchanged, "component")) : "";
    call.out.put(fmt::format("No changes: {} is as {}{}{}.\n", what,
                             call.options.has("refresh") ? "wanted" : "recorded", size,
                             call.options.has("refresh") ? "" : "; --refresh looks whether it still is"));
  } else {
    call.out.put(show_plan(call, *prepared, &check, call.options.has("program")));
  }
  if (!save(here, *prepared)) return exit_code::kError;
  if (!nothing && !check.safe) return exit_code::kError;
  return unseen | (nothing ? exit_code::kOk : to_be_changed(call));
}

}  // namespace

extern const Verb plan_verb = {
    .name = "plan",
    .group = "Running",
    .summary = "what would change to bring a system to its configuration",
    .arguments = "FILE...",
    .details =
        "Several files are laid over each other, the later ones on top.\n"
        "Compares the wanted system with what is recorded, makes the reconfiguration program, estimates how "
        "long it takes and verifies it: no deadlock, the wanted state reached, the invariants kept "
        "throughout.\n"
        "Exit code 0: there is a plan; 1: an error, or a plan that is not safe. With --detailed-exitcode it "
        "is 2 when there is something to do.",
    .examples = "$ tutti plan shop.yaml\n$ tutti plan --save change.plan shop.cue && tutti apply change.plan",
    .options = kPlanOptions,
    .run = run_plan,
    .least = 1,
    .reads = true,
};

}  // namespace tutti
