// exec: a command, run unless a check says that there is no need.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "resource/changes.h"
#include "resource/providers.h"
#include "resource/scrub.h"
#include "tree/secret_mark.h"

namespace tutti::resource {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kExecParameters[] = {
    "command", "creates", "onlyif",    "unless",  "refreshonly", "refresh", "path",  "cwd",       "environment",
    "timeout", "tries",   "try_sleep", "returns", "user",        "group",   "umask", "logoutput", "provider"};

constexpr u64 kMostOutput = u64{64} << 20;  // of an action that may have outputs

// A command is a text or a list of words. A text with nothing in it for a shell is run without one.
std::vector<std::string> words(const Value& command, bool shell) {
  if (command.is(Kind::kList)) {
    std::vector<std::string> argv;
    for (const Value& v : command.items()) argv.push_back(text_of(v));
    return argv;
  }
  std::string text = text_of(command);
  if (shell || text.find_first_of("*?{}[]<>()~&|\\$;'`\"\n#=%") != std::string::npos) return {"/bin/sh", "-c", text};
  std::vector<std::string> argv;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find_first_of(" \t", at);
    if (end == std::string::npos) end = text.size();
    if (end > at) argv.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return argv;
}

std::vector<const Value*> commands(const Value* v) {
  std::vector<const Value*> out;
  if (!v) return out;
  if (!v->is(Kind::kList)) return {v};
  for (const Value& item : v->items()) out.push_back(&item);
  return out;
}

class Exec : public Provider {
 public:
  std::string_view type() const override { return "exec"; }
  std::span<const std::string_view> parameters() const override { return kExecParameters; }

  std::string check(const Resource& r) const override {
    Params p(r.parameters);
    static constexpr Rule kRules[] = {{"logoutput", "true false on_failure"}, {"refreshonly", "true false"}};
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    auto among = [&](const char* name, auto&& good) {
      auto v = p.maybe(name);
      return !v || good(*v);
    };
    auto number = [](const std::string& text) { return is_number(text, false); };
    if (!among("timeout", number)) return "The timeout must be a number.";
    if (!among("tries", number)) return "Tries must be an integer";
    if (p.number("tries", 1) < 1) return "Tries must be an integer >= 1";
    if (!among("try_sleep", number)) return "try_sleep must be a number";
    if (p.number("try_sleep", 0) < 0) return "try_sleep cannot be a negative number";
    if (!among("umask", [](const std::string& text) {
          return !text.empty() && text.size() <= 5 && text.find_first_not_of("01234567") == std::string::npos;
        }))
      return fmt::format("The umask specification is invalid: \"{}\"", p.text("umask"));
    for (const char* name : {"cwd", "creates"})
      for (auto& path : p.list(name))
        if (p.text("provider") != "shell" && !path.starts_with('/'))
          return fmt::format("{} must be a fully qualified path", name);
    if (const Value* path = p.find("path"); path && !path->is(Kind::kString) && !path->is(Kind::kList))
      return "path must be a text or a list of texts";
    if (const Value* env = p.find("environment"); env && !env->is(Kind::kMap))
      for (auto& setting : p.list("environment"))
        if (std::size_t at = setting.find('='); at == std::string::npos || at == 0)
          return fmt::format("environment: Invalid environment setting '{}'", setting);
    if (p.text("provider") == "shell" || p.has("path")) return "";
    const Value* command = p.find("command");
    std::string first = command && command->is(Kind::kList) && command->size() > 0 ? text_of(command->items()[0])
                                                                                   : p.text("command", r.title);
    first = first.substr(0, first.find_first_of(" \t\n"));
    if (first.empty() || (first[0] != '/' && first[0] != '\'' && first[0] != '"'))
      return fmt::format(
          "'{}' is not qualified and no path was specified. Please qualify the command or specify a path.",
          p.text("command", r.title));
    return "";
  }

