// The action of a catalog's resource: skip when what it needs has failed, look, bring about, refresh. A failure is a
// result like any other, so that everything that does not depend on it goes on.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "resource/catalog.h"
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

}  // namespace

ActionResult ResourceExecutor::perform_catalog(Job& job, Effect& effect) {
  const engine::ActionRequest& q = job.request;
  const engine::PlannedInstance& self = planned_[q.instance];
  ActionResult result;
  Arena arena;
  TreeBuilder builder(arena);
  std::map<std::string, std::string> outputs{{"status", "ok"}, {"changed", "0"}};
  auto finish = [&]() {
    knowledge_.learn(q.instance, outputs);
    for (auto& [k, v] : outputs) result.outputs.emplace_back(k, v);
    return result;
  };
  const Value* config = &self.config;
  // What it comes after: whether that failed, and whether a change there is a reason to refresh.
  u32 events = 0, noops = 0;
  bool skip = false;
  for (const engine::PlannedNeed& n : self.needs) {
    if (n.instance == model::kNone) continue;
    auto theirs = knowledge_.outputs(n.instance);
    // d: order, n: notify, w: order only, even after a failure
    char how = n.port.empty() ? 'd' : n.port.text()[0];
    if (how != 'w' && (theirs["status"] == "failed" || theirs["status"] == "skipped")) skip = true;
    if (how == 'n') events += static_cast<u32>(std::strtoul(theirs["changed"].c_str(), nullptr, 10));
    if (how == 'n') noops += static_cast<u32>(std::strtoul(theirs["noops"].c_str(), nullptr, 10));
  }
  std::string type = config ? text_of(config->find("type")->value) : "",
              title = config ? text_of(config->find("title")->value) : "";
  outputs["name"] = fmt::format("{}[{}]", type, title);
  if (type.empty() || type == "begin" ||
      type == "end") {  // the ends of a container: they carry events and failures through
    // However much changed inside, the container as a whole was changed once.
    outputs["changed"] = events > 0 ? "1" : "0";
    outputs["noops"] = events > 0 && noops == events ? "1" : "0";
    if (skip) outputs["status"] = "skipped";
    return finish();
  }
  const Entry* noop = config ? config->find("noop") : nullptr;
  bool dry = noop && truth_of(noop->value, false);
  auto would_refresh = [&] {
    return fmt::format(": Would have triggered 'refresh' from {} event{}", events, events == 1 ? "" : "s");
  };
  if (type == "watch") {
    if (skip) {  // nothing is said of what holds a failure
      outputs["status"] = "skipped";
      return finish();
    }
    bool would = noops > 0 && (noops == events || dry);
    if (would && options_.say) options_.say(q.instance, Level::kNotice, would_refresh());
    outputs["changed"] = events ? "1" : "0";
    outputs["noops"] = would ? "1" : "0";
    return finish();
  }
  const Entry* loud = config ? config->find("loglevel") : nullptr;
  Level own = Level::kNotice;
  if (loud) {
    std::string w = text_of(loud->value);
    own = w == "debug"                    ? Level::kDebug
          : w == "info" || w == "verbose" ? Level::kInfo
          : w == "warning"                ? Level::kWarning
          : w == "notice"                 ? Level::kNotice
                                          : Level::kError;
  }
  auto say = [&](Level level, std::string_view text) {
    if (options_.say) options_.say(q.instance, level == Level::kNotice ? own : level, text);
  };
  // What its `loglevel` does not concern: only its changes are told at that level.
  auto tell = [&](const std::string& text) {
    if (options_.say) options_.say(q.instance, Level::kNotice, text);
  };
  if (skip) {
    outputs["status"] = "skipped";
    for (auto& name : failures_to_tell(q.instance)) tell(fmt::format(": Dependency {} has failures: true", name));
    say(Level::kWarning, ": Skipping because of failed dependencies");
    return finish();
  }
  auto earlier = options_.recall ? options_.recall(q.instance) : std::map<std::string, std::string>{};
  if (const Entry* schedule = config->find("schedule")) {
    std::time_t now = std::time(nullptr), last = std::strtoll(earlier["checked"].c_str(), nullptr, 10);
    bool due = is_due(schedule->value, now, last);
    if (due || last) outputs["checked"] = std::to_string(due ? now : last);
    if (!due) {
      for (auto& [key, value] : earlier)
        if (key.starts_with("audit.")) outputs[key] = value;
      return finish();
    }
  }
  const Entry* given = config->find("parameters");
  Scrubber scrub(given ? given->value : Value::null());
  auto failed = [&](const std::string& property, const Failure& problem) {
    Failure why{scrub.clean(problem.message), problem.code};
    if (job.cancel.raised() || why.code == ECONNRESET) {
      result.how = job.cancel.raised() ? How::kCancelled : How::kLost;
      result.message = why.message;
    } else {
      outputs["status"] = "failed";
      result.message = why.message;
      say(Level::kError, (property.empty() ? ": " : "/" + property + ": ") + why.message);
    }
    return finish();
  };
  Host* host = options_.host ? options_.host(q.host) : nullptr;
  if (!host) return failed("", {fmt::format("there is no host `{}`", q.host.text()), 0});
  std::string lower = type;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const Provider* provider = find_provider(lower);
  if (!provider) return failed("", {fmt::format("no way is known to bring about a {}", type), 0});
  const Entry* parameters = config->find("parameters");
  Value settled = parameters ? parameters->value : builder.map({});
  if (model::has_placeholders(settled) && config->find("templates"))
    settled = model::expand(
        settled, [&](std::string_view path) { return look_up_path(q.instance, path, settled, arena); }, builder);
  Resource r{lower, title, settled};
  bool elsewhere = false;
  if (std::string wrong = wrong_provider(r, elsewhere); !wrong.empty()) return failed("", {wrong, 0});
  if (std::string wrong = provider->check(r); !wrong.empty()) return failed("", {wrong, 0});
  Context c = context(r, *host, q.instance, &job.cancel, guardian_->mark(q.instance, q.transition));
  c.catalog = true;
  // What is done is told before anything that is said after it.
  std::vector<Change> done;
  std::size_t told = 0;
  auto at = [](const Change& ch) {
    return fmt::format("{}/{}: ", ch.subject.empty() ? "" : "=" + ch.subject, ch.property);
  };
  auto tell_done = [&] {
    for (; told < done.size(); ++told) say(Level::kNotice, at(done[told]) + done[told].text);
  };
  c.say = [&](Level level, std::string_view text) {
    tell_done();
    std::string clean = scrub.clean(text);
    std::size_t words = clean.starts_with("/returns: ") ? 10 : 0;  // what a command printed, for the journal
    if (words) result.log += clean.substr(words) + "\n";
    say(level, clean);
  };
  for (auto& sentence : not_managed(r)) say(Level::kWarning, ": " + sentence);
  const Entry* place = config->find("place");
  if (lower == "file" && place && c.params.text("source_permissions", "ignore") != "ignore")
    say(Level::kWarning,
        fmt::format(
            "The `source_permissions` parameter is deprecated. Explicitly set `owner`, `group`, and `mode`.\n  {}",
            place->value.text()));
  // What is audited is compared with what it was when it was last looked at.
  auto audit = c.params.list("audit");
  if (audit.size() == 1 && audit[0] == "all") audit.assign(provider->audited().begin(), provider->audited().end());
  u32 audited = 0;
  for (auto& property : audit) {
    auto is = provider->current(c, property);
    if (!is) return failed("", is.error());
    if (!*is) *is = "";
    std::string key = "audit." + property;
    outputs[key] = **is;
    auto before = earlier.find(key);
    if (before == earlier.end()) {  // no change, only the first look
      say(Level::kNotice, fmt::format("/{}: audit change: newly-recorded value {}", property, **is));
    } else if (before->second != **is) {
      ++audited;
      auto shown = [&](const std::string& value) { return lower == "file" ? name_of(*host, property, value) : value; };
      auto quoted_value = [](const std::string& value) { return value.empty() ? "" : "'" + value + "'"; };
      say(Level::kNotice, fmt::format("/{}: audit change: previously recorded value {} has been changed to {}",
                                      property, quoted_value(shown(before->second)), quoted_value(shown(**is))));
    }
  }
  auto found = provider->examine(c);
  if (!found) return failed("", found.error());
  effect.looked_only = found->in_sync() && events == 0;
  u32 changed = 0;
  if (!found->in_sync()) {
    if (dry) {
      for (auto& ch : found->changes)
        say(Level::kNotice,
            fmt::format("{}/{}: current_value {}, should be {} (noop)", ch.subject.empty() ? "" : "=" + ch.subject,
                        ch.property, ch.bare_from ? ch.from : quoted(ch.from), ch.bare_to ? ch.to : quoted(ch.to)));
      changed = static_cast<u32>(found->changes.size());
      outputs["noops"] = std::to_string(changed);
      outputs["noop"] = "1";
      if (lower == "file" &&
          std::any_of(found->changes.begin(), found->changes.end(), [](auto& ch) { return !ch.subject.empty(); }))
        tell(fmt::format("/{}: Would have triggered 'refresh' from {} event{}", managed_as(r), changed,
                         changed == 1 ? "" : "s"));
    } else {
      if (!begins(job, effect, r, {})) return failed("", {std::string(kNotWritten), EIO});
      // In the words, and as often, as Puppet says it; of what stands below the resource it knows no place.
      auto tell_failure = [&](const Change& ch, const Failure& problem) {
        std::string what = scrub.clean(problem.message), all = what;
        if (lower == "file" && ch.property == "ensure" && problem.code > 0) {
          all = fmt::format("Could not set '{}' on ensure: {}{}", ch.to, what,
                            place && ch.subject.empty() ? place->value.text() : "");
          say(Level::kError, all);
          say(Level::kError, fmt::format("{}\nWrapped exception:\n{}", all, what));
        } else {
          say(Level::kError, what);
        }
        std::string why = fmt::format("change from {} to {} failed: {}", ch.bare_from ? ch.from : quoted(ch.from),
                                      ch.bare_to ? ch.to : quoted(ch.to), all);
        say(Level::kError, at(ch) + why);
        return why;
      };
      std::vector<std::string> broken, why;
      c.broken = [&](const Change& change, const Failure& problem) {
        tell_done();
        broken.push_back(change.subject);
        why.push_back(tell_failure(change, problem));
      };
      auto applied = provider->apply(c, *found, done);
      tell_done();
      effect.changes = done;
      changed = static_cast<u32>(done.size());
      outputs["changed"] = std::to_string(changed);
      if (!applied) {
        const Failure& problem = applied.error();
        if (job.cancel.raised() || problem.code == ECONNRESET) return failed("", problem);
        // The first that is not done is the one that failed.
        Change failing;
        if (!found->changes.empty())
          failing = found->changes[std::min(done.size() + broken.size(), found->changes.size() - 1)];
        broken.push_back(failing.subject);
        why.push_back(tell_failure(failing, problem));
      }
      if (!broken.empty()) {
        outputs["status"] = "failed";
        outputs["name"] = untold(broken, found->changes, outputs["name"]);
        result.message = why[0];
        // What it was told to refresh for it is refreshed for all the same, as in Puppet: a command runs once more.
        if (events == 0 || noops == events || !provider->minds()) return finish();
      }
    }
  }
  if (found->in_sync() && !dry && cut_off_.count({q.instance, q.transition})) {
    say(Level::kNotice, ": Changed before the run was cut off");
    effect.changes.push_back({"ensure", "changed before the run was cut off", "", "", "", false});
    changed = 1;
  }
  if (provider->is_fresh(dry ? found->changes : effect.changes)) events = noops = 0;
  if (changed > 0 && provider->minds_itself(dry ? found->changes : effect.changes)) {
    events += changed;
    if (dry) noops += changed;
  }
  if (events > 0 && provider->minds()) {
    if (dry || noops == events) {
      tell(would_refresh());
      ++changed;
      outputs["noops"] = std::to_string(std::strtoul(outputs["noops"].c_str(), nullptr, 10) + 1);
    } else {
      if (!begins(job, effect, r, {})) return failed("", {std::string(kNotWritten), EIO});
      auto refreshed = provider->refresh(c);
      if (!refreshed) {
        auto end =
            failed("", {fmt::format("Failed to call refresh: {}", refreshed.error().message), refreshed.error().code});
        if (outputs["status"] == "failed") say(Level::kError, scrub.clean(": " + refreshed.error().message));
        return end;
      }
      // Whether there was anything to do or not, as in Puppet.
      tell(fmt::format(": Triggered 'refresh' from {} event{}", events, events == 1 ? "" : "s"));
      effect.changes.push_back({"refresh", "refreshed", "", "", "", false});
      ++changed;
    }
  }
  // A directory that is filled is one change to whoever is told of it, however many files there are in it.
  auto& made = dry ? found->changes : effect.changes;
  if (lower == "file" && std::any_of(made.begin(), made.end(), [](auto& ch) { return !ch.subject.empty(); })) {
    changed = 1;
    if (dry) outputs["noops"] = "1";
  }
  outputs["changed"] = std::to_string(changed + audited);
  return finish();
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
      if (knowledge_.outputs(other)["status"] == "failed") failures.insert(other);
      if (is_container(other)) left.push_back(other);
    });
  }
  std::vector<std::string> names;
  for (u32 failed : failures) {
    if (!first_after(failed, instance)) continue;
    std::string all = knowledge_.outputs(failed)["name"];
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

std::string ResourceExecutor::quoted(const std::string& value) {
  return !value.empty() && value[0] == '[' ? value : "'" + value + "'";
}

std::optional<Value> ResourceExecutor::look_up_path(u32 instance, std::string_view path, const Value& config,
                                                    Arena& arena) const {
  return knowledge_.look_up(instance, path, config, config, arena);
}

}  // namespace tutti::resource
