#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/rules/step.h"

// The operational semantics as a step relation: given a state, which rules apply and what each gives. Nothing is kept
// up to date between calls and nothing is clever, because this is what the scheduler and the verifier are checked
// against.
//
// The rules (docs/engine.md has them in words):
//   R1 fire    place e marked, b current, out(e,b) not empty, and no linked user of a port that would be inactive after
//   R2 end     a running transition ends in one of its outcomes
//   R3 enter   all endings of a station are there, and every use port of its place is provided and allowed
//   R4 finish  only places are marked and b leaves none of them
//   R5 .. R11  add, del, con, dcon, pushB, wait, wait_all
//   F4 fail    a running transition fails: its token stays, its instance fires and finishes nothing any more and its
//              active provide ports refuse (only where failures are asked for)
namespace tutti::engine {

struct RuleOptions {
  // The printed rule deletes an instance whatever it is doing; the engine waits until it does nothing.
  bool del_waits = true;
  // At most so many transitions may fail (F4).
  u32 failures = 0;
};

class Rules {
 public:
  using State = std::vector<u64>;

  explicit Rules(const model::System& system, const RuleOptions& options = {});

  const model::System& system() const { return system_; }
  const RuleOptions& options() const { return options_; }

  // A state is (pc, and per instance how many behaviours finished and the marking), packed into words() words.
  // Presence, links and what was pushed follow from pc. Of a deleted instance the last marking stays: an action may
  // still run.
  std::size_t words() const { return words_; }
  State initial() const;
  void enabled(const u64* s, std::vector<Step>& steps) const;  // appends, in a fixed order
  void enabled_of(const u64* s, u32 instance, std::vector<Step>& steps) const;
  // The same one by one, until the visitor has seen enough and returns true; whether it did.
  using Visitor = std::function<bool(const Step&)>;
  bool visit_enabled(const u64* s, u32 instance, const Visitor& visitor) const;
  bool instruction_enabled(const u64* s) const;
  void apply(u64* s, const Step& step) const;  // the step must be enabled
  bool is_enabled(const u64* s, const Step& step) const;
  // R13: program at its end, all queues empty.
  bool is_final(const u64* s) const;

  // ---- parts of a state
  u32 pc(const u64* s) const { return static_cast<u32>(get(s, pc_)); }
  u32 finished(const u64* s, u32 i) const { return static_cast<u32>(get(s, layout_[i].finished)); }
  u32 pushed(const u64* s, u32 i) const { return pushed_at(i, pc(s)); }
  u32 current(const u64* s, u32 i) const;  // behaviour, kNone when the queue is empty
  bool present(const u64* s, u32 i) const { return present_at(i, pc(s)); }
  bool marked(const u64* s, u32 i, u32 element) const;
  bool failed(const u64* s, u32 i) const;           // holds a failed token
  bool may_fail(const u64* s, u32 i, u32 t) const;  // a running transition, within the bound
  bool failed_transition(const u64* s, u32 i, u32 t) const;
  void marking(const u64* s, u32 i, u64* out) const;  // type's words()
  bool active(const u64* s, u32 i, u32 port) const;
  bool refusing(const u64* s, u32 i, u32 port) const;

  // All that an instance holds, as words; and the way back, into an instance of the same type and as many pushes.
  void take(const u64* s, u32 i, std::vector<u64>& out) const;
  void put(u64* s, u32 i, const std::vector<u64>& held) const;

  // ---- what follows from the program alone
  struct LinkSpan {
    u32 user, use, provider, provide;
    u32 from, to;  // linked in states with from <= pc <= to
  };
  struct Push {
    u32 at;  // position in the program
    u32 behaviour;
  };
  bool present_at(u32 i, u32 pc) const { return pc >= present_[i].from && pc <= present_[i].to; }
  u32 pushed_at(u32 i, u32 pc) const;
  std::span<const Push> pushes(u32 i) const { return pushes_[i]; }
  std::span<const u32> links_as_user(u32 i) const { return as_user_[i]; }  // indices for link()
  std::span<const u32> links_as_provider(u32 i) const { return as_provider_[i]; }
  const LinkSpan& link(u32 k) const { return links_[k]; }
  const LinkSpan* link_of(const u64* s, u32 i, u32 use) const;  // nullptr when not linked
  bool deleted_later(u32 i, u32 pc) const { return present_[i].to != kNone && pc <= present_[i].to; }

  std::size_t scratch_words() const { return most_words_; }

 private:
  struct Field {
    u32 word = 0, shift = 0, bits = 0;
  };
  struct Layout {
    Field finished, marking, failed;
  };
  struct Presence {
    u32 from = kNone, to = 0;
  };
  static u64 get(const u64* s, const Field& f) {
    if (f.bits == 0) return 0;
    return s[f.word] >> f.shift & (f.bits == 64 ? ~u64{0} : (u64{1} << f.bits) - 1);
  }
  static void set(u64* s, const Field& f, u64 v) {
    u64 mask = (f.bits == 64 ? ~u64{0} : (u64{1} << f.bits) - 1) << f.shift;
    s[f.word] = (s[f.word] & ~mask) | v << f.shift;
  }
  static bool test_bit(const u64* s, const Field& f, u32 bit) {
    bit += f.shift;
    return s[f.word + bit / 64] >> (bit % 64) & 1;
  }
  static void put_bit(u64* s, const Field& f, u32 bit, bool on) {
    bit += f.shift;
    u64 mask = u64{1} << (bit % 64);
    if (on)
      s[f.word + bit / 64] |= mask;
    else
      s[f.word + bit / 64] &= ~mask;
  }
  Field place_field(u32 bits);
  void read_program();
  bool can_fire(const u64* s, u32 i, u32 place, u32 b) const;
  bool can_enter(const u64* s, u32 i, u32 station) const;
  bool can_finish(const u64* s, u32 i, u32 b) const;

  const model::System& system_;
  RuleOptions options_;
  std::size_t words_ = 0, most_words_ = 0;
  u32 next_word_ = 0, next_bit_ = 0;
  Field pc_, failures_;
  std::vector<Layout> layout_;
  std::vector<Presence> present_;
  std::vector<std::vector<Push>> pushes_;
  std::vector<LinkSpan> links_;
  std::vector<std::vector<u32>> as_user_, as_provider_;
  std::vector<u32> first_use_;  // instance -> number of its first use port
  std::vector<u32> last_link_;  // use port -> the last link it gets; before_ leads to the earlier ones
  std::vector<u32> before_;
  std::vector<bool> possible_;  // con and del: whether the links of that moment allow the instruction
};

}  // namespace tutti::engine
