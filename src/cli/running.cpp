#include "cli/running.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>
#include <thread>

#include "base/near.h"
#include "base/terminal.h"
#include "cli/deferred.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/record_place.h"
#include "cli/system_input.h"
#include "deploy/overwrite.h"
#include "format/write.h"
#include "lang/puppet/request.h"
#include "model/template.h"

namespace tutti {
namespace {

// Signals are taken in one thread: the first lets what runs come to its end and starts nothing more, the second ends
// what runs, the third ends us at once.
class Interrupts {
 public:
  Interrupts() {
    sigemptyset(&set_);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&set_, s);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
    thread_ = std::thread([this] {
      for (;;) {
        int got = 0;
        if (::sigwait(&set_, &got) != 0) continue;
        if (got == SIGUSR2) {  // our own end
          if (done_) return;
          continue;
        }
        if (++count_ > 2) {
          say_now("\nended at once; `tutti resume` goes on from here\n");
          ::_exit(exit_code::kUnknown);
        }
        {
          std::lock_guard lock(mutex_);
          if (stop_) stop_(count_ > 1);
        }
        // Said when it is so: whoever reads it can rely on it.
        say_now(count_ == 1 ? "\ninterrupted: what runs is finished, nothing more is started (once more ends it)\n"
                            : "\ninterrupted again: what runs is ended\n");
      }
    });
  }
  ~Interrupts() {
    done_ = true;
    ::pthread_kill(thread_.native_handle(), SIGUSR2);
    thread_.join();
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  void on_stop(std::function<void(bool)> f) {
    std::lock_guard lock(mutex_);
    stop_ = std::move(f);
    if (stop_ && count_ > 0) stop_(count_ > 1);  // it came before there was anything to stop
  }
  bool any() const { return count_ > 0; }

 private:
  sigset_t set_, before_;
  std::mutex mutex_;
  std::function<void(bool)> stop_;
  std::atomic<int> count_{0};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// puppet:///modules/NAME/PATH: the file of the first module of that name that has it.
std::optional<std::string> module_file(const std::vector<std::string>& modules, std::string_view url) {
  if (!url.starts_with("puppet://")) return std::nullopt;
  url.remove_prefix(9);
  std::size_t slash = url.find('/');  // a server's name may stand before it
  if (slash == std::string_view::npos || url.substr(slash, 9) != "/modules/") return std::nullopt;
  url.remove_prefix(slash + 9);
  std::size_t end = url.find('/');
  std::string name(url.substr(0, end)), rest(end == std::string_view::npos ? "" : url.substr(end));
  if (rest.find("/../") != std::string::npos || rest.ends_with("/..")) return std::nullopt;
  for (auto& dir : modules)
    if (std::string path = fmt::format("{}/{}/files{}", dir, name, rest); ::access(path.c_str(), R_OK) == 0)
      return path;
  return std::nullopt;
}

std::unique_ptr<Interrupts>& interrupts() {
  static std::unique_ptr<Interrupts> one;
  return one;
}

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

// A lease that ends at once protects nobody, and one that never ends is in everybody's way.
constexpr double kShortestLease = 1, kLongestLease = 86400;

std::optional<double> lease_of(const Call& call) {
  std::string text = call.options.get("lease");
  char* end = nullptr;
  double seconds = std::strtod(text.c_str(), &end);
  bool good = !text.empty() && *end == 0 && seconds >= kShortestLease && seconds <= kLongestLease;
  return good ? std::optional(seconds) : std::nullopt;
}

// Why a record is not used, and what to do about that.
void tell_unopened(Call& call, const std::string& directory, const Failure& why) {
  std::string code = why.code == store::kForeign         ? "STATE-FOREIGN"
                     : why.code == store::kFromElsewhere ? "STATE-ELSEWHERE"
                     : why.code == store::kNetworked     ? "STATE-NETWORK"
                                                         : "STATE-OPEN";
  Diagnostic& told = call.session.diagnostics.error(code, {}, why.message);
  if (why.code == store::kForeign)
    told.note("what is recorded is run: a record is used by its owner alone, when nobody else could have written it")
        .suggest(fmt::format("see who made {}, and remove it or make it yours alone (chown, chmod go-w); or keep the "
                             "record elsewhere: --state DIRECTORY",
                             directory));
  if (why.code == store::kNetworked) told.suggest("keep the record on a disk of this machine: --state DIRECTORY");
  if (why.code == store::kFromElsewhere)
    told.note("what is recorded is run, with the rights of whoever says so")
        .suggest("when it is yours, say so once: --adopt; otherwise remove it");
}

}  // namespace

void say_out(std::string_view text) { say_to(1, text); }

void say_now(std::string_view text) { live().say(text); }

std::string when(double time) {
  std::time_t t = static_cast<std::time_t>(time);
  std::tm tm{};
  ::localtime_r(&t, &tm);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
  return text;
}

std::string short_time(double s) {
  if (s < 1) return fmt::format("{:.0f} ms", s * 1000);
  if (s < 100) return fmt::format("{:.1f} s", s);
  if (s < 6000) return fmt::format("{:.0f} min", s / 60);
  return fmt::format("{:.1f} h", s / 3600);
}

void end_interrupts() { interrupts().reset(); }

bool Running::open(bool forget) {
  if (call.options.has("lease") && !lease_of(call)) {
    call.session.diagnostics.error("USE", {},
                                   fmt::format("--lease wants {:.0f} to {:.0f} seconds, not `{}`", kShortestLease,
                                               kLongestLease, call.options.get("lease")));
    return false;
  }
  std::signal(SIGPIPE, SIG_IGN);  // a reader of what is told that goes away must not end a run in the middle
  std::string answer = call.options.get("unfinished");
  if (call.options.has("unfinished") && answer != "resume" && answer != "repeat") {
    call.session.diagnostics.error("USE", {}, fmt::format("--unfinished wants `resume` or `repeat`, not `{}`", answer));
    return false;
  }
  bool above = false;
  std::string directory = record_directory(call, &above);
  if (above && !forget && !call.arguments.empty() && !call.options.has("quiet"))
    say_now(fmt::format("(The record is {}; --state says otherwise.)\n", directory));
  auto p = forget ? deploy::no_place() : deploy::open_place(directory, call.options.has("adopt"));
  if (!p) {
    tell_unopened(call, directory, p.error());
    return false;
  }
  place.emplace(std::move(*p));
  if (auto damage = forget ? "" : place->store->damage(); !damage.empty())
    call.session.diagnostics.warning("STATE-DAMAGED", {}, damage)
        .note("what is left can be read (`tutti history`, `tutti show`, `tutti status`), and nothing is done with it")
        .suggest("put a copy back; or, when you know that no action was under way, accept what is left: --adopt");
  std::unique_ptr<char, decltype(&std::free)> full(forget ? nullptr : ::realpath(place->directory.c_str(), nullptr),
                                                   std::free);
  if (full) place->directory = full.get();
  deployer = std::make_unique<deploy::Deployer>(call.session, *place);
  // The record of a Puppet agent is the machine's.
  bool beside = full && !call.options.has("as-puppet");
  hosts = std::make_unique<deploy::Hosts>(beside ? project_directory(call, place->directory) : "");
  return true;
}

bool Running::look() { return open(::access(record_directory(call).c_str(), F_OK) != 0); }

std::optional<std::vector<std::string>> Running::systems() {
  auto all = place->store->systems();
  if (!all) {
    call.session.diagnostics.error("STATE-READ", {}, all.error().message);
    return std::nullopt;
  }
  std::vector<std::string> live;
  for (auto& name : *all) {
    auto recorded = deployer->recorded(name);
    if (!recorded) return std::nullopt;
    if (!recorded->components.empty() || deployer->unfinished(name)) live.push_back(name);
  }
  return live.empty() ? *all : live;
}

std::string Running::the_system() {
  std::string name = call.options.get("system");
  if (!name.empty()) {
    auto all = place->store->systems();
    if (all && std::find(all->begin(), all->end(), name) != all->end()) return name;
    std::vector<std::string_view> known;
    if (all) known.assign(all->begin(), all->end());
    call.session.diagnostics.error("STATE-UNKNOWN", {}, fmt::format("there is no system `{}` here", name))
        .note(known.empty() ? "nothing is recorded here yet" : fmt::format("there are {}", fmt::join(known, ", ")))
        .did_you_mean(nearest(name, known));
    return "";
  }
  auto all = systems();
  if (!all) return "";
  if (all->size() == 1) return (*all)[0];
  if (all->empty())
    call.session.diagnostics.error("STATE-EMPTY", {}, "nothing is recorded here yet").suggest("tutti apply FILE");
  else
    call.session.diagnostics
        .error("STATE-WHICH", {}, fmt::format("there are several systems: {}", fmt::join(*all, ", ")))
        .suggest("--system NAME");
  return "";
}

namespace {

std::vector<Value> values_of(const Value& catalog, std::string_view key) {
  std::vector<Value> out;
  const Entry* all = catalog.find(key);
  if (all && all->value.is(Kind::kMap))
    for (const Entry& e : all->value.entries()) out.push_back(e.value);
  if (all && all->value.is(Kind::kList)) out.assign(all->value.items().begin(), all->value.items().end());
  return out;
}

// A catalog is applied as one, or describes components: resources beside them would be left out without a word.
void refuse_resources(Call& call, const Value& catalog) {
  std::set<std::string> containers;  // classes, and defines in which components are declared
  for (const Value& edge : values_of(catalog, "edges"))
    if (const Entry* e = edge.find("source"); e && e->value.is(Kind::kString)) containers.emplace(e->value.text());
  std::vector<std::string> left;
  Value first;
  for (const Value& r : values_of(catalog, "resources")) {
    const Entry *type = r.find("type"), *title = r.find("title");
    if (!type || !title) continue;
    std::string name = fmt::format("{}[{}]", type->value.text(), title->value.text());
    std::string_view kind = type->value.text();
    bool define = kind.find("::") != std::string_view::npos || containers.count(name) != 0;
    if (define || kind == "Class" || kind == "Stage" || kind == "Node") continue;
    if (left.empty()) first = r;
    left.push_back(std::move(name));
  }
  if (left.empty()) return;
  constexpr std::size_t kMost = 8;
  std::size_t more = left.size() > kMost ? left.size() - kMost : 0;
  left.resize(left.size() - more);
  call.session.diagnostics
      .error("CATALOG-BESIDE", call.session.origins.nearest(first.origin()),
             fmt::format("{}{} would not be applied: the manifest declares components too", fmt::join(left, ", "),
                         more ? fmt::format(" and {} more", more) : ""))
      .note("a system is made of components, or of the resources of a catalog")
      .suggest(
          "write them as components (`tutti::component { NAME: type => 'file', ... }`), or in a manifest of their own");
}

}  // namespace

// A catalog that declares components (`tutti::component`) describes a system of them.
std::optional<Value> Running::components_of(const Value& catalog) {
  TreeBuilder b(call.session.arena);
  std::vector<Entry> components;
  MapDraft root;
  root.set(Symbol("system"), b.string("system"));
  auto take = [&](MapDraft& m, const Value& r) {
    const Entry* parameters = r.find("parameters");
    if (!parameters) return;
    for (const Entry& e : parameters->value.entries())
      if (e.key.text() != "name" && e.value.size() + !(e.value.is(Kind::kMap) || e.value.is(Kind::kList)) > 0)
        m.set(e.key, resource::plain_data(e.value, b));
  };
  auto look = [&](const Value& r) {
    const Entry* type = r.find("type");
    const Entry* title = r.find("title");
    if (!type || !title) return;
    if (type->value.text() == "Tutti::System") {
      root.set(Symbol("system"), title->value);
      take(root, r);  // types, hosts, invariants, ...
    }
    if (type->value.text() != "Tutti::Component") return;
    MapDraft m;
    take(m, r);
    components.push_back({Symbol(title->value.text()), Field::kPlain, m.build(b, r.origin())});
  };
  for (const Value& r : values_of(catalog, "resources")) look(r);
  if (components.empty()) return std::nullopt;
  refuse_resources(call, catalog);
  root.set(Symbol("components"), b.map(components));
  return root.build(b, catalog.origin());
}

std::optional<Value> Running::wanted() {
  Evaluated e = evaluate_files(call, call.arguments, true);
  if (!e.value || !call.session.diagnostics.ok()) return std::nullopt;
  bool called = true;  // what was deferred until now
  auto system_of = [&](const Value& v) {
    if (!resource::is_catalog(v)) return v;
    auto catalog = call_deferred(call, v);
    called = called && catalog;
    if (!catalog) return v;
    std::optional<Value> system = components_of(*catalog);
    return system ? *system : *catalog;
  };
  // Several documents or languages: laid over each other, the later ones on top.
  auto all = documents(*e.value);
  Value root = system_of(all[0]);
  for (const Value& v : all.subspan(1)) root = model::merged(root, system_of(v), TreeBuilder(call.session.arena));
  return called && call.session.diagnostics.ok() ? std::optional(root) : std::nullopt;
}

deploy::Deployer::RunSettings Running::settings(std::string command) {
  deploy::Deployer::RunSettings s;
  s.command = "tutti " + command;
  s.parallel = parallel();
  s.wait_for_lock = std::strtod(call.options.get("lock-timeout", "0").c_str(), nullptr);
  if (auto lease = lease_of(call)) s.lease = *lease;
  s.executor.home = place->directory;
  s.executor.host = [this](Symbol name) { return hosts->find(name); };
  if (call.options.has("modulepath") || call.options.has("environment"))
    if (auto puppet = puppet::settings_of(call.session, call.options))
      s.executor.locate = [modules = puppet->modulepath](const std::string& url) { return module_file(modules, url); };
  bool quiet = call.options.has("quiet");
  if (auto manner = terminal_manner(); manner.live && !quiet) {
    manner.lines = false;  // what ends is told line by line, below
    s.listener = [manner](const model::System& system) -> std::unique_ptr<engine::RunListener> {
      return std::make_unique<engine::Progress>(system, live(), manner);
    };
  }
  if (!quiet) s.events.line = [](double t, std::string_view text) { say_now(fmt::format("{:8.2f}  {}\n", t, text)); };
  s.events.say = [](std::string_view who, resource::Level level, std::string_view text) {
    if (level >= resource::Level::kWarning) say_now(fmt::format("          {}: {}\n", who, text));
  };
  s.on_stop = [](std::function<void(bool)> stop) {
    if (!interrupts()) interrupts() = std::make_unique<Interrupts>();
    interrupts()->on_stop(std::move(stop));
  };
  return s;
}

u32 Running::parallel() const {
  return static_cast<u32>(std::strtoul(call.options.get("parallel", "0").c_str(), nullptr, 10));
}

u64 Running::most_states() const {
  u64 most = std::strtoull(call.options.get("max-states", "0").c_str(), nullptr, 10);
  return most ? most : deploy::Deployer::kMostStates;
}

bool Running::only_names_components(const Value& wanted) {
  auto only = call.options.all("only");
  bool unnamed = std::find(only.begin(), only.end(), "") != only.end();
  if (!unnamed && (only.empty() || !resource::is_catalog(wanted))) return true;
  Diagnostic& d = call.session.diagnostics.error(
      "PLAN-ONLY", {},
      unnamed ? "--only wants the name of a component" : "--only is for components, and this is a catalog");
  if (!unnamed) d.suggest("--only-tag TAG looks at resources with this tag");
  return false;
}

namespace {

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

std::set<std::string> Running::dead(const std::string& system, const engine::Recorded& recorded) {
  auto executor = settings("status").executor;
  executor.scope = deployer->scope_of(system);
  std::set<std::string> out;
  for (auto& d : deployer->drift(processes_here(recorded), executor))
    if (std::ranges::any_of(d.changes, [](const resource::Change& c) { return c.property == "ensure"; }))
      out.insert(d.component);
  return out;
}

std::optional<deploy::Prepared> Running::plan(const Value& wanted, int* unseen) {
  engine::PlanOptions options;
  if (!only_names_components(wanted)) return std::nullopt;
  options.only = call.options.all("only");
  options.restart = call.options.has("restart");
  std::string system = call.options.get("system");
  warn_beside(call, *deployer, wanted, system);
  auto prepared = deployer->prepare(wanted, system, "apply", options);
  if (!prepared || prepared->catalog) return prepared;
  if (const Entry* h = prepared->plan.flat.find("hosts")) hosts->describe(h->value);
  auto recorded = deployer->recorded(prepared->system);
  if (!recorded) return std::nullopt;
  bool all = call.options.has("refresh");
  engine::Recorded looked_at = all ? *recorded : processes_here(*recorded);
  auto executor = settings("plan").executor;
  executor.scope = deployer->scope_of(prepared->system);
  auto found = deployer->drift(looked_at, executor);
  for (auto& d : found)
    // What failed is repaired anyway.
    if (all && !d.problem.empty() && recorded->components.at(d.component).failed.empty()) {
      if (unseen) *unseen |= exit_code::kDifferent | (d.unreachable ? exit_code::kUnreachable : 0);
      call.session.diagnostics.warning(
          "PLAN-UNSEEN", {}, fmt::format("{}: {} cannot be looked at: {}", d.component, d.resource, d.problem));
    }
  options.drift = deploy::Deployer::deviations(found);
  if (!options.drift.empty()) prepared = deployer->prepare(wanted, system, "apply", options);
  if (!prepared) return prepared;
  deploy::Elsewhere others(*deployer, *place->store, prepared->system);
  deploy::note_overwritten(call.session, *prepared, executor, others);
  return prepared;
}

bool ask_yes(std::string_view question) {
  if (!::isatty(0) || !::isatty(2)) {
    say_now("there is no terminal to ask on: say --yes\n");
    return false;
  }
  say_now(fmt::format("{} Only `yes` does it: ", question));
  std::string answer;
  char c = 0;
  while (::read(0, &c, 1) == 1 && c != '\n') answer += c;
  if (c != '\n') say_now("\n");  // the input ended: what is said next begins a line
  return answer == "yes";
}

namespace {

int failure_code(const deploy::Outcome& o) {
  return (o.changed ? exit_code::kMixed : exit_code::kFailed) | (o.unreachable ? exit_code::kUnreachable : 0);
}

}  // namespace

void Running::tell(const deploy::Outcome& o, std::string_view sentence) {
  if (as_text()) {
    call.out.put(sentence);
    return;
  }
  TreeMaker make(call.session);
  std::string_view status = o.open                        ? "open"
                            : o.cancelled                 ? "interrupted"
                            : o.finished && o.failed == 0 ? "done"
                                                          : "failed";
  told.push_back(make.map({{"run", make.integer(o.run)},
                           {"status", make.text(status)},
                           {"changed", make.integer(o.changed)},
                           {"failed", make.integer(o.failed)},
                           {"unreachable", make.integer(o.unreachable)},
                           {"seconds", make.number(o.seconds)},
                           {"failures", make.list(o.failures)}}));
}

int Running::answered(int code) {
  if (as_text()) return code;
  TreeMaker make(call.session);
  Value answer = make.map({{"runs", make.list(told)}});
  return write_answer(call, answer, call.options.get("out")) ? code : exit_code::kError;
}

// A name as one word of a command line.
static std::string as_typed(const std::string& name) {
  bool plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/#:@~") ==
               std::string::npos;
  return plain ? name : shell_quote(name);
}

int report_outcome(Running& running, const deploy::Outcome& o) {
  end_interrupts();
  Call& call = running.call;
  call.acted = call.acted || o.run != 0;
  if (!o.wrong.empty()) {
    bool held = o.wrong_code == store::kHeld;
    call.session.diagnostics.error(held                              ? "STATE-HELD"
                                   : o.wrong_code == store::kStale   ? "PLAN-STALE"
                                   : o.wrong_code == store::kDamaged ? "STATE-DAMAGED"
                                                                     : "STATE-RUN",
                                   {}, o.wrong);
    // Nothing was begun, or what was begun could not be written to its end.
    return held                                       ? exit_code::kLocked
           : o.open || o.wrong_code == store::kFenced ? exit_code::kUnknown
                                                      : exit_code::kError;
  }
  for (std::size_t i = 0; i < o.failures.size(); ++i) {
    Diagnostic& d = call.session.diagnostics.error(o.unknown ? "RUN-UNKNOWN" : "RUN-FAILED", {}, o.failures[i]);
    if (i < o.actions.size() && !o.actions[i].empty())
      d.note(fmt::format("look, then say what is so: `tutti resume --done {0}` or `tutti resume --repeat {0}`",
                         as_typed(o.actions[i])));
  }
  if (o.open) {
    running.tell(o, fmt::format("Run {}: interrupted, {}.\n", o.run, o.summary));
    say_now("`tutti resume` goes on from here; `tutti resume --stop` ends it as it is.\n");
    if (!o.unknown) return exit_code::kInterrupted;
    return exit_code::kUnknown | (o.unreachable ? exit_code::kUnreachable : 0);
  }
  if (o.unknown) return exit_code::kUnknown | (o.unreachable ? exit_code::kUnreachable : 0);
  if (!o.finished && o.failures.empty() && !o.cancelled)
    for (auto& s : o.stuck) call.session.diagnostics.error("RUN-STUCK", {}, s);
  running.tell(o, fmt::format("Run {}: {}{}.\n", o.run,
                              o.cancelled                   ? "interrupted, "
                              : o.finished && o.failed == 0 ? ""
                                                            : "failed, ",
                              o.summary));
  if (o.cancelled && !o.failed) return exit_code::kInterrupted;
  if (o.failed || !o.finished) return failure_code(o);
  if (call.options.has("detailed-exitcode") && o.changed) return exit_code::kDifferent;
  return exit_code::kOk;
}

namespace {

// What resources say, resource by resource in the catalog's order, although several are at work at once: what a later
// one says waits until the earlier ones are done.
class InOrder {
 public:
  explicit InOrder(const model::System& system) : parts_(system.instances.size()) {
    for (std::size_t i = 0; i < parts_.size(); ++i) number_[std::string(system.instances[i].name.text())] = i;
  }
  void say(std::string_view who, bool out, std::string text) {
    std::lock_guard lock(mutex_);
    parts_[number_[std::string(who)]].lines.emplace_back(out, std::move(text));
    flush(false);
  }
  void ended(std::string_view who) {
    std::lock_guard lock(mutex_);
    parts_[number_[std::string(who)]].done = true;
    flush(false);
  }
  ~InOrder() { flush(true); }

