#include "resource/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/utf8.h"
#include "resource/catalog.h"
#include "resource/former.h"
#include "resource/scrub.h"
#include "transport/spawn.h"

namespace tutti::resource {

using engine::ActionRequest;
using engine::ActionResult;
using engine::How;

u32 workers(u32 wanted) {
  constexpr u64 kOurs = 28, kForCommand = 8;  // descriptors: files of our own; pipes and the rest of a running command
  if (wanted == 0) wanted = std::max(8u, 4 * std::thread::hardware_concurrency());
  u64 files = raise_descriptor_limit(kOurs + u64{kForCommand + started_for(1)} * (wanted + kMostRemote));
  u64 room = (std::max<u64>(files, kOurs) - kOurs) / (kForCommand + started_for(1));
  return static_cast<u32>(std::clamp<u64>(room, 1, wanted));
}

ResourceExecutor::ResourceExecutor(const engine::PlannedSystem& plan, Knowledge& knowledge, ExecutorOptions options)
    : system_(plan.system), planned_(plan.instances), knowledge_(knowledge), options_(std::move(options)) {
  options_.workers = workers(options_.workers);
  here_.most = options_.workers;
  elsewhere_.most =
      options_.parallel ? options_.workers : std::max(1u, workers(options_.workers + kMostRemote) - options_.workers);
  for (auto& i : system_.instances) hosts_.insert(i.host);
}

ResourceExecutor::~ResourceExecutor() {
  stop_all();
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  here_.todo.notify_all();
  elsewhere_.todo.notify_all();
  for (auto& t : threads_) t.join();
}

double ResourceExecutor::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void ResourceExecutor::start(const ActionRequest& request) {
  std::lock_guard lock(mutex_);
  if (request.action->what.is(Kind::kNull)) {  // nothing to do: no thread need hear of it
    ActionResult r;
    r.instance = request.instance;
    r.transition = request.transition;
    r.attempt = request.attempt;
    r.started = r.ended = now();
    results_.push_back(std::move(r));
    return;
  }
  auto job = std::make_shared<Job>();
  job->request = request;
  job->request.inputs = nullptr;  // good only during this call
  job->started = now();
  if (stopped_) return never_began(*job);
  if (!guardian_) guardian_ = std::make_unique<engine::Guardian>(options_.run);
  running_[{request.instance, request.transition}] = job;
  Host* host = host_of(request.instance);
  Crew& crew = host && host->at_once() > 0 ? elsewhere_ : here_;
  crew.queue.push_back(std::move(job));
  if (crew.idle < crew.queue.size() && crew.members < crew.most) {
    ++crew.members;
    threads_.emplace_back([this, &crew] { work(crew); });
  }
  crew.todo.notify_one();
}

u32 ResourceExecutor::most_on(Symbol name) const {
  Host* host = options_.host ? options_.host(name) : nullptr;
  u32 takes = host ? host->at_once() : 0;
  if (takes == 0) return options_.parallel ? 0 : started_for(options_.workers);
  if (takes == 1 || !options_.parallel) return takes;
  return hosts_.size() > 1 ? (options_.parallel + 1) / 2 : options_.parallel;
}

// Once a host has answered it takes more: the engine is told.
void ResourceExecutor::reach(Host& host, const Cancel& cancel) {
  u32 before = host.at_once();
  if (before != 1 || !host.reach(&cancel) || host.at_once() == before) return;
  wake();
}

void ResourceExecutor::work(Crew& crew) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++crew.idle;
    crew.todo.wait(lock, [&] { return closing_ || !crew.queue.empty(); });
    --crew.idle;
    if (crew.queue.empty()) return;
    auto job = std::move(crew.queue.front());
    crew.queue.pop_front();
    lock.unlock();
    if (Host* host = host_of(job->request.instance)) reach(*host, job->cancel);
    Effect effect;
    double began = now();
    guardian_->opening(job->request.instance, job->request.transition);
    ActionResult r = perform(*job, effect);
    guardian_->ended(job->request.instance, job->request.transition);
    if (options_.clean) r.message = options_.clean(r.message), r.log = options_.clean(r.log);
    lock.lock();
    r.instance = job->request.instance;
    r.transition = job->request.transition;
    r.attempt = job->request.attempt;
    r.started = job->started;
    r.ended = now();
    effect.seconds = r.ended - began;
    if (job->timed_out && r.how != How::kOk) {
      r.how = How::kTimeout;
      r.message = fmt::format("did not end in {} s", job->request.timeout);
    }
    Effect& all = effects_[{r.instance, r.transition}];
    all.acted.merge(effect.acted);  // what an earlier attempt came to is as that found it
    effect.acted = std::move(all.acted);
    all = std::move(effect);
    running_.erase({r.instance, r.transition});
    results_.push_back(std::move(r));
    done_.notify_one();
  }
}

