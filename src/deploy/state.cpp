// What a run leaves behind, as the next one will find it. Whether it still is so: drift.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "deploy/deployer.h"
#include "deploy/elsewhere.h"
#include "deploy/encode.h"
#include "deploy/journal.h"
#include "deploy/program.h"
#include "deploy/share.h"
#include "engine/run/simulate.h"

namespace tutti::deploy {
namespace {

constexpr std::string_view kChecks[] = {"creates", "unless", "onlyif"};

bool has_check(const resource::Params& p) {
  return std::any_of(std::begin(kChecks), std::end(kChecks), [&](auto name) { return p.has(name); });
}

bool same_check(const Value& a, const Value& b) {
  return std::all_of(std::begin(kChecks), std::end(kChecks), [&](auto name) {
    const Entry *x = a.find(name), *y = b.find(name);
    return x && y ? equal(x->value, y->value) : x == y;
  });
}

// Whether a plan begins with a component up that is not recorded so.
bool was_taken_as_up(const model::ComponentType& type, const Value& flat, const model::Instance& inst,
                     const std::string& kind, const engine::RecordedComponent& was) {
  const Entry* kinds = flat.find("kinds");
  const Entry* tree = kinds ? kinds->value.find(kind) : nullptr;
  const Entry* goal = tree ? tree->value.find("goal") : nullptr;
  if (!goal || !goal->value.is(Kind::kString) || inst.marking.size() != 1) return false;
  Symbol up(goal->value.text());
  return inst.marking[0] == type.find_place(up) && was.marking != std::vector<Symbol>{up};
}

// Whether all that has come of it is on its way out of where it began.
bool same_place(const model::Marking& now, const model::Marking& began, const model::ComponentType& type) {
  return std::all_of(now.begin(), now.end(), [&](u32 e) {
    if (type.is_place(e)) return e == began[0];
    model::HalfWay h = type.half_way(e);
    return !h.ended && type.transitions[h.transition].source == began[0];
  });
}

// Whether it began half way and is still there.
bool no_further(model::Marking now, model::Marking began, const model::ComponentType& type) {
  std::sort(now.begin(), now.end());
  std::sort(began.begin(), began.end());
  return now == began && std::any_of(now.begin(), now.end(), [&](u32 e) { return !type.is_place(e); });
}

}  // namespace

Value Deployer::next_state(const Prepared& p, const engine::Runner& runner, const resource::Knowledge& knowledge,
                           const std::vector<engine::ActionSpan>& actions, const Fate& fate,
                           const resource::Scrubber& scrub) {
  const model::System& s = p.program.system;
  const engine::Scheduler& now = runner.scheduler();
  TreeBuilder b(session_.arena);
  engine::Recorded was = engine::read_recorded(session_, p.state), next;
  // What each instance holds: what its actions brought about, the last word on each resource.
  std::map<u32, std::map<std::string, Value>> held, reads;
  std::map<u32, const engine::RecordedComponent*> before;
  std::set<u32> acted, ended, began;  // whose actions were run, came to their end, began to act
  for (auto& [action, resources] : fate.acted)
    if (!resources.empty()) began.insert(action.first);
  std::map<u32, std::set<std::string>> done;  // by the actions of this run
  std::map<u32, std::set<u32>> coming;        // transitions that left the initial place since it last came up
  auto by_instance = was.by_instance();
  for (u32 i = 0; i < s.assembly; ++i)
    if (auto c = by_instance.find(s.instances[i].name.text()); c != by_instance.end()) {
      before[i] = c->second;
      for (auto& h : c->second->held)
        held[i][fmt::format("{}/{}", h.find("type")->value.text(), h.find("title")->value.text())] = h;
    }
  Elsewhere others(*this, *place_.store, p.system);
  auto shares = shares_after(p, was, knowledge, actions, fate.acted, scrub, others);
  for (auto& a : actions) {
    acted.insert(a.instance);
    if (a.how != engine::How::kOk) continue;
    const model::ComponentType& type = s.type_of(a.instance);
    const model::Action& action = type.action_of(type.transitions[a.transition]);
    if (!action.what.is(Kind::kNull)) ended.insert(a.instance);
    // Coming up anew it holds nothing of what its way down was about. (What goes on half way does not come anew, and of
    // several that leave the place together only the first begins it.)
    if (type.initial == model::Marking{type.transitions[a.transition].source}) {
      auto [begun, first] = coming.try_emplace(a.instance);
      if (first)
        for (u32 e : s.instances[a.instance].marking)
          if (!type.is_place(e)) begun->second.insert(model::kNone);
      if (begun->second.empty() || begun->second.count(a.transition)) held[a.instance].clear(), begun->second.clear();
      begun->second.insert(a.transition);
    }
    std::string problem;
    for (auto& r : knowledge.resources(a.instance, action, session_.arena, problem, &reads[a.instance])) {
      std::string key = resource::key_of(r);
      resource::Params params(r.parameters);
      std::string ensure = params.text("ensure");
      if (r.let_go) held[a.instance].erase(key);
      if (r.let_go || r.type == "wait" || (r.type == "process" && ensure == "reloaded")) continue;
      if (r.type == "exec" && !has_check(params)) continue;
      std::vector<Entry> one{{Symbol("type"), Field::kPlain, b.string(r.type)},
                             {Symbol("title"), Field::kPlain, scrub.marked(b.string(r.title), b)},
                             {Symbol("parameters"), Field::kPlain, scrub.marked(r.parameters, b)}};
      held[a.instance][key] = b.map(one);
      done[a.instance].insert(key);
    }
  }
  // Of what does not become what it should be, the files that are written: the next plan may know nothing of them.
  auto strays = [&](u32 i, const engine::RecordedComponent* old_self) {
    std::set<std::string> out;
    if (old_self && old_self->stray.is(Kind::kList))
      for (const Value& v : old_self->stray.items()) out.insert(std::string(v.text()));
    for (auto at = fate.acted.lower_bound({i, 0}); at != fate.acted.end() && at->first.first == i; ++at) {
      std::string problem;
      const model::ComponentType& type = s.type_of(i);
      for (auto& r :
           knowledge.resources(i, type.action_of(type.transitions[at->first.second]), session_.arena, problem))
        if (resource::Params params(r.parameters);
            r.type == "file" && params.text("ensure") != "absent" && !r.let_go && was_acted_on(at->second, r, scrub))
          out.insert(params.text("path", r.title));
    }
    return scrub.marked(as_list(out, b), b);
  };
  // A check belongs to what was asked for then. Of what has become something else since, without that command, it is
  // what its type says now; and nothing where the type knows no such command any more, or one that was run asks the
  // same.
  auto renew_checks = [&](u32 i) {
    std::map<std::string, Value> meant;
    for (auto& t : s.type_of(i).transitions) {
      std::string problem;
      for (auto& r : knowledge.resources(i, s.type_of(i).action_of(t), session_.arena, problem))
        if (r.type == "exec" && has_check(resource::Params(r.parameters))) meant[resource::key_of(r)] = r.parameters;
    }
    auto& all = held[i];
    auto asked = [&](const Value& parameters) {
      return std::any_of(all.begin(), all.end(), [&](auto& h) {
        return h.first.starts_with("exec/") && done[i].count(h.first) &&
               same_check(h.second.find("parameters")->value, parameters);
      });
    };
    for (auto it = all.begin(); it != all.end();) {
      auto now_meant = meant.find(it->first);
      if (!it->first.starts_with("exec/") || done[i].count(it->first)) {
        ++it;
      } else if (now_meant == meant.end() || asked(now_meant->second)) {
        it = all.erase(it);
      } else {
        MapDraft m;
        for (const Entry& e : it->second.entries()) m.set(e.key, e.value);
        m.set(Symbol("parameters"), scrub.marked(now_meant->second, b));
        (it++)->second = m.build(b);
      }
    }
  };
  std::multimap<u32, model::Link> links;
  for (const model::Link& link : now.links()) links.emplace(link.user, link);
  auto stays = [&](u32 i) { return p.program.instances[i].stays; };
  // Everything was done for it, and well.
  auto complete = [&](u32 i) {
    if (!now.idle(i) || fate.failed.count(i)) return false;
    return std::none_of(s.program.begin() + now.pc(), s.program.end(),
                        [&](auto& in) { return in.op == model::Op::kPush && in.instance == i; });
  };
  // Where the old one and the new one are both there, the name is the new one's once that is there, and until then the
  // old one's as long as it stands as it stood: it is what others use.
  auto claim = [&](u32 i) {
    if (stays(i)) return i < s.assembly || complete(i) ? 0 : 2;
    auto old = before.find(i);
    return acted.count(i) || fate.failed.count(i) || old == before.end() || !old->second->failed.empty() ? 3 : 1;
  };
  std::map<u32, std::string> name_of;
  std::map<std::string_view, u32> known_as;  // in the record before
  std::set<std::string> names;
  for (int rank = 0; rank <= 3; ++rank)
    for (u32 i = 0; i < s.instances.size(); ++i) {
      if (!now.present(i) || claim(i) != rank) continue;
      const std::string& component = p.program.component_of[i];
      name_of[i] = names.count(component) ? fmt::format("{}~{}", component, s.instances[i].name.text()) : component;
      names.insert(name_of[i]);
      if (auto old = before.find(i); old != before.end()) known_as[old->second->name] = i;
    }
  for (u32 pass = 0; pass < 2; ++pass)
    for (u32 i = 0; i < s.instances.size(); ++i) {
      const model::Instance& inst = s.instances[i];
      if (!now.present(i) || stays(i) != (pass == 0)) continue;
      engine::RecordedComponent c;
      c.name = name_of.at(i);
      c.instance = inst.name.text();
      const engine::PlannedInstance& planned = p.program.instances[i];
      c.generation = planned.generation;
      c.type = planned.kind;
      c.host = inst.host;
      const model::ComponentType& type = s.type_of(i);
      c.marking = left_by(type, now.marking(i));
      auto earlier = before.find(i);
      const engine::RecordedComponent* old_self = earlier == before.end() ? nullptr : earlier->second;
      if (old_self) c.former = old_self->former;
      if (auto f = fate.failed.find(i); f != fate.failed.end()) {
        c.failed = f->second;
        c.untouched = !began.count(i) && (!old_self || old_self->untouched);
      } else if (old_self && !acted.count(i)) {
        c.failed = old_self->failed;
        c.untouched = old_self->untouched;
      }
      // What never came up and goes down as if it had is not up where it has not got away from there: it stands where
      // it stood, or half way down where that has begun.
      if (old_self && was_taken_as_up(type, p.plan.flat, inst, planned.kind, *old_self) &&
          same_place(now.marking(i), inst.marking, type)) {
        if (began.count(i)) {
          c.marking.clear();
          for (u32 e : now.marking(i)) c.marking.push_back(Symbol(type.element_name(e)));
        } else {
          c.marking = old_self->marking;
          c.failed = old_self->failed;
          c.untouched = old_self->untouched;
        }
      }
      if (old_self && no_further(now.marking(i), inst.marking, type)) c.marking = old_self->marking;
      c.protect = planned.protect;
      c.forgotten = old_self && old_self->forgotten;
      bool whole = complete(i);
      if (!whole && !began.count(i) && !ended.count(i) && (!old_self || old_self->untouched)) c.untouched = true;
      const Share& share = shares[i];
      c.before = scrub.marked(as_list(share.before, b), b);
      c.touched = scrub.marked(as_list(share.touched, b), b);
      c.formerly = scrub.marked(as_tree(share.formerly, b), b);
      c.found =
          !held[i].empty() && c.failed.empty() && !c.untouched && share.touched.empty() &&
          std::all_of(held[i].begin(), held[i].end(), [&](auto& h) { return share.is_left(resource_of(h.second)); });
      if (!whole || (!acted.count(i) && old_self)) c.stray = strays(i, old_self);
      Value wanted = planned.config.is(Kind::kNull) ? b.map({}) : planned.config;
      // What only went on from where it was left was made with the values that it had then, too.
      bool went_on = old_self && equal(old_self->tried, wanted) && equal(old_self->config, wanted);
      bool renewed = acted.count(i) && (coming.count(i) || (whole && !went_on));
      // The new configuration counts only once everything was done for it, or it has come anew, with nothing of the
      // old.
      c.config = whole || renewed || planned.old.is(Kind::kNull) ? wanted : planned.old;
      if (old_self && !acted.count(i))
        c.tried = old_self->tried;
      else if (!whole)
        c.tried = wanted;
      if (model::has_placeholders(c.config)) {
        std::string missing;
        if (old_self && !renewed && !old_self->made.is(Kind::kNull))
          c.made = old_self->made;
        else if (Value made = knowledge.settled(i, c.config, session_.arena, missing); missing.empty())
          c.made = scrub.marked(made, b);
      }
      c.reads = old_self ? old_self->reads : Value::null();
      if (!reads[i].empty()) {
        MapDraft m;
        if (c.reads.is(Kind::kMap))
          for (const Entry& e : c.reads.entries()) m.set(e.key, e.value);
        for (auto& [path, value] : reads[i]) m.set(Symbol(path), scrub.marked(value, b));
        c.reads = m.build(b);
      }
      for (auto [at, end] = links.equal_range(i); at != end; ++at) {
        const model::Link& link = at->second;
        if (model::is_order_port(type.ports[link.use].name)) continue;
        model::Need n;
        n.port = type.ports[link.use].name;
        n.provider = Symbol(name_of.at(link.provider));
        n.provide = s.type_of(link.provider).ports[link.provide].name;
        n.hold = true;
        for (auto& need : planned.needs)
          if (need.port == n.port) n.hold = need.hold;
        c.needs.push_back(n);
      }
      // As long as it has not become what it should be it needs what it needed.
      if (old_self && !whole)
        for (auto n : old_self->needs) {
          if (auto provider = known_as.find(n.provider.text()); provider != known_as.end())
            n.provider = Symbol(name_of.at(provider->second));
          if (std::none_of(c.needs.begin(), c.needs.end(), [&](auto& m) { return m.port == n.port; }) &&
              names.count(std::string(n.provider.text())))
            c.needs.push_back(n);
        }
      c.orders = planned.orders;
      c.outputs = knowledge.outputs(i);
      if (auto st = c.outputs.find("status"); c.type == "resource" && st != c.outputs.end() && st->second == "failed")
        c.failed = "apply";
      for (auto& [key, value] : c.outputs)
        if (scrub.has_secret(value)) c.secret.insert(key);
      if (whole && acted.count(i)) renew_checks(i);
      for (auto& [key, h] : held[i]) c.held.push_back(h);
      next.order.push_back(c.name);
      next.components.emplace(c.name, std::move(c));
    }
  // Types of everything that is left, as they are now and, for what stayed behind, as they were.
  if (const Entry* k = p.plan.flat.find("kinds"); k && k->value.is(Kind::kMap))
    for (const Entry& e : k->value.entries()) next.kinds[std::string(e.key.text())] = e.value;
  for (auto& [name, tree] : was.kinds) next.kinds.try_emplace(name, tree);
  std::set<std::string> used;
  for (auto& [name, c] : next.components) used.insert(c.type);
  std::erase_if(next.kinds, [&](auto& k) { return !used.count(k.first); });
  Value state = engine::write_recorded(next, b);
  MapDraft m;
  for (const Entry& e : state.entries()) m.set(e.key, e.value);
  if (const Entry* h = p.plan.flat.find("hosts"); h && h->value.is(Kind::kMap)) {
    // One that is no longer described goes with the last that was there.
    const Entry* wanted = p.wanted.is(Kind::kMap) ? p.wanted.find("hosts") : nullptr;
    std::set<Symbol> needed;
    for (auto& [name, c] : next.components) needed.insert(c.host);
    MapDraft hosts;
    for (const Entry& e : h->value.entries())
      if (needed.count(e.key) || (wanted && wanted->value.is(Kind::kMap) && wanted->value.find(e.key.text())))
        hosts.set(e.key, e.value);
    m.set(Symbol("hosts"), hosts.build(b));
  }
  return m.build(b);
}

std::optional<Deployer::Standing> Deployer::standing(i64 run) {
  auto record = place_.store->run(run);
  auto entries = place_.store->entries(run);
  if (!record || !*record || !entries || (*record)->kind == kForgetRun) return std::nullopt;
  std::optional<Prepared> planned;
  std::optional<Program> program;
  if ((*record)->kind == kProgramRun) {
    if (auto stored = decode(session_, "program of the run", (*record)->plan, *place_.seal))
      program = Program::restored(session_, *stored);
  } else {
    planned = as_prepared(**record);
  }
  if (!planned && !program) return std::nullopt;
  const model::System& s = planned ? planned->program.system : program->model;
  Replay replay = read_journal(s, std::move(*entries), *place_.seal);
  if (!replay.wrong.empty()) return std::nullopt;
  Standing out;
  for (auto& o : replay.record.open)
    out.open[planned ? planned->program.component_of[o.instance] : std::string(s.instances[o.instance].name.text())]
        .emplace_back(s.type_of(o.instance).transitions[o.transition].name.text());
  replay.record.open.clear();
  engine::SimulatedExecutor nothing;
  engine::Runner runner(s, nothing);
  runner.drain();
  engine::RunReport report = runner.resume(replay.record);
  if (program) {
    out.recorded = assembly_of(s, runner, resource::Scrubber(program->tree));
    return out;
  }
  if (const Entry* hosts = planned->plan.flat.find("hosts")) out.hosts = hosts->value;
  resource::Knowledge knowledge(planned->program);
  teach(knowledge, *planned, engine::read_recorded(session_, planned->state));
  for (auto& r : replay.record.results)
    if (r.how == engine::How::kOk) knowledge.learn(r.instance, {r.outputs.begin(), r.outputs.end()});
  Fate fate;
  for (auto& [i, t] : runner.scheduler().failures()) fate.failed[i] = s.type_of(i).transitions[t].name.text();
  fate.acted = replay.acted;
  out.recorded = engine::read_recorded(
      session_, next_state(*planned, runner, knowledge, report.actions, fate, resource::Scrubber(planned->plan.flat)));
  return out;
}

}  // namespace tutti::deploy
