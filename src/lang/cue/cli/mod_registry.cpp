// mod tidy, get, publish and resolve: what a module needs of others, and where those are.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/boundary.h"
#include "base/file.h"
#include "lang/cue/cli/module_editor.h"
#include "lang/cue/format/literal.h"
#include "lang/cue/load/module_file.h"
#include "lang/cue/module/cache.h"
#include "lang/cue/module/unzip.h"
#include "lang/cue/module/version.h"

namespace tutti::cue {

namespace fs = std::filesystem;

namespace {

std::string without_major(const std::string& path) { return path.substr(0, path.find('@')); }

// The newest of some versions, in ascending order; one that is a release, where there is one. "" for none.
std::string newest_of(const std::vector<std::string>& versions) {
  for (std::size_t i = versions.size(); i-- > 0;)
    if (version_of(versions[i])->before.empty()) return versions[i];
  return versions.empty() ? "" : versions.back();
}

// A module with what its packages import.
class Requirements {
 public:
  explicit Requirements(Program& p, ModuleEditor& editor) : p_(p), editor_(editor), cache_(true) {
    std::vector<LoadProblem> problems;
    ast::File* f = p.loader().parse(editor.file(), problems);
    if (!f) p.fail(problems);
    main_ = read_module_file(*f, "cue.mod/module.cue");
    std::string local = editor.root() + "/cue.mod/local-module.cue";
    std::error_code ec;
    if (ast::File* l = fs::exists(local, ec) ? p.loader().parse(local, problems) : nullptr)
      read_local_module_file(*l, "cue.mod/local-module.cue", main_);
    if (!main_.problems.empty()) p.fail(main_.problems);
    renew();
  }

  // What is imported and nowhere to be found is looked for in the registry. False, with the package in `missing`, when
  // a package is nowhere. Without `asks` nothing is looked for.
  bool complete(bool asks, std::string& missing) {
    while (true) {
      std::vector<std::string> absent = walk();
      if (absent.empty()) return true;
      for (const std::string& path : absent) {
        missing = path;
        if (!asks || !look_for(ImportName(path))) return false;
      }
    }
  }

  // The list of dependencies as it should be: the modules that packages were found in.
  std::map<std::string, Module::Need> needs() {
    std::map<std::string, Module::Need> out;
    Result<std::map<std::string, std::string>> all = graph_->selected();
    if (!all) p_.fail("cannot determine new module graph: " + all.error().message);
    for (const std::string& path : used_)
      if (!(*all)[path].empty()) out[path] = {(*all)[path], main_.needs[path].is_default};
    return out;
  }

  // At least this version of a module is wanted: `path`, `path@latest`, `path@v1`, `path@v1.2`, `path@v1.2.3`.
  void want(const std::string& text) {
    std::size_t at = std::min(text.find('@'), text.size());
    std::string path = text.substr(0, at), version = at < text.size() ? text.substr(at + 1) : "latest";
    if (std::string why = wrong_module_path(path); !why.empty())
      p_.fail(fmt::format("invalid module path {}: {}", quote(path), why));
    if (!is_whole_version(version)) {
      std::vector<std::string> fitting;
      for (const std::string& v : published(path))
        if (version == "latest" || v.starts_with(version + ".")) fitting.push_back(v);
      version = newest_of(fitting);
      if (version.empty()) p_.fail("no versions found for module " + text);
    }
    main_.needs[path + "@" + version_of(version)->major()].version = version;
    renew();
  }

  std::map<std::string, Module::Need> wanted() {
    std::map<std::string, Module::Need> out;
    Result<std::map<std::string, std::string>> all = graph_->selected();
    if (!all) p_.fail("cannot determine new module graph: " + all.error().message);
    for (const auto& [path, need] : main_.needs) out[path] = {(*all)[path], need.is_default};
    return out;
  }

  const ModuleFile& main() const { return main_; }
  ModuleCache& cache() { return cache_; }

