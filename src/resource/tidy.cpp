// tidy: old or large files below a path go. What is to go is found when the resource's turn comes.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "resource/changes.h"
#include "resource/providers.h"

namespace tutti::resource {
namespace {

constexpr std::string_view kTidyParameters[] = {"path", "recurse", "max_files", "matches", "backup",
                                                "age",  "size",    "type",      "rmdirs"};

// A number and a unit's letter; the unit may be left out, and may be a whole word.
std::optional<double> scaled(const std::string& text, std::string_view units, std::span<const double> factors,
                             char otherwise) {
  char* end = nullptr;
  double n = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  while (*end == ' ') ++end;
  char unit = *end ? static_cast<char>(std::tolower(static_cast<unsigned char>(*end))) : otherwise;
  std::size_t at = units.find(unit);
  return at == std::string_view::npos ? std::nullopt : std::optional(n * factors[at]);
}

std::optional<double> seconds(const std::string& text) {
  static constexpr double kFactors[] = {1, 60, 3600, 86400, 604800};
  return scaled(text, "smhdw", kFactors, 'd');
}

std::optional<double> bytes(const std::string& text) {
  static constexpr double kFactors[] = {1, 1 << 10, 1 << 20, 1 << 30, 1099511627776.0};
  return scaled(text, "bkmgt", kFactors, 'k');
}

std::string path_of(const Resource& r) { return Params(r.parameters).text("path", r.title); }

struct Found {
  std::string path;
  bool directory = false;
};

struct Kept {
  std::vector<Found> gone;  // in the order in which they go
};

class Tidy : public Provider {
 public:
  std::string_view type() const override { return "tidy"; }
  std::span<const std::string_view> parameters() const override { return kTidyParameters; }

  std::string check(const Resource& r) const override {
    Params p(r.parameters);
    if (std::string path = path_of(r); path.empty() || path[0] != '/') return "its path must be absolute";
    if (p.has("age") && !seconds(p.text("age"))) return fmt::format("invalid tidy age {}", p.text("age"));
    if (p.has("size") && !bytes(p.text("size"))) return fmt::format("invalid tidy size {}", p.text("size"));
    static constexpr Rule kRules[] = {{"max_files", kNaturalWord}, {"rmdirs", kTruthWords}};
    if (std::string wrong = wrong_value(p, kRules); !wrong.empty()) return wrong;
    std::string type = p.text("type", "atime");
    if (type != "atime" && type != "mtime" && type != "ctime") return fmt::format("invalid tidy type {}", type);
    return "";
  }

  Result<Findings> examine(Context& c) const override {
    const Params& p = c.params;
    std::string recurse = p.text("recurse", "false"), path = path_of(c.resource), type = p.text("type", "atime");
    std::string depth = recurse == "false"                      ? " -maxdepth 0"
                        : recurse == "true" || recurse == "inf" ? ""
                                                                : " -maxdepth " + recurse;
    if (depth.find_first_not_of(" -maxdepth0123456789") != std::string::npos)
      return failure(fmt::format("invalid recurse {}", recurse));
    // Age, size, kind and name of each, ended by a zero byte: a name may hold anything else.
    auto listed = c.host.shell(fmt::format(
        "now=$(date +%s); [ -e {0} ] || [ -L {0} ] || exit 0; echo \"$now\"; find {0}{1} -printf '%{2}@ %s %y %p\\0'",
        shell_quote(path), depth,
        type == "mtime"   ? "T"
        : type == "ctime" ? "C"
                          : "A"));
    if (!listed.ok()) return failure(listed.describe(), listed.lost_code());
    Findings f;
    auto kept = std::make_shared<Kept>();
    std::optional<double> age, size;
    if (p.has("age")) age = seconds(p.text("age"));
    if (p.has("size")) size = bytes(p.text("size"));
    auto globs = p.list("matches");
    bool dirs = p.truth("rmdirs");
    char* end = nullptr;
    double now = std::strtod(listed.out.c_str(), &end);
    std::size_t at = std::min<std::size_t>(static_cast<std::size_t>(end - listed.out.c_str()) + 1, listed.out.size());
    std::set<std::string> staying;  // directories with something in them that stays
    std::vector<Found> all;
    std::size_t entries = 0;
    for (; at < listed.out.size(); ++entries) {
      std::size_t stop = std::min(listed.out.find('\0', at), listed.out.size());
      std::string line = listed.out.substr(at, stop - at);
      at = stop + 1;
      double time = std::strtod(line.c_str(), &end), length = std::strtod(end, &end);
      if (line.size() < static_cast<std::size_t>(end - line.c_str()) + 4) continue;
      bool directory = end[1] == 'd';
      std::string name = end + 3, base = name.substr(name.rfind('/') + 1);
      bool fits = globs.empty() || std::any_of(globs.begin(), globs.end(), [&](const std::string& g) {
                    return ::fnmatch(g.c_str(), base.c_str(), 0) == 0;
                  });
      bool old = age && (*age == 0 || now - time > *age), large = size && length >= *size;
      bool written = base.find(kUnfinished) != std::string::npos;  // another is just writing it
      if ((directory && !dirs) || !fits || written || (!old && !large && (age || size)))
        for (std::size_t up = name.rfind('/'); up != std::string::npos && up >= path.size();
             up = name.rfind('/', up - 1))
          staying.insert(name.substr(0, up));
      else
        all.push_back({name, directory});
    }
    if (std::string wrong = too_many_files(p, path, entries - std::min<std::size_t>(entries, 1)); !wrong.empty())
      return failure(wrong);
    std::erase_if(all, [&](const Found& x) { return x.directory && staying.count(x.path); });
    // What lies deeper goes first.
    std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) {
      return b.path.compare(0, a.path.size() + 1, a.path + "/") != 0 &&
             a.path.compare(0, b.path.size() + 1, b.path + "/") == 0;
    });
    std::erase_if(all, [&](const Found& x) { return c.managed(x.path); });  // what has a resource of its own stays
    for (auto& x : all) {
      std::string is = x.directory ? "directory" : "file";
      f.changes.push_back({"ensure", "removed", is, "absent", fmt::format("File[{}]", x.path), false});
    }
    if (!all.empty()) c.say(Level::kNotice, fmt::format(": Tidying {} files", all.size()));
    kept->gone = std::move(all);
    f.kept = kept;
    return f;
  }

  Result<void> apply(Context& c, const Findings& f, std::vector<Change>& done) const override {
    auto kept = std::static_pointer_cast<const Kept>(f.kept);
    for (std::size_t k = 0; k < kept->gone.size(); ++k) {
      if (auto r = c.host.remove(kept->gone[k].path, kept->gone[k].directory); !r) return r;
      done.push_back(f.changes[k]);
    }
    return {};
  }

  std::vector<std::string> writes(const Resource& r) const override { return {"tidy:" + path_of(r)}; }
};

}  // namespace

const Provider& tidy_provider() {
  static const Tidy one;
  return one;
}

}  // namespace tutti::resource
