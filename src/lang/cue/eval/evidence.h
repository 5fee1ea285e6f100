#pragma once

#include <span>
#include <vector>

#include "lang/cue/eval/context.h"

namespace tutti::cue {

// Whether the fields of a vertex have a conjunct in each of its many requirements. What the containment of a number
// says about each requirement is written down once for all fields, as bits with the requirements side by side: so a
// field costs a few steps for 64 requirements, and not a walk for each.
class Evidence {
 public:
  explicit Evidence(Context& ctx) : ctx_(ctx) {}
  // ctx.requirement_at must say where in `all` each number is. For numbers that nothing replaces.
  void begin(const List<ReqSet>& all);
  void end();                                      // what took much memory is given back
  bool holds(std::span<const ConjunctInfo> list);  // as State::evidence_for_all

 private:
  using Row = std::size_t;                  // where the bits of a number begin in rows_
  enum Part : u8 { kOwn, kEmbed, kOuter };  // which number of a requirement: each has bits of its own in a row
  static constexpr std::size_t kParts = 3;
  struct Mention {  // of a number by a requirement
    DefId id;
    Part part;
    u32 need;
  };
  using Bits = std::vector<u64>;  // one for each requirement

  Row row(DefId id);
  static void set(Bits& bits, std::size_t i) { bits[i / 64] |= u64{1} << i % 64; }

  Context& ctx_;
  std::size_t words_ = 0;
  Bits all_, no_embed_, opened_, top_, allows_;  // allows_: whatever is outside of the embedding does
  std::vector<Mention> mentions_;                // by number
  IdMap first_mention_, row_of_;                 // 1 + the place; the number of the row
  std::vector<u64> rows_;
  static constexpr std::size_t kLeast = std::size_t{1} << 14;
  std::size_t most_ = kLeast;  // of rows_; more where the way to a number is long
  std::vector<DefId> path_;
  Bits any_, inside_, met_;  // of the conjuncts that are looked at
};

}  // namespace tutti::cue
