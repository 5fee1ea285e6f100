#pragma once

#include <span>
#include <vector>

#include "lang/cue/eval/context.h"

namespace tutti::cue {

// Whether the fields of a vertex have a conjunct in each of its many requirements. What a number is contained in is
// written down once for all fields, as one bit for each number that a requirement asks about: so a field costs about
// as many steps as there are requirements it does not meet at once, and not a walk for each.
class Evidence {
 public:
  // ctx.requirement_at must say where in `all` each number is. For numbers that nothing replaces.
  Evidence(Context& ctx, const List<ReqSet>& all);
  bool holds(std::span<const ConjunctInfo> list);  // as State::evidence_for_all

 private:
  using Row = std::size_t;  // where the bits of a number begin in rows_
  struct Need {
    u32 id;            // bits
    i32 embed, outer;  // -1 for none
    bool opened, top, embed_known;
  };

  u32 bit(DefId id);
  Row row(DefId id);
  bool has(Row r, u32 bit) const { return rows_[r + bit / 64] >> bit % 64 & 1; }
  bool met(const Need& n) const;

  Context& ctx_;
  std::vector<Need> needs_;
  IdMap bit_of_, row_of_;  // 1 + the bit; the number of the row
  u32 bits_ = 0;
  std::size_t words_ = 0;
  std::vector<u64> rows_;
  std::vector<DefId> path_;
  // of the conjuncts that are looked at
  std::vector<Row> own_, embed_;
  std::vector<u64> any_;  // all own ones together
};

}  // namespace tutti::cue