  static constexpr std::string_view kAudited[] = {"returns"};
  std::span<const std::string_view> audited() const override { return kAudited; }
  Result<std::optional<std::string>> current(Context& c, std::string_view) const override {
    bool checked = false;
    auto needed = c.params.truth("refreshonly") ? Result<bool>(false) : wanted(c, checked);
    if (!needed) return tl::unexpected(needed.error());
    return std::optional<std::string>(*needed ? "notrun" : "");
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    // Puppet does not run what it audits.
    auto audit = c.catalog ? c.params.list("audit") : std::vector<std::string>{};
    if (std::any_of(audit.begin(), audit.end(), [](auto& name) { return name == "all" || name == "returns"; }))
      return f;
    if (c.params.truth("refreshonly")) return f;
    bool checked = false;
    auto needed = wanted(c, checked);
    if (!needed && c.catalog) return failure("Could not evaluate: " + needed.error().message, needed.error().code);
    if (!needed) return tl::unexpected(needed.error());
    if (!*needed) return f;
    auto returns = c.params.list("returns");
    if (returns.empty()) returns = {"0"};
    std::string to;
    for (auto& r : returns) to += (to.empty() ? "'" : ", '") + r + "'";
    f.changes.push_back({"returns", "executed successfully", "notrun", "[" + to + "]", "", !checked});
    return f;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    const Value* command = c.params.find("command");
    Value title = Value::string(c.resource.title);
    if (auto r = execute(c, command ? *command : title); !r) {
      bool checked = false;
      auto needed = c.params.truth("half_made") && c.params.has("onlyif") ? asked(c, checked) : true;
      if (!needed || *needed) return r;
      c.say(Level::kWarning, fmt::format("{}, but there is nothing left of it", r.error().message));
      return {};
    }
    done.insert(done.end(), f.changes.begin(), f.changes.end());
    for (auto& ch : done) ch.unknown = false;
    return {};
  }

  bool minds() const override { return true; }
  std::string refreshing(const Resource& r) const override {
    Params p(r.parameters);
    const Value* command = p.find("refresh");
    if (!command) command = p.find("command");
    bool asks = p.has("creates") || p.has("unless") || p.has("onlyif");
    return fmt::format("run {}{}", Scrubber(r.parameters).clean(command ? text_of(*command) : r.title),
                       asks ? ", if its check says so" : "");
  }
  Result<bool> refresh(Context& c) const override {
    bool checked = false;
    auto needed = wanted(c, checked);
    if (!needed) return tl::unexpected(needed.error());
    if (!*needed) return false;
    // How a command of its own for this ends nobody asks, as in Puppet.
    if (const Value* own = c.catalog ? c.params.find("refresh") : nullptr) {
      auto r = run(c, *own);
      if (r && r->end == CommandResult::End::kTimedOut) return failure("Command exceeded timeout", ETIMEDOUT);
      if (!r) return tl::unexpected(r.error());
      return true;
    }
    const Value* command = c.params.find("refresh");
    if (!command) command = c.params.find("command");
    Value title = Value::string(c.resource.title);
    if (auto r = execute(c, command ? *command : title); !r) return tl::unexpected(r.error());
    return true;
  }

  std::vector<std::string> writes(const Resource& r) const override {
    std::vector<std::string> out{"exec:" + r.title};
    for (auto& path : Params(r.parameters).list("creates")) out.push_back("file:" + path);
    return out;
  }
  std::vector<std::string> parts(const Resource& r) const override { return Params(r.parameters).list("holds"); }
  std::vector<std::string> reads(const Resource& r) const override { return mentioned(r); }
  std::vector<std::pair<std::string, std::string>> after(const Resource& r) const override {
    Params p(r.parameters);
    std::vector<std::pair<std::string, std::string>> out;
    if (p.has("cwd")) out.emplace_back("file", p.text("cwd"));
    if (p.has("user")) out.emplace_back("user", p.text("user"));
    std::string command = p.text("command", r.title);
    std::string first = command.substr(0, command.find_first_of(" \t\n"));
    if (!first.empty() && first[0] == '/') out.emplace_back("file", first);
    for (std::string_view name : {"command", "onlyif", "unless"})
      for (const Value* one : commands(p.find(name))) {
        std::string text = text_of(*one);
        for (std::size_t at = 0; at < text.size();) {
          std::size_t end = text.find_first_of(" \t\n;", at);
          if (end == std::string::npos) end = text.size();
          if (end > at + 1 && text[at] == '/') out.emplace_back("file", text.substr(at, end - at));
          at = end + 1;
        }
      }
    return out;
  }

 private:
  static std::vector<std::string> mentioned(const Resource& r) {
    std::vector<std::string> out;
    for (auto& [type, title] : Exec().after(r))
      if (type == "file") out.push_back("file:" + title);
    return out;
  }

