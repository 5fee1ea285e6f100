#pragma once

#include <memory>

#include "base/arena.h"
#include "base/budget.h"
#include "text/diagnostic.h"
#include "text/source.h"
#include "tree/origin.h"
#include "tree/value.h"

namespace tutti {

// Everything one request owns: what it reads, makes and has to say. Values made in a session live as long as it does.
// A session belongs to one thread; several may share the sources.
struct Session {
  explicit Session(const Limits& limits = {}, std::shared_ptr<Sources> shared = nullptr)
      : sources(shared ? std::move(shared) : std::make_shared<Sources>()), diagnostics(limits.errors), budget(limits) {}

  std::shared_ptr<Sources> sources;
  Arena arena;
  Origins origins;
  Diagnostics diagnostics;
  Budget budget;

  TreeBuilder builder() { return TreeBuilder(arena); }

  // Opens a source, or says why not.
  const Source* open(const std::string& path, Span wanted_at = {});
};

}  // namespace tutti
