// A catalog is applied in Puppet's own words, so that whoever reads its logs can read these.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <mutex>

#include "cli/live.h"
#include "cli/system/carry_out.h"
#include "cli/system/interrupts.h"
#include "cli/system_input.h"
#include "cli/wording.h"

namespace tutti {
namespace {

// What resources say, resource by resource in the catalog's order, although several are at work at once: what a later
// one says waits until the earlier ones are done.
class InOrder {
 public:
  explicit InOrder(const model::System& system) : parts_(system.instances.size()) {
    for (std::size_t i = 0; i < parts_.size(); ++i) number_[std::string(system.instances[i].name.text())] = i;
  }
  void say(std::string_view who, bool out, std::string text) {
    std::lock_guard lock(mutex_);
    parts_[number_[std::string(who)]].lines.emplace_back(out, std::move(text));
    flush(false);
  }
  void ended(std::string_view who) {
    std::lock_guard lock(mutex_);
    parts_[number_[std::string(who)]].done = true;
    flush(false);
  }
  ~InOrder() { flush(true); }

 private:
  void flush(bool all) {
    for (; next_ < parts_.size(); ++next_) {
      for (auto& [out, text] : parts_[next_].lines) (out ? say_out : say_now)(text);
      parts_[next_].lines.clear();
      if (!parts_[next_].done && !all) return;
    }
  }
  struct Part {
    std::vector<std::pair<bool, std::string>> lines;
    bool done = false;
  };
  std::mutex mutex_;
  std::vector<Part> parts_;
  std::map<std::string, std::size_t> number_;
  std::size_t next_ = 0;
};

}  // namespace

int apply_catalog(RecordedCall& here, const deploy::Prepared& p, deploy::RunSettings& settings,
                  const std::function<bool(const deploy::Outcome&)>& stale) {
  Call& call = here.call;
  bool as_puppet = call.options.has("as-puppet");
  for (auto& c : p.conflicts)
    if (!as_puppet)
      call.session.diagnostics.warning("CATALOG-ORDER", {},
                                       fmt::format("{} and {} both {} {}, and no order is said between them", c.first,
                                                   c.second, c.reads ? "have to do with" : "change", c.thing));
  const model::System& s = p.program.system;
  std::map<std::string, std::string> labels;
  for (auto& i : p.program.instances)
    if (const Entry* l = i.config.find("label")) labels[i.name] = l->value.text();
  bool quiet = call.options.has("quiet");
  settings.events.line = {};
  settings.listener = {};
  auto in_order = as_puppet ? std::make_unique<InOrder>(s) : nullptr;
  if (in_order) settings.events.ended = [&](std::string_view who) { in_order->ended(who); };
  settings.events.say = [&, quiet](std::string_view who, resource::Level level, std::string_view text) {
    static constexpr std::string_view kWords[] = {"Debug", "Info", "Notice", "Warning", "Error"};
    if (level < resource::Level::kNotice || (quiet && level == resource::Level::kNotice)) return;
    std::string label = labels[std::string(who)], line;
    if (text.substr(0, 1) == "=") {  // something that stands below it: File[/dir/sub]
      std::size_t end = std::min(text.find("]/"), text.find("]: "));
      line = label.substr(0, label.size() - std::min(label.size(), who.size() + 1)) + "/" +
             std::string(text.substr(1, end)) + std::string(text.substr(end + 1));
    } else if (text.substr(0, 2) == "//") {  // of a path, without where it stands
      line = text.substr(1);
    } else if (text.substr(0, 1) == "/" || text.substr(0, 1) == ":") {
      line = label + std::string(text);
    } else {
      line = text;
    }
    std::string text_line = fmt::format("{}: {}\n", kWords[static_cast<int>(level)], line);
    if (in_order)
      in_order->say(who, level <= resource::Level::kNotice, std::move(text_line));
    else
      say_now(text_line);
  };
  auto began = std::chrono::steady_clock::now();
  deploy::Outcome o = here.deployer->run(p, settings);
  in_order.reset();
  end_interrupts();
  if (stale(o)) return exit_code::kError;
  if (!o.wrong.empty() || o.open || o.cancelled) return report_outcome(here, o);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (as_puppet) {
    // Its own exit codes: what failed is told by them only where that is asked for.
    say_out(fmt::format("Notice: Applied catalog in {:.2f} seconds\n", seconds));
    if (!call.options.has("detailed-exitcode")) return exit_code::kOk;
    return (o.changed ? exit_code::kDifferent : 0) | (o.failed ? exit_code::kFailed : 0);
  }
  if (!quiet) say_now(fmt::format("Notice: Applied catalog in {:.2f} seconds\n", seconds));
  u32 skipped = 0;
  for (auto& [name, status] : o.status) skipped += status == "skipped";
  here.tell(o, fmt::format("{}: {}, {} changed, {} failed, {} skipped.\n",
                           here.remembers() ? fmt::format("Run {}", o.run) : "Not recorded",
                           counted(p.resources, "resource"), o.changed, o.failed, skipped));
  if (o.failed) return failure_code(o);
  bool dry = call.options.has("noop") || call.options.has("dry-run");
  if (dry && o.would) return to_be_changed(call);
  return call.options.has("detailed-exitcode") && o.changed ? exit_code::kDifferent : exit_code::kOk;
}

}  // namespace tutti
