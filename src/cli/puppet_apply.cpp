#include "cli/puppet_apply.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/doors/puppet.h"

namespace tutti {
namespace {

// The code of -e comes by standard input, so that no file has to be made for it.
bool give_as_input(const std::string& code) {
  int fd = ::memfd_create("code", MFD_CLOEXEC);
  if (fd < 0) return false;
  bool given = ::write(fd, code.data(), code.size()) == static_cast<ssize_t>(code.size()) &&
               ::lseek(fd, 0, SEEK_SET) == 0 && ::dup2(fd, 0) == 0;
  ::close(fd);
  return given;
}

constexpr const char* kMachinesRecord = "/var/lib/tutti";

std::string state_directory(const Options& o) {
  if (std::string dir = o.get("vardir"); !dir.empty()) {
    std::error_code error;  // what cannot be made is reported when it is opened
    if (!o.has("noop")) std::filesystem::create_directories(dir, error);
    return dir + "/tutti";
  }
  const char* home = std::getenv("HOME");
  return ::geteuid() == 0 || !home ? kMachinesRecord : std::string(home) + "/.tutti";
}

}  // namespace

std::optional<Parsed> puppet_apply(std::span<const std::string> args) {
  if (args.size() < 2 || args[0] != "puppet" || args[1] != "apply") return std::nullopt;
  puppet::Arguments a = puppet::read_arguments("apply", args.subspan(2));
  Parsed p;
  p.help = a.help;
  p.wrong = a.wrong;
  if (p.help || !p.wrong.empty()) return p;
  p.options = a.own;
  p.manner.limits = a.limits;
  p.arguments = puppet::manifests_of(a);
  p.options.add("as-puppet", "");
  p.options.add("yes", "");
  p.options.add("state", state_directory(a.options));
  // No repository is checked out there, and who calls it every half hour answers nothing.
  if (p.options.get("state") == kMachinesRecord) p.options.add("adopt", "");
  if (std::string node = puppet::node_named(a); !node.empty()) p.options.add("node", node);
  if (a.options.has("noop")) p.options.add("noop", "");
  if (a.options.has("detailed-exitcodes") || a.options.has("test")) p.options.add("detailed-exitcode", "");
  for (auto [theirs, ours] : {std::pair("tags", "only-tag"), std::pair("skip_tags", "skip-tag")}) {
    std::string tags = a.options.get(theirs);
    for (std::size_t at = 0; at < tags.size();) {
      std::size_t comma = std::min(tags.find(',', at), tags.size());
      p.options.add(ours, tags.substr(at, comma - at));
      at = comma + 1;
    }
  }
  if (a.options.has("catalog")) p.arguments.push_back(a.options.get("catalog"));
  p.manner.lang = a.options.has("catalog") ? "" : "puppet";
  if (a.options.has("execute")) {
    if (!give_as_input(a.options.get("execute"))) p.wrong = "the code cannot be passed on";
    p.arguments.emplace_back("-");
  }
  if (p.arguments.empty()) p.arguments.emplace_back("-");
  return p;
}

}  // namespace tutti
