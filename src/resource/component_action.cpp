// The action of a component: its resources, one after the other, each looked at before it is touched. What goes asks
// first whether it is anybody else's by now.
#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "resource/executor.h"
#include "resource/former.h"
#include "resource/scrub.h"

namespace tutti::resource {

using engine::ActionResult;
using engine::How;

namespace {

constexpr std::size_t kMostCleaned = 1 << 20;
constexpr std::size_t kMostLog = 64 << 10;  // bytes that the journal gets of what one resource printed
constexpr u32 kShownLines = 20;             // of a failure, at once

// The end of a text: so many bytes and lines at most, whole lines only.
std::string_view end_of(std::string_view text, std::size_t bytes, u32 lines) {
  std::size_t from = text.size();
  while (from > 0 && lines > 0) {
    std::size_t before = from > 1 ? text.rfind('\n', from - 2) : std::string_view::npos;
    std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    if (text.size() - begin > bytes) break;
    from = begin;
    --lines;
  }
  return text.substr(from);
}

}  // namespace

class ResourceExecutor::ComponentAction {
 public:
  ComponentAction(ResourceExecutor& executor, Job& job, Effect& effect)
      : executor_(executor),
        job_(job),
        effect_(effect),
        mark_(executor.guardian_->mark(instance(), job.request.transition)) {}

  ActionResult perform() {
    host_ = executor_.options_.host ? executor_.options_.host(job_.request.host) : nullptr;
    if (!host_) return fail(fmt::format("there is no host `{}`", job_.request.host.text()));
    std::string problem;
    auto todo = executor_.knowledge_.resources(instance(), *job_.request.action, arena_, problem);
    if (!problem.empty()) return fail(problem);
    effect_.looked_only = true;
    for (const Resource& given : todo)
      if (!bring_about(given)) return std::move(result_);
    return give_outputs();
  }

 private:
  // A resource, with what is needed to work on it.
  struct Work {
    Work(const Resource& asked, Resource meant) : given(asked), r(std::move(meant)), scrub(r.parameters) {
      const Entry* former = r.parameters.find("former");
      was = former != nullptr;
      back = former && is_given_back(former->value);
    }
    const Resource& given;  // as the action says it
    const Resource r;       // as it is meant: with what there was before
    const Provider* provider = find_provider(given.type);
    Scrubber scrub;
    bool was = false;   // something was there in its place before
    bool back = false;  // and is brought back, whatever anybody thinks of that
    std::string printed, clean;
  };

  // False: it failed, and so the action has.
  bool bring_about(const Resource& given) {
    Work w(given, executor_.for_good(instance(), given, arena_));
    if (!is_sound(w)) return false;
    Context c = executor_.context(w.r, *host_, instance(), &job_.cancel, mark_);
    c.outputs = &outputs_;
    c.printed = &w.printed;
    for (auto& sentence : not_managed(w.r)) c.say(Level::kWarning, sentence);
    auto found = w.provider->examine(c);
    if (!found) return fail_with(w, found.error());
    if (found->in_sync()) {
      if (w.back) stays(c, w);
      keep_log(w);
      return true;
    }
    if (executor_.is_left(instance(), given)) {
      stays(c, w);
      return true;
    }
    auto elsewhere = executor_.held_elsewhere(instance(), w.r);
    if (is_anothers(c, w, *found, elsewhere)) return true;
    return change(c, w, *found, elsewhere);
  }

  bool is_sound(const Work& w) {
    if (std::string wrong = w.back ? "" : w.provider->check(w.r); !wrong.empty())
      return fail(fmt::format("{}: {}", w.r.title, wrong)), false;
    bool mild = false;
    if (std::string wrong = unquoted(w.r, mild); !wrong.empty() && !mild)
      return fail(fmt::format("{}: {} (write `${{'path}}` for it)", w.r.title, wrong)), false;
    return true;
  }

  static void stays(const Context& c, const Work& w) {
    c.say(Level::kInfo, fmt::format("{} {} stays: it was there before", w.r.type, w.r.title));
  }

