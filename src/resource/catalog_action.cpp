// The action of a catalog's resource: skip when what it needs has failed, look, bring about, refresh. A failure is a
// result like any other, so that everything that does not depend on it goes on.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "resource/executor.h"
#include "resource/schedule.h"
#include "resource/scrub.h"

namespace tutti::resource {

using engine::ActionResult;
using engine::How;

ActionResult ResourceExecutor::perform_catalog(Job& job, Effect& effect) {
  const engine::ActionRequest& q = job.request;
  const model::Instance& self = system_.instances[q.instance];
  ActionResult result;
  Arena arena;
  TreeBuilder builder(arena);
  std::map<std::string, std::string> outputs{{"status", "ok"}, {"changed", "0"}};
  auto finish = [&]() {
    knowledge_.learn(q.instance, outputs);
    for (auto& [k, v] : outputs) result.outputs.emplace_back(k, v);
    return result;
  };
  const Value* config = with(self, "config");
  // What it comes after: whether that failed, and whether a change there is a reason to refresh.
  u32 events = 0, noops = 0;
  bool skip = false;
  std::string because;
  if (const Value* needs = with(self, "needs"); needs && needs->is(Kind::kList))
    for (const Value& n : needs->items()) {
      const Entry* other = n.find("instance");
      const Entry* port = n.find("port");
      if (!other || !other->value.fits_i64() || !port) continue;
      auto theirs = knowledge_.outputs(static_cast<u32>(other->value.as_i64()));
      char how = port->value.text().empty()
                     ? 'd'
                     : port->value.text()[0];  // d: order, n: notify, w: order only, even after a failure
      if (how != 'w' && (theirs["status"] == "failed" || theirs["status"] == "skipped")) {
        skip = true;
        u32 provider = static_cast<u32>(other->value.as_i64());
        if (theirs["status"] == "failed" && because.empty() && first_after(provider, q.instance))
          because = theirs["name"];
      }
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
    if (!because.empty()) tell(fmt::format(": Dependency {} has failures: true", because));
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
  std::string plain;
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
      if (!plain.empty()) say(Level::kError, scrub.clean(plain));
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
  Context c =
      context(r, *host, q.instance, &job.cancel, fmt::format("{}/{}/{}", options_.run, q.instance, q.transition));
  c.catalog = true;
  c.say = [&](Level level, std::string_view text) {
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
      say(Level::kNotice, fmt::format("/{}: audit change: previously recorded value '{}' has been changed to '{}'",
                                      property, before->second, **is));
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
    } else {
      std::vector<Change> done;
      if (!begins(job, effect, r)) return failed("", {std::string(kNotWritten), EIO});
      struct Broken {
        std::size_t after;  // how many were done before
        Change change;
        Failure why;
      };
      std::vector<Broken> broken;
      c.broken = [&](const Change& change, const Failure& why) {
        broken.push_back({done.size(), change, {scrub.clean(why.message), why.code}});
      };
      auto applied = provider->apply(c, *found, done);
      effect.changes = done;
      changed = static_cast<u32>(done.size());
      auto at = [](const Change& ch) {
        return fmt::format("{}/{}: ", ch.subject.empty() ? "" : "=" + ch.subject, ch.property);
      };
      auto could_not = [&](const Change& ch, const std::string& why) {
        return fmt::format("change from {} to {} failed: {}", ch.bare_from ? ch.from : quoted(ch.from),
                           ch.bare_to ? ch.to : quoted(ch.to), why);
      };
      std::size_t next = 0;
      for (std::size_t i = 0; i <= done.size(); ++i) {
        for (; next < broken.size() && broken[next].after == i; ++next) {
          say(Level::kError, broken[next].why.message);
          say(Level::kError, at(broken[next].change) + could_not(broken[next].change, broken[next].why.message));
        }
        if (i < done.size()) say(Level::kNotice, at(done[i]) + done[i].text);
      }
      if (applied && !broken.empty()) {
        std::string skipped;
        for (auto& ch : found->changes) {
          auto same = [&](const Change& other) { return other.subject == ch.subject; };
          if (ch.subject.empty() || ch.subject == skipped || std::any_of(done.begin(), done.end(), same) ||
              std::any_of(broken.begin(), broken.end(), [&](const Broken& b) { return same(b.change); }))
            continue;
          if (skipped.empty()) tell(fmt::format("={}: Dependency {} has failures: true", ch.subject, outputs["name"]));
          skipped = ch.subject;
          say(Level::kWarning, fmt::format("={}: Skipping because of failed dependencies", ch.subject));
        }
        outputs["changed"] = std::to_string(changed);
        outputs["status"] = "failed";
        result.message = could_not(broken[0].change, broken[0].why.message);
        return finish();
      }
      if (!applied) {
        outputs["changed"] = std::to_string(changed);
        plain = applied.error().message;
        // The first that is not done is the one that failed.
        Change failing;
        if (!found->changes.empty())
          failing = found->changes[std::min(done.size() + broken.size(), found->changes.size() - 1)];
        std::string property = failing.property, from = failing.from, to = failing.to;
        // A file that cannot be made is told in the words, and as often, as by Puppet.
        if (lower == "file" && property == "ensure" && applied.error().code > 0) {
          std::string what = applied.error().message;
          plain = fmt::format("Could not set '{}' on ensure: {}{}", to, what, place ? place->value.text() : "");
          say(Level::kError, plain);
          std::string all = plain;
          plain += "\nWrapped exception:\n" + what;
          return failed(property,
                        {fmt::format("change from '{}' to '{}' failed: {}", from, to, all), applied.error().code});
        }
        return failed(property, {could_not(failing, applied.error().message), applied.error().code});
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
      if (!begins(job, effect, r)) return failed("", {std::string(kNotWritten), EIO});
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

// Puppet says of a failure only to the first that comes after it that it has failed.
bool ResourceExecutor::first_after(u32 failed, u32 instance) const {
  for (u32 i = failed + 1; i < instance; ++i)
    if (const Value* needs = with(system_.instances[i], "needs"); needs && needs->is(Kind::kList))
      for (const Value& n : needs->items()) {
        const Entry *other = n.find("instance"), *port = n.find("port");
        if (other && port && other->value.fits_i64() && other->value.as_i64() == failed &&
            !port->value.text().starts_with("w"))
          return false;
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
