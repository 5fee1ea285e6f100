#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/component.h"

// What is there (types, instances, links), and what is to be done (a program), with every name resolved to a number.
namespace tutti::model {

// One instance. The assembly's come first, then one for every `add` of the program: a name deleted and added again is
// another instance, because which one a name means at a point of the program is known before it runs.
struct Instance {
  Symbol name;
  Pos at;
  u32 type = 0;          // in System::types
  Marking marking;       // at the start; for an added one the type's initial places
  bool present = false;  // in the assembly from the start
  Symbol host;           // where its actions run; empty: here
  Value with;            // parameters given by the user, for its actions
  Value outputs;         // what its actions gave in earlier runs; null or a map of text
};

struct Link {
  u32 user = 0, use = 0, provider = 0, provide = 0;  // ports by their number in the type
  friend bool operator==(const Link&, const Link&) = default;
};

enum class Op : u8 { kAdd, kDel, kCon, kDcon, kPush, kWait, kWaitAll };
std::string_view op_word(Op op);

struct Instruction {
  Op op = Op::kWaitAll;
  Pos at;
  u32 instance = kNone;  // add, del, push, wait; the user of a link
  u32 port = kNone;      // con, dcon: the use port
  u32 provider = kNone, provide = kNone;
  u32 behaviour = kNone;  // push
  u32 upto = 0;           // wait: how many behaviours pushed on the instance must have finished
};

struct System {
  std::vector<std::shared_ptr<ComponentType>> types;
  std::vector<Instance> instances;
  std::vector<Link> links;  // at the start
  std::vector<Instruction> program;
  u32 assembly = 0;  // instances [0, assembly) are there at the start

  const ComponentType& type_of(u32 instance) const { return *types[instances[instance].type]; }
  u32 find_type(Symbol name) const;
  u32 find_instance(Symbol name) const;  // the last of that name

  // Expected durations: an instance's own (one per declared transition) or else those of its type's actions.
  std::unordered_map<u32, std::vector<Duration>> durations;
  const Duration& duration(u32 instance, const Transition& t) const;

  std::string port_text(u32 instance, u32 port) const;       // "server.service"
  std::string transition_text(u32 instance, u32 t) const;    // "server.run"
  std::string instruction_text(const Instruction& i) const;  // "con(client, server_ip, server, ip)"
};

}  // namespace tutti::model