 private:
  void flush(bool all) {
    for (; next_ < parts_.size(); ++next_) {
      for (auto& [out, text] : parts_[next_].lines) (out ? say_out : say_now)(text);
      parts_[next_].lines.clear();
      if (!parts_[next_].done && !all) return;
    }
  }
  struct Part {
    std::vector<std::pair<bool, std::string>> lines;
    bool done = false;
  };
  std::mutex mutex_;
  std::vector<Part> parts_;
  std::map<std::string, std::size_t> number_;
  std::size_t next_ = 0;
};

}  // namespace

// In Puppet's own words, so that whoever reads its logs can read these.
int apply_catalog(Running& running, const deploy::Prepared& p, deploy::Deployer::RunSettings& settings,
                  const std::function<bool(const deploy::Outcome&)>& stale) {
  Call& call = running.call;
  bool as_puppet = call.options.has("as-puppet");
  for (auto& c : p.conflicts)
    if (!as_puppet)
      call.session.diagnostics.warning("CATALOG-ORDER", {},
                                       fmt::format("{} and {} both {} {}, and no order is said between them", c.first,
                                                   c.second, c.reads ? "have to do with" : "change", c.thing));
  const model::System& s = p.program.system;
  std::map<std::string, std::string> labels;
  for (auto& i : p.program.instances)
    if (const Entry* l = i.config.find("label")) labels[i.name] = l->value.text();
  bool quiet = call.options.has("quiet");
  settings.events.line = {};
  settings.listener = {};
  auto in_order = as_puppet ? std::make_unique<InOrder>(s) : nullptr;
  if (in_order) settings.events.ended = [&](std::string_view who) { in_order->ended(who); };
  settings.events.say = [&, quiet](std::string_view who, resource::Level level, std::string_view text) {
    static constexpr std::string_view kWords[] = {"Debug", "Info", "Notice", "Warning", "Error"};
    if (level < resource::Level::kNotice || (quiet && level == resource::Level::kNotice)) return;
    std::string label = labels[std::string(who)], line;
    if (text.substr(0, 1) == "=") {  // something that stands below it: File[/dir/sub]
      std::size_t end = std::min(text.find("]/"), text.find("]: "));
      line = label.substr(0, label.size() - std::min(label.size(), who.size() + 1)) + "/" +
             std::string(text.substr(1, end)) + std::string(text.substr(end + 1));
    } else if (text.substr(0, 2) == "//") {  // of a path, without where it stands
      line = text.substr(1);
    } else if (text.substr(0, 1) == "/" || text.substr(0, 1) == ":") {
      line = label + std::string(text);
    } else {
      line = text;
    }
    std::string text_line = fmt::format("{}: {}\n", kWords[static_cast<int>(level)], line);
    if (in_order)
      in_order->say(who, level <= resource::Level::kNotice, std::move(text_line));
    else
      say_now(text_line);
  };
  auto began = std::chrono::steady_clock::now();
  deploy::Outcome o = running.deployer->run(p, settings);
  in_order.reset();
  interrupts().reset();
  if (stale(o)) return exit_code::kError;
  if (!o.wrong.empty() || o.open || o.cancelled) return report_outcome(running, o);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (as_puppet) {
    // Its own exit codes: what failed is told by them only where that is asked for.
    say_out(fmt::format("Notice: Applied catalog in {:.2f} seconds\n", seconds));
    if (!call.options.has("detailed-exitcode")) return exit_code::kOk;
    return (o.changed ? exit_code::kDifferent : 0) | (o.failed ? exit_code::kFailed : 0);
  }
  if (!quiet) say_now(fmt::format("Notice: Applied catalog in {:.2f} seconds\n", seconds));
  u32 skipped = 0;
  for (auto& [name, status] : o.status) skipped += status == "skipped";
  running.tell(o, fmt::format("{}: {}, {} changed, {} failed, {} skipped.\n",
                              running.remembers() ? fmt::format("Run {}", o.run) : "Not recorded",
                              counted(p.resources, "resource"), o.changed, o.failed, skipped));
  if (o.failed) return failure_code(o);
  bool dry = call.options.has("noop") || call.options.has("dry-run");
  if (dry && o.would) return exit_code::kDifferent;
  return call.options.has("detailed-exitcode") && o.changed ? exit_code::kDifferent : exit_code::kOk;
}

namespace {

void run_plan(Running& running, const deploy::Prepared& prepared, std::string_view verb, deploy::Outcome& outcome) {
  if (const Entry* h = prepared.plan.flat.find("hosts")) running.hosts->describe(h->value);
  auto settings = running.settings(std::string(verb));
  if (running.remembers() && !running.call.options.has("as-puppet"))
    remember_project(running.call, running.place->directory);
  outcome = running.deployer->run(prepared, settings);
}

void refuse(Call& call, const deploy::Check& check, std::string_view what) {
  if (!check.reaches) {
    call.session.diagnostics.error("PLAN-UNSAFE", {}, fmt::format("{} is not safe, so it is not run", what))
        .note("see above what can happen")
        .suggest("--unsafe runs it all the same");
    return;
  }
  call.session.diagnostics
      .error("PLAN-UNSAFE", {}, fmt::format("{} does not keep what must hold, so it is not run", what))
      .note("see above what is not kept, and why")
      .suggest("--unsafe runs it all the same: it reaches the wanted state");
}

}  // namespace

int follow_up(Running& running, const std::string& system, const Value& wanted, const Value& flat,
              std::string_view verb, int code) {
  Call& call = running.call;
  // Those that follow may give other values themselves. References make no circles, so there is an end to it.
  for (;;) {
    bool wrong = false;
    auto next = running.deployer->follow_up(system, wanted, flat, wrong);
    if (wrong) return exit_code::kMixed;
    if (!next || next->empty()) return code;
    deploy::Check check = running.deployer->check(*next, running.most_states(), running.parallel());
    if (!call.options.has("quiet") || !check.safe) say_now(show_plan(call, *next, &check, call.options.has("program")));
    if (!check.safe && !call.options.has("unsafe")) {
      refuse(call, check, "what would bring the others to the new values");
      return exit_code::kMixed;
    }
    deploy::Outcome outcome;
    run_plan(running, *next, verb, outcome);
    int now = report_outcome(running, outcome);
    if (!outcome.good()) return now;
    code = std::max(code, now);
  }
}

namespace {

// `stale` is asked whether the plan is to be made anew; then nothing is said of this one.
int carry_out_once(Running& running, const deploy::Prepared& prepared, std::string_view verb,
                   const std::function<bool(const deploy::Outcome&)>& stale) {
  Call& call = running.call;
  bool dry = call.options.has("dry-run") || call.options.has("noop"), yes = call.options.has("yes");
  if (prepared.empty()) {
    auto only = call.options.all("only");
    std::string_view more;
    // How a host is reached is remembered for those who come without the configuration.
    if (!dry && prepared.hosts_differ()) {
      if (!running.remember()) return exit_code::kError;
      deploy::Outcome outcome;
      run_plan(running, prepared, verb, outcome);
      if (stale(outcome)) return exit_code::kError;
      if (!outcome.good()) return report_outcome(running, outcome);
      more = " How its hosts are reached is written down anew.";
    }
    if (call.options.has("as-puppet"))
      call.out.put("Notice: Applied catalog in 0.00 seconds\n");
    else if (dry && !prepared.catalog && !running.as_text())
      return write_answer(call, plan_tree(call, prepared, nullptr), call.options.get("out")) ? exit_code::kOk
                                                                                             : exit_code::kError;
    else if (running.as_text())
      call.out.put(fmt::format("No changes: {}`{}` is as {}.{}\n",
                               only.empty() ? "" : fmt::format("{} of ", fmt::join(only, ", ")), prepared.system,
                               call.options.has("refresh") ? "wanted" : "recorded; --refresh looks whether it still is",
                               more));
    return exit_code::kOk;
  }
  if (prepared.catalog) {
    if (dry && prepared.saved) {
      call.session.diagnostics.error("USE", {}, "a saved plan of a catalog is made already: there is no looking first")
          .suggest("the manifest itself, with --noop");
      return exit_code::kError;
    }
    bool asks = !dry && !yes && !call.options.has("as-puppet");
    if (asks &&
        !ask_yes(fmt::format("Bring about {} in `{}`?", counted(prepared.resources, "resource"), prepared.system))) {
      call.session.diagnostics.error("RUN-REFUSED", {}, "nothing was done");
      return exit_code::kError;
    }
    if (!dry && !running.remember()) return exit_code::kError;
    auto settings = running.settings(std::string(verb));
    return apply_catalog(running, prepared, settings, stale);
  }
  deploy::Check check = running.deployer->check(prepared, running.most_states(), running.parallel());
  std::string text = show_plan(call, prepared, &check, call.options.has("program"));
  if (dry) {
    if (running.as_text())
      call.out.put(text);
    else if (!write_answer(call, plan_tree(call, prepared, &check), call.options.get("out")))
      return exit_code::kError;
    return check.safe ? exit_code::kDifferent : exit_code::kError;
  }
  if (!call.options.has("quiet") || !check.safe) say_now(text);
  if (!check.safe && !call.options.has("unsafe")) {
    refuse(call, check, "this plan");
    return exit_code::kError;
  }
  if (!yes && !ask_yes(fmt::format("Do this to `{}`?", prepared.system))) {
    call.session.diagnostics.error("RUN-REFUSED", {}, "nothing was done");
    return exit_code::kError;
  }
  if (!running.remember()) return exit_code::kError;
  deploy::Outcome outcome;
  run_plan(running, prepared, verb, outcome);
  if (stale(outcome)) return exit_code::kError;
  int code = report_outcome(running, outcome);
  return outcome.good() ? follow_up(running, prepared.system, prepared.wanted, prepared.plan.flat, verb, code) : code;
}

}  // namespace

int carry_out(Running& running, std::string_view verb, const Preparing& prepare) {
  Call& call = running.call;
  if (!can_tell(call)) return exit_code::kError;
  double until = store::wall_clock() + std::strtod(call.options.get("lock-timeout", "0").c_str(), nullptr);
  for (;;) {
    auto prepared = prepare();
    if (!prepared) return exit_code::kError;
    bool waited = false;
    if (int busy = running.nothing_unfinished(prepared->system, &waited)) return busy;
    if (waited) continue;  // the state is another one now
    // Whoever waits for the others to be done finds the system as they left it.
    bool again = false;
    int code = carry_out_once(running, *prepared, verb, [&](const deploy::Outcome& o) {
      again = o.wrong_code == store::kStale && !prepared->saved && store::wall_clock() < until;
      return again;
    });
    if (!again) return call.options.has("dry-run") && !prepared->catalog ? code : running.answered(code);
    end_interrupts();
    if (!call.options.has("quiet")) say_now("`" + prepared->system + "` has been changed meanwhile: planned anew\n");
  }
}

}  // namespace tutti
