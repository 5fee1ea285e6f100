#include <fmt/format.h>

#include "cli/running.h"
#include "cli/system_input.h"
#include "tree/show.h"

namespace tutti {
namespace {

using engine::change_word;
using engine::PlanChange;

std::string_view sign(PlanChange::Kind k) {
  switch (k) {
    case PlanChange::Kind::kAdd: return "+";
    case PlanChange::Kind::kRemove: return "-";
    case PlanChange::Kind::kReplace: return "±";
    case PlanChange::Kind::kInterrupt: return "!";
    default: return "~";
  }
}

std::string_view paint(PlanChange::Kind k) {
  switch (k) {
    case PlanChange::Kind::kAdd: return "\x1b[32m";
    case PlanChange::Kind::kRemove: return "\x1b[31m";
    default: return "\x1b[33m";
  }
}

std::string value_text(const Value& v, bool secret) {
  if (secret) return "(secret)";
  std::string t = show(v);
  for (char& c : t)
    if (c == '\n') c = ' ';
  return t.size() > 100 ? t.substr(0, 97) + "..." : t;
}

struct Counts {
  u32 add = 0, change = 0, remove = 0, interrupt = 0;
};

Counts count(const deploy::Prepared& p) {
  Counts n;
  for (auto& c : p.plan.changes) {
    switch (c.kind) {
      case PlanChange::Kind::kAdd: ++n.add; break;
      case PlanChange::Kind::kRemove: ++n.remove; break;
      case PlanChange::Kind::kInterrupt: ++n.interrupt; break;
      default: ++n.change;
    }
  }
  return n;
}

}  // namespace

std::string plan_summary(const deploy::Prepared& p, const deploy::Check* check) {
  Counts n = count(p);
  std::string t = fmt::format("Plan {}: {} add, {} change, {} remove", p.digest, n.add, n.change, n.remove);
  if (n.interrupt) t += fmt::format(", {} interrupted", n.interrupt);
  t += fmt::format(", {} unchanged", p.plan.unchanged);
  if (check && check->estimated && check->total >= 0.0005) {
    t += fmt::format("; about {}", short_time(check->total));
    if (!check->critical.empty()) t += fmt::format(" (critical path: {})", fmt::join(check->critical, ", "));
  }
  return t + ".";
}

std::string show_plan(Call& call, const deploy::Prepared& p, const deploy::Check* check, bool program) {
  std::string t;
  bool colour = call.manner.colour_out;
  for (auto& c : p.plan.changes) {
    t += fmt::format("{}{} {}{} ({}{}{})", colour ? paint(c.kind) : "", sign(c.kind), c.component,
                     colour ? "\x1b[0m" : "", c.type, c.host.empty() ? "" : " on ", c.host.text());
    if (c.kind == PlanChange::Kind::kInterrupt || c.kind == PlanChange::Kind::kReplace ||
        c.kind == PlanChange::Kind::kRepair)
      t += fmt::format(" {}", change_word(c.kind));
    if (!c.behaviours.empty()) t += fmt::format(": {}", fmt::join(c.behaviours, ", "));
    if (!c.why.empty()) t += fmt::format("  # {}", c.why);
    t += "\n";
    for (auto& d : c.details) {
      if (c.kind == PlanChange::Kind::kAdd && d.to.is(Kind::kNull)) continue;
      std::string where;
      if (!p.saved) where = call.session.sources->show(call.session.origins.written(d.to.origin()));
      std::string change = d.from.is(Kind::kNull) && d.to.is(Kind::kNull) ? "changed"
                           : d.from.is(Kind::kNull)                       ? value_text(d.to, d.secret)
                           : d.to.is(Kind::kNull) ? fmt::format("{} -> (none)", value_text(d.from, d.secret))
                           : d.secret             ? "(secret, changed)"
                                      : fmt::format("{} -> {}", value_text(d.from, false), value_text(d.to, false));
      t += fmt::format("    {}: {}{}\n", d.path, change, where.empty() ? "" : fmt::format("    {}", where));
    }
  }
  if (program) {
    t += "Program:\n";
    for (auto& i : p.program.system.program) t += fmt::format("    {}\n", p.program.system.instruction_text(i));
  }
  for (auto& n : p.plan.notes) t += fmt::format("Note: {}\n", n);
  if (check) {
    t += fmt::format("Verified: {}{} ({}).\n",
                     check->safe      ? "reaches the wanted state without deadlock"
                     : check->reaches ? "reaches the wanted state without deadlock, but NOT SAFE"
                                      : "NOT SAFE",
                     check->complete ? "" : ", as far as could be looked at", counted(check->states, "state"));
    for (auto& v : check->verdicts) t += fmt::format("    {}\n", v);
    for (auto& line : check->trouble) t += fmt::format("    {}\n", line);
  }
  return t + plan_summary(p, check) + "\n";
}

Value plan_tree(Call& call, const deploy::Prepared& p, const deploy::Check* check) {
  TreeMaker make(call.session);
  std::vector<Value> changes;
  for (auto& c : p.plan.changes) {
    std::vector<Value> details;
    for (auto& d : c.details)
      details.push_back(make.map({{"path", make.text(d.path)},
                                  {"from", d.secret ? make.text("(secret)") : d.from},
                                  {"to", d.secret ? make.text("(secret)") : d.to}}));
    changes.push_back(make.map({{"action", make.text(change_word(c.kind))},
                                {"component", make.text(c.component)},
                                {"type", make.text(c.type)},
                                {"host", make.text(c.host.text())},
                                {"behaviours", make.list(c.behaviours)},
                                {"why", make.text(c.why)},
                                {"details", make.list(details)}}));
  }
  std::vector<std::string> program;
  for (auto& i : p.program.system.program) program.push_back(p.program.system.instruction_text(i));
  Counts n = count(p);
  std::vector<Entry> root{{Symbol("system"), Field::kPlain, make.text(p.system)},
                          {Symbol("serial"), Field::kPlain, make.integer(p.serial)},
                          {Symbol("digest"), Field::kPlain, make.text(p.digest)},
                          {Symbol("changes"), Field::kPlain, make.list(changes)},
                          {Symbol("unchanged"), Field::kPlain, make.integer(p.plan.unchanged)},
                          {Symbol("program"), Field::kPlain, make.list(program)},
                          {Symbol("summary"), Field::kPlain,
                           make.map({{"add", make.integer(n.add)},
                                     {"change", make.integer(n.change)},
                                     {"remove", make.integer(n.remove)},
                                     {"interrupted", make.integer(n.interrupt)}})}};
  if (check)
    root.push_back({Symbol("check"), Field::kPlain,
                    make.map({{"safe", Value::boolean(check->safe)},
                              {"complete", Value::boolean(check->complete)},
                              {"states", make.integer(static_cast<i64>(check->states))},
                              {"seconds", make.number(check->total)},
                              {"critical", make.list(check->critical)},
                              {"invariants", make.list(check->verdicts)},
                              {"trouble", make.list(check->trouble)}})});
  return make.builder().map(root);
}

}  // namespace tutti
