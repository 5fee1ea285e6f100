// process: a program that runs as long as it is wanted, without any service manager. wait: something that comes true.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "resource/changes.h"
#include "resource/providers.h"
#include "resource/readiness.h"
#include "resource/scrub.h"

namespace tutti::resource {
namespace {

using std::chrono::milliseconds;

struct Signal {
  std::string_view name;
  int number;
};
constexpr Signal kSignals[] = {{"TERM", SIGTERM}, {"INT", SIGINT},   {"HUP", SIGHUP},   {"QUIT", SIGQUIT},
                               {"KILL", SIGKILL}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"WINCH", SIGWINCH}};

// In the environment of a process and of all that it starts: which one it is.
constexpr std::string_view kProcessMark = "TUTTI_PROCESS";

int signal_number(std::string_view name) {
  if (name.substr(0, 3) == "SIG") name.remove_prefix(3);
  for (auto& s : kSignals)
    if (s.name == name) return s.number;
  return 0;
}

constexpr std::string_view kWait[] = {"port", "address", "url", "command", "file", "timeout", "interval", "ensure"};

class Wait : public Provider {
 public:
  std::string_view type() const override { return "wait"; }
  std::span<const std::string_view> parameters() const override { return kWait; }
  std::string check(const Resource& r) const override { return wrong_wait(Params(r.parameters)); }
  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto now = holds(c, c.params);
    if (!now) return tl::unexpected(now.error());
    bool wanted = c.params.text("ensure", "present") != "absent";
    if (*now != wanted)
      f.changes.push_back(
          {"ensure", wanted ? "came true" : "went away", wanted ? "no" : "yes", wanted ? "yes" : "no", "", false});
    return f;
  }
  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    bool wanted = c.params.text("ensure", "present") != "absent";
    auto truth = [&](milliseconds within) { return holds(c, c.params, within); };
    if (auto r = wait_until(c, c.params, wanted, c.resource.title, truth, {}); !r) return r;
    done = f.changes;
    return {};
  }
  std::vector<std::string> writes(const Resource&) const override { return {}; }
};

constexpr std::string_view kProcess[] = {"ensure",       "command", "cwd",      "environment", "user",
                                         "group",        "umask",   "ready",    "reload",      "stop_signal",
                                         "stop_timeout", "stop",    "pid_file", "log",         "settle"};

class Process : public Provider {
 public:
  std::string_view type() const override { return "process"; }
  std::span<const std::string_view> parameters() const override { return kProcess; }