// Every action that was started gets a result, whoever was to do it: the engine waits for that.
void ResourceExecutor::never_began(const Job& job) {
  ActionResult r;
  r.instance = job.request.instance;
  r.transition = job.request.transition;
  r.attempt = job.request.attempt;
  r.how = How::kCancelled;
  r.started = job.started;
  r.ended = now();
  running_.erase({r.instance, r.transition});
  results_.push_back(std::move(r));
  done_.notify_one();
}

void ResourceExecutor::cancel(u32 instance, u32 transition) {
  std::lock_guard lock(mutex_);
  auto it = running_.find({instance, transition});
  if (it == running_.end()) return;
  std::shared_ptr<Job> job = it->second;
  for (Crew* crew : {&here_, &elsewhere_})
    if (auto waits = std::find(crew->queue.begin(), crew->queue.end(), job); waits != crew->queue.end()) {
      crew->queue.erase(waits);
      return never_began(*job);
    }
  job->cancel.raise();
}

void ResourceExecutor::stop_all() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  for (Crew* crew : {&here_, &elsewhere_})
    for (auto& job : std::exchange(crew->queue, {})) never_began(*job);
  for (auto& [key, job] : running_) job->cancel.raise();
}

void ResourceExecutor::wake() {
  std::lock_guard lock(mutex_);
  woken_ = true;
  done_.notify_one();
}

void ResourceExecutor::wait(std::vector<ActionResult>& results, double until) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!results_.empty() || woken_) break;
    double t = now(), next = until;
    for (auto& [key, job] : running_) {
      if (job->request.timeout <= 0 || job->timed_out) continue;
      double end = job->started + job->request.timeout;
      if (t >= end) {
        job->timed_out = true;
        job->cancel.raise();
      } else {
        next = std::min(next, end);
      }
    }
    if (t >= until || (running_.empty() && std::isinf(until))) break;
    if (std::isinf(next))
      done_.wait(lock);
    else
      done_.wait_for(lock, std::chrono::duration<double>(next - t));
  }
  woken_ = false;
  std::move(results_.begin(), results_.end(), std::back_inserter(results));
  results_.clear();
}

Effect ResourceExecutor::effect(u32 instance, u32 transition) const {
  std::lock_guard lock(mutex_);
  auto it = effects_.find({instance, transition});
  return it == effects_.end() ? Effect{} : it->second;
}

Context ResourceExecutor::context(const Resource& r, Host& host, u32 instance, const Cancel* cancel,
                                  const std::string& mark) const {
  Context c(host, r);
  c.cancel = cancel;
  c.home = !host.directory.empty() ? host.directory : home_on(system_.instances[instance].host);
  c.scope = options_.scope;
  if (!mark.empty()) c.environment.emplace_back(kActionMark, mark);
  c.environment.emplace_back("TUTTI_COMPONENT", system_.instances[instance].name.text());
  if (options_.say)
    c.say = [this, instance, scrub = Scrubber(r.parameters)](Level l, std::string_view text) {
      options_.say(instance, l, scrub.clean(text));
    };
  c.locate = options_.locate;
  if (options_.elsewhere)
    c.elsewhere = [this, instance](const std::string& path, bool below) {
      auto who = options_.elsewhere(instance, below ? path : "file:" + path, below);
      return who ? who->name : std::string();
    };
  if (options_.sealing.seal) c.sealing = &options_.sealing;
  if (options_.managed) {
    c.managed = options_.managed;
  } else {
    c.managed = [this, instance](const std::string& name) { return is_held(instance, name, false); };
    c.managed_below = [this, instance](const std::string& directory) { return is_held(instance, directory, true); };
  }
  return c;
}

