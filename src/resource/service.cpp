// service: by systemd where it runs, else by init scripts, else by the commands or the program that the user names.
#include <fmt/format.h>

#include <thread>

#include "resource/changes.h"
#include "resource/former.h"
#include "resource/providers.h"

namespace tutti::resource {
namespace {

constexpr std::string_view kParameters[] = {
    "ensure", "enable", "start",    "stop",    "status",   "restart", "hasstatus", "hasrestart",   "pattern",
    "binary", "path",   "provider", "control", "manifest", "flags",   "timeout",   "logonaccount", "logonpassword"};

enum class Manager { kSystemd, kInit, kBase };

class Service : public Provider {
 public:
  std::string_view type() const override { return "service"; }
  std::span<const std::string_view> parameters() const override { return kParameters; }

  std::string check(const Resource& r) const override {
    static constexpr Rule kRules[] = {{"ensure", "stopped =false running =true"},
                                      {"enable", "true false manual mask delayed yes no"},
                                      {"hasstatus", "true false"},
                                      {"hasrestart", "true false"}};
    Params p(r.parameters);
    if (std::string wrong = wrong_name(r); !wrong.empty()) return wrong;
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    if (std::string enable = p.text("enable"); enable == "manual" || enable == "delayed")
      return fmt::format("enable: Setting '{}' is only for services of Windows", enable);
    return "";
  }

  Result<Findings> examine(Context& c) const override {
    Findings f;
    auto m = manager(c);
    if (!m) return tl::unexpected(m.error());
    if (auto e = c.params.maybe("ensure")) {
      bool wanted = *e == "running" || *e == "true";
      auto is = running(c, *m);
      if (!is) return tl::unexpected(is.error());
      if (*is != wanted) {
        std::string a = *is ? "running" : "stopped", b = wanted ? "running" : "stopped";
        f.changes.push_back({"ensure", fmt::format("ensure changed '{}' to '{}'", a, b), a, b, "", false});
      }
    }
    if (auto e = c.params.maybe("enable")) {
      std::string wanted = *e == "yes" ? "true" : *e == "no" ? "false" : *e;
      if (*m == Manager::kBase) {  // nobody starts it when the host does
        if (wanted != "false")
          c.say(Level::kWarning, ": Provider base does not support features enableable; not managing attribute enable");
        return f;
      }
      if (*m == Manager::kInit && wanted == "mask")
        return failure("Provider init must have features 'maskable' to set 'enable' to 'mask'");
      auto is = enabled(c, *m, wanted);
      if (!is) return tl::unexpected(is.error());
      if (*is != wanted)
        f.changes.push_back(
            {"enable", fmt::format("enable changed '{}' to '{}'", *is, wanted), *is, wanted, "", false});
    }
    return f;
  }

  // Nothing where it neither ran nor was enabled: then it is what its removal makes of it.
  Result<Former> keep_former(Context& c, const Findings& f) const override {
    if (f.in_sync() || c.catalog || c.params.has("former") || c.params.text("ensure") != "running") return Former{};
    auto m = manager(c);
    if (!m) return tl::unexpected(m.error());
    bool ran = std::none_of(f.changes.begin(), f.changes.end(), [](auto& ch) { return ch.property == "ensure"; });
    Former out{{"ensure!", ran ? "running" : "stopped"}};
    if (*m == Manager::kBase || !c.params.has("enable")) return ran ? out : Former{};
    auto is = enabled(c, *m, "false");
    if (!is) return tl::unexpected(is.error());
    out["enable!"] = *is;
    return ran || *is == "true" ? out : Former{};
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    auto m = manager(c);
    if (!m) return tl::unexpected(m.error());
    for (const Change& ch : f.changes) {
      Result<void> r;
      if (ch.property == "ensure")
        r = act(c, *m, ch.to == "running" ? "start" : "stop");
      else
        r = *m == Manager::kSystemd ? set_enabled(c, ch.to)
                                    : command(c, fmt::format("update-rc.d {} {}", shell_quote(name(c)),
                                                             ch.to == "true" ? "defaults" : "disable"));
      if (!r) return r;
      done.push_back(ch);
    }
    return {};
  }

  bool minds() const override { return true; }
  bool is_fresh(const std::vector<Change>& done) const override {
    return std::any_of(done.begin(), done.end(),
                       [](const Change& c) { return c.property == "ensure" && c.to == "running"; });
  }
  std::string refreshing(const Resource&) const override { return "restart"; }
  Result<bool> refresh(Context& c) const override {
    auto m = manager(c);
    if (!m) return tl::unexpected(m.error());
    auto is = running(c, *m);
    if (!is) return tl::unexpected(is.error());
    if (!*is) return false;
    Result<void> r;
    if (c.params.has("restart") || c.params.truth("hasrestart") || *m == Manager::kSystemd) {
      r = act(c, *m, "restart");
    } else {
      r = act(c, *m, "stop");
      if (r) r = act(c, *m, "start");
    }
    if (!r) return tl::unexpected(r.error());
    return true;
  }

 private:
  static std::string name(Context& c) { return c.params.text("name", c.resource.title); }

  static Result<Manager> manager(Context& c) {
    std::string p = c.params.text("provider");
    if (p == "systemd") return Manager::kSystemd;
    if (p == "init" || p == "debian") return Manager::kInit;
    if (p == "base") return Manager::kBase;
    auto s = c.host.stat("/run/systemd/system", true, false);
    if (!s) return tl::unexpected(s.error());
    // The user's own commands take the place of systemd's, which still knows whether the service is enabled.
    bool own = c.params.has("start") || c.params.has("binary");
    if (s->kind == FileState::Kind::kDirectory && (!own || c.params.has("enable"))) return Manager::kSystemd;
    if (own) return Manager::kBase;
    auto there = script(c);
    if (!there) return tl::unexpected(there.error());
    return there->empty() ? Manager::kBase : Manager::kInit;
  }

