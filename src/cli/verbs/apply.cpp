#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <tuple>

#include "base/file.h"
#include "cli/apply_program.h"
#include "cli/doors/puppet.h"
#include "cli/live.h"
#include "cli/system/carry_out.h"
#include "cli/system/recorded_call.h"
#include "cli/system_input.h"
#include "deploy/record/saved_plan.h"

namespace tutti {
namespace {

constexpr OptionSpec kApplyOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    {"yes", "", "do not ask", false, 'y'},
    {"dry-run", "", "show what would be done and touch nothing"},
    {"only", "COMPONENT", "look at this component only", true},
    {"restart", "", "also restart what did not change"},
    {"refresh", "", "look at what is really there, and bring back what is no longer as it was left"},
    {"unfinished", "ANSWER",
     "for timers, of a run that was cut off: `resume` goes on with it first, `repeat` also does again what nobody can "
     "look at",
     false, 0, "resume repeat"},
    {"parallel", "N", "at most N actions at once", false, 'j'},
    {"lock-timeout", "SECONDS", "wait so long for somebody else to be done"},
    {"lease", "SECONDS", "how long the lock outlives us when we die on another host (default 30)"},
    {"full", "", "show every value of the plan uncut"},
    {"program", "", "show the reconfiguration program too"},
    kMaxStates,
    {"set", "NAME=NUMBER", "a parameter of a program's loops", true},
    {"unsafe", "", "run it even if it is not safe"},
    {"detailed-exitcode", "", "2 when something was changed (with --dry-run: would be)"},
    {"noop", "", "catalogs: say what would be changed and touch nothing"},
    {"only-tag", "TAG", "catalogs: only resources with this tag", true},
    {"skip-tag", "TAG", "catalogs: no resources with this tag", true},
    {"parallel-execs", "", "catalogs: commands need not keep the catalog's order among themselves"},
    kTellOption,
    {"quiet", "", "no progress", false, 'q'},
};

// By its content, whatever it is called; what is called a plan and is none is told so.
bool is_plan(const std::string& path) {
  std::ifstream file(path);
  std::string head(32, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  return path.ends_with(".plan") || deploy::is_saved_plan(head);
}

void say_compiled(const Value& catalog, std::chrono::duration<double> took) {
  auto text = [&](std::string_view key) {
    const Entry* e = catalog.find(key);
    return e && e->value.is(Kind::kString) ? e->value.text() : std::string_view("production");
  };
  say_out(fmt::format("Notice: Compiled catalog for {} in environment {} in {:.2f} seconds\n", text("name"),
                      text("environment"), took.count()));
}

// What a manifest says with notice() and the others, as it says it.
void listen(Call& call, bool as_puppet) {
  static constexpr std::tuple<std::string_view, std::string_view, resource::Level> kLevels[] = {
      {"debug", "Debug", resource::Level::kDebug},    {"info", "Info", resource::Level::kInfo},
      {"notice", "Notice", resource::Level::kNotice}, {"warning", "Warning", resource::Level::kWarning},
      {"err", "Error", resource::Level::kError},      {"alert", "Alert", resource::Level::kError},
      {"crit", "Critical", resource::Level::kError},  {"emerg", "Emergency", resource::Level::kError}};
  resource::Level least = call.options.has("quiet") ? resource::Level::kWarning : resource::Level::kNotice;
  auto sink = std::make_shared<puppet::LogSink>();
  sink->say = [=](std::string_view level, std::string_view scope, std::string_view message) {
    for (auto& [name, word, number] : kLevels)
      if (name == level && number >= least)
        (as_puppet && number <= resource::Level::kNotice ? say_out : say_now)(
            fmt::format("{}: Scope({}): {}\n", word, scope, message));
  };
  call.session.attach(Value::null(), std::move(sink));
}

// Why nothing was applied, in Puppet's own words.
void refuse_as_puppet(Call& call) {
  for (const Diagnostic& d : call.session.diagnostics.all()) {
    if (d.severity != Severity::kError) continue;
    std::string message = d.message;
    if (d.code == "CATALOG-CYCLE") {
      constexpr std::string_view kHint =
          "\\nTry the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz";
      if (std::size_t path = message.find(": ("); path != std::string::npos) message[path + 1] = '\n';
      say_now(fmt::format("Error: {}{}\n", message, kHint));
      say_now("Error: Failed to apply catalog: One or more resource dependency cycles detected in graph\n");
      continue;
    }
    // "File[/x]: mode: ..." is told of the parameter, "File[/x]: ..." of the resource.
    bool of_a_resource = d.code == "CATALOG-INVALID" || d.code == "CATALOG-SCHEDULE";
    std::size_t ref = message.find("]: ");
    if (of_a_resource && ref != std::string::npos && ref < message.find(" failed on ")) {
      std::string what = message.substr(ref + 3);
      std::size_t name = what.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
      bool parameter = name > 0 && name != std::string::npos && what.compare(name, 2, ": ") == 0;
      message.resize(ref + 1);
      message = parameter
                    ? fmt::format("Parameter {} failed on {}: {}", what.substr(0, name), message, what.substr(name + 2))
                    : fmt::format("Validation of {} failed: {}", message, what);
    }
    if (of_a_resource) message += resource::place_text(*call.session.sources, d.where.begin);
    say_now(fmt::format("Error: {}\n", message));
  }
  call.session.diagnostics.clear();
}

int run_apply(Call& call) {
  // With a program in its text form there is nothing to plan: it is run as it is.
  if (std::any_of(call.arguments.begin(), call.arguments.end(), is_program_file)) return apply_program(call);
  RecordedCall here(call);
  bool as_puppet = call.options.has("as-puppet");  // see cli/puppet_apply.h
  // What only looks, or is refused, makes no place to remember it where there is none.
  bool dry = call.options.has("noop") || call.options.has("dry-run");
  if (!(as_puppet && dry ? here.open(true) : here.look())) return exit_code::kError;
  Preparing prepare;
  int unseen = exit_code::kOk;
  if (call.arguments.size() == 1 && is_plan(call.arguments[0])) {
    auto text = read_file(call.arguments[0], u64{1} << 30);
    if (!text) {
      call.session.diagnostics.error(std::string(read_failure_code(text.error(), "IO-READ")), {}, text.error().message);
      return exit_code::kError;
    }
    prepare = [&, text = *text] { return here.deployer->load(text, call.arguments[0]); };
  } else {
    auto began = std::chrono::steady_clock::now();
    listen(call, as_puppet);
    auto wanted = here.wanted();
    if (!wanted) return exit_code::kError;
    if (as_puppet) say_compiled(*wanted, std::chrono::steady_clock::now() - began);
    prepare = [&, wanted = *wanted]() -> std::optional<deploy::Prepared> {
      unseen = exit_code::kOk;
      if (!resource::is_catalog(wanted)) return here.plan(wanted, &unseen);
      if (!here.only_names_components(wanted)) return std::nullopt;
      resource::CatalogOptions how;
      how.noop = call.options.has("noop") || call.options.has("dry-run");
      how.tags = call.options.all("only-tag");
      how.without_tags = call.options.all("skip-tag");
      how.parallel_execs = call.options.has("parallel-execs");
      return here.deployer->prepare_catalog(wanted, call.options.get("system"), how);
    };
  }
  int code = carry_out(here, "apply", [&] {
    auto prepared = prepare();
    if (!prepared && as_puppet) refuse_as_puppet(call);
    return prepared;
  });
  // What cannot be known is never told as if nothing had to be done.
  bool tells = dry || call.options.has("detailed-exitcode");
  return tells && (code == exit_code::kOk || code == exit_code::kDifferent) ? code | unseen : code;
}

}  // namespace

extern const Verb apply_verb = {
    .name = "apply",
    .group = "Running",
    .summary = "bring a system to what its configuration says, or run a saved plan",
    .arguments = "FILE... | PLAN | SYSTEM... PROGRAM.concerto",
    .details =
        "Makes a plan as `tutti plan` does, shows it, asks and runs it. Every action is journalled before it "
        "starts and after it ends, so that an interrupted run is taken up again by `tutti resume`.\n"
        "A saved plan is refused when the system has changed since it was made, and when it was altered.",
    .examples = "$ tutti apply shop.yaml\n$ tutti apply --yes shop.cue",
    .options = kApplyOptions,
    .run = run_apply,
    .least = 1,
    .reads = true,
    .shows_steps = true,
};

}  // namespace tutti
