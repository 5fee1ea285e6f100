#include "engine/rules/step.h"

#include <fmt/format.h>

namespace tutti::engine {

namespace {

std::string instruction_key(const model::System& system, const model::Instruction& in) {
  std::string text = system.instruction_text(in);  // pushB(x, b) -> pushB,x,b
  std::string out;
  for (char c : text) {
    if (c == '(')
      out += ',';
    else if (c != ' ' && c != ')')
      out += c;
  }
  if (!out.empty() && out.back() == ',') out.pop_back();
  return out;
}

}  // namespace

std::string step_text(const model::System& system, const Step& step) {
  if (step.kind == Step::Kind::kInstruction) return "instr:" + instruction_key(system, system.program[step.index]);
  const model::ComponentType& type = system.type_of(step.instance);
  std::string_view who = system.instances[step.instance].name.text();
  switch (step.kind) {
    case Step::Kind::kFire: return fmt::format("fire:{}:{}", who, type.places[step.index].name.text());
    case Step::Kind::kEnd: {
      const model::Transition& t = type.transitions[step.index];
      return fmt::format("end:{}:{}/{}", who, t.name.text(),
                         type.stations[type.outcomes_of(t)[step.outcome].station].name.text());
    }
    case Step::Kind::kFail: return fmt::format("fail:{}:{}", who, type.transitions[step.index].name.text());
    case Step::Kind::kEnter: return fmt::format("enter:{}:{}", who, type.stations[step.index].name.text());
    case Step::Kind::kFinish: return fmt::format("finish:{}:{}", who, type.behaviours[step.index].name.text());
    case Step::Kind::kInstruction: break;
  }
  return "?";
}

std::string step_words(const model::System& system, const Step& step) {
  if (step.kind == Step::Kind::kInstruction) return system.instruction_text(system.program[step.index]);
  const model::ComponentType& type = system.type_of(step.instance);
  std::string_view who = system.instances[step.instance].name.text();
  switch (step.kind) {
    case Step::Kind::kFire: return fmt::format("{} leaves {}", who, type.places[step.index].name.text());
    case Step::Kind::kEnd: {
      const model::Transition& t = type.transitions[step.index];
      const model::Outcome& o = type.outcomes_of(t)[step.outcome];
      if (!t.is_switch()) return fmt::format("{}.{} ends", who, t.name.text());
      return fmt::format("{}.{} {} with outcome {}", who, t.name.text(), o.on_failure ? "fails" : "ends",
                         o.name.text());
    }
    case Step::Kind::kFail: return fmt::format("{}.{} fails", who, type.transitions[step.index].name.text());
    case Step::Kind::kEnter:
      return fmt::format("{} enters {}", who, type.places[type.stations[step.index].place].name.text());
    case Step::Kind::kFinish: return fmt::format("{} has finished {}", who, type.behaviours[step.index].name.text());
    case Step::Kind::kInstruction: break;
  }
  return "?";
}

}  // namespace tutti::engine
