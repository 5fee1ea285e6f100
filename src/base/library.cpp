#include "base/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/budget.h"

namespace tutti {

Library::Library(const char* file, std::string_view code, std::string_view purpose)
    : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)), file_(file), code_(code) {
  if (!handle_)
    throw LimitError(std::string(code), fmt::format("{} without the library {} ({})", purpose, file, dlerror()));
}

void* Library::find(const char* name) const {
  void* found = dlsym(handle_, name);
  if (!found) throw LimitError(std::string(code_), fmt::format("the library {} has no {}", file_, name));
  return found;
}

}  // namespace tutti