 private:
  void renew() {
    auto of_folder = [this](const std::string& folder) -> Result<ModuleFile> {
      Result<std::string> text = read_file(folder + "/cue.mod/module.cue", 1 << 20);
      if (!text) return failure("cannot read module file in replacement directory: " + text.error().message);
      return module_file_of(folder + "/cue.mod/module.cue", *text);
    };
    graph_ = std::make_unique<ModuleGraph>(main_, editor_.root(), cache_, of_folder);
  }

  std::vector<std::string> published(const std::string& path) {
    Result<RegistryClient*> client = cache_.registry();
    if (!client) p_.fail(client.error().message);
    Result<std::vector<std::string>> versions = (*client)->versions(path);
    if (!versions) p_.fail(versions.error().message);
    return *versions;
  }

  // Files of the packages of this name in a folder, and of those above it.
  void add_package(const std::string& folder, const std::string& root, const std::string& name,
                   std::vector<const ast::File*>& work) {
    for (fs::path at = folder;; at = at.parent_path()) {
      std::error_code ec;
      for (const auto& e : fs::directory_iterator(at, ec)) {
        if (e.path().extension() != ".cue") continue;
        ast::File* f = p_.loader().parse(e.path().string(), ignored_, true);
        if (f && f->package() && f->package()->name->name.text() == name) work.push_back(f);
      }
      if (at.string().size() <= root.size() || at == at.root_path()) return;
    }
  }

  // Follows all imports. What is found in another module is noted in used_; the rest is returned.
  std::vector<std::string> walk() {
    used_.clear();
    std::vector<std::string> absent;
    std::set<std::string> seen;
    std::vector<const ast::File*> work;
    for (const std::string& path : cue_files(p_, {editor_.root() + "/..."}))
      if (ast::File* f = p_.loader().parse(path, ignored_, true)) work.push_back(f);
    while (!work.empty()) {
      const ast::File* f = work.back();
      work.pop_back();
      for (const ast::Lit* lit : imports_of(*f)) {
        std::string text = unquote(lit->text).text;
        if (is_standard_path(text) || !seen.insert(text).second) continue;
        ImportName import(text);
        if (find_at_home(import, work)) continue;
        Result<std::optional<PackagePlace>> place = graph_->find(import.path, import.version);
        if (!place) p_.fail(place.error().message);
        if (!*place) {
          absent.push_back(text);
          continue;
        }
        used_.insert((*place)->needed);
        add_package((*place)->folder, (*place)->root, import.name, work);
      }
    }
    return absent;
  }

  // Of this module, whose files are all looked at anyway, or under its cue.mod.
  bool find_at_home(const ImportName& import, std::vector<const ast::File*>& work) {
    std::error_code ec;
    bool own = import.path == main_.module || import.path.starts_with(main_.module + "/");
    if (own && fs::is_directory(editor_.root() + import.path.substr(main_.module.size()), ec)) return true;
    bool found = false;
    for (const char* place : {"pkg", "usr", "gen"}) {
      std::string folder = fmt::format("{}/cue.mod/{}/{}", editor_.root(), place, import.path);
      if (!fs::is_directory(folder, ec)) continue;
      found = true;
      add_package(folder, folder, import.name, work);
    }
    return found;
  }

  // The newest version of the module with the longest path that has the package.
  bool look_for(const ImportName& import) {
    for (std::string prefix = import.path;; prefix.resize(prefix.rfind('/'))) {
      if (wrong_module_path(prefix).empty()) {
        std::vector<std::string> fitting;
        for (const std::string& v : published(prefix))
          if (import.version.empty() || version_of(v)->major() == import.version) fitting.push_back(v);
        if (std::string v = newest_of(fitting); !v.empty()) {
          auto before = main_.needs;
          main_.needs[prefix + "@" + version_of(v)->major()] = {v, import.version.empty(), ""};
          renew();
          Result<std::optional<PackagePlace>> place = graph_->find(import.path, import.version);
          if (place && *place) return true;
          main_.needs = before;
          renew();
        }
      }
      if (prefix.find('/') == prefix.npos) return false;
    }
  }

