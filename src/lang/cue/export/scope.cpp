#include "lang/cue/export/scope.h"

#include <algorithm>

namespace tutti::cue {

OutputScope& OutputScopes::open(const Vertex* shows) {
  open_.push_back(std::make_unique<OutputScope>());
  open_.back()->shows = shows;
  return *open_.back();
}

void OutputScopes::close() {
  if (open_.back()->bound) closed_.push_back(std::move(open_.back()));
  open_.pop_back();
}

bool OutputScopes::showing(const Vertex* v) const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& s) { return s->shows == v; });
}

const Environment* outer_scope(const Environment* env, u32 up) {
  for (; env && env->up && up > 0; --up) env = env->up;
  return env;
}

OutputScope* OutputScopes::find(const Environment* env, u32 up) const {
  env = outer_scope(env, up);
  if (!env) return nullptr;
  if (auto bound = by_env_.find(env); bound != by_env_.end()) return bound->second;
  if (!env->vertex) return nullptr;
  const Vertex* v = env->vertex->deref_value();
  return search([&](const OutputScope& s) { return s.shows == v; });
}

bool OutputScopes::hidden(const OutputScope& scope, u32 label) const {
  for (auto s = open_.rbegin(); s != open_.rend() && s->get() != &scope; ++s)
    if (std::ranges::binary_search((*s)->declares, label)) return true;
  return false;
}

std::string OutputScopes::fresh_name(std::string_view base) {
  std::string name(base);
  for (int i = 1; !taken_.insert(name).second; ++i) name = std::string(base) + "_" + std::to_string(i);
  return name;
}

}  // namespace tutti::cue
