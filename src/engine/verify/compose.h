#pragma once

#include <vector>

#include "engine/verify/property.h"

namespace tutti::engine {

// Compositional reasoning on ports. A provider influences its users; a user influences its provider only when a
// behaviour still to come leaves the port it uses (or when the provider is to be deleted, or the port was taken up
// before it was there). A set of instances that nothing outside influences can be looked at by itself, with what the
// program says of it: every run of the whole, seen from the set, is a run of the set alone, and where the whole is
// stuck or something forbidden happens in it, it is so in one of the sets. What holds in every set alone therefore
// holds in the whole. The converse is not true, because the set alone does not wait for others: what fails there is
// looked at in the whole.
class Composition {
 public:
  explicit Composition(const model::System& system);

  // The smallest such sets that together are everything, one for each kind: sets that differ only in names count once.
  // Empty when there is only one, the whole.
  std::vector<std::vector<u32>> parts(u64 most_work) const;
  // The smallest set with all instances that a property speaks of.
  std::vector<u32> around(const Property& property) const;

 private:
  std::vector<u32> closed(std::vector<u32> todo) const;

  const model::System& system_;
  std::vector<std::vector<u32>> by_;             // instance -> those that influence it
  std::vector<std::vector<u32>> about_;          // instance -> positions of the instructions about it
  std::vector<std::vector<model::Link>> links_;  // instance -> those it has as a user at the start
  std::vector<u32> wait_alls_;
  mutable std::vector<u32> seen_;
  mutable u32 round_ = 0;
};

// The instances of a set and what the program says of them; `members` is sorted. Instance k is members[k].
model::System cut(const model::System& system, const std::vector<u32>& members);
Property cut(const Property& property, const std::vector<u32>& members);

}  // namespace tutti::engine
