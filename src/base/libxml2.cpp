#include "base/libxml2.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "base/budget.h"

namespace tutti {
namespace {

LibXml2 load() {
  void* library = dlopen("libxml2.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw LimitError("XML-LIBRARY", fmt::format("XML cannot be read without the library libxml2 ({})", dlerror()));
  auto find = [&](const char* name) {
    void* found = dlsym(library, name);
    if (!found) throw LimitError("XML-LIBRARY", fmt::format("the library libxml2 has no {}", name));
    return found;
  };
  LibXml2 l;
#define F(name) l.name = reinterpret_cast<decltype(&::name)>(find(#name));
  TUTTI_LIBXML2(F)
#undef F
  l.free_function = static_cast<xmlFreeFunc*>(find("xmlFree"));
  return l;
}

}  // namespace

const LibXml2& libxml2() {
  static const LibXml2 loaded = load();
  return loaded;
}

}  // namespace tutti
