#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "lang/cue/load/module_file.h"

// Which modules a module needs, in which versions, and in which of them a package lies.
//
// In: the dependencies of the main module, and a source that has the module files and the content of all others. Out:
// for an import path the folder. Of each module (with its major version) the smallest version is taken that satisfies
// all who need it (minimal version selection), so that nothing changes because somebody published something. As long as
// the main module's own list has an answer nothing else is read: a list that `mod tidy` wrote is complete, and then no
// module file of any other module is wanted.
namespace tutti::cue {

// Modules other than the main one.
class ModuleSource {
 public:
  virtual ~ModuleSource() = default;
  virtual Result<ModuleFile> module_file(const std::string& path, const std::string& version) = 0;
  virtual Result<std::string> folder(const std::string& path, const std::string& version) = 0;  // made ready to be read
};

struct PackagePlace {
  std::string folder, root;
  std::string module;     // its path without the version
  std::string needed;     // its path with the major version
  bool is_local = false;  // of the main module's tree, or a folder that replaces a module
};

class ModuleGraph {
 public:
  // `folder_file` reads the module file of a folder that replaces a module.
  ModuleGraph(const ModuleFile& main, std::string main_root, ModuleSource& source,
              std::function<Result<ModuleFile>(const std::string& folder)> folder_file)
      : main_(main), root_(std::move(main_root)), source_(source), folder_file_(std::move(folder_file)) {}

  // Where the package of an import path lies, without its name; `major` is "" where the path says none. No place when
  // no module has it.
  Result<std::optional<PackagePlace>> find(const std::string& path, const std::string& major);

  // All modules that are needed, each with the version that is taken.
  Result<std::map<std::string, std::string>> selected();

 private:
  struct Replacement {
    std::string folder;         // absolute; or
    std::string path, version;  // of a module
  };
  std::optional<Replacement> replacement(const std::string& path);
  Result<ModuleFile> needs_of(const std::string& path, const std::string& version);
  Result<std::string> folder_of(const std::string& path, const std::string& version, bool& is_local);
  std::string default_major(const std::string& path, const std::map<std::string, std::string>& versions) const;
  Result<std::optional<PackagePlace>> find_among(const std::string& path, const std::string& major,
                                                 const std::map<std::string, std::string>& versions);

  const ModuleFile& main_;
  std::string root_;
  ModuleSource& source_;
  std::function<Result<ModuleFile>(const std::string&)> folder_file_;
  std::optional<std::map<std::string, std::string>> selected_;
};

}  // namespace tutti::cue
