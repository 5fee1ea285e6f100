#pragma once

#include <map>
#include <memory>
#include <string>

#include "lang/cue/module/graph.h"
#include "lang/cue/module/registry.h"

namespace tutti::cue {

// Modules on this machine, in the folder that `cue` uses too ($CUE_CACHE_DIR, else cue in the user's cache folder), so
// that what one has fetched the other has. Where a module is not there yet it is fetched, if that is allowed.
//
//   mod/download/PATH/@v/VERSION.{zip,mod,lock,partial}   mod/extract/PATH@VERSION/
//
// A version is made ready under its lock. As long as .partial is there the folder is not whole, and is made anew.
class ModuleCache : public ModuleSource {
 public:
  // `fetches`: whether registries may be asked; where not, a module that is not there is an error that says so.
  explicit ModuleCache(bool fetches) : fetches_(fetches) {}

  Result<ModuleFile> module_file(const std::string& path, const std::string& version) override;
  Result<std::string> folder(const std::string& path, const std::string& version) override;

  Result<RegistryClient*> registry();  // as CUE_REGISTRY says

 private:
  Result<std::string> module_text(const std::string& path, const std::string& version);
  Result<void> unpack(const std::string& module, const std::string& version, const std::string& to);
  std::string root() const;
  std::string download(const std::string& module, const std::string& version, std::string_view ending) const;

  bool fetches_;
  std::unique_ptr<RegistryClient> client_;
  std::map<std::pair<std::string, std::string>, ModuleFile> read_;
};

// A module file that is no source of the program.
Result<ModuleFile> module_file_of(const std::string& name, const std::string& text);

}  // namespace tutti::cue