  Program& p_;
  ModuleEditor& editor_;
  ModuleCache cache_;
  ModuleFile main_;
  std::unique_ptr<ModuleGraph> graph_;
  std::set<std::string> used_;
  std::vector<LoadProblem> ignored_;  // what is not CUE imports nothing
};

bool same_needs(const std::map<std::string, Module::Need>& a, const std::map<std::string, Module::Need>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.version == y.second.version && x.second.is_default == y.second.is_default;
  });
}

constexpr std::string_view kNotTidy = "module is not tidy, use 'cue mod tidy'";

// Refuses a module whose list of dependencies is not as it should be.
void check_tidy(Program& p, Requirements& all, const Module& m) {
  std::string missing;
  if (!all.complete(false, missing))
    p.fail(fmt::format("{}: missing dependency providing package {}", kNotTidy, missing));
  if (!same_needs(all.needs(), m.needs)) p.fail(std::string(kNotTidy));
}

// The files that are published, by name: all that are plain files of this module.
std::vector<std::string> files_to_publish(const std::string& root) {
  std::vector<std::string> out;
  std::error_code ec;
  for (auto it = fs::recursive_directory_iterator(root, ec); it != fs::recursive_directory_iterator();
       it.increment(ec)) {
    std::string name = it->path().filename().string();
    if (it->is_directory(ec) && !it->is_symlink(ec)) {
      bool of_versions = name == ".git" || name == ".hg" || name == ".svn" || name == ".bzr";
      if (of_versions || fs::exists(it->path() / "cue.mod", ec)) it.disable_recursion_pending();
      continue;
    }
    std::string path = it->path().string().substr(root.size() + 1);
    if (it->is_symlink(ec) || !it->is_regular_file(ec) || path == "cue.mod/local-module.cue") continue;
    out.push_back(path);
  }
  std::ranges::sort(out);
  return out;
}

std::string shown_location(const RegistryLocation& at, bool tag) {
  return at.host + "/" + at.repository + (tag ? ":" + at.tag : "");
}

}  // namespace

void run_mod_tidy(Program& p) {
  wants_arguments(p, 0);
  ModuleEditor editor(p);
  Module m = editor.read(true);
  Requirements all(p, editor);
  if (p.flags().on("check")) return check_tidy(p, all, m);
  std::string missing;
  if (!all.complete(true, missing))
    p.fail(fmt::format("failed to resolve {}: cannot find module providing package {}", quote(missing), missing));
  std::map<std::string, Module::Need> needs = all.needs();
  bool replaced = std::ranges::any_of(all.main().needs, [](const auto& n) { return !n.second.replacement.empty(); });
  if (p.flags().on("local-only")) return;
  m.needs = std::move(needs);
  editor.write(m);
  if (replaced) return;  // what is said there is still needed
  std::string local = editor.root() + "/cue.mod/local-module.cue";
  if (Result<void> inside = may_write(local); !inside) p.fail_write(inside.error());
  std::error_code ec;
  fs::remove(local, ec);
}

void run_mod_get(Program& p) {
  const std::vector<std::string>& args = p.flags().arguments();
  if (args.empty()) p.fail("requires at least 1 arg(s), only received 0");
  ModuleEditor editor(p);
  Module m = editor.read(true);
  Requirements all(p, editor);
  for (const std::string& a : args) all.want(a);
  m.needs = all.wanted();
  editor.write(m);
}

