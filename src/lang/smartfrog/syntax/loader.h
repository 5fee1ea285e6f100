#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/smartfrog/syntax/token.h"
#include "tree/session.h"

namespace tutti::smartfrog {

extern const std::string_view kComponentModel;  // schema/smartfrog/component-model.sf, embedded by the build

// Finds the files that `#include` names. A name is looked for beside the including file and then under each root, in
// order. A file that is itself under one of the roots is part of a library, and is looked at as the production compiler
// looks at its class path: names in it are names under the roots, never beside it. `tutti:component-model.sf` is part
// of the program.
class Loader {
 public:
  Loader(Session& session, std::vector<std::string> roots);

  // The path to open, or "" when there is no such file.
  std::string find(std::string_view name, const Source& from) const;
  const Source* open(const std::string& path, Span wanted_at);
  const std::vector<std::string>& roots() const { return roots_; }

 private:
  Session& session_;
  std::vector<std::string> roots_;
  const Source* model_ = nullptr;
};

}  // namespace tutti::smartfrog
