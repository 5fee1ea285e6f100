// Whose doing the things in the world are after a run, by resource. In go the shares that are recorded, the actions
// that were run and the notes of what they acted on; out comes the share of each instance. In doubt a thing is not
// ours: what is taken for ours is removed one day.
#include "deploy/recording/shares.h"

#include <fmt/format.h>

#include "deploy/shared/machines.h"

namespace tutti::deploy {
namespace {

bool is_to_go(const resource::Resource& r) {
  std::string ensure = resource::Params(r.parameters).text("ensure");
  return ensure == "absent" || ensure == "stopped";
}

class ShareAccount {
 public:
  ShareAccount(const Prepared& p, const engine::Recorded& was, const resource::Knowledge& knowledge, const Acted& acted,
               const resource::Scrubber& scrub, const OtherSystems& others)
      : s_(p.program.system),
        planned_(p.program.instances),
        flat_(p.plan.flat),
        knowledge_(knowledge),
        acted_(acted),
        scrub_(scrub),
        others_(others) {
    for (const Value* tree : {&p.state, &p.plan.flat})
      if (const Entry* hosts = tree->is(Kind::kMap) ? tree->find("hosts") : nullptr;
          hosts && hosts->value.is(Kind::kMap))
        for (const Entry& e : hosts->value.entries())
          if (is_here(e.key.text(), &e.value)) here_.insert(e.key);
    auto by_instance = was.by_instance();
    for (u32 i = 0; i < s_.assembly; ++i)
      if (auto c = by_instance.find(s_.instances[i].name.text()); c != by_instance.end()) {
        shares_[i] = Share::of(*c->second);
        if (c->second->failed.empty() && !c->second->untouched) was_up_.insert(i);
      }
    for (auto& [name, c] : was.components) {
      Share share = Share::of(c);
      for (auto& thing : share.touched) ours_.insert(on_host(c.host, thing));
      for (auto& [thing, former] : share.formerly) formerly_.emplace(on_host(c.host, thing), former);
    }
  }

  // What an action that failed has not acted on was right, or it never came to it: in doubt it is not ours.
  void take(u32 instance, u32 transition, bool ok) {
    const model::ComponentType& type = s_.type_of(instance);
    const model::Action& action = type.action_of(type.transitions[transition]);
    if (action.what.find("resource")) return;  // catalogs are never taken away
    if (!ok) failed_.insert(instance);
    auto mine = acted_.find({instance, transition});
    Arena arena;
    std::string problem;
    bool commands = false;  // have run, and may have made whatever follows
    for (auto& r : knowledge_.resources(instance, action, arena, problem)) {
      bool began = mine != acted_.end() && was_acted_on(mine->second, r, scrub_);
      commands = commands || (began && r.type == "exec");
      if (is_to_go(r))
        let_go(instance, r, ok, began);
      else if (began || (commands && ok))
        touch(instance, r, began ? former_of(mine->second, r) : resource::Former{});
      else
        come_to(instance, r);
    }
  }

  // Who failed on the way up is removed as if it had come up, and what a component has left to another goes with that
  // one, even if neither has come to everything yet: what nobody of ours has touched is then not theirs.
  void come_to_the_rest() {
    for (u32 i = 0; i < s_.instances.size(); ++i) {
      bool due = failed_.count(i) && !was_up_.count(i);
      if (!due && left_.empty()) continue;
      Arena arena;
      std::string problem;
      std::vector<resource::Resource> wanted;
      const model::ComponentType& type = s_.type_of(i);
      for (auto& t : type.transitions) {
        const model::Action& action = type.action_of(t);
        if (action.what.find("resource")) continue;
        for (auto& r : knowledge_.resources(i, action, arena, problem)) {
          if (is_to_go(r)) continue;
          for (auto& thing : things_of(r))
            if (auto by = left_.find(on_host(s_.instances[i].host, thing)); by != left_.end())
              due = due || by->second != i;
          wanted.push_back(std::move(r));
        }
      }
      for (auto& r : wanted)
        if (due) come_to(i, r);
    }
  }

  // What any action of the run has changed was not there before for anybody.
  std::map<u32, Share> settled() {
    for (auto& [i, share] : shares_)
      std::erase_if(share.before,
                    [&, host = s_.instances[i].host](auto& t) { return changed_.count(on_host(host, t)); });
    return std::move(shares_);
  }