  Command base(Context& c) const {
    Command k;
    k.environment = {{"LANG", "C"}, {"LC_ALL", "C"}};
    k.keeps_environment = c.catalog;
    if (c.catalog) k.without = {"HOME", "USER", "LOGNAME"};  // Puppet gives them to nobody
    k.environment.insert(k.environment.end(), c.environment.begin(), c.environment.end());
    std::string path;
    for (auto& p : c.params.list("path")) path += (path.empty() ? "" : ":") + p;
    if (!path.empty()) k.environment.emplace_back("PATH", path);
    if (!c.catalog && !c.scope.empty()) k.environment.emplace_back("TUTTI_SCOPE", c.scope);
    if (const Value* env = c.params.find("environment")) {
      if (env->is(Kind::kMap)) {
        for (const Entry& e : env->entries()) k.environment.emplace_back(e.key.text(), text_of(e.value));
      } else {
        std::set<std::string> given;
        for (auto& text : c.params.list("environment")) {
          std::size_t eq = text.find('=');
          if (eq == std::string::npos) continue;
          std::string name = text.substr(0, eq), value = text.substr(eq + 1);
          if (!given.insert(name).second)
            c.say(Level::kWarning, fmt::format("Exec[{}](provider={}): Overriding environment setting '{}' with '{}'",
                                               c.resource.title, c.params.text("provider", "posix"), name, value));
          k.environment.emplace_back(std::move(name), std::move(value));
        }
      }
    }
    k.cwd = c.params.text("cwd");
    k.user = c.params.text("user");
    k.group = c.params.text("group");
    if (auto u = c.params.maybe("umask")) k.umask = static_cast<int>(std::strtol(u->c_str(), nullptr, 8));
    k.timeout = milliseconds(static_cast<i64>(std::max(0.0, c.params.number("timeout", 300)) * 1000));
    k.cancel = c.cancel;
    return k;
  }

  // In Puppet's words.
  static std::string why_not_started(Context& c, const Command& k, const CommandResult& r) {
    if (k.argv.empty()) return r.message;
    const std::string& program = k.argv[0];
    auto there = program.starts_with('/') ? c.host.stat(program, true, false) : Result<FileState>(FileState{});
    if (!there) return r.message;
    switch (there->kind) {
      case FileState::Kind::kAbsent:
        return r.message.find(program) == std::string::npos ? r.message
                                                            : fmt::format("Could not find command '{}'", program);
      case FileState::Kind::kDirectory: return fmt::format("'{}' is a directory, not a file", program);
      default: return there->mode & 0111 ? r.message : fmt::format("'{}' is not executable", program);
    }
  }

  // What a type of components puts around the user's own command (`shown`) is nobody's concern.
  static const Value& as_told(Context& c, const Value& command) {
    const Value* shown = c.catalog || &command != c.params.find("command") ? nullptr : c.params.find("shown");
    return shown && !shown->is(Kind::kNull) ? *shown : command;
  }

  // Whether what a command prints may tell what it is, which is secret: not where only a value was put into it, which
  // is known and taken out. Puppet asks whether any of a resource's commands is.
  static bool says_secret(Context& c, const Value& command) {
    if (!c.catalog) return secret_itself(as_told(c, command));
    for (std::string_view name : {"command", "unless", "onlyif"})
      for (const Value* one : commands(c.params.find(name)))
        if (one->secret()) return true;
    return false;
  }

  Result<CommandResult> run(Context& c, const Value& command) const {
    Command k = base(c);
    if (c.outputs) k.most_output = kMostOutput;
    if (!k.cwd.empty()) {
      auto there = c.host.stat(k.cwd, true, false);
      if (!there) return tl::unexpected(there.error());
      if (there->kind != FileState::Kind::kDirectory)
        return failure(fmt::format("Working directory {} does not exist!", k.cwd));
    }
    k.argv = words(command, c.params.text("provider") == "shell");
    hide_secrets(k, c.resource.parameters);
    auto r = c.host.run(k);
    if (c.printed && says_secret(c, command) && !(r.out + r.err).empty())
      *c.printed += "(what a secret command prints is not shown)\n";
    else if (c.printed)
      for (const std::string& text : {r.out, r.err})
        if (!text.empty()) *c.printed += text.back() == '\n' ? text : text + "\n";
    if (r.end == CommandResult::End::kNotStarted) return failure(why_not_started(c, k, r));
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    return r;
  }

  Result<bool> wanted(Context& c, bool& checked) const {
    for (auto& path : c.params.list("creates")) {
      checked = true;
      auto s = c.host.stat(path, true, false);
      if (!s) return tl::unexpected(s.error());
      if (s->kind != FileState::Kind::kAbsent) return false;
    }
    for (const Value* one : commands(c.params.find("unless"))) {
      checked = true;
      auto r = ask(c, "unless", *one);
      if (!r) return tl::unexpected(r.error());
      if (r->end == CommandResult::End::kTimedOut) return false;
      if (!r->ok()) continue;
      if (c.outputs) collect(c, r->out);  // what is there already gives the same as what is made
      return false;
    }
    // What was left half made may be there in part, whatever the check says.
    return c.params.truth("half_made") ? true : asked(c, checked);
  }

