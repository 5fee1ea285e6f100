#include "lang/smartfrog/eval/order.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::smartfrog {

void OrderWarnings::add(std::span<const OrderRule> rules, Symbol later, Symbol earlier, Pos written, Pos later_placed,
                        Pos earlier_placed) {
  for (const OrderRule& r : rules) {
    bool has_later = std::find(r.names.begin(), r.names.end(), later) != r.names.end();
    bool has_earlier = std::find(r.names.begin(), r.names.end(), earlier) != r.names.end();
    if (has_later && has_earlier) return;
  }
  u64 key = (u64{later_placed.at} << 32) | earlier_placed.at;
  auto [it, is_new] = known_.try_emplace(key, causes_.size());
  if (is_new)
    causes_.push_back({later, earlier, written, later_placed, 1});
  else
    causes_[it->second].count++;
}

const OrderRule* rule_about(std::span<const OrderRule> rules, Symbol name) {
  for (const OrderRule& r : rules)
    if (std::find(r.names.begin(), r.names.end(), name) != r.names.end()) return &r;
  return nullptr;
}

void OrderWarnings::replace(std::span<const OrderRule> before, std::span<const OrderRule> now) {
  if (before.empty() || now.empty() || before.data() == now.data()) return;
  for (const OrderRule& old : before)
    if (!std::all_of(old.names.begin(), old.names.end(), [&](Symbol n) { return rule_about(now, n); }))
      lost_.try_emplace({old.begin, now[0].begin}, &old, &now[0]);
}

void OrderWarnings::report(Session& session) const {
  for (const auto& [places, rules] : lost_)
    session.diagnostics
        .warning("SF-ORDER-REPLACED", Span(rules.second->begin, rules.second->end),
                 "the order rules here replace all inherited ones")
        .relate(Span(rules.first->begin, rules.first->end), "this one has no effect any more")
        .suggest("repeat it here if it is still meant");
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < causes_.size() && i < kMost; i++) {
    const Cause& c = causes_[i];
    // In what is part of the program (`tutti:component-model.sf`) no order means anything.
    if (const Source* placed = session.sources->find(c.later_placed); placed && placed->name.starts_with("tutti:"))
      continue;
    auto& d = session.diagnostics.warning(
        "SF-ORDER-CHANGED", Span(c.written, Pos{c.written.at + static_cast<u32>(c.later.text().size())}),
        fmt::format("`{}` is written after `{}` here, but stands before it in the result", c.later.text(),
                    c.earlier.text()));
    d.relate(c.later_placed, fmt::format("`{}` has its position from here", c.later.text()));
    if (c.count > 1) d.note(fmt::format("the same happens in {} other block{}", c.count - 1, c.count > 2 ? "s" : ""));
    if (i + 1 == kMost && causes_.size() > kMost) d.note(fmt::format("and {} more like this", causes_.size() - kMost));
    d.suggest(fmt::format("if the order matters, say which: order {} < {};", c.earlier.text(), c.later.text()));
  }
}

}  // namespace tutti::smartfrog
