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

std::optional<Step> step_from_text(const model::System& system, std::string_view text, u32 pc) {
  Step step;
  if (text.starts_with("instr:")) {
    step.index = pc;
    if (pc >= system.program.size() || step_text(system, step) != text) return std::nullopt;
    return step;
  }
  auto colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  // Names of instances may hold colons: the one that fits is the one whose step reads the same.
  for (step.instance = 0; step.instance < system.instances.size(); ++step.instance) {
    std::string_view who = system.instances[step.instance].name.text();
    if (!rest.starts_with(who) || rest.size() <= who.size() || rest[who.size()] != ':') continue;
    const model::ComponentType& type = system.type_of(step.instance);
    auto among = [&](Step::Kind k, std::size_t count) {
      step.kind = k;
      for (step.index = 0; step.index < count; ++step.index) {
        u32 outcomes = 1;
        if (k == Step::Kind::kEnd) outcomes = static_cast<u32>(type.outcomes_of(type.transitions[step.index]).size());
        for (step.outcome = 0; step.outcome < outcomes; ++step.outcome)
          if (step_text(system, step) == text) return true;
      }
      return false;
    };
    if ((kind == "fire" && among(Step::Kind::kFire, type.places.size())) ||
        (kind == "end" && among(Step::Kind::kEnd, type.transitions.size())) ||
        (kind == "fail" && among(Step::Kind::kFail, type.transitions.size())) ||
        (kind == "enter" && among(Step::Kind::kEnter, type.stations.size())) ||
        (kind == "finish" && among(Step::Kind::kFinish, type.behaviours.size())))
      return step;
  }
  return std::nullopt;
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