  Result<bool> asked(Context& c, bool& checked) const {
    for (const Value* one : commands(c.params.find("onlyif"))) {
      checked = true;
      auto r = ask(c, "onlyif", *one);
      if (!r) return tl::unexpected(r.error());
      if (!r->ok()) return false;
    }
    return true;
  }

  // A check that did not end has said nothing. In a catalog the command is then not run, which is no failure.
  Result<CommandResult> ask(Context& c, std::string_view which, const Value& check) const {
    auto r = run(c, check);
    if (!r || r->end != CommandResult::End::kTimedOut) return r;
    std::string shown = check.secret() ? "[command]" : fmt::format("\"{}\"", text_of(check));
    if (!c.catalog) return failure(fmt::format("Check {} exceeded timeout", shown), ETIMEDOUT);
    c.say(Level::kError, fmt::format("/{}: Check {} exceeded timeout", which, shown));
    return r;
  }

  Result<void> execute(Context& c, const Value& command) const {
    auto returns = c.params.list("returns");
    if (returns.empty()) returns = {"0"};
    int tries = std::max(1, static_cast<int>(c.params.number("tries", 1)));
    std::string logoutput = c.params.text("logoutput", "on_failure");
    for (int attempt = 1;; ++attempt) {
      auto r = run(c, command);
      if (!r) return tl::unexpected(r.error());
      bool good = r->end == CommandResult::End::kExited &&
                  std::find(returns.begin(), returns.end(), std::to_string(r->code)) != returns.end();
      if (logoutput == "true" || (!good && logoutput == "on_failure" && attempt == tries)) {
        std::string all = r->out + r->err;
        if (c.catalog && !all.empty() && says_secret(c, command)) all = "[output redacted]";
        all = Scrubber(c.resource.parameters).clean(all);  // as a whole: one may be longer than a line
        for (std::size_t at = 0; at < all.size();) {
          std::size_t end = std::min(all.find('\n', at), all.size());
          c.say(Level::kNotice, "/returns: " + all.substr(at, end - at));
          at = end + 1;
        }
      }
      if (good) {
        if (c.outputs && !r->out.empty()) collect(c, r->out);
        return {};
      }
      if (r->end == CommandResult::End::kCancelled) return failure("was cancelled", ECANCELED);
      if (attempt < tries) {
        auto pause = milliseconds(static_cast<i64>(c.params.number("try_sleep", 0) * 1000));
        std::this_thread::sleep_for(pause);
        continue;
      }
      const Value& told = as_told(c, command);
      std::string shown = told.secret() ? "[command redacted]" : fmt::format("'{}'", text_of(told));
      if (r->end == CommandResult::End::kTimedOut) return failure("Command exceeded timeout", ETIMEDOUT);
      if (r->end == CommandResult::End::kSignalled) return failure(fmt::format("{} was {}", shown, r->describe()));
      return failure(fmt::format("{} returned {} instead of one of [{}]", shown, r->code, fmt::join(returns, ",")));
    }
  }

  // Lines `tutti:name=value` of the output are outputs of the action. A line that was cut is none: half a value is
  // worse than no value, which whoever refers to it is told of.
  static void collect(Context& c, const std::string& out) {
    std::map<std::string, std::string>& to = *c.outputs;
    bool cut = out.size() >= kMostOutput;
    if (cut)
      c.say(Level::kWarning, fmt::format("printed more than {} MiB: outputs behind that are lost", kMostOutput >> 20));
    for (std::size_t at = 0; at < out.size();) {
      if (cut && out.find('\n', at) == std::string::npos) break;
      std::size_t end = std::min(out.find('\n', at), out.size());
      std::string_view line(out.data() + at, end - at);
      at = end + 1;
      if (line.substr(0, 6) != "tutti:") continue;
      line.remove_prefix(6);
      std::size_t eq = line.find('=');
      if (eq != std::string_view::npos) to[std::string(line.substr(0, eq))] = line.substr(eq + 1);
    }
  }
};

constexpr std::string_view kNotify[] = {"message", "withpath"};

class Notify : public Provider {
 public:
  std::string_view type() const override { return "notify"; }
  std::span<const std::string_view> parameters() const override { return kNotify; }
  Result<Findings> examine(Context& c) const override {
    Findings f;
    const Value* v = first(c);
    if (v && v->secret()) {
      f.changes.push_back({"message", "changed [redacted] to [redacted]", "[redacted]", "[redacted]", "", false});
      return f;
    }
    bool bare = v && !v->is(Kind::kString);
    std::string shown = bare ? as_data(*v, 0) : message(c);
    f.changes.push_back({"message", fmt::format("defined 'message' as {}", bare ? shown : as_literal(shown)), "absent",
                         shown, "", false, false, bare});
    return f;
  }
  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    c.say(Level::kNotice, (c.params.truth("withpath") ? "/message: " : "") + message(c));
    done = f.changes;
    return {};
  }
  std::vector<std::string> writes(const Resource&) const override { return {}; }

