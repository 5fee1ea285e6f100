#include "cli/call_boundary.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/minisign.h"
#include "project/trust.h"

namespace tutti {
namespace {

bool is_trusted(const std::vector<std::string>& projects, bool runs) {
  return std::all_of(projects.begin(), projects.end(), [&](const std::string& project) {
    return (runs && is_own_folder(project)) || trust_in(project).given;
  });
}

// As the user would name it.
std::string shown_folder(const std::string& project) {
  std::error_code error;
  std::filesystem::path here = std::filesystem::current_path(error);
  std::filesystem::path relative = std::filesystem::path(project).lexically_relative(here);
  return relative.empty() || relative.begin()->string() == ".." ? project : relative.string();
}

std::string way_out_of(const std::vector<std::string>& projects, bool runs) {
  for (const std::string& project : projects) {
    if (runs && is_own_folder(project)) continue;
    Trust trust = trust_in(project);
    if (trust.given) continue;
    if (trust.why_not.empty() && is_common_folder(project))
      return "put it into a folder of its own; or --trust for this call";
    std::string why = trust.why_not.empty() ? "" : fmt::format("{}; ", trust.why_not);
    return fmt::format("{}look at what is in it, then `tutti trust {}`, or --trust for this call", why,
                       shown_folder(project));
  }
  return "--trust for this call";
}

}  // namespace

bool asks_to_run(std::string_view verb) {
  constexpr std::string_view kRuns[] = {"apply", "plan",   "run",    "resume",  "rollback", "destroy", "drift",
                                        "facts", "status", "forget", "history", "show",     "trust"};
  return std::find(std::begin(kRuns), std::end(kRuns), verb) != std::end(kRuns);
}

namespace {

// Before any language or front end reads its own options: nothing is read without.
void require_signatures(std::span<const std::string> args) {
  constexpr std::string_view kOption = "--require-signature";
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < args.size() && args[i] != "--"; i++) {
    std::string_view word = args[i];
    if (!word.starts_with(kOption)) continue;
    word.remove_prefix(kOption.size());
    if (word.starts_with('='))
      keys.emplace_back(word.substr(1));
    else if (word.empty() && i + 1 < args.size())
      keys.push_back(args[i + 1]);
  }
  std::erase_if(keys, RequiredSignatures::is_pem);
  if (!keys.empty()) RequiredSignatures::require(keys);
}

}  // namespace

CallBoundary::CallBoundary(std::span<const std::string> args)
    : boundary_({project_of, is_common_folder, is_trusted, way_out_of}), in_force_(boundary_) {
  require_signatures(args);
  const bool of_puppet = args.size() > 1 && args[0] == "puppet";
  if (!args.empty() && asks_to_run(args[of_puppet ? 1 : 0])) boundary_.ask_to_run();
}

}  // namespace tutti
