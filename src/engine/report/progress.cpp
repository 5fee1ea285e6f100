#include "engine/report/progress.h"

#include <fmt/format.h>

namespace tutti::engine {

Progress::Progress(const model::System& system, std::FILE* to, bool terminal, u32 columns)
    : system_(system), to_(to), terminal_(terminal), columns_(columns) {
  Graph graph(system);
  if (!graph.acyclic()) return;
  std::vector<double> durations = graph.expected(), early;
  graph.earliest(durations, early);
  total_ = early[Graph::kSink];
  for (u32 v : graph.critical_path(durations, early))
    if (graph.events()[v].kind == Event::Kind::kFire)
      critical_[{graph.events()[v].instance, graph.events()[v].index}] += durations[v];
  for (const Event& e : graph.events()) expected_ += e.kind == Event::Kind::kFire;
}

Progress::~Progress() {
  if (terminal_ && last_drawn_ >= 0) std::fputs("\r\033[K", to_);
}

double Progress::along() const { return total_ > 0 ? passed_ / total_ : 0; }

void Progress::line(const std::string& text) {
  if (terminal_) std::fputs("\r\033[K", to_);
  std::fputs(text.c_str(), to_);
  std::fputc('\n', to_);
  std::fflush(to_);
}

void Progress::started(double now, const ActionRequest& r) {
  running_[{r.instance, r.transition}] = now;
  if (!terminal_)
    line(fmt::format("{:9.3f}  start  {}{}", now, system_.transition_text(r.instance, r.transition),
                     r.attempt ? fmt::format(" (attempt {})", r.attempt + 1) : ""));
  else
    draw(now);
}

void Progress::ended(double now, const ActionResult& r, bool will_retry) {
  double since = now;
  if (auto it = running_.find({r.instance, r.transition}); it != running_.end()) {
    since = it->second;
    running_.erase(it);
  }
  if (!will_retry) {
    ++done_;
    if (auto it = critical_.find({r.instance, r.transition}); it != critical_.end()) {
      passed_ += it->second;
      critical_.erase(it);
    }
  }
  std::string name = system_.transition_text(r.instance, r.transition);
  if (r.how != How::kOk) {
    ++failed_;
    line(fmt::format("{:9.3f}  {}  {}{}{}", now, how_word(r.how), name, r.message.empty() ? "" : ": " + r.message,
                     will_retry ? ", will be tried again" : ""));
    // The end of what it printed, set off.
    std::size_t from = r.log.size() > 2000 ? r.log.find('\n', r.log.size() - 2000) + 1 : 0;
    for (std::size_t at = from; at < r.log.size();) {
      std::size_t end = std::min(r.log.find('\n', at), r.log.size());
      line("           | " + r.log.substr(at, end - at));
      at = end + 1;
    }
  } else if (!terminal_) {
    line(fmt::format("{:9.3f}  end    {} after {:.3f}", now, name, now - since));
  }
  if (terminal_) draw(now);
}

void Progress::draw(double now) {
  if (now - last_drawn_ < 0.03) return;
  last_drawn_ = now;
  std::string text = fmt::format("[{}/{}] {:.1f}s", done_, std::max(expected_, done_), now);
  if (total_ > 0) text += fmt::format(" {:.0f}% of {:.1f}s", along() * 100, total_);
  if (failed_) text += fmt::format(" {} failed", failed_);
  std::size_t shown = 0;
  for (const auto& [k, since] : running_) {
    std::string more =
        fmt::format("{} {} {:.0f}s", shown ? "," : " |", system_.transition_text(k.first, k.second), now - since);
    if (text.size() + more.size() + 6 > columns_) {
      text += fmt::format(" +{}", running_.size() - shown);
      break;
    }
    text += more;
    ++shown;
  }
  std::fprintf(to_, "\r\033[K%s", text.c_str());
  std::fflush(to_);
}

}  // namespace tutti::engine
