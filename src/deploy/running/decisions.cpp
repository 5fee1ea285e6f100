#include "deploy/running/decisions.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/run/runner.h"
#include "engine/run/simulate.h"

namespace tutti::deploy {
namespace {

bool is_action(const model::System& s, std::string_view name) {
  for (u32 i = 0; i < s.instances.size(); ++i)
    for (u32 t = 0; t < s.type_of(i).transitions.size(); ++t)
      if (s.transition_text(i, t) == name) return true;
  return false;
}

}  // namespace

std::string settle_decisions(const model::System& s, std::vector<Started> undecided, const std::vector<Started>& failed,
                             Decisions& decisions) {
  undecided.insert(undecided.end(), failed.begin(), failed.end());
  Decisions settled;
  std::vector<std::string> open;
  for (auto& o : undecided) open.push_back(s.transition_text(o.instance, o.transition));
  for (auto& [name, what] : decisions) {
    std::vector<std::string> meant;
    for (std::size_t i = 0; i < open.size(); ++i)
      if (open[i] == name || s.instances[undecided[i].instance].name.text() == name) meant.push_back(open[i]);
    if (meant.empty() && is_action(s, name)) continue;  // its result is known: there is nothing to decide
    if (meant.size() != 1)
      return fmt::format("--{} {}: {}; {}", what, name,
                         meant.empty() ? "no action of that name is without a result" : "it has several open actions",
                         open.empty() ? "there is none" : fmt::format("there is {}", fmt::join(open, ", ")));
    settled[meant[0]] = what;
  }
  decisions = std::move(settled);
  return "";
}

std::vector<Started> failed_tokens(const model::System& s, const engine::JournalRecord& record) {
  engine::SimulatedExecutor nothing;
  engine::Runner runner(s, nothing);
  runner.drain();
  engine::JournalRecord results;
  results.results = record.results;
  runner.resume(results);
  std::vector<Started> out;
  for (auto& [i, t] : runner.scheduler().failures())
    if (std::none_of(record.open.begin(), record.open.end(),
                     [&, i = i, t = t](auto& o) { return o.instance == i && o.transition == t; }))
      out.push_back({i, t, 0});
  return out;
}

}  // namespace tutti::deploy
