#pragma once

#include <vector>

#include "base/symbol.h"
#include "text/source.h"

namespace tutti {

// How a value came to be where it is.
enum class How : u8 {
  kWritten,     // a literal in the source
  kData,        // read from a data file
  kInherited,   // copied from a prototype, class or definition
  kReferenced,  // taken through a reference
  kPlaced,      // put here by a placement or from outside the enclosing block
  kOverridden,  // replaced what was there before
  kUnified,     // met another value and both hold
  kDefault,     // nobody said otherwise
  kComputed,    // the result of an operator, function or template
  kLookup,      // found in a hierarchy of data (Hiera)
  kSupplied,    // came from the command line, the environment or at run time
};

std::string_view how_word(How how);  // "written", "inherited", ...

// Where a value came from: a place, or the last step of a chain. A value that was simply written costs nothing: its
// origin *is* its place. Only what was derived has a record, and records are shared.
class Origin {
 public:
  constexpr Origin() = default;
  constexpr Origin(Pos written) : bits_(written.at) {}

  constexpr bool is_step() const { return (bits_ & kStep) != 0; }
  constexpr Pos pos() const { return {is_step() ? 0 : bits_}; }
  constexpr u32 step() const { return bits_ & ~kStep; }
  static constexpr Origin from_step(u32 index) {
    Origin o;
    o.bits_ = index | kStep;
    return o;
  }
  constexpr explicit operator bool() const { return bits_ != 0; }
  friend constexpr bool operator==(Origin, Origin) = default;

 private:
  static constexpr u32 kStep = u32{1} << 31;
  u32 bits_ = 0;
};

struct OriginStep {
  How how = How::kWritten;
  bool secret = false;
  Pos at;        // where the step was written: the reference, the `extends`, the overriding attribute
  Origin value;  // what it made use of: the origin of the value referenced, inherited, overriding, ...
  Origin other;  // the second party, if any: what was overridden, what it was unified with
  Symbol name;   // of the prototype, the reference, the function, the Hiera level
};

// The steps of one evaluation. Grows in one thread; read by all when done. What recording costs is measured by
// bench/provenance, which switches it off with TUTTI_PROVENANCE=off: then a derived value knows only one place, except
// that the mark of a secret is never dropped.
class Origins {
 public:
  Origins();

  Origin add(const OriginStep& step) {
    if (!recorded_ && !step.secret && !step.value.is_step() && !step.other.is_step())
      return step.value ? step.value : Origin(step.at);
    steps_.push_back(step);
    return Origin::from_step(static_cast<u32>(steps_.size() - 1));
  }
  Origin add(How how, Pos at, Origin value = {}, Origin other = {}, Symbol name = {}) {
    return add(OriginStep{how, false, at, value, other, name});
  }
  const OriginStep& operator[](Origin o) const { return steps_[o.step()]; }

  // The place to show for a value when one must do: where it was written at the far end of the chain.
  Pos written(Origin o) const;
  // The place nearest to the user of the value: the last step that has one.
  Pos nearest(Origin o) const;
  std::size_t size() const { return steps_.size(); }

 private:
  std::vector<OriginStep> steps_;
  bool recorded_;
};

}  // namespace tutti