 private:
  // It failed before it had done anything, such as where its host could not be reached.
  bool never_began(u32 i) const {
    auto first = acted_.lower_bound({i, 0});
    return failed_.count(i) && !was_up_.count(i) && (first == acted_.end() || first->first.first != i);
  }
  resource::Former former_of(const std::map<std::string, resource::Former>& acted, const resource::Resource& r) const {
    auto at = acted.find(resource::key_of(r));
    if (at == acted.end()) at = acted.find(scrub_.clean(resource::key_of(r)));
    return at == acted.end() ? resource::Former{} : at->second;
  }
  void touch(u32 i, const resource::Resource& r, const resource::Former& former) {
    for (auto& thing : things_of(r)) {
      std::string there = on_host(s_.instances[i].host, thing);
      // What one of ours has made is nothing that was there before us; but what was before that is.
      if (!former.empty() && !ours_.count(there) && !changed_.count(there)) formerly_.emplace(there, former);
      if (auto known = formerly_.find(there); known != formerly_.end()) shares_[i].formerly[thing] = known->second;
      shares_[i].before.erase(thing);
      shares_[i].touched.insert(thing);
      changed_.insert(on_host(s_.instances[i].host, thing));
    }
  }
  void come_to(u32 i, const resource::Resource& r) {
    Share& share = shares_[i];
    for (auto& thing : things_of(r)) {
      // A process is always one that we started; and what another component of ours had made is ours, too.
      std::string there = on_host(s_.instances[i].host, thing);
      // What another system of the record has made is ours as well.
      if (const Share* other = others_.share(machine(s_.instances[i].host, flat_), thing);
          other && other->touched.count(thing)) {
        ours_.insert(there);
        if (auto known = other->formerly.find(thing); known != other->formerly.end())
          formerly_.emplace(there, known->second);
      }
      if (auto known = formerly_.find(there); known != formerly_.end()) share.formerly[thing] = known->second;
      if ((r.type == "process" && !never_began(i)) || ours_.count(there))
        share.touched.insert(thing);
      else if (!share.touched.count(thing))
        share.before.insert(thing);
    }
  }
  void let_go(u32 i, const resource::Resource& r, bool ok, bool began) {
    if (!ok) return;
    for (auto& thing : things_of(r)) {
      if (!began && shares_[i].touched.count(thing)) {
        left_[on_host(s_.instances[i].host, thing)] = i;
        ours_.insert(on_host(s_.instances[i].host, thing));
      }
      if (!began && !r.let_go) continue;
      if (r.let_go || planned_[i].formerly.is(Kind::kNull)) shares_[i].formerly.erase(thing);
      shares_[i].before.erase(thing);
      shares_[i].touched.erase(thing);
    }
  }

  const model::System& s_;
  const std::vector<engine::PlannedInstance>& planned_;
  const Value& flat_;
  const resource::Knowledge& knowledge_;
  const Acted& acted_;
  // A thing with the machine it is on, which may go by several names.
  std::string on_host(Symbol host, const std::string& thing) const {
    return fmt::format("{} {}", here_.count(host) || is_here(host.text(), nullptr) ? "" : host.text(), thing);
  }

  const resource::Scrubber& scrub_;
  const OtherSystems& others_;
  std::map<u32, Share> shares_;
  std::set<u32> was_up_, failed_;
  std::set<Symbol> here_;                 // names of this machine
  std::set<std::string> ours_, changed_;  // with their hosts
  std::map<std::string, resource::Former> formerly_;
  std::map<std::string, u32> left_;  // by whom, though its own: another is to have it
};

}  // namespace

std::map<u32, Share> shares_after(const Prepared& p, const engine::Recorded& was, const resource::Knowledge& knowledge,
                                  const std::vector<engine::ActionSpan>& actions, const Acted& acted,
                                  const resource::Scrubber& scrub, const OtherSystems& others) {
  ShareAccount account(p, was, knowledge, acted, scrub, others);
  std::set<std::pair<u32, u32>> ended;
  for (auto& a : actions) {
    account.take(a.instance, a.transition, a.how == engine::How::kOk);
    ended.insert({a.instance, a.transition});
  }
  for (auto& [action, resources] : acted)  // cut off, and left so
    if (!ended.count(action)) account.take(action.first, action.second, false);
  account.come_to_the_rest();
  return account.settled();
}

}  // namespace tutti::deploy
