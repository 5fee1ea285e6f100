// How a run is carried out, as the options of a call say: how much at once, how long others are waited for, how hosts
// and Puppet's files are found, what is told while it runs, and what signals do.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/doors/puppet.h"
#include "cli/live.h"
#include "cli/system/interrupts.h"
#include "cli/system/recorded_call.h"

namespace tutti {
namespace {

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

}  // namespace

std::optional<double> RecordedCall::lease() const {
  std::string text = call.options.get("lease");
  char* end = nullptr;
  double seconds = std::strtod(text.c_str(), &end);
  bool good = !text.empty() && *end == 0 && seconds >= kShortestLease && seconds <= kLongestLease;
  return good ? std::optional(seconds) : std::nullopt;
}

deploy::RunSettings RecordedCall::settings(std::string command) {
  deploy::RunSettings s;
  s.command = "tutti " + command;
  s.parallel = parallel();
  s.wait_for_lock = std::strtod(call.options.get("lock-timeout", "0").c_str(), nullptr);
  if (auto lease = this->lease()) s.lease = *lease;
  s.executor.home = record->directory;
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
  s.on_stop = stop_on_signals;
  return s;
}

u32 RecordedCall::parallel() const {
  return static_cast<u32>(std::strtoul(call.options.get("parallel", "0").c_str(), nullptr, 10));
}

u64 RecordedCall::most_states() const {
  u64 most = std::strtoull(call.options.get("max-states", "0").c_str(), nullptr, 10);
  return most ? most : deploy::kMostStates;
}

}  // namespace tutti