void run_mod_publish(Program& p) {
  wants_arguments(p, 1);
  const std::string version = p.flags().arguments()[0];
  bool only_tried = p.flags().on("dry-run"), json = p.flags().on("json");
  ModuleEditor editor(p);
  Module m = editor.read();
  Requirements all(p, editor);
  check_tidy(p, all, m);
  if (!version_of(version))
    p.fail(fmt::format("invalid publish version {}; must be valid semantic version (see http://semver.org)",
                       quote(version)));
  if (!is_whole_version(version)) p.fail(fmt::format("publish version {} is not in canonical form", quote(version)));
  const std::string path = without_major(m.path), major = all.main().major;
  if (version_of(version)->major() != major)
    p.fail(fmt::format("publish version {} does not match the {}major version {} {}in {}; must be {}.N.N",
                       quote(version), path == m.path ? "implied " : "", quote(major),
                       path == m.path ? "" : "declared ", quote(editor.file()), major));
  if (m.source.empty())
    p.fail(
        "publishing a module requires a source field in cue.mod/module.cue; choose a source with 'cue mod edit "
        "--source'");
  if (m.source != "self")
    p.fail(fmt::format("publishing from {} is not supported; only from \"self\"", quote(m.source)));
  ZipWriter zip;
  RegistryClient::Content content;
  const std::vector<std::string> files = files_to_publish(editor.root());
  for (const std::string& name : files) {
    Result<std::string> bytes = read_file(editor.root() + "/" + name, u64{500} << 20);
    if (!bytes) p.fail(bytes.error().message);
    if (name == "cue.mod/module.cue") content.module_file = *bytes;
    zip.add(name, *bytes);
  }
  content.archive = zip.finish();
  Result<RegistryClient*> client = all.cache().registry();
  if (!client) p.fail(client.error().message);
  std::optional<RegistryLocation> at = (*client)->map().locate(path, version);
  if (!at) p.fail(fmt::format("cannot put module: no registry configured for module {}", path));
  if (!only_tried)
    if (Result<void> done = (*client)->publish(path, version, content); !done)
      p.fail("cannot put module: " + done.error().message);
  std::error_code ec;
  if (fs::exists(editor.root() + "/cue.mod/local-module.cue", ec))
    p.say("note: cue.mod/local-module.cue is not published; it only affects local development\n");
  if (json) {
    std::string list;
    for (const std::string& name : files) list += fmt::format("{}\t\t{}", list.empty() ? "" : ",\n", quote(name));
    p.print(fmt::format("{{\n\t\"version\": {},\n\t\"ref\": {},\n\t\"insecure\": {},\n\t\"files\": [\n{}\n\t]\n}}\n",
                        quote(path + "@" + version), quote(shown_location(*at, true)), at->insecure, list));
    return;
  }
  p.print(fmt::format("{} {}@{} to {}\n", only_tried ? "dry-run published" : "published", path, version,
                      shown_location(*at, true)));
}

void run_mod_resolve(Program& p) {
  std::vector<std::string> args = p.flags().arguments();
  bool needs = p.flags().on("deps");
  if (needs && !args.empty()) p.fail("cannot specify module arguments with --deps flag");
  ModuleCache cache(false);
  Result<RegistryClient*> client = cache.registry();
  if (!client) p.fail(client.error().message);
  auto located = [&](const std::string& path, const std::string& version) {
    std::optional<RegistryLocation> at = (*client)->map().locate(path, version);
    if (!at) p.fail("no registry configured for module " + path);
    return shown_location(*at, !version.empty());
  };
  if (needs) {
    ModuleEditor editor(p);
    for (const auto& [path, need] : editor.read().needs)
      p.print(fmt::format("{}: {}\n", path, located(without_major(path), need.version)));
    return;
  }
  if (args.empty()) args.push_back(".");
  for (const std::string& a : args) {
    std::string module = a;
    if (a == ".") {
      ModuleEditor editor(p);
      module = without_major(editor.read().path);
    }
    std::size_t at = std::min(module.find('@'), module.size());
    std::string path = module.substr(0, at), version = at < module.size() ? module.substr(at + 1) : "";
    if (std::string why = wrong_module_path(path); !why.empty())
      p.fail(fmt::format("invalid module path {}: {}", quote(path), why));
    if (at < module.size() && !is_whole_version(version))
      p.fail(fmt::format("invalid module path: module version in {} is not canonical", quote(module)));
    p.print(located(path, version) + "\n");
  }
}

}  // namespace tutti::cue
