#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/run/executor.h"
#include "model/template.h"
#include "resource/provider.h"
#include "transport/host.h"

namespace tutti::resource {

// What is known of instances while a system runs: configuration and outputs, for whoever refers to them. Shared by
// workers.
class Knowledge {
 public:
  explicit Knowledge(const engine::PlannedSystem& plan);

  void learn(u32 instance, const std::map<std::string, std::string>& outputs);
  std::map<std::string, std::string> outputs(u32 instance) const;
  u64 version() const { return version_; }  // another one whenever something else is known
  // What is not known yet is taken to be whatever a host may give: for looking at what will be made of it.
  void suppose() { supposing_ = true; }
  void set_hosts(std::map<std::string, Value> hosts) { hosts_ = std::move(hosts); }
  void set_home(std::string here, std::string elsewhere) {
    home_ = std::move(here), remote_home_ = std::move(elsewhere);
  }

  // The resources that the action of a transition brings about, with everything put in. Values live in `arena`.
  // `problem` says what could not be found; `reads` gets what the action itself takes from others, beside what is in
  // the configuration: path -> value.
  std::vector<Resource> resources(u32 instance, const model::Action& action, Arena& arena, std::string& problem,
                                  std::map<std::string, Value>* reads = nullptr) const;
  // A configuration with what it refers to put in; `missing` gets the first reference that has no value.
  Value settled(u32 instance, const Value& config, Arena& arena, std::string& missing) const;
  // `through`: how many settings that refer to others have led here.
  std::optional<Value> look_up(u32 instance, std::string_view path, const Value& config, const Value& old, Arena& arena,
                               u32 through = 0) const;

 private:
  // What a configuration that has not been settled refers to, and a value of it with all that put in; nothing where
  // something of it has no value.
  std::optional<Value> of_config(u32 instance, std::string_view path, const Value& config, Arena& arena,
                                 u32 through) const;
  std::optional<Value> put_in(u32 instance, const Value& v, const Value& config, Arena& arena, u32 through) const;

  const model::System& system_;
  const std::vector<engine::PlannedInstance>& instances_;  // what the plan says of its instances
  std::map<std::string, u32> by_component_;                // the one that stays, if any does
  std::map<std::string, Value> hosts_;
  std::string home_, remote_home_;
  mutable std::mutex mutex_;
  std::vector<std::map<std::string, std::string>> outputs_;
  std::atomic<u64> version_{0};
  bool supposing_ = false;
};

// What the actions of a component will bring about, as far as its configuration tells before anything runs; what only
// running will tell is left as it is written. `type` is the whole type. Values live in `arena`.
std::vector<Resource> foreseen(const Value& type, const Value& config, std::string_view name, Arena& arena);

// The texts of a resource that a shell reads.
std::vector<const Value*> shell_texts(const Resource& resource);
// What is wrong with them: an output stands in one as it is. "" where nothing is; `mild`: a setting does.
std::string unquoted(const Resource& resource, bool& mild);

// What a step of an action asks for and no provider gives: "there is no resource type `fil`", or "". `step` gets it.
std::string unknown_step(const Value& what, const Value** step = nullptr);

// Whether an action that was cut off may simply be done again: everything it does is looked at before it is touched.
bool repeatable(const std::vector<Resource>& resources);

}  // namespace tutti::resource
