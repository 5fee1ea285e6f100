// The action of a catalog's resource: skip when what it needs has failed, look, bring about, refresh. A failure is a
// result like any other, so that everything that does not depend on it goes on.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "resource/catalog.h"
#include "resource/catalog_result.h"
#include "resource/executor.h"
#include "resource/schedule.h"
#include "resource/scrub.h"

namespace tutti::resource {

using engine::ActionResult;
using engine::How;

namespace {

// Owners are recorded by their numbers and shown by their names, where they have one.
std::string name_of(Host& host, const std::string& property, const std::string& number) {
  if (property != "owner" && property != "group") return number;
  auto r = host.shell(fmt::format("getent {} {}", property == "owner" ? "passwd" : "group", shell_quote(number)));
  std::size_t end = r.out.find(':');
  return r.ok() && end != std::string::npos ? r.out.substr(0, end) : number;
}

// Which failures others have yet to hear of, a line for each: not of what has been told to something below it already.
std::string untold(const std::vector<std::string>& broken, const std::vector<Change>& all, const std::string& self) {
  std::set<std::string> names;
  for (auto& subject : broken) {
    std::string below = subject.empty() ? "" : subject.substr(0, subject.size() - 1) + "/";  // File[/dir/
    bool told = std::any_of(all.begin(), all.end(),
                            [&](const Change& c) { return !c.subject.empty() && c.subject.starts_with(below); });
    if (!told) names.insert(subject.empty() ? self : subject);
  }
  return fmt::format("{}", fmt::join(names, "\n"));
}

// What a change is said of: itself, or something below it.
std::string whose(const Change& ch) { return ch.subject.empty() ? "" : "=" + ch.subject; }
std::string at(const Change& ch) { return fmt::format("{}/{}: ", whose(ch), ch.property); }

std::string shown(const std::string& value, bool bare) {
  return bare || (!value.empty() && value[0] == '[') ? value : "'" + value + "'";
}

bool has_parts(const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [](auto& ch) { return !ch.subject.empty(); });
}

Level level_of(const Value& config) {
  const Entry* loud = config.find("loglevel");
  if (!loud) return Level::kNotice;
  std::string w = text_of(loud->value);
  return w == "debug"                    ? Level::kDebug
         : w == "info" || w == "verbose" ? Level::kInfo
         : w == "warning"                ? Level::kWarning
         : w == "notice"                 ? Level::kNotice
                                         : Level::kError;
}

const char* plural(u32 n) { return n == 1 ? "" : "s"; }

}  // namespace

// One resource of a catalog, being brought about.
class ResourceExecutor::CatalogAction {
 public:
  CatalogAction(ResourceExecutor& executor, Job& job, Effect& effect)
      : executor_(executor),
        job_(job),
        effect_(effect),
        self_(executor.planned_[job.request.instance]),
        config_(self_.config),
        earlier_(executor.options_.recall ? CatalogResult::read(executor.options_.recall(job.request.instance))
                                          : CatalogResult{}),
        loudness_(level_of(config_)),
        scrub_(value_of("parameters")) {
    out_.status = CatalogResult::Status::kOk;
    type_ = text_at("type");
    title_ = text_at("title");
    out_.name = fmt::format("{}[{}]", type_, title_);
    for (char c : type_) lower_ += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const Entry* noop = config_.find("noop");
    dry_ = noop && truth_of(noop->value, false);
  }

  ActionResult perform() {
    go();
    auto outputs = out_.write();
    executor_.knowledge_.learn(instance(), outputs);
    for (auto& [k, v] : outputs) result_.outputs.emplace_back(k, v);
    return std::move(result_);
  }

 private:
  void go() {
    count_events();
    if (type_.empty() || type_ == "begin" || type_ == "end") return pass_on();
    if (type_ == "watch") return watch();
    if (skip_) return skip();
    if (!is_due()) return;
    if (!find_provider_and_host()) return;
    Value settled = parameters();
    Resource r{lower_, title_, settled};
    bool elsewhere = false;
    if (std::string wrong = wrong_provider(r, elsewhere); !wrong.empty()) return fail({wrong, 0});
    if (std::string wrong = provider_->check(r); !wrong.empty()) return fail({wrong, 0});
    Context c = executor_.context(r, *host_, instance(), &job_.cancel,
                                  executor_.guardian_->mark(instance(), job_.request.transition));
    c.catalog = true;
    c.say = [this](Level level, std::string_view text) { hear(level, text); };
    warn(c, r);
    if (!audit(c)) return;
    auto found = provider_->examine(c);
    if (!found) return fail(found.error());
    effect_.looked_only = found->in_sync() && events_ == 0;
    if (!found->in_sync() && !(dry_ ? foretell(r, *found) : change(c, r, *found))) return;
    remember_cut_off(*found);
    if (refresh_where_told(c, r, *found)) sum_up(*found);
  }

