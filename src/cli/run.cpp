#include "cli/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>

#include "base/near.h"
#include "base/process_limits.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "cli/call_boundary.h"
#include "cli/command_line.h"
#include "cli/doors/puppet.h"
#include "cli/doors/registry.h"
#include "cli/fleet.h"
#include "cli/help.h"
#include "cli/large_stack.h"
#include "cli/other_words.h"
#include "cli/output.h"
#include "cli/puppet_apply.h"
#include "cli/verb.h"
#include "text/common_options.h"

namespace tutti {
namespace {

void say(std::string_view text) { say_to(2, text); }

// How errors are to be shown when the command line itself is wrong.
DiagnosticStyle style_of(std::span<const std::string> args) {
  const char* by_environment = std::getenv("TUTTI_DIAGNOSTICS");
  std::string_view style = by_environment ? by_environment : "";
  for (std::size_t i = 0; i < args.size(); i++) {
    if (args[i].starts_with("--diagnostics=")) style = std::string_view(args[i]).substr(14);
    if (args[i] == "--diagnostics" && i + 1 < args.size()) style = args[i + 1];
  }
  return style == "json"   ? DiagnosticStyle::kJson
         : style == "line" ? DiagnosticStyle::kLine
                           : DiagnosticStyle::kExcerpt;
}

int wrong_use(std::string_view what, std::string_view verb, std::span<const std::string> args) {
  Diagnostics diagnostics;
  diagnostics.error("USE", {}, std::string(what)).suggest(fmt::format("tutti help{}{}", verb.empty() ? "" : " ", verb));
  say(render(diagnostics, Sources(), style_of(args), false));
  return exit_code::kError;
}

// A reader that meets a limit may go on to say what else is wrong.
bool met_limit(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.all().begin(), diagnostics.all().end(), [](const Diagnostic& d) {
    return d.severity == Severity::kError && d.code.starts_with("LIMIT-");
  });
}

// Whether the input is being typed, so that the time it takes is the user's.
bool typed(std::span<const std::string> files) {
  return ::isatty(0) == 1 && std::find(files.begin(), files.end(), "-") != files.end();
}

// What the user named is inside.
void name_what_was_given(const Call& call) {
  Boundary* boundary = Boundary::in_force();
  if (boundary == nullptr) return;
  for (const std::string& argument : call.arguments) boundary->name_argument(argument);
  for (const auto& [name, values] : call.options.all())
    for (const std::string& value : values) boundary->name_option(name, value);
  boundary->name_option("output", call.manner.output);
  if (call.options.has("trust")) boundary->give_trust();
}

int perform(const Verb& verb, Parsed parsed) {
  Call call(std::move(parsed.manner));
  call.arguments = std::move(parsed.arguments);
  call.options = std::move(parsed.options);
  name_what_was_given(call);
  if (!asks_to_run(verb.name) && !typed(call.arguments))
    keep_limits(call.manner.limits, call.manner.diagnostics, call.manner.colour);
  int code = exit_code::kError;
  std::optional<Progress> progress;
  if (!verb.shows_steps && !typed(call.arguments))
    progress.emplace(verb.reads ? what_is_read(call.arguments) : std::string(verb.name));
  try {
    const std::string& output = call.manner.output;
    if (output.empty() || output == "-" || can_write(call, output)) code = verb.run(call);
    if (code == exit_code::kError && met_limit(call.session.diagnostics)) code = exit_code::kLimit;
  } catch (const LimitError& e) {
    call.session.diagnostics.error(e.code(), Pos{e.at()}, e.what());
    code = exit_code::kLimit;
  } catch (const std::bad_alloc&) {
    call.session.diagnostics.error("LIMIT-MEMORY", {}, out_of_memory());
    code = exit_code::kLimit;
  }
  // An error leaves no file behind; what was printed up to it is shown all the same.
  bool keep = call.manner.output.empty() || code == exit_code::kOk || code == exit_code::kDifferent;
  if (keep) {
    if (Result<void> written = call.out.commit(); !written) {
      bool gone = written.error().code == EPIPE;
      if (!gone) call.session.diagnostics.error("IO-WRITE", {}, written.error().message);
      if (!call.acted && (!gone || code == exit_code::kOk)) code = exit_code::kError;
    }
  }
  progress.reset();
  say(render(call.session.diagnostics, *call.session.sources, call.manner.diagnostics, call.manner.colour));
  return code;
}

// `-` among the arguments, without a word of what it is written in.
bool reads_unnamed_input(std::span<const std::string> args) {
  auto says = [](const std::string& arg) { return arg.starts_with("--lang") || arg.ends_with(':'); };
  return std::ranges::find(args, "-") != args.end() && std::ranges::none_of(args, says);
}

int no_verb(std::string_view word, std::span<const std::string> args) {
  std::vector<std::string_view> names;
  for (const Verb* v : verbs()) names.push_back(v->name);
  for (const FrontEnd::OwnVerb& v : front_end_verbs()) names.push_back(v.name);
  std::string_view meant = our_verb(word);
  if (meant.empty()) meant = nearest(word, names);
  return wrong_use(
      fmt::format("there is no verb `{}`{}", word, meant.empty() ? "" : fmt::format("; did you mean `{}`?", meant)), "",
      args);
}

int dispatch(std::span<const std::string> args) {
  if (args.empty()) {
    say(help_text());
    return exit_code::kError;
  }
  const CallBoundary boundary(args);
  if (const Verb* verb = verb_named(args[0]))
    if (std::string wrong = one_dash(*verb, args.subspan(1)); !wrong.empty()) return wrong_use(wrong, args[0], args);
  if (auto call = puppet_apply(args)) {
    if (call->help) {
      FileSink out("");
      out.put(puppet::help_for("apply"));
      return out.commit() ? exit_code::kOk : exit_code::kError;
    }
    if (!call->wrong.empty()) {
      say(puppet::wrong_use("apply", call->wrong));
      return exit_code::kError;
    }
    return perform(*verb_named("apply"), std::move(*call));
  }
  for (const FrontEnd* front_end : front_ends()) {
    if (!front_end->claims(args)) continue;
    int code = front_end->run(args);
    if (code != exit_code::kOk && verb_named(args[0]) && reads_unnamed_input(args))
      say("  = help: standard input is read as CUE; of another language say which: --lang yaml\n");
    return code;
  }
  std::string_view first = args[0];
  if (first == "--version" || first == "-V") first = "version";
  if (first == "--help" || first == "-h") first = "help";
  if (first.starts_with('-')) return wrong_use(fmt::format("a verb comes first, not `{}`", first), "", args);
  const Verb* verb = verb_named(first);
  if (verb == nullptr) return no_verb(first, args);
  Parsed parsed = parse_command_line(*verb, args.subspan(1));
  if (parsed.help) {
    FileSink out("");
    out.put(help_text(*verb));
    return out.commit() ? exit_code::kOk : exit_code::kError;
  }
  if (!parsed.wrong.empty()) return wrong_use(parsed.wrong, verb->name, args);
  return perform(*verb, std::move(parsed));
}

// Whoever asks for the literal rules must not be answered by the fast ones.
bool has_references(Call& call, std::span<const Part> parts) {
  if (!call.options.has("reference")) return true;
  auto none = std::ranges::find_if(parts, [](const Part& p) { return !p.language->has_rules(); });
  if (none == parts.end()) return true;
  call.session.diagnostics
      .error("USE-REFERENCE", {},
             fmt::format("{} is {}, which no published rules evaluate", none->files[0], none->language->name()))
      .suggest(
          "--reference is for SmartFrog, XML-CDL, Puppet and CUE; `tutti step` shows a system by the rules of "
          "Concerto");
  return false;
}

// Front ends and help write as they go: whether all of it arrived is asked here, of everybody. Who closed the pipe
// (`| head`) need not be told.
int and_all_was_written(int code) {
  int lost = output_lost();
  if (lost == 0) return code;
  if (lost != EPIPE) say(fmt::format("error[IO-WRITE]: cannot write standard output: {}\n", std::strerror(lost)));
  return code == exit_code::kOk ? static_cast<int>(exit_code::kError) : code;
}

}  // namespace

