#include "resource/readiness.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <thread>

#include "resource/changes.h"

namespace tutti::resource {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kReady[] = {"port",    "address",  "url",    "command", "file",
                                       "timeout", "interval", "shared", "proxied"};

struct Endpoint {
  std::string address;
  u16 port = 0;
};

// Where a URL leads; nullopt where that is not a host and a port.
std::optional<Endpoint> endpoint_of_url(std::string_view url) {
  std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  Endpoint e;
  e.port = url.substr(0, scheme) == "https" ? 443 : 80;
  std::string_view rest = url.substr(scheme + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (std::size_t user = rest.rfind('@'); user != std::string_view::npos) rest.remove_prefix(user + 1);
  std::size_t end = rest.starts_with('[') ? rest.find(']') : rest.find(':');
  if (rest.starts_with('[')) {
    if (end == std::string_view::npos) return std::nullopt;
    e.address = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    e.address = rest.substr(0, end);
    rest.remove_prefix(std::min(e.address.size(), rest.size()));
  }
  if (rest.starts_with(':') && rest.size() > 1 &&
      std::from_chars(rest.data() + 1, rest.data() + rest.size(), e.port).ec != std::errc{})
    return std::nullopt;
  if (e.address.empty()) return std::nullopt;
  return e;
}

std::optional<Endpoint> endpoint_of(const Params& ready) {
  if (ready.has("port")) return Endpoint{ready.text("address", "127.0.0.1"), static_cast<u16>(ready.number("port", 0))};
  if (auto url = ready.maybe("url")) return endpoint_of_url(*url);
  return std::nullopt;
}

bool is_loopback(std::string_view address) {
  return address == "localhost" || address == "::1" || address.starts_with("127.");
}

// Says "ours", "other NAME (process N)" or "unseen" of whoever listens on port {0} (as four hex digits) at {1}, where
// the process is {2} (0: there is none yet) and the mark of all that it started is {3}.
constexpr std::string_view kWhoListens = R"sh(
a={1}; case $a in 127.*|localhost|::1|0.0.0.0|::) ;; *) case " $(hostname -I 2>/dev/null) " in *" $a "*) ;; *) echo unseen; exit 0;; esac;; esac
[ {2} = 0 ] || [ "$(readlink /proc/{2}/ns/net)" = "$(readlink /proc/self/ns/net)" ] || {{ echo unseen; exit 0; }}
l=$(awk '$4 == "0A" && $2 ~ /:{0}$/ {{ print $10 }}' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
[ -n "$l" ] || {{ echo unseen; exit 0; }}
pattern=$(for s in $l; do printf 'socket:[%s]\n' "$s"; done)
holds() {{ ls -l /proc/$1/fd 2>/dev/null | grep -qF "$pattern"; }}
for p in $(ps -e -o pid= -o pgid= -o sid= | awk '{2} && ($2 == {2} || $3 == {2}) {{ print $1 }}') $(grep -lsz {3} /proc/[0-9]*/environ | cut -d/ -f3); do
  holds $p && {{ echo ours; exit 0; }}
done
for d in /proc/[0-9]*; do
  holds ${{d#/proc/}} && {{ echo "other $(cat $d/comm) (process ${{d#/proc/}})"; exit 0; }}
done
echo unseen
)sh";

// Who answers where the process should.
struct Answering {
  enum class Who : u8 { kItself, kOther, kUnseen } who = Who::kUnseen;
  std::string other;  // for people
};

Result<Answering> who_answers(Context& c, const Endpoint& at, const ReadyProcess& process) {
  auto r = c.host.shell(fmt::format(fmt::runtime(kWhoListens), fmt::format("{:04X}", at.port), shell_quote(at.address),
                                    process.identity.pid, shell_quote("^" + process.mark + "$")),
                        milliseconds(30000), c.cancel);
  if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
  Answering a;
  std::string_view said(r.out);
  if (!r.ok() || !said.ends_with('\n')) return a;
  said.remove_suffix(1);
  constexpr std::string_view kOther = "other ";
  if (said == "ours") a.who = Answering::Who::kItself;
  if (said.starts_with(kOther)) a = {Answering::Who::kOther, std::string(said.substr(kOther.size()))};
  return a;
}

std::string not_ours(const Endpoint& at, std::string_view who) {
  return fmt::format(
      "{} answers on port {}, not the process itself (where that is as it should be: `proxied: true` in `ready`)", who,
      at.port);
}

}  // namespace

std::string wrong_wait(const Params& p) {
  static constexpr Rule kRules[] = {{"port", kNaturalWord}, {"timeout", kNumberWord}, {"interval", kNumberWord}};
  if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
  double port = p.number("port", 1);
  return port < 1 || port > 65535 ? "port must be a number from 1 to 65535" : "";
}

std::string wrong_ready(const Value& ready) {
  for (const Entry& key : ready.entries())
    if (std::find(std::begin(kReady), std::end(kReady), key.key.text()) == std::end(kReady))
      return fmt::format("`ready` has no `{}`: it is {}", key.key.text(), fmt::join(kReady, ", "));
  std::string wrong = wrong_wait(Params(ready));
  return wrong.empty() ? "" : "ready: " + wrong;
}

bool pause_for(Context& c, milliseconds time) {
  if (c.cancel && c.cancel->raised()) return false;
  std::this_thread::sleep_for(time);
  return true;
}

Result<bool> holds(Context& c, const Params& p, milliseconds within) {
  if (p.has("port")) {
    auto port = static_cast<u16>(p.number("port", 0));
    if (!c.host.connects(p.text("address", "127.0.0.1"), port, milliseconds(1000))) return false;
  }
  if (auto file = p.maybe("file")) {
    auto s = c.host.stat(*file, true, false);
    if (!s) return tl::unexpected(s.error());
    if (s->kind == FileState::Kind::kAbsent) return false;
  }
  std::string command = p.text("command");
  if (auto url = p.maybe("url")) command = "curl -fsS -o /dev/null -- " + shell_quote(*url);
  if (!command.empty()) {
    Command k;
    k.argv = {"/bin/sh", "-c", command};
    k.environment = c.environment;
    k.timeout = within;
    k.cancel = c.cancel;
    auto r = c.host.run(k);
    if (r.end == CommandResult::End::kLost) return failure(r.describe(), r.lost_code());
    if (!r.ok()) return false;
  }
  return true;
}

Result<void> wait_until(Context& c, const Params& p, bool wanted, std::string_view what,
                        const std::function<Result<bool>(milliseconds within)>& truth,
                        const std::function<Result<bool>()>& still) {
  auto limit = milliseconds(static_cast<i64>(p.number("timeout", 30) * 1000));
  auto interval = milliseconds(static_cast<i64>(p.number("interval", 0.02) * 1000));
  auto end = Clock::now() + limit;
  for (;;) {
    auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
    auto now = truth(std::clamp(left, milliseconds(100), kLongestLook));
    if (!now) return tl::unexpected(now.error());
    if (still) {  // also when it holds: somebody else may be the one that answers
      auto alive = still();
      if (!alive) return tl::unexpected(alive.error());
      if (!*alive) return failure(fmt::format("{} ended before it was ready", what));
    }
    if (*now == wanted) return {};
    if (Clock::now() >= end)
      return failure(fmt::format("{} was not ready in {} s", what, static_cast<double>(limit.count()) / 1000),
                     ETIMEDOUT);
    if (!pause_for(c, interval)) return failure("was cancelled", ECANCELED);
    interval = std::min(interval * 3 / 2, milliseconds(500));
  }
}

Result<bool> is_ready(Context& c, const Params& ready, const ReadyProcess& process, milliseconds within,
                      std::string& other) {
  other.clear();
  auto now = holds(c, ready, within);
  if (!now || !*now || ready.truth("proxied")) return now;
  auto at = endpoint_of(ready);
  if (!at) return now;
  auto answering = who_answers(c, *at, process);
  if (!answering) return tl::unexpected(answering.error());
  if (answering->who == Answering::Who::kOther) other = not_ours(*at, answering->other);
  // On a port that is shared (SO_REUSEPORT, a socket handed down) any of its holders may answer: there it is ready only
  // once it is seen to listen itself.
  return answering->who == Answering::Who::kItself ||
         (answering->who == Answering::Who::kUnseen && !ready.truth("shared"));
}

Result<void> await_ready(Context& c, const Value* ready, const ReadyProcess& process) {
  if (!ready || !ready->is(Kind::kMap)) return {};
  Params p(*ready);
  std::string other;
  auto truth = [&](milliseconds within) { return is_ready(c, p, process, within, other); };
  auto r = wait_until(c, p, true, c.resource.title, truth, [&] { return c.host.alive(process.identity); });
  if (!r && !other.empty()) r.error().message += ": " + other;
  return r;
}

Result<void> await_free_port(Context& c, const Value* ready) {
  if (!ready || !ready->is(Kind::kMap)) return {};
  Params p(*ready);
  auto at = endpoint_of(p);
  if (!at || p.truth("shared") || p.truth("proxied") || !is_loopback(at->address)) return {};
  auto end =
      Clock::now() + std::min(milliseconds(static_cast<i64>(p.number("timeout", 30) * 1000)), milliseconds(5000));
  while (c.host.connects(at->address, at->port, milliseconds(1000))) {
    if (Clock::now() >= end) {
      auto by = who_answers(c, *at, {});
      std::string who = by && by->who == Answering::Who::kOther ? by->other : "somebody else";
      return failure(
          fmt::format("{} answers on port {} already (in `ready`, `shared: true` says that several share the "
                      "port, `proxied: true` that another answers for it)",
                      who, at->port),
          EADDRINUSE);
    }
    if (!pause_for(c, milliseconds(50))) return failure("was cancelled", ECANCELED);
  }
  return {};
}

}  // namespace tutti::resource