  // The init script, looked for in the folders of `path`; "" when there is none.
  static Result<std::string> script(Context& c) {
    std::vector<std::string> folders;
    for (auto& given : c.params.list("path"))
      for (std::size_t at = 0; at <= given.size();) {
        std::size_t end = std::min(given.find(':', at), given.size());
        folders.push_back(given.substr(at, end - at));
        at = end + 1;
      }
    if (folders.empty()) folders = {"/etc/init.d"};
    for (auto& folder : folders)
      for (const char* ending : {"", ".sh"}) {
        std::string path = folder + "/" + name(c) + ending;
        auto s = c.host.stat(path, true, false);
        if (!s) return tl::unexpected(s.error());
        if (s->kind == FileState::Kind::kFile) return path;
      }
    return std::string();
  }

  static Result<void> by_script(Context& c, const std::string& what) {
    auto path = script(c);
    if (!path) return tl::unexpected(path.error());
    if (path->empty()) return failure(fmt::format("Could not find init script for '{}'", name(c)));
    return command(c, shell_quote(*path) + " " + what);
  }

  // What is masked cannot be enabled, and what is to be masked must not stay enabled.
  static Result<void> set_enabled(Context& c, const std::string& to) {
    std::string unit = shell_quote(name(c));
    if (to == "true") return command(c, fmt::format("systemctl unmask -- {0} && systemctl enable -- {0}", unit));
    if (to == "mask")
      return command(c,
                     fmt::format("if systemctl cat -- {0} >/dev/null 2>&1; then systemctl disable -- {0} || exit; fi; "
                                 "systemctl mask -- {0}",
                                 unit));
    return command(c, "systemctl disable -- " + unit);
  }

  static CommandResult sh(Context& c, const std::string& text) {
    return c.host.shell(text, std::chrono::minutes(5), c.cancel);
  }

  static Result<void> command(Context& c, const std::string& text) {
    auto r = sh(c, text);
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    if (!r.ok()) return failure(fmt::format("'{}': {} {}", text, r.describe(), r.err));
    return {};
  }

  static Result<bool> running(Context& c, Manager m) {
    CommandResult r;
    if (auto status = c.params.maybe("status"))
      r = sh(c, *status);
    else if (m == Manager::kSystemd)
      r = sh(c, "systemctl is-active --quiet " + shell_quote(name(c)));
    else if (m == Manager::kInit && c.params.truth("hasstatus", true)) {
      auto path = script(c);
      if (!path) return tl::unexpected(path.error());
      if (path->empty()) return failure(fmt::format("Could not find init script for '{}'", name(c)));
      r = sh(c, shell_quote(*path) + " status");
    } else
      r = sh(c, fmt::format("pgrep -f -- {} | grep -vx $$",
                            shell_quote(guarded(c.params.text("pattern", c.params.text("binary", name(c)))))));
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    return r.ok();
  }

  // [n]ame matches name and not itself: the shell that asks is no answer.
  static std::string guarded(std::string pattern) {
    if (!pattern.empty() && std::isalnum(static_cast<unsigned char>(pattern[0])))
      pattern = fmt::format("[{}]{}", pattern[0], pattern.substr(1));
    return pattern;
  }

  // "true", "false" or "mask". Whether a unit is masked only matters to whoever wants that; one without an install
  // section can neither be enabled nor disabled, and is as wanted.
  static Result<std::string> enabled(Context& c, Manager m, const std::string& wanted) {
    auto r = m == Manager::kSystemd
                 ? sh(c, "systemctl is-enabled -- " + shell_quote(name(c)))
                 : sh(c, fmt::format("ls /etc/rc[2345].d/S??{} >/dev/null 2>&1 && echo enabled", shell_quote(name(c))));
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    std::string word = r.out.substr(0, r.out.find('\n'));
    if (wanted == "mask" && word == "masked") return std::string("mask");
    if (word == "indirect" || (word == "static" && wanted != "mask")) return wanted;
    return std::string(r.ok() ? "true" : "false");
  }

  static Result<void> act(Context& c, Manager m, const std::string& what) {
    if (auto given = c.params.maybe(what)) return command(c, *given);
    if (m == Manager::kSystemd) {
      std::string unit = shell_quote(name(c)), before;
      // A unit that was written anew is read anew, and one that is masked cannot be started.
      if (what != "stop")
        before = fmt::format(
            "[ \"$(systemctl show --property=NeedDaemonReload -- {} 2>/dev/null)\" != NeedDaemonReload=yes ] || "
            "systemctl daemon-reload; ",
            unit);
      if (what == "start") before += fmt::format("systemctl unmask -- {}; ", unit);
      return command(c, fmt::format("{}systemctl {} -- {}", before, what, unit));
    }
    if (m == Manager::kInit) return by_script(c, what);
    if (what == "stop")
      return command(c, fmt::format("pkill -f -- {}",
                                    shell_quote(guarded(c.params.text("pattern", c.params.text("binary", name(c)))))));
    std::string binary = c.params.text("binary");
    if (binary.empty())
      return failure(fmt::format("service {} has neither systemd, nor an init script, nor a start command", name(c)));
    return command(c, fmt::format("setsid {} </dev/null >/dev/null 2>&1 &", binary));
  }
};

}  // namespace

const Provider& service_provider() {
  static const Service provider;
  return provider;
}

}  // namespace tutti::resource
