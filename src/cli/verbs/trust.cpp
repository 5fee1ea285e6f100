// tutti trust: says once that a project's own code may run and that it may read elsewhere (project/trust.h says what is
// recorded, and why no hash of it).
#include "project/trust.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/verb.h"

namespace tutti {
namespace {

constexpr OptionSpec kTrustOptions[] = {
    {"list", "", "the projects that are trusted"},
    {"revoke", "", "trust the folder no longer"},
};

std::string owner_name(u32 owner) {
  const passwd* user = ::getpwuid(owner);
  return user != nullptr ? user->pw_name : fmt::format("{}", owner);
}

int fail_trust(Call& call, const std::string& what) {
  call.session.diagnostics.error("TRUST", {}, what);
  return exit_code::kError;
}

int list_trusted(Call& call) {
  auto records = TrustStore::read();
  if (!records) return fail_trust(call, records.error().message);
  for (const TrustStore::Record& r : *records) {
    Trust now = trust_in(r.path);
    call.out.put(fmt::format("{}{}\n", r.path, now.given ? "" : fmt::format("  (not any more: {})", now.why_not)));
  }
  return exit_code::kOk;
}

int run_trust(Call& call) {
  if (call.options.has("list")) return list_trusted(call);
  std::string folder = call.arguments.empty() ? "." : call.arguments[0];
  if (call.options.has("revoke")) {
    // The folder itself may be gone, or be another one.
    auto removed = TrustStore::remove(folder);
    if (removed && !*removed) removed = TrustStore::remove(project_of(folder));
    if (!removed) return fail_trust(call, removed.error().message);
    call.out.put(*removed ? "No longer trusted.\n" : "It was not trusted.\n");
    return exit_code::kOk;
  }
  struct stat st {};
  if (::stat(folder.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) return fail_trust(call, folder + " is not a folder");
  std::string project = project_of(folder);
  if (auto added = TrustStore::add(project); !added) return fail_trust(call, added.error().message);
  bool others = ::stat(project.c_str(), &st) == 0 && st.st_uid != ::geteuid();
  call.out.put(
      fmt::format("Trusted: {}{}\n", project, others ? fmt::format(" (it belongs to {})", owner_name(st.st_uid)) : ""));
  return exit_code::kOk;
}

}  // namespace

extern const Verb trust_verb = {
    .name = "trust",
    .group = "Configuration",
    .summary = "let a project run its own code while it is read",
    .arguments = "[DIR]",
    .details =
        "What only reads (eval, export, vet, fmt, why, diff, graph) runs nothing that a project brings and "
        "reads nothing outside of it. A project that needs more (Ruby in its modules, generate(), facts of "
        "modules, files elsewhere) is trusted once: the folder, or the project it lies in (the nearest folder "
        "above with .git, cue.mod or environment.conf).\n"
        "The record is the user's own: the folder's path, its identity and its owner. It holds for what "
        "changes in the folder, and not for another folder of the same name.",
    .examples = "$ tutti trust control-repo\n$ tutti trust --list\n$ tutti trust --revoke control-repo",
    .options = kTrustOptions,
    .run = run_trust,
    .most = 1,
};

}  // namespace tutti
