#include "engine/run/simulate.h"

#include <algorithm>

namespace tutti::engine {

std::string_view how_word(How how) {
  switch (how) {
    case How::kOk: return "ok";
    case How::kFailed: return "failed";
    case How::kTimeout: return "timeout";
    case How::kCancelled: return "cancelled";
    case How::kLost: return "lost";
  }
  return "?";
}

void SimulatedExecutor::start(const ActionRequest& r) {
  double duration;
  u32 fate = kNone_;
  if (oracle_) {
    Fate f = oracle_(r);
    duration = f.duration;
    if (r.timeout > 0 && duration > r.timeout) duration = r.timeout, f.how = How::kTimeout;
    if (f.how != How::kOk || !f.outcome.empty()) {
      fate = static_cast<u32>(fates_.size());
      fates_.push_back(std::move(f));
    }
  } else {
    duration = r.system->duration(r.instance, r.system->type_of(r.instance).transitions[r.transition]).mean();
  }
  running_.push({now_ + std::max(0.0, duration), now_, order_++, r.instance, r.transition, r.attempt, fate});
}

void SimulatedExecutor::cancel(u32, u32) {}

void SimulatedExecutor::wait(std::vector<ActionResult>& results, double until) {
  if (running_.empty() || running_.top().end > until) {
    if (until > now_ && until < 1e300) now_ = until;
    return;
  }
  now_ = running_.top().end;
  // A thousand at a time: those that end at the same moment come with the next call, and nothing is held twice.
  for (int most = 1000; most > 0 && !running_.empty() && running_.top().end == now_; --most) {
    const Running& r = running_.top();
    ActionResult& out = results.emplace_back();
    out.instance = r.instance;
    out.transition = r.transition;
    out.attempt = r.attempt;
    out.started = r.start;
    out.ended = r.end;
    if (r.fate != kNone_) {
      out.how = fates_[r.fate].how;
      out.outcome = fates_[r.fate].outcome;
    }
    running_.pop();
  }
}

}  // namespace tutti::engine
