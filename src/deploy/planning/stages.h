#pragma once

#include <set>
#include <string>

#include "deploy/planning/world.h"
#include "deploy/shared/prepared.h"
#include "model/deployment.h"
#include "resource/real_path.h"

// The stages of planning, in their order; what each is for is said in its own file. Used by planning.cpp only.
namespace tutti::deploy {

// What a plan is to lead to.
enum class Nature : u8 { kSystem, kCatalog, kNothing };

// Whether a plan may lead there from what is recorded under that name; false, and an error, where it may not.
bool can_plan_from(Session& session, const std::string& system, const engine::Recorded& was, Nature next);
// Systems that say no name are all called the same: the second one in a folder would take away the first.
void warn_unnamed(Session& session, const model::Deployment& wanted, const engine::Recorded& was);

// Puts the text of templates in their place: a changed template is a change.
void read_templates(Session& session, World& world, model::Deployment& deployment);

// The components of a plan that were made with values which are others now.
std::map<std::string, engine::Present> changed_values(Session& session, const Prepared& prepared,
                                                      const engine::Recorded& was, const std::string& home);

// Whether all steps of the types that are written, used or not, are known to a provider.
bool check_steps(Session& session, const Value& wanted);
// Whether what the actions will ask for can be, as far as it is known before they run. Warns where two components want
// the same thing to be different; of each pair once (`told`).
bool check_resources(Session& session, const model::Deployment& wanted, const engine::PlannedSystem& program,
                     const resource::CanonicalDirectory& real_directory, std::set<std::string>& told);

// Puts what is known about durations into the program.
void set_durations(engine::PlannedSystem& program, const LearntDurations& learnt);

// What people are told beside the changes themselves; each adds to the changes of the plan.
struct Noting {
  Session& session;
  Prepared& plan;
  const engine::Recorded& was;
  std::string home;
};
// Which components that the plan leaves alone refer to what it may change.
void note_may_change(const Noting& n);
// Which of their files components that change lose.
void note_let_go(const Noting& n);
// Of components that go, what they leave because another system has it, too; warns where two of them have the same file
// (of each once: `told`).
void note_others(const Noting& n, const OtherSystems& others, std::set<std::string>& told);
// Of each change whether any action of it does something, and of what goes what its actions are.
void note_actions(const Noting& n);

}  // namespace tutti::deploy
