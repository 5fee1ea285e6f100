#include "lang/smartfrog/eval/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <unordered_map>

namespace tutti::smartfrog {

Value Finisher::finish(const Slot& slot) {
  if (!slot.store) return slot.value;
  build(slot.store->table);
  return tree_of(slot);
}

// Of a sub-store that is built.
Value Finisher::tree_of(const Slot& slot) {
  Value v = slot.store->table->value.with_origin(slot.value.origin());
  return slot.value.secret() ? v.as_secret() : v;
}

void Finisher::build(Table* root) {
  std::vector<std::pair<Table*, u32>> stack{{root, 0}};
  while (!stack.empty()) {
    auto& [t, next] = stack.back();
    if (t->built) {
      stack.pop_back();
      continue;
    }
    Table* child = nullptr;
    while (next < t->size && !child) {
      Store* s = t->slots[next++].store;
      if (s && !s->table->built) child = s->table;
    }
    if (child) {
      stack.push_back({child, 0});
      continue;
    }
    Table* done = t;
    stack.pop_back();
    build_one(done);
  }
}

void Finisher::build_one(Table* t) {
  session_.budget.node(t->size + 1);
  entries_.clear();
  u64 nodes = 1;
  for (u32 i = 0; i < t->size; i++) {
    const Slot& s = t->slots[i];
    Value v = s.store ? tree_of(s) : s.value;
    nodes += s.store ? s.store->table->nodes : 1;
    entries_.push_back({s.key, Field::kPlain, v});
  }
  // Sharing can make a small store print without end.
  t->nodes = nodes;
  if (nodes > session_.budget.limits().nodes)
    throw LimitError("LIMIT-NODES",
                     fmt::format("the result would have more than {} values", session_.budget.limits().nodes));
  if (!t->orders.empty()) apply_order(session_, t->orders, entries_);
  t->value = session_.builder().map(entries_);
  t->built = true;
}

bool apply_order(Session& session, std::span<const OrderRule> rules, std::vector<Entry>& entries) {
  std::unordered_map<Symbol, u32> at;
  for (u32 i = 0; i < entries.size(); i++) at[entries[i].key] = i;
  std::vector<std::vector<std::pair<u32, const OrderRule*>>> after(entries.size());
  std::vector<bool> ordered(entries.size(), false);  // by some rule; the others stay where they are
  std::vector<u32> waits(entries.size(), 0);
  for (const OrderRule& rule : rules) {
    const u32 kNone = ~u32{0};
    u32 before = kNone;
    for (Symbol name : rule.names) {  // what is not there is passed over, and what stands around it still has its order
      auto it = at.find(name);
      if (it == at.end()) continue;
      if (before != kNone) {
        ordered[before] = ordered[it->second] = true;
        after[before].push_back({it->second, &rule});
        waits[it->second]++;
      }
      before = it->second;
    }
  }
  std::priority_queue<u32, std::vector<u32>, std::greater<>> ready;
  for (u32 i = 0; i < entries.size(); i++)
    if (ordered[i] && waits[i] == 0) ready.push(i);
  std::vector<u32> out;
  while (!ready.empty()) {
    u32 i = ready.top();
    ready.pop();
    out.push_back(i);
    for (auto& [next, rule] : after[i])
      if (--waits[next] == 0) ready.push(next);
  }
  if (out.size() == static_cast<std::size_t>(std::count(ordered.begin(), ordered.end(), true))) {
    std::vector<Entry> as_written = entries;
    for (std::size_t i = 0, next = 0; i < entries.size(); i++)
      if (ordered[i]) entries[i] = as_written[out[next++]];
    return true;
  }
  // Some attribute still waits: follow one cycle to show it.
  u32 i = 0;
  while (waits[i] == 0) i++;
  std::vector<std::pair<u32, const OrderRule*>> before(entries.size(), {0, nullptr});
  for (u32 k = 0; k < entries.size(); k++)
    if (waits[k] > 0)
      for (auto& [next, rule] : after[k])
        if (waits[next] > 0) before[next] = {k, rule};
  std::vector<bool> seen(entries.size(), false);
  while (!seen[i] && before[i].second) {
    seen[i] = true;
    i = before[i].first;
  }
  std::string story = std::string(entries[i].key.text());
  auto start = i;
  std::vector<const OrderRule*> used;
  do {
    used.push_back(before[i].second);
    i = before[i].first;
    story = fmt::format("{} < {}", entries[i].key.text(), story);
  } while (i != start && used.size() < 50);
  auto& d = session.diagnostics.error("SF-ORDER", Span(used[0]->begin, used[0]->end),
                                      fmt::format("the order rules contradict each other: {}", story));
  for (std::size_t k = 1; k < used.size(); k++)
    if (used[k] != used[0]) d.relate(Span(used[k]->begin, used[k]->end), "and this rule");
  return false;
}

}  // namespace tutti::smartfrog
