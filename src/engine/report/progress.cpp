#include "engine/report/progress.h"

#include <fmt/format.h>

#include <chrono>

#include "base/quiet_thread.h"

namespace tutti::engine {

namespace {
constexpr double kOften = 0.1;          // seconds between two drawings
constexpr std::size_t kAskable = 2000;  // instances; of more nobody is asked what they wait for
constexpr std::size_t kCheap = 100;     // so many are asked as often as anything happens
}  // namespace

Progress::Progress(const model::System& system, Display& to, const Manner& manner)
    : system_(system), to_(to), manner_(manner), heard_at_(std::chrono::steady_clock::now()) {
  Graph graph(system);
  if (graph.acyclic()) {
    std::vector<double> durations = graph.expected(), early;
    graph.earliest(durations, early);
    total_ = early[Graph::kSink];
    for (u32 v : graph.critical_path(durations, early))
      if (graph.events()[v].kind == Event::Kind::kFire)
        critical_[{graph.events()[v].instance, graph.events()[v].index}] += durations[v];
    for (const Event& e : graph.events()) {
      if (e.kind != Event::Kind::kFire) continue;
      const model::ComponentType& type = system.type_of(e.instance);
      expected_ += !type.action_of(type.transitions[e.index]).what.is(Kind::kNull);
    }
  }
  if (manner_.live) clock_ = quiet_thread([this] { tick(); });
}

Progress::~Progress() {
  if (!manner_.live) return;
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  stop_.notify_all();
  clock_.join();
  to_.status("");
}

void Progress::tick() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, std::chrono::milliseconds(500), [this] { return over_; })) {
    std::chrono::duration<double> since = std::chrono::steady_clock::now() - heard_at_;
    draw(heard_ + since.count());
  }
}

double Progress::along(double now) const {
  if (total_ <= 0) return 0;
  double passed = passed_;
  for (const auto& [key, since] : running_)
    if (auto it = critical_.find(key); it != critical_.end()) passed += std::min(it->second, now - since);
  return std::min(1.0, passed / total_);
}

void Progress::started(double now, const ActionRequest& r) {
  if (r.action->what.is(Kind::kNull)) return;
  std::lock_guard lock(mutex_);
  running_[{r.instance, r.transition}] = now;
  if (!manner_.live && manner_.lines)
    to_.line(fmt::format("{:9.3f}  start  {}{}", now, system_.transition_text(r.instance, r.transition),
                         r.attempt ? fmt::format(" (attempt {})", r.attempt + 1) : ""));
  draw(now);
}

void Progress::ended(double now, const ActionResult& r, bool will_retry) {
  std::lock_guard lock(mutex_);
  double since = now;
  bool acted = running_.count({r.instance, r.transition});
  if (acted) {
    since = running_[{r.instance, r.transition}];
    running_.erase({r.instance, r.transition});
  }
  if (!will_retry) {
    done_ += acted;
    if (auto it = critical_.find({r.instance, r.transition}); it != critical_.end()) {
      passed_ += it->second;
      critical_.erase(it);
    }
  }
  if (r.how != How::kOk) ++failed_;
  std::string name = system_.transition_text(r.instance, r.transition);
  if (manner_.lines && r.how != How::kOk) {
    to_.line(fmt::format("{:9.3f}  {}  {}{}{}", now, how_word(r.how), name, r.message.empty() ? "" : ": " + r.message,
                         will_retry ? ", will be tried again" : ""));
    // The end of what it printed, set off.
    std::size_t from = r.log.size() > 2000 ? r.log.find('\n', r.log.size() - 2000) + 1 : 0;
    if (r.log.size() > 2000 && (from == 0 || from >= r.log.size())) from = r.log.size() - 2000;  // one long line
    for (std::size_t at = from; at < r.log.size();) {
      std::size_t end = std::min(r.log.find('\n', at), r.log.size());
      to_.line("           | " + printable(std::string_view(r.log).substr(at, end - at)));
      at = end + 1;
    }
  } else if (manner_.lines && !manner_.live && acted) {
    to_.line(fmt::format("{:9.3f}  end    {} after {:.3f}", now, name, now - since));
  }
  draw(now);
}

void Progress::idle(double now, const Scheduler& scheduler) {
  // Nothing may happen for long after this, so what is cheap to ask is asked every time.
  if (!manner_.live || (now - last_asked_ < 3 * kOften && system_.instances.size() > kCheap)) return;
  last_asked_ = now;
  std::string first;
  std::size_t others = 0;
  for (u32 i = 0; i < system_.instances.size() && system_.instances.size() <= kAskable; ++i)
    for (std::string& why : scheduler.why_blocked(i)) {
      if (first.empty())
        first = std::move(why);
      else
        ++others;
    }
  std::lock_guard lock(mutex_);
  waits_ = first.empty() ? "" : others ? fmt::format("{} (+{} more)", first, others) : first;
  draw(now);
}

void Progress::draw(double now) {
  heard_ = now;
  heard_at_ = std::chrono::steady_clock::now();
  if (!manner_.live || now - last_drawn_ < kOften) return;
  last_drawn_ = now;
  std::string text = fmt::format("[{}/{}] {:.1f}s", done_, std::max(expected_, done_), now);
  if (total_ > 0) text += fmt::format(" {:.0f}% of {:.1f}s", along(now) * 100, total_);
  if (failed_) text += fmt::format(" {} failed", failed_);
  std::size_t shown = 0, room = manner_.columns - 1, for_waits = waits_.empty() ? 0 : room / 3;
  for (const auto& [k, since] : running_) {
    std::string more =
        fmt::format("{} {} {:.0f}s", shown ? "," : " |", system_.transition_text(k.first, k.second), now - since);
    if (shown && text.size() + more.size() + 6 + for_waits > room) {
      text += fmt::format(" +{}", running_.size() - shown);
      break;
    }
    text += more;
    ++shown;
  }
  if (!waits_.empty()) text += " | " + waits_;
  if (text.size() > room) {  // never into the next line, and never through a letter of several bytes
    std::size_t cut = room > 2 ? room - 2 : 0;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
    text = text.substr(0, cut) + "..";
  }
  to_.status(text);
}

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) out += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c == 0x7f ? '?' : c;
  return out;
}

}  // namespace tutti::engine