  std::string check(const Resource& r) const override {
    Params p(r.parameters);
    std::string e = p.text("ensure", "running");
    if (e != "running" && e != "stopped" && e != "reloaded") return fmt::format("ensure cannot be {}", e);
    if (e == "running") {
      auto words = p.list("command");
      if (words.empty() || words[0].find_first_not_of(" \t\r\n") == std::string::npos)
        return "command: a process needs one";
      const Value* command = p.find("command");
      for (const Value& w : command->is(Kind::kList) ? command->items() : std::span<const Value>(command, 1))
        if (w.is(Kind::kMap) || w.is(Kind::kList)) return "command: its words are texts";
    }
    if (const Value* ready = p.find("ready"); ready && ready->is(Kind::kMap))
      if (std::string wrong = wrong_ready(*ready); !wrong.empty()) return wrong;
    if (const Value* env = p.find("environment"); env && env->is(Kind::kMap))
      for (const Entry& variable : env->entries())
        if (!is_variable(variable.key.text()))
          return fmt::format("environment: `{}` cannot be the name of a variable", variable.key.text());
    if (auto u = p.maybe("umask"); u && (u->empty() || u->size() > 5 || u->find_first_not_of("01234567") != u->npos))
      return fmt::format("umask: `{}` is not an octal number such as 027", *u);
    if (auto s = p.maybe("stop_signal"); s && !signal_number(*s)) return fmt::format("{} is not a signal", *s);
    return "";
  }
  std::vector<std::string> parts(const Resource& r) const override {
    std::vector<std::string> out;
    for (const char* name : {"log", "pid_file"})
      if (auto path = Params(r.parameters).maybe(name)) out.push_back(*path);
    return out;
  }

  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    Params p(r.parameters);
    std::vector<std::pair<std::string, std::string>> out;
    if (auto cwd = p.maybe("cwd")) out.emplace_back("file", *cwd);
    if (auto user = p.maybe("user")) out.emplace_back("user", *user);
    if (auto group = p.maybe("group")) out.emplace_back("group", *group);
    for (const std::string& words : p.list("command"))
      for (std::size_t at = 0; at < words.size();) {
        std::size_t end = std::min(words.find_first_of(" \t\n;", at), words.size());
        if (end > at + 1 && words[at] == '/') out.emplace_back("file", words.substr(at, end - at));
        at = end + 1;
      }
    return out;
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto seen = c.host.standing(file(c, "pid_file", "pid"));
    if (!seen) return tl::unexpected(seen.error());
    f.kept = std::make_shared<DaemonStanding>(*seen);
    std::string e = c.params.text("ensure", "running");
    if (e == "running") {
      std::string tag = tag_of(c.params);
      if (!seen->alive) {
        f.changes.push_back({"ensure", "started", "stopped", "running", "", false});
      } else if (seen->known->tag != tag) {
        f.changes.push_back({"command", "restarted with what it is to run now", seen->known->tag, tag, "", false});
      } else if (const Value* ready = c.params.find("ready"); ready && ready->is(Kind::kMap)) {
        std::string other;
        auto now = is_ready(c, Params(*ready), known_as(c, *seen->known), kLongestLook, other);
        if (!now) return tl::unexpected(now.error());
        if (!*now) f.changes.push_back({"ready", "became ready", "no", "yes", "", false});
      }
    } else if (e == "stopped") {
      // Where it is dead itself, what it had started may go on; and where its pid file is lost, the process itself.
      Result<bool> left = !seen->alive ? has_children(c) : Result<bool>(false);
      if (!left) return tl::unexpected(left.error());
      if (seen->alive || *left) f.changes.push_back({"ensure", "stopped", "running", "stopped", "", false});
    } else {
      f.changes.push_back({"ensure", "reloaded", "running", "reloaded", "", false});
    }
    return f;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    std::string e = c.params.text("ensure", "running");
    DaemonStanding now = *static_cast<const DaemonStanding*>(f.kept.get());
    if (e == "reloaded" && now.alive) {
      if (auto r = reload(c, *now.known); !r) return r;
      // Many a program does not know the signal, and ends.
      pause_for(c, milliseconds(static_cast<i64>(c.params.number("settle", 0.2) * 1000)));
      auto then = c.host.standing(file(c, "pid_file", "pid"));
      if (!then) return tl::unexpected(then.error());
      now = *then;
      if (!now.alive)
        c.say(Level::kWarning, fmt::format("{} ended when it was told to reload ({}), and is started anew; without "
                                           "`reload` the plan would have reckoned with that",
                                           c.resource.title, c.params.text("reload", "HUP")));
    }
    if (e == "stopped" || (now.alive && e == "running" && now.known->tag != tag_of(c.params))) {
      if (auto r = stop(c, now); !r) return r;
      now = {};
    }
    if (e != "stopped") {
      auto r = now.alive ? await_ready(c, c.params.find("ready"), known_as(c, *now.known)) : start(c);
      if (!r) return r;
    }
    done = f.changes;
    return {};
  }

  bool minds() const override { return true; }
  Result<bool> refresh(Context& c) const override {
    auto now = c.host.standing(file(c, "pid_file", "pid"));
    if (!now) return tl::unexpected(now.error());
    if (!now->alive) return false;
    if (c.params.has("reload")) {
      if (auto r = reload(c, *now->known); !r) return tl::unexpected(r.error());
      return true;
    }
    if (auto r = stop(c, *now); !r) return tl::unexpected(r.error());
    if (auto r = start(c); !r) return tl::unexpected(r.error());
    return true;
  }

 private:
  static std::string file(Context& c, std::string_view param, std::string_view ending) {
    std::string given = c.params.text(param);
    if (!given.empty()) return given;
    std::string directory = (c.home.empty() ? "/run/tutti" : c.home) + "/process";
    if (!c.scope.empty()) directory += "/" + c.scope;
    return fmt::format("{}/{}.{}", directory, file_name(c.resource.title), ending);
  }

  // Another tag, another process: everything it is started with counts, and nothing of it can be read back.
  static std::string tag_of(const Params& p) {
    std::string all;
    for (std::string_view name : {"command", "cwd", "environment", "user", "group", "umask"})
      if (const Value* v = p.find(name)) {
        all += name;
        all += fmt::format("={:x};", hash(*v));
      }
    return sha256_hex(all).substr(0, 16);
  }

  // Whether the text is one program with its arguments, which can take the shell's place.
  static bool is_plain(std::string_view text) {
    static constexpr std::string_view kOfTheShell[] = {"exec",   "command", "eval",  "!",     ".",     "source", "cd",
                                                       "export", "unset",   "set",   "umask", "trap",  "time",   "if",
                                                       "for",    "while",   "until", "case",  "ulimit"};
    if (text.find_first_of(";&|(){}\n`") != std::string_view::npos) return false;
    std::size_t from = std::min(text.find_first_not_of(" \t"), text.size());
    std::string_view first = text.substr(from, text.find_first_of(" \t<>", from) - from);
    return first.find('=') == std::string_view::npos &&
           std::find(std::begin(kOfTheShell), std::end(kOfTheShell), first) == std::end(kOfTheShell);
  }

  // Begins it and waits until it is what it should be.
  static Result<void> start(Context& c) {
    if (!c.params.has("command")) return failure(fmt::format("{} is not running", c.resource.title));
    // It died and left them, or its pid file is lost: there are never two of it.
    if (auto r = end_children(c, stop_limit(c)); !r) return r;
    if (auto r = await_free_port(c, c.params.find("ready")); !r) return r;
    auto started = begin(c);
    if (!started) return tl::unexpected(started.error());
    auto r = started->ended ? Result<void>(failure(fmt::format("{} ended at once", c.resource.title), 0))
                            : await_ready(c, c.params.find("ready"), known_as(c, started->identity));
    if (r) return r;
    if (auto now = c.host.alive(started->identity); started->how && now && !*now)
      if (std::string how = started->how(); !how.empty()) r.error().message += ": " + how;
    std::string log = shell_quote(file(c, "log", "log"));
    auto told = c.host.shell(fmt::format("tail -c +{} {} | tail -n 5", started->log_from + 1, log));
    if (!told.out.empty() && c.printed)
      *c.printed += told.out;
    else if (!told.out.empty())
      c.say(Level::kError, told.out);
    // What is dead leaves nobody behind; what lives and is not ready yet goes with the next plan.
    if (auto now = c.host.standing(file(c, "pid_file", "pid")); now && !now->alive)
      if (auto ended = end_children(c, stop_limit(c)); !ended) return ended;
    return r;
  }

  static Result<Started> begin(Context& c) {
    Daemon d;
    const Value* command = c.params.find("command");
    if (command->is(Kind::kList)) {
      d.command.argv = c.params.list("command");
    } else {
      // One plain command takes the shell's place; anything more is the shell's own business.
      std::string text = text_of(*command);
      d.command.argv = {"/bin/sh", "-c", is_plain(text) ? "exec " + text : text};
    }
    d.command.cwd = c.params.text("cwd");
    d.command.user = c.params.text("user");
    d.command.group = c.params.text("group");
    if (auto u = c.params.maybe("umask")) d.command.umask = static_cast<int>(std::strtol(u->c_str(), nullptr, 8));
    if (const Value* env = c.params.find("environment"); env && env->is(Kind::kMap))
      for (const Entry& e : env->entries()) d.command.environment.emplace_back(e.key.text(), text_of(e.value));
    hide_secrets(d.command, c.resource.parameters);
    d.pid_file = file(c, "pid_file", "pid");
    d.log_file = file(c, "log", "log");
    d.tag = tag_of(c.params);
    d.command.environment.emplace_back(kProcessMark, mark_of(d.pid_file));
    if (!c.params.has("ready")) d.settle = milliseconds(static_cast<i64>(c.params.number("settle", 0.05) * 1000));
    auto started = c.host.start(d);
    if (started) {
      c.say(Level::kInfo, fmt::format("process {}", started->identity.pid));
    } else if (started.error().message.find("make directory") != std::string::npos ||
               started.error().message.find("create directory") != std::string::npos) {
      return failure(
          fmt::format("{} (`directory` of the host says where files of tutti's own go)", started.error().message),
          started.error().code);
    }
    return started;
  }

  static ReadyProcess known_as(Context& c, const DaemonIdentity& id) {
    return {id, fmt::format("{}={}", kProcessMark, mark_of(file(c, "pid_file", "pid")))};
  }

  static milliseconds stop_limit(Context& c) {
    return milliseconds(static_cast<i64>(c.params.number("stop_timeout", 10) * 1000));
  }

  static Result<void> stop(Context& c, const DaemonStanding& now) {
    auto limit = stop_limit(c);
    auto command = c.params.maybe("stop");
    if (now.alive && command) {
      auto r = c.host.shell(*command, limit, c.cancel);
      if (!r.ok()) return failure(fmt::format("'{}': {} {}", *command, r.describe(), r.err), r.lost_code());
    }
    if (now.alive) {
      auto how = c.host.stop(*now.known, command ? 0 : signal_number(c.params.text("stop_signal", "TERM")), limit);
      if (!how) return tl::unexpected(how.error());
      if (*how == Host::Stopped::kStays) return failure(fmt::format("process {} cannot be killed", now.known->pid));
      if (*how == Host::Stopped::kKilled)
        c.say(Level::kWarning,
              fmt::format("did not stop in {} s and was killed", static_cast<double>(limit.count()) / 1000));
    }
    return end_children(c, limit);
  }

  // What it has started is marked in its environment, also what has left its group (`setsid`): it goes, too.
  static std::string seek_children(Context& c) {
    return fmt::format(
        "seek() {{ for e in $(grep -lsz '^{}={}$' /proc/[0-9]*/environ); do p=${{e#/proc/}}; echo ${{p%/environ}}; "
        "done; }}; l=$(seek); ",
        kProcessMark, mark_of(file(c, "pid_file", "pid")));
  }
  static bool has_called_us(Context& c) {
    const char* ours = std::getenv(kProcessMark.data());
    return ours && mark_of(file(c, "pid_file", "pid")) == ours;
  }
  static Result<bool> has_children(Context& c) {
    if (has_called_us(c)) return false;
    auto r = c.host.shell(seek_children(c) + "[ -n \"$l\" ]");
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    return r.ok();
  }
  // Ends them, and takes the pid file away: there is nobody left.
  static Result<void> end_children(Context& c, milliseconds limit) {
    std::string forget = "rm -f -- " + shell_quote(file(c, "pid_file", "pid"));
    if (c.params.truth("log_goes") && !c.params.has("log")) forget += "; " + take_log(c);
    std::string script = fmt::format(
        "{}[ -n \"$l\" ] || {{ {}; exit 0; }}; kill $l 2>/dev/null; i=0; "
        "while [ $i -lt {} ] && [ -n \"$(seek)\" ]; do sleep 0.1; i=$((i+1)); done; "
        "l=$(seek); [ -z \"$l\" ] || kill -9 $l 2>/dev/null; {}",
        seek_children(c), forget, std::max<i64>(1, limit.count() / 100), forget);
    auto r = c.host.shell(has_called_us(c) ? forget : script, limit + milliseconds(10000), c.cancel);
    if (r.end == CommandResult::End::kCancelled) return failure("was cancelled", ECANCELED);
    if (!r.ok()) return failure(fmt::format("what it started could not be ended: {}", r.describe()), r.lost_code());
    return {};
  }
  // Nobody would look for it where the process was: its end goes to the journal, and the directory when it is empty.
  static std::string take_log(Context& c) {
    std::string path = file(c, "log", "log"), log = shell_quote(path);
    if (auto told = c.host.shell(fmt::format("tail -c 65536 {} 2>/dev/null", log)); told.ok() && c.printed)
      *c.printed += told.out;
    return fmt::format("rm -f -- {}; rmdir -- {} 2>/dev/null; true", log, shell_quote(path.substr(0, path.rfind('/'))));
  }
  static std::string mark_of(const std::string& pid_file) { return sha256_hex(pid_file).substr(0, 16); }

  // `reload` is a signal's name or a command.
  static Result<void> reload(Context& c, const DaemonIdentity& id) {
    std::string how = c.params.text("reload", "HUP");
    if (int s = signal_number(how)) return c.host.signal(id, s);
    Command k;
    k.argv = {"/bin/sh", "-c", how};
    k.environment = c.environment;
    k.environment.emplace_back("TUTTI_PID", std::to_string(id.pid));
    k.timeout = milliseconds(60000);
    k.cancel = c.cancel;
    auto r = c.host.run(k);
    if (!r.ok()) return failure(fmt::format("'{}': {} {}", how, r.describe(), r.err), r.lost_code());
    return {};
  }
};

}  // namespace

const Provider& process_provider() {
  static const Process provider;
  return provider;
}
const Provider& wait_provider() {
  static const Wait provider;
  return provider;
}

}  // namespace tutti::resource
