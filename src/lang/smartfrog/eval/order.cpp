#include <fmt/format.h>

#include <algorithm>

#include "lang/smartfrog/eval/core.h"

// The warning of section 10.4: a block sets attributes that an earlier prototype had already put in another order, and
// the order of that prototype stays. One warning for each pair of places whose order wins, however many blocks it
// concerns.
namespace tutti::smartfrog {
namespace {

bool ruled(std::span<const OrderRule> rules, Symbol a, Symbol b) {
  for (const OrderRule& r : rules) {
    bool has_a = std::find(r.names.begin(), r.names.end(), a) != r.names.end();
    bool has_b = std::find(r.names.begin(), r.names.end(), b) != r.names.end();
    if (has_a && has_b) return true;
  }
  return false;
}

}  // namespace

void CoreCompiler::check_order(Frame& f, const Attribute& a, const Slot* slot, bool added) {
  const Table* t = f.target->table;
  u32 position = added ? t->size + 1 : static_cast<u32>(slot - t->slots) + 1;
  if (position >= f.highest) {
    f.highest = position;
    return;
  }
  if (f.highest > t->size) return;
  const Slot& other = t->slots[f.highest - 1];
  // A name set twice in the same block is no surprise.
  if (slot->placed >= f.body->begin && slot->placed <= f.body->end) return;
  if (ruled(f.body->orders, a.name(), other.key) || ruled(t->orders, a.name(), other.key)) return;
  u64 cause = (u64{slot->placed.at} << 32) | other.placed.at;
  auto [it, is_new] = order_causes_.try_emplace(cause, OrderCause{&a, other.key, slot->placed, other.placed, 1});
  if (is_new)
    order_seen_.push_back(cause);
  else
    it->second.count++;
}

void CoreCompiler::report_order() {
  for (u64 key : order_seen_) {
    const OrderCause& c = order_causes_.at(key);
    auto& d =
        session_.diagnostics.warning("SF-ORDER-CHANGED", c.later->name_span(),
                                     fmt::format("`{}` is written after `{}` here, but stands before it in the result",
                                                 c.later->name().text(), c.earlier.text()));
    d.relate(c.later_placed, fmt::format("`{}` has its position from here", c.later->name().text()));
    if (c.count > 1) d.note(fmt::format("the same happens in {} other blocks", c.count - 1));
    d.suggest(fmt::format("say which order is meant: order {} < {};", c.earlier.text(), c.later->name().text()));
  }
}

}  // namespace tutti::smartfrog
