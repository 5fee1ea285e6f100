// Values that components take from others: who was made with which, and who is to follow when they change.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "deploy/planning/planning.h"
#include "deploy/planning/stages.h"
#include "model/template.h"

namespace tutti::deploy {
namespace {

// The components that a plan was asked to look at; all when it is empty.
std::set<std::string> only_of(const Value& flat) {
  auto names = engine::read_head(flat).only;
  return {names.begin(), names.end()};
}

std::set<u32> acting(const model::System& s) {
  std::set<u32> out;
  for (auto& in : s.program)
    if (in.op == model::Op::kPush) out.insert(in.instance);
  return out;
}

}  // namespace

std::map<std::string, engine::Present> changed_values(Session& session, const Prepared& p, const engine::Recorded& was,
                                                      const std::string& home) {
  std::map<std::string, engine::Present> out;
  const model::System& s = p.program.system;
  resource::Knowledge knowledge(p.program);
  teach(knowledge, p, was, home);
  resource::Scrubber scrub(p.state);
  TreeBuilder b(session.arena);
  auto by_instance = was.by_instance();
  for (u32 i = 0; i < s.assembly; ++i) {
    auto c = by_instance.find(s.instances[i].name.text());
    const Value* config = &p.program.instances[i].config;
    if (c == by_instance.end() || p.program.instances[i].goes()) continue;
    engine::Present now;
    if (std::string missing; !c->second->made.is(Kind::kNull) && model::has_placeholders(*config)) {
      Value made = scrub.marked(knowledge.settled(i, *config, session.arena, missing), b);
      if (missing.empty() && !equal(made, c->second->made)) now.config = made;
    }
    if (const Value& reads = c->second->reads; reads.is(Kind::kMap)) {
      std::vector<Entry> others;
      for (const Entry& e : reads.entries())
        if (auto v = knowledge.look_up(i, e.key.text(), *config, *config, session.arena); v && !equal(*v, e.value))
          others.push_back({e.key, Field::kPlain, scrub.marked(*v, b)});
      if (!others.empty()) now.reads = b.map(others);
    }
    if (!now.config.is(Kind::kNull) || !now.reads.is(Kind::kNull)) out[c->second->name] = now;
  }
  return out;
}

// Found by taking away what those that act have given so far: who then misses something refers to it, and may act too.
void note_may_change(const Noting& n) {
  Prepared& p = n.plan;
  const engine::Recorded& was = n.was;
  const model::System& s = p.program.system;
  auto by_instance = was.by_instance();
  auto recorded_as = [&](u32 i) -> const engine::RecordedComponent* {
    auto c = by_instance.find(s.instances[i].name.text());
    return c == by_instance.end() ? nullptr : c->second;
  };
  resource::Knowledge all(p.program);
  teach(all, p, was, n.home);
  engine::Recorded silent = was;
  auto asked = only_of(p.plan.flat);
  std::set<u32> busy = acting(s), fresh = busy;
  while (!fresh.empty()) {
    bool any = false;
    for (u32 i : fresh)
      if (auto c = recorded_as(i); c && !c->outputs.empty()) {
        silent.components.at(c->name).outputs.clear();
        any = true;
      }
    fresh.clear();
    if (!any) return;
    resource::Knowledge less(p.program);
    teach(less, p, silent, n.home);
    for (u32 i = 0; i < s.assembly; ++i) {
      auto c = recorded_as(i);
      const Value* config = &p.program.instances[i].config;
      if (busy.count(i) || !c || p.program.instances[i].goes()) continue;
      std::string before, after;
      all.settled(i, *config, n.session.arena, before);
      less.settled(i, *config, n.session.arena, after);
      if (c->reads.is(Kind::kMap))
        for (const Entry& e : c->reads.entries())
          if (after.empty() && !less.look_up(i, e.key.text(), *config, *config, n.session.arena)) after = e.key.text();
      if (!before.empty() || after.empty()) continue;
      bool follows = asked.empty() || asked.count(c->name);
      p.plan.notes.push_back(fmt::format("`{}` may change too, {}: it refers to `{}`", c->name,
                                         follows ? "in a run that follows" : "by a plan that looks at it", after));
      p.plan.followers.push_back({c->name, after, follows});
      busy.insert(i);
      if (follows) fresh.insert(i);
    }
  }
}

std::optional<Prepared> Planning::follow_up(const std::string& system, const Value& wanted, const Value& flat,
                                            bool& wrong) {
  const std::string kind(kFollowRun);
  wrong = false;
  if (resource::is_catalog(wanted)) return std::nullopt;
  std::size_t before = session_.diagnostics.errors();
  auto now = world_.recorded(system);
  auto refers = [](auto& c) { return !c.second.made.is(Kind::kNull) || !c.second.reads.is(Kind::kNull); };
  if (!now || std::none_of(now->recorded.components.begin(), now->recorded.components.end(), refers)) {
    wrong = !now;
    return std::nullopt;
  }
  engine::PlanOptions options;
  options.only = {""};  // nobody: only to see what the values are now
  auto next = prepare(wanted, system, kind, options);
  if (next) {
    options.only = next->renewed;
    if (auto asked = only_of(flat); !asked.empty())
      std::erase_if(options.only, [&](auto& name) { return !asked.count(name); });
    if (options.only.empty()) return std::nullopt;
    next = prepare(wanted, system, kind, options);
  }
  wrong = session_.diagnostics.errors() != before;
  return next;
}

}  // namespace tutti::deploy