  // Whether what is to go is left to somebody else, or was changed by somebody; that is told.
  bool is_anothers(const Context& c, const Work& w, const Findings& found, const std::optional<Holder>& elsewhere) {
    if (Params(w.given.parameters).text("ensure") != "absent") return false;
    auto self = executor_.system_.instances[instance()].name.text();
    if (std::string other = executor_.heir(instance(), w.r); !other.empty()) {
      c.say(Level::kInfo, fmt::format("{} {} stays: it is {}'s now", w.r.type, w.r.title, other));
      return true;
    }
    if (elsewhere) {
      c.say(Level::kWarning, fmt::format("{} {} stays: {} has it, too", w.r.type, w.r.title, elsewhere->name));
      return true;
    }
    if (w.back && !executor_.is_as_left(*host_, instance(), w.given)) {
      c.say(Level::kWarning,
            fmt::format("{} {} is left as it is: it was changed since {} came to it", w.r.type, w.r.title, self));
      return true;
    }
    // Nobody's work is lost where there is nothing, or what was before but for its owner.
    const Change& first = found.changes[0];
    bool in_the_way = first.property == "ensure" && first.from != "absent";
    if (!w.was || w.r.type != "file" || !in_the_way || executor_.is_as_left(*host_, instance(), w.r)) return false;
    c.say(Level::kWarning, fmt::format("{} {} is left: it was changed since {} wrote it. What it was before is in "
                                       "{}/kept",
                                       w.r.type, w.r.title, self, c.home));
    return true;
  }

  bool change(Context& c, Work& w, const Findings& found, const std::optional<Holder>& elsewhere) {
    effect_.looked_only = false;
    auto former = w.provider->keep_former(c, found);
    if (!former) return fail_with(w, former.error());
    if (elsewhere) *former = elsewhere->former;  // what the other one wrote is nothing that was there before
    if (!executor_.begins(job_, effect_, w.r, *former)) return fail(std::string(kNotWritten), EIO), false;
    std::vector<Change> done;
    auto applied = w.provider->apply(c, found, done);
    effect_.changes.insert(effect_.changes.end(), done.begin(), done.end());
    // A host that was never reached has nothing of it.
    if (!applied && applied.error().code == EHOSTUNREACH && done.empty()) effect_.acted.erase(key_of(w.r));
    if (!applied) return fail_with(w, applied.error());
    if (w.provider->minds_itself(done))
      if (auto refreshed = w.provider->refresh(c); !refreshed) return fail_with(w, refreshed.error());
    keep_log(w);
    return true;
  }

  // Secrets go before it is cut to a size or into lines: a part of one is not known any more.
  void keep_log(Work& w) {
    w.clean = w.scrub.clean(utf8::repaired(end_of(w.printed, kMostCleaned, ~u32{0})));
    if (executor_.options_.clean) w.clean = executor_.options_.clean(w.clean);
    result_.log += end_of(w.clean, kMostLog, ~u32{0});
  }

