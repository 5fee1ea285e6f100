#include "engine/rules/trace.h"

#include <fmt/format.h>

namespace tutti::engine {
namespace {

std::string_view instruction_rule(model::Op op) {
  switch (op) {
    case model::Op::kAdd: return "R5 add";
    case model::Op::kDel: return "R6 del";
    case model::Op::kCon: return "R7 con";
    case model::Op::kDcon: return "R8 dcon";
    case model::Op::kPush: return "R9 pushB";
    case model::Op::kWait: return "R10 wait";
    case model::Op::kWaitAll: return "R11 wait_all";
  }
  return "";
}

void append_line(std::string& out, const std::string& line) {
  if (!line.empty()) out += (out.empty() ? "" : "\n") + line;
}

}  // namespace

std::string rule_name(const model::System& system, const Step& step) {
  switch (step.kind) {
    case Step::Kind::kFire: return "R1 fire";
    case Step::Kind::kEnd: return "R2 end";
    case Step::Kind::kEnter: return "R3 enter";
    case Step::Kind::kFinish: return "R4 finish";
    case Step::Kind::kFail: return "F4 fail";
    case Step::Kind::kInstruction: return std::string(instruction_rule(system.program[step.index].op));
  }
  return {};
}

RuleTrace::RuleTrace(const Rules& rules, Steps& steps) : rules_(rules), steps_(steps), state_(rules.initial()) {
  steps_.step({"start", "", {}, "the assembly before the program"}, [this] { return cells(); });
}

bool RuleTrace::take(const Step& step, std::string_view more) {
  if (!rules_.is_enabled(state_.data(), step)) return false;
  rules_.apply(state_.data(), step);
  const model::System& system = rules_.system();
  u32 who = step.kind == Step::Kind::kInstruction ? system.program[step.index].instance : step.instance;
  steps_.step({rule_name(system, step),
               who == kNone ? "" : std::string(system.instances[who].name.text()),
               {},
               fmt::format("{}{}", step_words(system, step), more)},
              [this] { return cells(); });
  return true;
}

std::string RuleTrace::program() const {
  const auto& program = rules_.system().program;
  std::string out;
  for (std::size_t at = rules_.pc(state_.data()); at < program.size(); ++at)
    append_line(out, rules_.system().instruction_text(program[at]));
  return out;
}

std::string RuleTrace::queues() const {
  const model::System& system = rules_.system();
  std::string out;
  for (u32 i = 0; i < system.instances.size(); ++i) {
    if (!rules_.present(state_.data(), i)) continue;
    std::string queue;
    for (u32 k = rules_.finished(state_.data(), i); k < rules_.pushed(state_.data(), i); ++k)
      queue += fmt::format(" {}", system.type_of(i).behaviours[rules_.pushes(i)[k].behaviour].name.text());
    append_line(out, fmt::format("{}:{}", system.instances[i].name.text(), queue.empty() ? " (empty)" : queue));
  }
  return out;
}

// Places, transitions under way (`install1 ...`) and endings reached (`-> running`).
std::string RuleTrace::marking(u32 i) const {
  const model::ComponentType& t = rules_.system().type_of(i);
  const u64* s = state_.data();
  std::string out;
  for (u32 p = 0; p < t.places.size(); ++p)
    if (rules_.marked(s, i, p)) out += fmt::format(" {}", t.places[p].name.text());
  for (u32 k = 0; k < t.transitions.size(); ++k)
    if (rules_.marked(s, i, t.transition_element(k)))
      out += fmt::format(" {}{}", t.transitions[k].name.text(), rules_.failed_transition(s, i, k) ? "(failed)" : "...");
  for (const model::Station& st : t.stations)
    for (u32 e : t.needs_of(st))
      if (rules_.marked(s, i, e)) out += fmt::format(" ->{}", t.places[st.place].name.text());
  return out;
}

std::string RuleTrace::ports() const {
  const model::System& system = rules_.system();
  const u64* s = state_.data();
  std::string out;
  for (u32 i = 0; i < system.instances.size(); ++i) {
    const model::ComponentType& t = system.type_of(i);
    if (!rules_.present(s, i)) continue;
    for (u32 q = 0; q < t.ports.size(); ++q) {
      bool active = rules_.active(s, i, q);
      const Rules::LinkSpan* link = q < t.uses ? rules_.link_of(s, i, q) : nullptr;
      if (!active && !link) continue;
      std::string state = q < t.uses ? (active ? "in use" : "not in use") : "provided";
      if (q >= t.uses && rules_.refusing(s, i, q)) state += ", refusing";
      append_line(out, fmt::format("{}{}: {}", system.port_text(i, q),
                                   link ? " <- " + system.port_text(link->provider, link->provide) : "", state));
    }
  }
  return out;
}

Steps::Cells RuleTrace::cells() const {
  const model::System& system = rules_.system();
  std::string tokens;
  for (u32 i = 0; i < system.instances.size(); ++i)
    if (rules_.present(state_.data(), i))
      append_line(tokens, fmt::format("{}:{}", system.instances[i].name.text(), marking(i)));
  return {{"program", program()}, {"queues", queues()}, {"tokens", tokens}, {"ports", ports()}};
}

}  // namespace tutti::engine
