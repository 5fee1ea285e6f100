// From what a run left (markings, results, the journal's notes of what was acted on) to facts about each instance. What
// is gathered here is only copied, looked up and counted; what follows from it is for the rules.
#include "deploy/recording/evidence.h"

#include "deploy/recording/naming.h"
#include "deploy/recording/shares.h"

namespace tutti::deploy {
namespace {

class Gathering {
 public:
  Gathering(const EndedRun& run, const engine::Recorded& was, Arena& arena)
      : run_(run),
        system_(run.prepared.program.system),
        was_(was),
        arena_(arena),
        builder_(arena),
        all_(system_.instances.size()),
        still_asked_(all_.size(), false) {}

  std::vector<EndedInstance> all() {
    start();
    for (auto& [action, resources] : run_.acted)
      if (!resources.empty()) all_[action.first].touched = true;
    for (auto& a : run_.actions) take(a);
    for (auto& [i, transition] : run_.failed) all_[i].failed = transition;
    auto shares = shares_after(run_.prepared, was_, run_.knowledge, run_.actions, run_.acted, run_.scrub, run_.others);
    for (auto& [i, share] : shares) all_[i].share = std::move(share);
    for (u32 i = 0; i < all_.size(); ++i) finish(i);
    name();
    use();
    return std::move(all_);
  }

 private:
  // What was known of it before anything was done.
  void start() {
    auto recorded = recorded_of(run_.prepared.program, was_);
    for (u32 i = 0; i < all_.size(); ++i) {
      EndedInstance& e = all_[i];
      e.planned = &run_.prepared.program.instances[i];
      e.type = &system_.type_of(i);
      e.old = recorded[i];
      e.began = system_.instances[i].marking;
      e.goal = goal_of(e.planned->kind);
      HeldResources held;
      if (e.old)
        for (auto& h : e.old->held) held[resource::key_of(resource_of(h))] = h;
      e.holding.start(std::move(held), *e.type, e.began);
    }
    for (u32 pc = run_.end.pc(); pc < system_.program.size(); ++pc)
      if (system_.program[pc].op == model::Op::kPush) still_asked_[system_.program[pc].instance] = true;
  }

  Symbol goal_of(const std::string& kind) const {
    const Entry* kinds = run_.prepared.plan.flat.find("kinds");
    const Entry* tree = kinds && kinds->value.is(Kind::kMap) ? kinds->value.find(kind) : nullptr;
    const Entry* goal = tree ? tree->value.find("goal") : nullptr;
    return goal && goal->value.is(Kind::kString) ? Symbol(goal->value.text()) : Symbol();
  }

  void take(const engine::ActionSpan& a) {
    EndedInstance& e = all_[a.instance];
    e.acted = true;
    if (a.how != engine::How::kOk) return;
    const model::Action& action = e.type->action_of(e.type->transitions[a.transition]);
    if (!action.what.is(Kind::kNull)) e.ended = true;
    e.holding.ended(*e.type, a.transition);
    std::map<std::string, Value> reads;
    std::string problem;
    for (auto& r : run_.knowledge.resources(a.instance, action, arena_, problem, &reads))
      e.holding.about(r, held_as_value(r, run_.scrub, builder_));
    for (auto& [path, value] : reads) e.reads[path] = run_.scrub.marked(value, builder_);
  }

  void finish(u32 i) {
    EndedInstance& e = all_[i];
    e.stands = run_.end.marking(i);
    e.complete = run_.end.idle(i) && !run_.failed.count(i) && !still_asked_[i];
    e.outputs = run_.knowledge.outputs(i);
    for (auto& [key, value] : e.outputs)
      if (run_.scrub.has_secret(value)) e.secret.insert(key);
    e.settled = [this_run = &run_, arena = &arena_, i](const Value& config) {
      std::string missing;
      Value made = this_run->knowledge.settled(i, config, *arena, missing);
      return missing.empty() ? this_run->scrub.marked(made, TreeBuilder(*arena)) : Value::null();
    };
    // Both cost a look at all actions of the type, so only where a rule asks.
    if (!e.complete || !e.acted) e.written = written_by(i);
    if (e.complete && e.acted) e.meant_checks = checks_of(i);
  }