 private:
  // In single quotes, or in double ones with escapes where there is something to escape.
  static std::string as_literal(const std::string& text) {
    std::string inner;
    bool escapes = false;
    for (char ch : text) {
      std::size_t at = std::string_view("\n\t\r\x1b").find(ch);
      if (at != std::string_view::npos) {
        escapes = true;
        inner += fmt::format("\\{}", "ntre"[at]);
      } else {
        inner += ch == '"' || ch == '\\' ? std::string{'\\', ch} : std::string(1, ch);
      }
    }
    return escapes ? "\"" + inner + "\"" : "'" + text + "'";
  }
  // Of several messages the first one counts.
  static const Value* first(Context& c) {
    const Value* v = c.params.find("message");
    return v && v->is(Kind::kList) && !v->items().empty() ? v->items().data() : v;
  }
  static std::string message(Context& c) {
    const Value* v = first(c);
    if (v && v->secret()) return "Sensitive [value redacted]";
    if (v && v->is(Kind::kString)) return std::string(v->text());
    if (!v) return c.resource.title;
    if (!v->is(Kind::kList)) return v->is(Kind::kMap) ? inspected(*v) : text_of(*v);
    std::string out;
    for (const Value& i : v->items())
      out += (out.empty() ? "" : " ") + (i.is(Kind::kString) ? std::string(i.text()) : inspected(i));
    return out;
  }
  // Lists and maps as Ruby shows them.
  static std::string inspected(const Value& v) {
    if (v.is(Kind::kString)) {
      std::string out = "\"";
      for (char ch : v.text()) {
        std::size_t at = std::string_view("\n\t\r\x1b").find(ch);
        out += at != std::string_view::npos ? fmt::format("\\{}", "ntre"[at])
               : ch == '"' || ch == '\\'    ? std::string{'\\', ch}
                                            : std::string(1, ch);
      }
      return out + "\"";
    }
    std::string out;
    if (v.is(Kind::kList)) {
      for (const Value& i : v.items()) out += (out.empty() ? "" : ", ") + inspected(i);
      return "[" + out + "]";
    }
    if (!v.is(Kind::kMap)) return v.is(Kind::kNull) ? "nil" : text_of(v);
    for (const Entry& e : v.entries())
      out +=
          fmt::format("{}{}=>{}", out.empty() ? "" : ", ", inspected(Value::string(e.key.text())), inspected(e.value));
    return "{" + out + "}";
  }
  // Numbers and truths as Puppet shows them in changes, maps an entry a line.
  static std::string as_data(const Value& v, std::size_t indent) {
    if (v.is(Kind::kDecimal)) return fmt::format("{:f}", std::strtod(v.number_text().c_str(), nullptr));
    if (v.is(Kind::kInt)) return v.number_text();
    if (v.is(Kind::kBool)) return v.as_bool() ? "true" : "false";
    if (v.is(Kind::kString)) return as_literal(std::string(v.text()));
    std::string out;
    if (v.is(Kind::kList)) {
      for (const Value& i : v.items()) out += (out.empty() ? "" : ", ") + as_data(i, indent);
      return "[" + out + "]";
    }
    if (!v.is(Kind::kMap)) return "undef";
    for (const Entry& e : v.entries())
      out += fmt::format("{}{:{}}'{}' => {}", out.empty() ? "" : ",\n", "", indent + 2, e.key.text(),
                         as_data(e.value, indent + 2));
    return fmt::format("{{\n{}\n{:{}}}}", out, "", indent);
  }
};

}  // namespace

const Provider& exec_provider() {
  static const Exec provider;
  return provider;
}
const Provider& notify_provider() {
  static const Notify provider;
  return provider;
}

}  // namespace tutti::resource