bool ResourceExecutor::add_held(u32 instance, Holdings& holdings) const {
  const model::ComponentType& type = system_.type_of(instance);
  bool settled = true;
  for (const model::Transition& t : type.transitions) {
    Arena arena;
    std::string problem;
    std::map<std::string, Value> reads;
    for (const Resource& r : knowledge_.resources(instance, type.action_of(t), arena, problem, &reads))
      holdings.add(Symbol(machine_of(instance)), r, instance);
    settled = settled && problem.empty() && reads.empty();
  }
  return settled;
}

std::string_view ResourceExecutor::machine_of(u32 instance) const {
  Symbol name = system_.instances[instance].host;
  Host* host = options_.host ? options_.host(name) : nullptr;
  return host ? host->name() : name.text();
}

// What depends on what others give is asked again only when they have given something else.
void ResourceExecutor::renew_holdings() const {
  u64 version = knowledge_.version();
  if (holdings_version_ == version) return;
  bool first = !holdings_version_;
  open_holdings_.clear();
  for (u32 i = 0; i < system_.instances.size(); ++i) {
    if (planned_[i].goes() || (!first && !open_holders_.count(i))) continue;
    Holdings own;
    if (!add_held(i, own) && first) open_holders_.insert(i);
    (open_holders_.count(i) ? open_holdings_ : holdings_).add(own);
  }
  holdings_version_ = version;
}

bool ResourceExecutor::is_held(u32 instance, const std::string& name, bool below) const {
  std::lock_guard lock(holdings_mutex_);
  renew_holdings();
  Symbol host(machine_of(instance));
  return below ? !holdings_.below(host, name).empty() || !open_holdings_.below(host, name).empty()
               : holdings_.has(host, name) || open_holdings_.has(host, name);
}

// A component that was renamed, or has exchanged its path with another: who makes and who removes may come in any
// order.
std::string ResourceExecutor::heir(u32 instance, const Resource& removed) const {
  std::lock_guard lock(holdings_mutex_);
  renew_holdings();
  for (auto& written : find_provider(removed.type)->writes(removed))
    for (auto* holdings : {&holdings_, &open_holdings_})
      for (u32 i : holdings->holders(Symbol(machine_of(instance)), written))
        if (i != instance) return std::string(system_.instances[i].name.text());
  return "";
}

std::optional<Holder> ResourceExecutor::held_elsewhere(u32 instance, const Resource& r) const {
  for (auto& thing : options_.elsewhere ? find_provider(r.type)->writes(r) : std::vector<std::string>{})
    if (auto other = options_.elsewhere(instance, thing, false)) return other;
  return std::nullopt;
}