  // ---- what comes before it

  // Whether what it comes after failed, and whether a change there is a reason to refresh.
  void count_events() {
    for (const engine::PlannedNeed& n : self_.needs) {
      if (n.instance == model::kNone) continue;
      auto theirs = CatalogResult::read(executor_.knowledge_.outputs(n.instance));
      // d: order, n: notify, w: order only, even after a failure
      char how = n.port.empty() ? 'd' : n.port.text()[0];
      if (how != 'w' && theirs.is_in_the_way()) skip_ = true;
      if (how == 'n') events_ += theirs.changed, noops_ += theirs.noops;
    }
  }

  // The ends of a container carry events and failures through. However much changed inside, the container as a whole
  // was changed once.
  void pass_on() {
    out_.changed = events_ > 0;
    out_.noops = events_ > 0 && noops_ == events_;
    if (skip_) out_.status = CatalogResult::Status::kSkipped;
  }

  void watch() {
    if (skip_) {  // nothing is said of what holds a failure
      out_.status = CatalogResult::Status::kSkipped;
      return;
    }
    bool would = noops_ > 0 && (noops_ == events_ || dry_);
    if (would) tell(would_refresh());
    out_.changed = events_ ? 1 : 0;
    out_.noops = would;
  }

  void skip() {
    out_.status = CatalogResult::Status::kSkipped;
    for (auto& name : executor_.failures_to_tell(instance()))
      tell(fmt::format(": Dependency {} has failures: true", name));
    say(Level::kWarning, ": Skipping because of failed dependencies");
  }

  // As its schedule says. Out of turn it stays what it was when it was last looked at.
  bool is_due() {
    const Entry* schedule = config_.find("schedule");
    if (!schedule) return true;
    std::time_t now = std::time(nullptr), last = earlier_.checked;
    bool due = resource::is_due(schedule->value, now, last);
    out_.checked = due ? now : last;
    if (!due) out_.audited = earlier_.audited;
    return due;
  }

  bool find_provider_and_host() {
    host_ = executor_.options_.host ? executor_.options_.host(job_.request.host) : nullptr;
    provider_ = find_provider(lower_);
    if (!host_)
      fail({fmt::format("there is no host `{}`", job_.request.host.text()), 0});
    else if (!provider_)
      fail({fmt::format("no way is known to bring about a {}", type_), 0});
    return host_ && provider_;
  }

  Value parameters() {
    TreeBuilder builder(arena_);
    const Entry* given = config_.find("parameters");
    Value settled = given ? given->value : builder.map({});
    if (!model::has_placeholders(settled) || !config_.find("templates")) return settled;
    auto lookup = [&](std::string_view path) {
      return executor_.knowledge_.look_up(instance(), path, settled, settled, arena_);
    };
    return model::expand(settled, lookup, builder);
  }

  void warn(const Context& c, const Resource& r) {
    for (auto& sentence : not_managed(r)) say(Level::kWarning, ": " + sentence);
    if (lower_ == "file" && config_.find("place") && c.params.text("source_permissions", "ignore") != "ignore")
      say(Level::kWarning,
          fmt::format(
              "The `source_permissions` parameter is deprecated. Explicitly set `owner`, `group`, and `mode`.\n  {}",
              text_at("place")));
  }

  // What is audited is compared with what it was when it was last looked at. False: it cannot be looked at.
  bool audit(Context& c) {
    auto properties = c.params.list("audit");
    if (properties.size() == 1 && properties[0] == "all")
      properties.assign(provider_->audited().begin(), provider_->audited().end());
    for (auto& property : properties) {
      auto is = provider_->current(c, property);
      if (!is) return fail(is.error()), false;
      std::string now = is->value_or("");
      out_.audited[property] = now;
      auto before = earlier_.audited.find(property);
      if (before == earlier_.audited.end()) {  // no change, only the first look
        say(Level::kNotice, fmt::format("/{}: audit change: newly-recorded value {}", property, now));
      } else if (before->second != now) {
        ++audited_;
        say(Level::kNotice, fmt::format("/{}: audit change: previously recorded value {} has been changed to {}",
                                        property, audited(property, before->second), audited(property, now)));
      }
    }
    return true;
  }

  std::string audited(const std::string& property, const std::string& value) const {
    std::string is = lower_ == "file" ? name_of(*host_, property, value) : value;
    return is.empty() ? "" : "'" + is + "'";
  }

  // ---- bringing it about

