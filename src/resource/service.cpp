// service: by systemd where it runs, else by init scripts, else by the commands or the program that the user names.
#include <fmt/format.h>

#include <thread>

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
      if (*m == Manager::kBase) return f;
      auto is = enabled(c, *m);
      if (!is) return tl::unexpected(is.error());
      std::string wanted = *e == "yes" ? "true" : *e == "no" ? "false" : *e;
      if (*is != wanted)
        f.changes.push_back(
            {"enable", fmt::format("enable changed '{}' to '{}'", *is, wanted), *is, wanted, "", false});
    }
    return f;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    auto m = manager(c);
    if (!m) return tl::unexpected(m.error());
    for (const Change& ch : f.changes) {
      Result<void> r;
      if (ch.property == "ensure")
        r = act(c, *m, ch.to == "running" ? "start" : "stop");
      else
        r = *m == Manager::kSystemd ? command(c, fmt::format("systemctl {} {}",
                                                             ch.to == "true"   ? "enable"
                                                             : ch.to == "mask" ? "mask"
                                                                               : "disable",
                                                             shell_quote(name(c))))
                                    : command(c, fmt::format("update-rc.d {} {}", shell_quote(name(c)),
                                                             ch.to == "true" ? "defaults" : "disable"));
      if (!r) return r;
      done.push_back(ch);
    }
    return {};
  }

  bool minds() const override { return true; }
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
    if (c.params.has("start") || c.params.has("binary")) return Manager::kBase;
    auto s = c.host.stat("/run/systemd/system", true, false);
    if (!s) return tl::unexpected(s.error());
    if (s->kind == FileState::Kind::kDirectory) return Manager::kSystemd;
    s = c.host.stat("/etc/init.d/" + name(c), true, false);
    if (!s) return tl::unexpected(s.error());
    return s->kind == FileState::Kind::kFile ? Manager::kInit : Manager::kBase;
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
    else if (m == Manager::kInit && c.params.truth("hasstatus", true))
      r = sh(c, fmt::format("/etc/init.d/{} status", shell_quote(name(c))));
    else
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

  static Result<std::string> enabled(Context& c, Manager m) {
    auto r = m == Manager::kSystemd
                 ? sh(c, "systemctl is-enabled " + shell_quote(name(c)))
                 : sh(c, fmt::format("ls /etc/rc[2345].d/S??{} >/dev/null 2>&1 && echo enabled", shell_quote(name(c))));
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    std::string word = r.out.substr(0, r.out.find('\n'));
    if (word == "masked") return std::string("mask");
    return std::string(
        word == "enabled" || word == "static" || word == "indirect" || word == "enabled-runtime" ? "true" : "false");
  }

  static Result<void> act(Context& c, Manager m, const std::string& what) {
    if (auto given = c.params.maybe(what)) return command(c, *given);
    if (m == Manager::kSystemd) return command(c, fmt::format("systemctl {} {}", what, shell_quote(name(c))));
    if (m == Manager::kInit) return command(c, fmt::format("/etc/init.d/{} {}", shell_quote(name(c)), what));
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
