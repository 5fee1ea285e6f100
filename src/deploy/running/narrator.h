#pragma once

#include <fmt/format.h>

#include <string>

#include "deploy/running/run_settings.h"

namespace tutti::deploy {

// Tells the user what happens.
class Narrator : public engine::RunListener {
 public:
  // `live`, when there is one, shows what runs: then only ends are told.
  Narrator(const model::System& system, const RunEvents& events, engine::RunListener* live)
      : system_(system), events_(events), live_(live) {
    for (const model::Instruction& in : system.program) {
      if (in.op != model::Op::kPush) continue;
      const model::ComponentType& type = system.type_of(in.instance);
      for (u32 t : type.behaviours[in.behaviour].transitions)
        if (!type.action_of(type.transitions[t]).what.is(Kind::kNull)) ++total_;
    }
  }
  void started(double time, const engine::ActionRequest& q) override {
    if (q.action->what.is(Kind::kNull)) return;
    ++running_;
    if (live_) live_->started(time, q);
    if (events_.line && !quiet(q) && !live_)
      events_.line(time, fmt::format("{}  starts{}", name(q.instance, q.transition),
                                     q.attempt ? fmt::format(" (try {})", q.attempt + 1) : ""));
    if (events_.progress) events_.progress(done_, total_, running_, name(q.instance, q.transition));
  }
  void idle(double time, const engine::Scheduler& scheduler) override {
    if (live_) live_->idle(time, scheduler);
  }
  void ended(double time, const engine::ActionResult& r, bool again) override {
    const model::ComponentType& type = system_.type_of(r.instance);
    const model::Action& action = type.action_of(type.transitions[r.transition]);
    if (action.what.is(Kind::kNull)) return;
    if (live_) live_->ended(time, r, again);
    if (running_) --running_;
    if (!again) ++done_;
    if (events_.ended && !again) events_.ended(system_.instances[r.instance].name.text());
    if (events_.line && !action.what.find("resource")) {
      std::string how = r.how == engine::How::kOk          ? "done"
                        : r.how == engine::How::kCancelled ? "cancelled"
                        : r.how == engine::How::kLost      ? "UNKNOWN"
                                                           : "FAILED";
      events_.line(time,
                   fmt::format("{}  {} in {:.2f} s{}{}{}", name(r.instance, r.transition), how, r.ended - r.started,
                               r.message.empty() ? "" : ": ", r.message, again ? " (will try again)" : ""));
    }
    if (events_.progress) events_.progress(done_, total_, running_, name(r.instance, r.transition));
  }

 private:
  static bool quiet(const engine::ActionRequest& q) { return q.action->what.find("resource") != nullptr; }
  std::string name(u32 i, u32 t) const { return system_.transition_text(i, t); }
  const model::System& system_;
  const RunEvents& events_;
  engine::RunListener* live_;
  u32 total_ = 0, done_ = 0, running_ = 0;
};

}  // namespace tutti::deploy