std::vector<Part> Call::parts(std::span<const std::string> files) {
  std::vector<std::string> all = with_folders(*this, files, options);
  // The files of a call may come here one by one: what --lang is said of is asked of all (parts_of).
  auto known = [](const std::string& file) { return file != "-" && languages().for_file(file) != nullptr; };
  bool named = std::find(arguments.begin(), arguments.end(), "-") != arguments.end() &&
               std::all_of(all.begin(), all.end(), known);
  std::vector<Part> parts = parts_of(session, languages(), all, named ? std::string_view() : manner.lang);
  return has_references(*this, parts) ? parts : std::vector<Part>{};
}

int run(int argc, char** argv) {
  std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  // Under the name of another program (a link `cue`) everything is answered as that program does.
  if (argc > 0) {
    std::string_view name(argv[0]);
    name.remove_prefix(name.rfind('/') + 1);
    for (const FrontEnd::OwnVerb& verb : front_end_verbs())
      if (verb.name == name) args.insert(args.begin(), std::string(name));
  }
  int code = exit_code::kError;
  with_large_stack([&] {
    try {
      code = dispatch(args);
    } catch (const LimitError& e) {
      say(fmt::format("error[{}]: {}\n", e.code(), e.what()));
      code = exit_code::kLimit;
    } catch (const std::bad_alloc&) {
      say(fmt::format("error[LIMIT-MEMORY]: {}\n", out_of_memory()));
      code = exit_code::kLimit;
    } catch (const std::exception& e) {
      say(fmt::format("error[INTERNAL]: {}\n", e.what()));
    }
  });
  return and_all_was_written(code);
}

}  // namespace tutti