ResourceExecutor::Found ResourceExecutor::probe(u32 instance, u32 transition, bool begun, Failure& why,
                                                engine::Outputs& outputs) {
  constexpr std::string_view kUnseen = "whether its command ran to its end cannot be seen";
  const model::ComponentType& type = system_.type_of(instance);
  const model::Action& action = type.action_of(type.transitions[transition]);
  if (!begun || action.what.is(Kind::kNull)) return Found::kNotDone;
  if (action.what.find("resource")) {
    // A resource is looked at when it is done again. What it changed before is a reason to refresh others all the same.
    auto r = resource_of(planned_[instance].config);
    Value parameters = r ? r->parameters : Value::null();
    Params params(parameters);
    bool seen = !r || r->type != "exec" || params.has("creates") || params.has("onlyif") || params.has("unless");
    if (!seen) {
      why.message = fmt::format("{}, and it has no creates, onlyif or unless", kUnseen);
      return Found::kUnknown;
    }
    cut_off_.insert({instance, transition});
    return Found::kNotDone;
  }
  Host* host = options_.host ? options_.host(system_.instances[instance].host) : nullptr;
  if (!host) {
    why.message = "its host is not known";
    return Found::kFailed;
  }
  Arena arena;
  auto todo = knowledge_.resources(instance, action, arena, why.message);
  if (!why.message.empty()) return Found::kFailed;
  bool all = true, unknown = false;
  std::map<std::string, std::string> given;
  for (const Resource& one : todo) {
    const Resource r = for_good(instance, one, arena);
    Context c = context(r, *host, instance, nullptr, "");
    c.outputs = &given;
    auto found = find_provider(r.type)->examine(c);
    if (!found) {
      why = found.error();
      return Found::kFailed;
    }
    if (found->in_sync()) continue;
    all = false;
    bool sure = r.type != "exec" || Params(r.parameters).truth("repeatable");
    for (auto& ch : found->changes)
      if (ch.unknown && !sure) unknown = true;
  }
  if (all) {
    knowledge_.learn(instance, given);
    outputs.assign(given.begin(), given.end());
    return Found::kDone;
  }
  if (unknown) {
    why.message = fmt::format("{}, and it is not said to be repeatable", kUnseen);
    return Found::kUnknown;
  }
  return Found::kNotDone;
}

void ResourceExecutor::clear_unfinished(u32 instance, u32 transition) {
  const model::ComponentType& type = system_.type_of(instance);
  const model::Action& action = type.action_of(type.transitions[transition]);
  Host* host = options_.host ? options_.host(system_.instances[instance].host) : nullptr;
  if (!host || action.what.is(Kind::kNull)) return;
  Arena arena;
  std::string problem, script;
  std::vector<Resource> todo;
  if (!action.what.find("resource"))
    todo = knowledge_.resources(instance, action, arena, problem);
  else if (auto r = resource_of(planned_[instance].config))
    todo = {std::move(*r)};
  for (const Resource& r : todo) {
    const Provider* provider = find_provider(r.type);
    if (!provider || r.type == "exec") continue;
    std::vector<std::string> files = provider->parts(r);
    if (r.type == "file") files.push_back(Params(r.parameters).text("path", r.title));
    for (auto& file : files) {
      std::string path = shell_quote(file);
      script += fmt::format("rm -f -- {0}{1} {0}{1}-* {0}.tutti-check; ", path, kUnfinished);
      if (Params(r.parameters).text("recurse", "false") != "false")
        script += fmt::format("find {0} -name '*{1}' -exec rm -f {{}} + 2>/dev/null; ", path, kUnfinished);
    }
  }
  if (!script.empty()) host->shell(script + "true");
}

engine::Outputs ResourceExecutor::taken_as_done(u32 instance, u32 transition) {
  const model::ComponentType& type = system_.type_of(instance);
  if (!type.action_of(type.transitions[transition]).what.find("resource")) return {};
  std::map<std::string, std::string> outputs{{"status", "ok"}, {"changed", "1"}};
  knowledge_.learn(instance, outputs);
  return {outputs.begin(), outputs.end()};
}

u32 end_leftovers(Host& host, const std::string& run, const std::vector<std::pair<u32, u32>>& actions) {
  std::vector<std::string> marks;
  for (auto& [instance, transition] : actions) marks.push_back(fmt::format("{}/{}", instance, transition));
  // Each process of an action carries a mark in its environment. Asked twice: what was killed may have started others.
  std::string script = fmt::format(
      "n=0; for round in 1 2; do for e in $(grep -Elsz '^{}={}[.][0-9]+/({})$' /proc/[0-9]*/environ); do "
      "p=${{e#/proc/}}; kill -9 ${{p%/environ}} 2>/dev/null && n=$((n+1)); done; done; echo $n",
      kActionMark, run, fmt::join(marks, "|"));
  auto r = host.shell(script, std::chrono::seconds(30));
  return r.ok() ? static_cast<u32>(std::strtoul(r.out.c_str(), nullptr, 10)) : 0;
}

}  // namespace tutti::resource
