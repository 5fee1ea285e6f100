#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "lang/cue/cli/plan.h"
#include "lang/cue/format/format.h"
#include "text/edit.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

struct Formatting {
  Program& p;
  bool check, diff, changed = false;

  void one(const std::string& path) {
    std::vector<LoadProblem> problems;
    ast::File* f = p.loader().parse(path, problems);
    if (!f) p.fail(problems);
    std::string before = f->source->text;
    FormatOptions options;
    options.simplify = p.flags().on("simplify");
    std::string after = format_node(f, options);
    if (path == "-" && !diff && !check) p.print(after);
    if (before == after) return;
    changed = true;
    std::string shown = path == "-" ? path : fs::path(p.absolute(path)).lexically_relative(p.dir()).string();
    if (diff)
      p.print("diff " + shown + ".orig " + shown + "\n" + unified_diff(before, after, shown + ".orig", shown) + "\n");
    else if (check)
      p.print(shown + "\n");
    else if (path != "-")
      if (Result<void> r = write_file_atomically(p.absolute(path), after); !r) p.fail_write(r.error());
  }

  void tree(const std::string& path, bool top) {
    std::error_code ec;
    if (fs::is_directory(path, ec)) {
      std::string name = fs::path(path).filename().string();
      bool left_out = name == "cue.mod" || name.starts_with('_') || name.starts_with('.') || fs::is_symlink(path, ec);
      if (!top && left_out) return;
      std::vector<std::string> below;
      for (const auto& e : fs::directory_iterator(path, ec)) below.push_back(e.path().string());
      std::sort(below.begin(), below.end());
      for (const std::string& b : below) tree(b, false);
      return;
    }
    if (!fs::exists(path, ec))
      p.fail(fmt::format("lstat {}: no such file or directory", fs::path(path).lexically_relative(p.dir()).string()));
    if (path.ends_with(".cue")) one(path);
  }
};

}  // namespace

// All CUE files that arguments name: of the directories, whatever their packages and build attributes.
std::vector<std::string> cue_files(Program& p, const std::vector<std::string>& args) {
  std::vector<std::string> out;
  std::vector<std::string> packages;
  std::vector<DataFile> files;
  std::string error;
  if (!parse_file_args(args, packages, files, error)) p.fail(error);
  if (packages.empty() && files.empty()) packages.push_back(".");
  for (std::string pattern : packages) {
    bool wild = pattern.ends_with("/...") || pattern == "...";
    if (wild) pattern = pattern == "..." ? "." : pattern.substr(0, pattern.size() - 4);
    if (std::size_t colon = pattern.find(':'); colon != std::string::npos) pattern = pattern.substr(0, colon);
    std::string dir = p.absolute(pattern);
    std::error_code ec;
    if (!fs::is_directory(dir, ec)) p.fail(fmt::format("cannot find package \"{}\"", pattern));
    std::vector<std::string> work{dir};
    bool any = false;
    while (!work.empty()) {
      std::string d = work.back();
      work.pop_back();
      std::vector<std::string> list, below;
      for (const auto& e : fs::directory_iterator(d, ec)) list.push_back(e.path().filename().string());
      std::sort(list.begin(), list.end());
      for (const std::string& e : list) {
        if (e.starts_with('.') || e.starts_with('_')) continue;
        std::string path = d + "/" + e;
        if (fs::is_directory(path, ec)) {
          bool inside = e != "cue.mod" && e != "testdata" && !fs::exists(path + "/cue.mod", ec);
          if (wild && inside && !fs::is_symlink(path, ec)) below.push_back(path);
        } else if (e.ends_with(".cue")) {
          any = true;
          out.push_back(path);
        }
      }
      for (std::size_t i = below.size(); i-- > 0;) work.push_back(below[i]);
    }
    if (!any && !wild) p.fail(fmt::format("no CUE files in {}", pattern));
  }
  std::size_t named = out.size();
  for (const DataFile& d : files)
    if (d.encoding == "cue") out.push_back(d.path);
  std::sort(out.begin() + static_cast<long>(named), out.end());
  return out;
}

void run_fmt(Program& p) {
  LoaderConfig config;
  config.skip_imports = true;
  config.tools = true;
  p.make_loader(config);
  Formatting f{p, p.flags().on("check"), p.flags().on("diff")};
  std::vector<std::string> args = p.flags().arguments();
  if (p.flags().on("files")) {
    for (const std::string& a : args)
      if (a.find("...") != std::string::npos) p.fail("cannot use \"...\" in --files mode");
    if (args.empty()) args.push_back(".");
    for (const std::string& a : args) {
      if (a == "-")
        f.one(a);
      else
        f.tree(p.absolute(a), true);
    }
  } else {
    if (!p.loader().problems().empty()) p.fail(p.loader().problems());
    for (const std::string& path : cue_files(p, args)) f.one(path);
  }
  if (f.check && f.changed) throw Stop{{}, true};
}

}  // namespace tutti::cue