  // With --noop: what would be done is told, in as many words.
  bool foretell(const Resource& r, const Findings& found) {
    for (auto& ch : found.changes)
      say(Level::kNotice, fmt::format("{}/{}: current_value {}, should be {} (noop)", whose(ch), ch.property,
                                      shown(ch.from, ch.bare_from), shown(ch.to, ch.bare_to)));
    changed_ = out_.noops = static_cast<u32>(found.changes.size());
    out_.noop = true;
    if (lower_ == "file" && has_parts(found.changes))
      tell(fmt::format("/{}: Would have triggered 'refresh' from {} event{}", managed_as(r), changed_,
                       plural(changed_)));
    return true;
  }

  // False when that is the end of it.
  bool change(Context& c, const Resource& r, const Findings& found) {
    if (!executor_.begins(job_, effect_, r, {})) return fail({std::string(kNotWritten), EIO}), false;
    std::vector<std::string> broken, why;
    c.broken = [&](const Change& change, const Failure& problem) {
      tell_done();
      broken.push_back(change.subject);
      why.push_back(tell_failure(change, problem));
    };
    auto applied = provider_->apply(c, found, done_);
    c.broken = {};
    tell_done();
    effect_.changes = done_;
    out_.changed = changed_ = static_cast<u32>(done_.size());
    if (!applied) {
      const Failure& problem = applied.error();
      if (job_.cancel.raised() || problem.code == ECONNRESET) return fail(problem), false;
      // The first that is not done is the one that failed.
      Change failing;
      if (!found.changes.empty())
        failing = found.changes[std::min(done_.size() + broken.size(), found.changes.size() - 1)];
      broken.push_back(failing.subject);
      why.push_back(tell_failure(failing, problem));
    }
    if (broken.empty()) return true;
    out_.status = CatalogResult::Status::kFailed;
    out_.name = untold(broken, found.changes, out_.name);
    result_.message = why[0];
    // What it was told to refresh for it is refreshed for all the same, as in Puppet: a command runs once more.
    return events_ != 0 && noops_ != events_ && provider_->minds();
  }

  // In the words, and as often, as Puppet says it; of what stands below the resource it knows no place.
  std::string tell_failure(const Change& ch, const Failure& problem) {
    std::string what = scrub_.clean(problem.message), all = what;
    if (lower_ == "file" && ch.property == "ensure" && problem.code > 0) {
      all = fmt::format("Could not set '{}' on ensure: {}{}", ch.to, what, ch.subject.empty() ? text_at("place") : "");
      say(Level::kError, all);
      say(Level::kError, fmt::format("{}\nWrapped exception:\n{}", all, what));
    } else {
      say(Level::kError, what);
    }
    std::string why =
        fmt::format("change from {} to {} failed: {}", shown(ch.from, ch.bare_from), shown(ch.to, ch.bare_to), all);
    say(Level::kError, at(ch) + why);
    return why;
  }

  void remember_cut_off(const Findings& found) {
    if (!found.in_sync() || dry_ || !executor_.cut_off_.count({instance(), job_.request.transition})) return;
    say(Level::kNotice, ": Changed before the run was cut off");
    effect_.changes.push_back({"ensure", "changed before the run was cut off", "", "", "", false});
    changed_ = 1;
  }

  // Because of others, or of its own changes. False when that is the end of it.
  bool refresh_where_told(Context& c, const Resource& r, const Findings& found) {
    const auto& made = dry_ ? found.changes : effect_.changes;
    if (provider_->is_fresh(made)) events_ = noops_ = 0;
    if (changed_ > 0 && provider_->minds_itself(made)) {
      events_ += changed_;
      if (dry_) noops_ += changed_;
    }
    if (events_ == 0 || !provider_->minds()) return true;
    if (dry_ || noops_ == events_) {
      tell(would_refresh());
      ++changed_;
      ++out_.noops;
      return true;
    }
    if (!executor_.begins(job_, effect_, r, {})) return fail({std::string(kNotWritten), EIO}), false;
    if (auto refreshed = provider_->refresh(c); !refreshed) {
      const Failure& why = refreshed.error();
      fail({fmt::format("Failed to call refresh: {}", why.message), why.code});
      if (out_.failed()) say(Level::kError, scrub_.clean(": " + why.message));
      return false;
    }
    // Whether there was anything to do or not, as in Puppet.
    tell(fmt::format(": Triggered 'refresh' from {} event{}", events_, plural(events_)));
    effect_.changes.push_back({"refresh", "refreshed", "", "", "", false});
    ++changed_;
    return true;
  }

