#pragma once

#include <memory>
#include <typeinfo>
#include <vector>

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
      : sources(shared ? std::move(shared) : std::make_shared<Sources>()), diagnostics(limits.errors), budget(limits) {
    arena.set_limit(limits.memory);
  }

  std::shared_ptr<Sources> sources;
  Arena arena;
  Origins origins;
  Diagnostics diagnostics;
  Budget budget;

  TreeBuilder builder() { return TreeBuilder(arena); }

  // What a language keeps beside a tree that it made, for its own outputs (the XML of a resolved CDL document says more
  // than the tree). Found again by the tree's root; null for other trees.
  template <class T>
  void attach(const Value& root, std::shared_ptr<T> kept) {
    kept_.push_back({root.body(), &typeid(T), std::move(kept)});
  }
  template <class T>
  T* attached(const Value& root) const {
    for (std::size_t i = kept_.size(); i-- > 0;) {
      if (kept_[i].body == root.body() && *kept_[i].type == typeid(T)) return static_cast<T*>(kept_[i].kept.get());
    }
    return nullptr;
  }

  // What is kept beside a tree is found by the one that has come in its place, too.
  void attach_also(const Value& before, const Value& now) {
    if (before.body() == now.body()) return;
    for (std::size_t i = 0, all = kept_.size(); i < all; i++)
      if (kept_[i].body == before.body()) kept_.push_back({now.body(), kept_[i].type, kept_[i].kept});
  }

  // Opens a source, or says why not.
  const Source* open(const std::string& path, Span wanted_at = {});

 private:
  struct Kept {
    const void* body;
    const std::type_info* type;
    std::shared_ptr<void> kept;
  };
  std::vector<Kept> kept_;
};

// The code of the diagnostic that tells of a file that could not be read, and what to do about it ("" where there is
// nothing to say).
std::string_view read_failure_code(const Failure& failure, std::string_view otherwise);
std::string read_failure_help(const Failure& failure);
std::string_view write_failure_code(const Failure& failure);

}  // namespace tutti