  std::set<std::string> written_by(u32 i) const {
    std::set<std::string> files;
    for (auto at = run_.acted.lower_bound({i, 0}); at != run_.acted.end() && at->first.first == i; ++at) {
      std::string problem;
      const model::ComponentType& type = system_.type_of(i);
      const model::Action& action = type.action_of(type.transitions[at->first.second]);
      for (auto& r : run_.knowledge.resources(i, action, arena_, problem)) {
        resource::Params params(r.parameters);
        if (r.type == "file" && params.text("ensure") != "absent" && !r.let_go &&
            was_acted_on(at->second, r, run_.scrub))
          files.insert(params.text("path", r.title));
      }
    }
    return files;
  }

  std::map<std::string, Value> checks_of(u32 i) const {
    std::map<std::string, Value> meant;
    for (auto& t : system_.type_of(i).transitions) {
      std::string problem;
      for (auto& r : run_.knowledge.resources(i, system_.type_of(i).action_of(t), arena_, problem))
        if (r.type == "exec" && has_check(r)) meant[resource::key_of(r)] = run_.scrub.marked(r.parameters, builder_);
    }
    return meant;
  }

  NameClaim claim_of(u32 i) const {
    const EndedInstance& e = all_[i];
    if (e.planned->stays) return i < system_.assembly || e.complete ? NameClaim::kIsThere : NameClaim::kUnderWay;
    bool as_it_stood = !e.acted && e.failed.empty() && e.old && e.old->failed.empty();
    return as_it_stood ? NameClaim::kUntouched : NameClaim::kGoing;
  }

  void name() {
    std::vector<NamedInstance> instances;
    for (u32 i = 0; i < all_.size(); ++i)
      instances.push_back({run_.prepared.program.component_of[i], std::string(system_.instances[i].name.text()),
                           run_.end.present(i), claim_of(i)});
    auto names = names_after(instances);
    for (u32 i = 0; i < all_.size(); ++i) all_[i].name = std::move(names[i]);
  }

  // Links as they are, and those that are recorded, with the names that providers have now.
  void use() {
    for (const model::Link& link : run_.end.links()) {
      EndedInstance& user = all_[link.user];
      Symbol port = user.type->ports[link.use].name;
      if (model::is_order_port(port)) continue;
      const EndedInstance& provider = all_[link.provider];
      user.uses.push_back({port, Symbol(provider.name), provider.type->ports[link.provide].name, true, {}});
    }
    std::map<std::string_view, std::string_view> known_as;  // in the record before -> now
    std::set<std::string_view> names;
    for (auto& e : all_) {
      if (e.name.empty()) continue;
      names.insert(e.name);
      if (e.old) known_as[e.old->name] = e.name;
    }
    for (auto& e : all_) {
      if (!e.old || e.complete) continue;
      for (model::Need need : e.old->needs) {
        if (auto now = known_as.find(need.provider.text()); now != known_as.end()) need.provider = Symbol(now->second);
        if (names.count(need.provider.text())) e.used.push_back(need);
      }
    }
  }

  const EndedRun& run_;
  const model::System& system_;
  const engine::Recorded& was_;
  Arena& arena_;
  TreeBuilder builder_;
  std::vector<EndedInstance> all_;
  std::vector<bool> still_asked_;  // a behaviour that the program had yet to ask for when it stopped
};

}  // namespace

std::vector<EndedInstance> evidence_of(const EndedRun& run, const engine::Recorded& was, Arena& arena) {
  return Gathering(run, was, arena).all();
}

}  // namespace tutti::deploy
