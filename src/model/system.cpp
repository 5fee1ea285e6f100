#include "model/system.h"

#include <fmt/format.h>

namespace tutti::model {

std::string_view op_word(Op op) {
  switch (op) {
    case Op::kAdd: return "add";
    case Op::kDel: return "del";
    case Op::kCon: return "con";
    case Op::kDcon: return "dcon";
    case Op::kPush: return "pushB";
    case Op::kWait: return "wait";
    case Op::kWaitAll: return "wait_all";
  }
  return "?";
}

u32 System::find_type(Symbol n) const {
  for (std::size_t i = 0; i < types.size(); ++i)
    if (types[i]->name == n) return static_cast<u32>(i);
  return kNone;
}

u32 System::find_instance(Symbol n) const {
  for (std::size_t i = instances.size(); i-- > 0;)
    if (instances[i].name == n) return static_cast<u32>(i);
  return kNone;
}

const Duration& System::duration(u32 instance, const Transition& t) const {
  if (!durations.empty()) {
    auto it = durations.find(instance);
    if (it != durations.end()) return it->second[t.declared];
  }
  return type_of(instance).action_of(t).duration;
}

std::string System::port_text(u32 instance, u32 port) const {
  return fmt::format("{}.{}", instances[instance].name.text(), type_of(instance).ports[port].name.text());
}

std::string System::transition_text(u32 instance, u32 t) const {
  return fmt::format("{}.{}", instances[instance].name.text(), type_of(instance).transitions[t].name.text());
}

std::string System::instruction_text(const Instruction& i) const {
  auto name = [&](u32 k) { return instances[k].name.text(); };
  switch (i.op) {
    case Op::kAdd: return fmt::format("add({}, {})", name(i.instance), type_of(i.instance).name.text());
    case Op::kDel: return fmt::format("del({})", name(i.instance));
    case Op::kCon:
    case Op::kDcon:
      return fmt::format("{}({}, {}, {}, {})", op_word(i.op), name(i.instance),
                         type_of(i.instance).ports[i.port].name.text(), name(i.provider),
                         type_of(i.provider).ports[i.provide].name.text());
    case Op::kPush:
      return fmt::format("pushB({}, {})", name(i.instance), type_of(i.instance).behaviours[i.behaviour].name.text());
    case Op::kWait:
      if (i.behaviour != kNone)
        return fmt::format("wait({}, {})", name(i.instance), type_of(i.instance).behaviours[i.behaviour].name.text());
      return fmt::format("wait({})", name(i.instance));
    case Op::kWaitAll: return "wait_all()";
  }
  return "?";
}

}  // namespace tutti::model
