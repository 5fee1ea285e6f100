// Whether what is recorded still is so: in goes the record, out comes what every resource that components hold says
// when it is looked at, in the order of the record. Nothing is changed.
//
// Hosts are looked at side by side, each by one thread and one look after the other: what takes long is waiting for a
// host, and one that does not answer keeps nobody waiting but itself. More than one look at a time on a host was
// rejected: looks are short, and a host of a hundred components would see a hundred sessions.
#include "deploy/looking/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <set>
#include <thread>

#include "deploy/shared/share.h"
#include "model/template.h"
#include "resource/catalog.h"
#include "resource/holdings.h"

namespace tutti::deploy {
namespace {

constexpr std::size_t kMostHosts = 64;  // looked at at a time

// What stays where it is once it is made, and can be seen by no resource that it holds: commands without a check. (What
// is done once and then over holds nothing.)
bool unseen(const engine::RecordedComponent& c, const engine::Recorded& recorded) {
  auto kind = recorded.kinds.find(c.type);
  if (kind == recorded.kinds.end() || !c.held.empty() || c.forgotten) return false;
  const Entry *goal = kind->second.find("goal"), *hold = kind->second.find("hold");
  const Entry* transitions = kind->second.find("transitions");
  if (!goal || !hold || !transitions || !hold->value.is(Kind::kList) || !transitions->value.is(Kind::kMap))
    return false;
  auto is_goal = [&](std::string_view place) { return goal->value.is(Kind::kString) && goal->value.text() == place; };
  auto held = hold->value.items();
  return std::any_of(c.marking.begin(), c.marking.end(), [&](Symbol p) { return is_goal(p.text()); }) &&
         std::any_of(held.begin(), held.end(), [&](auto& v) { return v.is(Kind::kString) && is_goal(v.text()); }) &&
         std::any_of(transitions->value.entries().begin(), transitions->value.entries().end(),
                     [](const Entry& t) { return t.value.find("do") != nullptr; });
}

class Looking {
 public:
  Looking(const engine::Recorded& recorded, const resource::ExecutorOptions& options)
      : recorded_(recorded), options_(options) {
    for (auto& [name, c] : recorded.components) {
      if (auto r = c.type == "resource" ? resource::resource_of(c.config) : std::nullopt)
        managed_.insert(resource::managed_as(*r));
      for (auto& h : c.held) holdings_.add(c.host, resource_of(h), 0);
    }
  }

  std::vector<Drift> all() {
    std::map<Symbol, std::vector<std::size_t>> by_host;
    for (std::size_t i = 0; i < recorded_.order.size(); ++i)
      by_host[recorded_.components.at(recorded_.order[i]).host].push_back(i);
    std::vector<std::vector<Drift>> found(recorded_.order.size());
    std::vector<const std::vector<std::size_t>*> todo;
    for (auto& [host, which] : by_host) todo.push_back(&which);
    std::atomic<std::size_t> next = 0;
    auto work = [&] {
      for (std::size_t k = next++; k < todo.size(); k = next++)
        for (std::size_t i : *todo[k]) found[i] = look(recorded_.order[i]);
    };
    std::vector<std::thread> threads;
    for (std::size_t k = 1; k < std::min(todo.size(), kMostHosts); ++k) threads.emplace_back(work);
    work();
    for (std::thread& t : threads) t.join();
    std::vector<Drift> out;
    for (auto& some : found) std::move(some.begin(), some.end(), std::back_inserter(out));
    return out;
  }

 private:
  std::vector<Drift> look(const std::string& name) const {
    const engine::RecordedComponent& c = recorded_.components.at(name);
    std::vector<Drift> out;
    std::vector<resource::Resource> held;
    bool catalog = c.type == "resource", unknown_yet = false;
    for (auto& h : c.held) held.push_back(resource_of(h));
    if (auto r = catalog ? resource::resource_of(c.config) : std::nullopt) {
      const Entry* noop = c.config.find("noop");
      if (!noop || !resource::truth_of(noop->value, false)) held.push_back(*r);
      unknown_yet = c.config.find("templates") && model::has_placeholders(r->parameters);
    }
    auto not_seen = [&](const std::string& why) {
      out.push_back({name, c.type, fmt::format("{} {}", c.type, name), {}, why});
    };
    if (!catalog && !c.failed.empty())
      not_seen(fmt::format("its `{}` failed{}", c.failed, c.untouched ? " before it had begun" : ""));
    else if (!catalog && unseen(c, recorded_))
      not_seen("its commands have no check");
    for (auto& r : held) {
      Drift d{name, r.type, fmt::format("{} {}", r.type, r.title)};
      if (unknown_yet)
        d.problem = "what it should be is known only when it is applied";
      else
        look(c, r, d);
      if (!d.problem.empty() || !d.changes.empty()) out.push_back(std::move(d));
    }
    return out;
  }

  void look(const engine::RecordedComponent& c, const resource::Resource& r, Drift& d) const {
    Host* host = options_.host ? options_.host(c.host) : nullptr;
    const resource::Provider* provider = resource::find_provider(r.type);
    if (!host || !provider) {
      d.problem = !host ? fmt::format("there is no host `{}`", c.host.text()) : "no such type of resource";
      return;
    }
    bool catalog = c.type == "resource";
    resource::Context context(*host, r);
    context.home = c.host.empty() ? options_.home : host->directory.empty() ? options_.remote_home : host->directory;
    context.scope = options_.scope;
    context.locate = options_.locate;
    context.catalog = catalog;
    context.managed = [&](const std::string& what) {
      return catalog ? managed_.count(what) != 0 : holdings_.has(c.host, what);
    };
    if (!catalog)
      context.managed_below = [&](const std::string& path) { return !holdings_.below(c.host, path).empty(); };
    auto f = provider->examine(context);
    if (f) {
      d.changes = f->changes;
      return;
    }
    d.problem = f.error().message;
    d.unreachable = f.error().code == EHOSTUNREACH || f.error().code == ECONNRESET;
  }

  const engine::Recorded& recorded_;
  const resource::ExecutorOptions& options_;
  std::set<std::string> managed_;
  resource::Holdings holdings_;
};

}  // namespace

std::vector<Drift> look_for_drift(const engine::Recorded& recorded, const resource::ExecutorOptions& options) {
  return Looking(recorded, options).all();
}

std::map<std::string, std::vector<engine::Deviation>> deviations_of(const std::vector<Drift>& drift) {
  std::map<std::string, std::vector<engine::Deviation>> out;
  for (auto& d : drift)
    for (auto& c : d.changes)
      if (!c.unknown)
        out[d.component].push_back(
            {d.type,
             fmt::format("{}: {} is {}, should be {}", d.resource, c.property, c.from.empty() ? "otherwise" : c.from,
                         c.to.empty() ? "as it was left" : c.to),
             d.type == "exec" || (c.property == "ensure" && c.to == "running")});
  return out;
}

}  // namespace tutti::deploy
