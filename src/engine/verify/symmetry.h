#pragma once

#include <memory>
#include <vector>

#include "engine/rules/rules.h"
#include "engine/verify/property.h"

namespace tutti::engine {

// Symmetry among alike components. Two instances are alike at a point of the program when exchanging what they hold
// makes no difference: same type, same links as users, nobody uses them, the same behaviours pushed so far, and the
// same to come. "The same to come" looks past the order of instructions whose order does not matter: in a run of pushes
// on instances that nobody uses a push may come earlier without disabling anything, and a run of waits is one wait for
// all of them. States that differ only by such an exchange are one state: what each of the alike ones holds, sorted.
//
// It pays where there are choices (switches, failures, observed steps); elsewhere the partial-order reduction leaves
// one run, and there is nothing to exchange.
class Symmetry {
 public:
  Symmetry(const Rules& rules, const std::vector<Property>& properties);

  bool any() const { return any_; }
  // Exchanges what alike instances hold so that it is sorted. `from[i]`, when wanted, is the instance whose holdings
  // are now those of i.
  void sort(u64* s, std::vector<u32>* from = nullptr);

 private:
  using Classes = std::vector<std::vector<u32>>;
  const Classes& classes_at(u32 pc);
  void read_roles(const std::vector<Property>& properties);
  void role_in(const Expr& expr, std::vector<u32>& path);

  const Rules& rules_;
  bool any_ = false;
  std::vector<u32> base_;                // instance -> number of what never changes; kNone: alike to nobody
  std::vector<std::vector<u32>> roles_;  // instance -> what the properties say of it
  std::vector<bool> alone_;              // a property singles it out, or watches whether it is idle
  std::vector<u32> segment_;             // instruction -> run of instructions whose order does not matter
  std::vector<std::vector<u32>> about_;  // instance -> positions of the instructions about it
  std::vector<std::unique_ptr<Classes>> at_;
  std::vector<std::vector<u64>> held_;
  std::vector<u32> order_;
};

}  // namespace tutti::engine
