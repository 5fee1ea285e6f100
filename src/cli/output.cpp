#include "cli/output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/minisign.h"
#include "base/near.h"
#include "base/progress.h"
#include "cli/doors/registry.h"
#include "format/write.h"

namespace tutti {

std::string what_is_read(std::span<const std::string> files) {
  if (files.size() == 1) return files[0] == "-" ? "standard input" : files[0];
  return fmt::format("{} files", files.size());
}

Evaluated evaluate_files(Call& call, std::span<const std::string> files, bool concrete, std::string_view output) {
  Evaluated e;
  e.parts = call.parts(files);
  // Whoever demands a signature must not be given what cannot have one.
  for (const Part& part : e.parts) {
    if (!call.options.has("require-signature") || part.language->name() == "cdl") continue;
    if (RequiredSignatures::in_force()) continue;
    call.session.diagnostics
        .error("USE", {}, fmt::format("{} cannot be signed inside of itself, as the key demands", part.files[0]))
        .suggest("a key of minisign demands signatures beside files (tutti help sign)");
    return e;
  }
  Progress progress(what_is_read(files));
  e.value = evaluate(call.session, e.parts, call.options, concrete, output);
  return e;
}

bool refuses_reference(Call& call, std::string_view because) {
  if (!call.options.has("reference")) return false;
  call.session.diagnostics.error("USE-REFERENCE", {}, fmt::format("this verb {}", because))
      .suggest("`eval`, `export` and `diff` take --reference; `tutti step` and `tutti agree` show the rules at work");
  return true;
}

bool can_write(Call& call, const std::string& path) {
  struct stat st {};
  bool there = ::stat(path.c_str(), &st) == 0;
  std::string folder = std::filesystem::path(path).parent_path().string();
  int wrong = there && S_ISDIR(st.st_mode)    ? EISDIR
              : there && !S_ISREG(st.st_mode) ? (::access(path.c_str(), W_OK) == 0 ? 0 : errno)
              : ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0 ? 0
                                                                                  : errno;
  if (wrong)
    call.session.diagnostics.error("IO-WRITE", {}, fmt::format("cannot write {}: {}", path, std::strerror(wrong)));
  return wrong == 0;
}

std::vector<std::string_view> all_outputs() {
  std::vector<std::string_view> names(output_names().begin(), output_names().end());
  for (const Language* language : languages().all()) {
    for (std::string_view name : language->outputs()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

namespace {

// Lines that begin with their depth in blanks, or with the whole path, grow with its square.
constexpr u32 kDeepestWritten = 10'000;

bool deeper_than(const Value& v, u32 levels, Budget& seen) {
  seen.node();  // subtrees are shared in the tree, but not in a text
  bool list = v.kind() == Kind::kList, map = v.kind() == Kind::kMap;
  if (!list && !map) return false;
  if (levels == 0) return true;
  if (list)
    return std::ranges::any_of(v.items(), [&](const Value& item) { return deeper_than(item, levels - 1, seen); });
  return std::ranges::any_of(v.entries(), [&](const Entry& e) { return deeper_than(e.value, levels - 1, seen); });
}

}  // namespace

void refuse_too_deep(const Call& call, const Value& value) {
  const Limits& limits = call.session.budget.limits();
  if (limits.depth <= kDeepestWritten) return;  // then there is nothing deeper
  Budget seen(limits);
  if (deeper_than(value, kDeepestWritten, seen))
    throw LimitError(
        "LIMIT-DEPTH",
        fmt::format("nested deeper than {} levels, which only `--out json --compact` writes", kDeepestWritten));
}

bool write_result(Call& call, const Evaluated& evaluated, std::string_view output, bool concrete) {
  if (!evaluated.value) return false;
  Value value = *evaluated.value;
  if (output != "json" || !call.options.has("compact")) refuse_too_deep(call, value);
  if (evaluated.parts.size() == 1) {
    const Language& language = *evaluated.parts[0].language;
    std::span<const std::string_view> own = language.outputs();
    if (std::find(own.begin(), own.end(), output) != own.end()) {
      return language.write(call.session, *evaluated.value, output, call.options, call.out);
    }
    value = language.encode(call.session, value, output, call.options);
  }
  std::span<const std::string_view> common = output_names();
  if (std::find(common.begin(), common.end(), output) == common.end()) {
    // A format of another language, which writes any tree.
    for (const Language* language : languages().all()) {
      std::span<const std::string_view> own = language->outputs();
      if (std::find(own.begin(), own.end(), output) == own.end()) continue;
      return language->write(call.session, *evaluated.value, output, call.options, call.out);
    }
    std::vector<std::string_view> names = all_outputs();
    call.session.diagnostics
        .error("OUT-UNKNOWN", {}, fmt::format("there is no output format `{}` for this input", output))
        .note(fmt::format("there are {}", fmt::join(names, ", ")))
        .did_you_mean(nearest(output, names));
    return false;
  }
  WriteOptions options{
      .concrete = concrete, .reveal = call.options.has("reveal"), .compact = call.options.has("compact")};
  return write_tree(call.session, value, output, options, call.out);
}

}  // namespace tutti