  bool fail_with(Work& w, const Failure& f) {
    keep_log(w);
    // What it printed last says more than its exit status.
    for (std::string_view rest = end_of(w.clean, kMostLog, kShownLines); !rest.empty() && executor_.options_.say;) {
      std::size_t end = std::min(rest.find('\n'), rest.size());
      executor_.options_.say(instance(), Level::kWarning, rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    fail(w.scrub.clean(fmt::format("{} {}: {}", w.r.type, w.r.title, f.message)), f.code);
    return false;
  }

  ActionResult& fail(std::string why, int code = 0) {
    result_.how = job_.cancel.raised() ? How::kCancelled
                  : code == ECONNRESET ? How::kLost
                  : code == ETIMEDOUT  ? How::kTimeout
                                       : How::kFailed;
    result_.code = code;
    result_.message = std::move(why);
    return result_;
  }

  ActionResult give_outputs() {
    if (auto it = outputs_.find("outcome"); it != outputs_.end()) {
      result_.outcome = it->second;
      outputs_.erase(it);
    }
    for (auto& [k, v] : outputs_)
      if (utf8::first_invalid(v) != std::string::npos || utf8::first_invalid(k) != std::string::npos)
        return fail(fmt::format("its output `{}` is not UTF-8", utf8::repaired(k)));
    executor_.knowledge_.learn(instance(), outputs_);
    for (auto& [k, v] : outputs_) result_.outputs.emplace_back(k, v);
    return std::move(result_);
  }

  u32 instance() const { return job_.request.instance; }

  ResourceExecutor& executor_;
  Job& job_;
  Effect& effect_;
  std::string mark_;
  Arena arena_;
  Host* host_ = nullptr;
  ActionResult result_;
  std::map<std::string, std::string> outputs_;
};

ActionResult ResourceExecutor::perform(Job& job, Effect& effect) {
  if (job.request.action->what.find("resource")) return perform_catalog(job, effect);
  return ComponentAction(*this, job, effect).perform();
}

bool ResourceExecutor::begins(const Job& job, Effect& effect, const Resource& r, const Former& former) const {
  bool first = effect.acted.emplace(key_of(r), former).second;
  return !first || !options_.begins || options_.begins(job.request.instance, job.request.transition, key_of(r), former);
}

Resource ResourceExecutor::for_good(u32 instance, const Resource& r, Arena& arena) const {
  const engine::PlannedInstance& self = planned_[instance];
  bool goes = self.goes();
  std::string ensure = Params(r.parameters).text("ensure");
  auto also = [&](std::string_view parameter, const Value& value) {
    MapDraft m;
    for (const Entry& e : r.parameters.entries()) m.set(e.key, e.value);
    m.set(Symbol(parameter), value);
    return Resource{r.type, r.title, m.build(TreeBuilder(arena)), r.let_go};
  };
  if (r.type == "process" && ensure == "stopped" && goes && !self.host.empty())
    return also("log_goes", Value::boolean(true));
  if (self.formerly.is(Kind::kMap) && (ensure == "absent" || (ensure == "stopped" && goes)) && (goes || r.let_go))
    for (auto& thing : find_provider(r.type)->writes(r))
      if (const Entry* former = self.formerly.find(thing)) {
        if (!is_given_back(former->value)) return also("former", former->value);
        auto held = held_as(instance, r);
        return given_back(r, former->value, held ? held->parameters : Value::null(), &options_.sealing, arena);
      }
  return r;
}

std::optional<Resource> ResourceExecutor::held_as(u32 instance, const Resource& removed) const {
  const Value& held = planned_[instance].held;
  auto things = find_provider(removed.type)->writes(removed);
  for (const Value& v : held.is(Kind::kList) ? held.items() : std::span<const Value>()) {
    Resource r{std::string(v.find("type")->value.text()), std::string(v.find("title")->value.text()),
               v.find("parameters")->value};
    const Provider* provider = find_provider(r.type);
    if (provider && provider->writes(r) == things) return r;
  }
  return std::nullopt;
}

bool ResourceExecutor::is_as_left(Host& host, u32 instance, const Resource& removed) const {
  auto r = held_as(instance, removed);
  if (!r) return false;
  Context c = context(*r, host, instance, nullptr, "");
  auto found = find_provider(r->type)->examine(c);
  return found && found->in_sync();
}

bool ResourceExecutor::is_left(u32 instance, const Resource& removed) const {
  const Value& keep = planned_[instance].keep;
  bool goes = planned_[instance].goes();
  std::string ensure = Params(removed.parameters).text("ensure");
  // What stays and is only brought to something else is stopped for it.
  if (!keep.is(Kind::kList) || (ensure != "absent" && (ensure != "stopped" || !goes))) return false;
  auto things = find_provider(removed.type)->writes(removed);
  auto kept = keep.items();
  return !things.empty() && std::all_of(things.begin(), things.end(), [&](auto& thing) {
    return std::any_of(kept.begin(), kept.end(), [&](auto& k) { return text_of(k) == thing; });
  });
}

}  // namespace tutti::resource