  // A directory that is filled is one change to whoever is told of it, however many files there are in it.
  void sum_up(const Findings& found) {
    if (lower_ == "file" && has_parts(dry_ ? found.changes : effect_.changes)) {
      changed_ = 1;
      if (dry_) out_.noops = 1;
    }
    out_.changed = changed_ + audited_;
  }

  // ---- what is said

  void fail(const Failure& problem) {
    result_.message = scrub_.clean(problem.message);
    if (job_.cancel.raised() || problem.code == ECONNRESET) {
      result_.how = job_.cancel.raised() ? How::kCancelled : How::kLost;
      return;
    }
    out_.status = CatalogResult::Status::kFailed;
    say(Level::kError, ": " + result_.message);
  }

  void say(Level level, std::string_view text) {
    if (executor_.options_.say) executor_.options_.say(instance(), level == Level::kNotice ? loudness_ : level, text);
  }
  // What its `loglevel` does not concern: only its changes are told at that level.
  void tell(const std::string& text) {
    if (executor_.options_.say) executor_.options_.say(instance(), Level::kNotice, text);
  }
  std::string would_refresh() const {
    return fmt::format(": Would have triggered 'refresh' from {} event{}", events_, plural(events_));
  }
  // What is done is told before anything that is said after it.
  void tell_done() {
    for (; told_ < done_.size(); ++told_) say(Level::kNotice, at(done_[told_]) + done_[told_].text);
  }
  void hear(Level level, std::string_view text) {
    constexpr std::string_view kPrinted = "/returns: ";  // what a command printed, for the journal
    tell_done();
    std::string clean = scrub_.clean(text);
    if (clean.starts_with(kPrinted)) result_.log += clean.substr(kPrinted.size()) + "\n";
    say(level, clean);
  }

  u32 instance() const { return job_.request.instance; }
  Value value_of(std::string_view key) const {
    const Entry* e = config_.find(key);
    return e ? e->value : Value::null();
  }
  std::string text_at(std::string_view key) const {
    const Entry* e = config_.find(key);
    return e ? text_of(e->value) : "";
  }

  ResourceExecutor& executor_;
  Job& job_;
  Effect& effect_;
  const engine::PlannedInstance& self_;
  const Value& config_;
  CatalogResult earlier_, out_;  // of an earlier run, and of this one
  Level loudness_;
  Scrubber scrub_;
  Arena arena_;
  std::string type_, lower_, title_;  // "File", "file", "/etc/motd"
  bool dry_ = false;                  // --noop
  Host* host_ = nullptr;
  const Provider* provider_ = nullptr;
  ActionResult result_;
  bool skip_ = false;           // what it comes after has failed
  u32 events_ = 0, noops_ = 0;  // changes that it is notified of; of these, those that were only told
  u32 changed_ = 0, audited_ = 0;
  std::vector<Change> done_;
  std::size_t told_ = 0;  // of these
};

ActionResult ResourceExecutor::perform_catalog(Job& job, Effect& effect) {
  return CatalogAction(*this, job, effect).perform();
}

void ResourceExecutor::for_needs(u32 instance, const std::function<void(u32)>& found) const {
  for (const engine::PlannedNeed& n : planned_[instance].needs)
    if (n.instance != model::kNone && !n.port.text().starts_with("w")) found(n.instance);
}

bool ResourceExecutor::is_container(u32 instance) const { return !resource_of(planned_[instance].config); }

// Puppet says of each failure that it has failed to the first only that comes after it, through whatever containers.
std::vector<std::string> ResourceExecutor::failures_to_tell(u32 instance) const {
  std::set<u32> failures, seen;
  std::vector<u32> left{instance};
  while (!left.empty()) {
    u32 at = left.back();
    left.pop_back();
    for_needs(at, [&](u32 other) {
      if (!seen.insert(other).second) return;
      if (CatalogResult::read(knowledge_.outputs(other)).failed()) failures.insert(other);
      if (is_container(other)) left.push_back(other);
    });
  }
  std::vector<std::string> names;
  for (u32 failed : failures) {
    if (!first_after(failed, instance)) continue;
    std::string all = CatalogResult::read(knowledge_.outputs(failed)).name;
    for (std::size_t from = 0; from < all.size();) {
      std::size_t end = std::min(all.find('\n', from), all.size());
      names.push_back(all.substr(from, end - from));
      from = end + 1;
    }
  }
  return names;
}

bool ResourceExecutor::first_after(u32 failed, u32 instance) const {
  std::set<u32> after{failed};
  for (u32 i = failed + 1; i < instance; ++i) {
    bool comes_after = false;
    for_needs(i, [&](u32 other) { comes_after = comes_after || after.count(other); });
    if (!comes_after) continue;
    if (!is_container(i)) return false;
    after.insert(i);
  }
  return true;
}

}  // namespace tutti::resource
