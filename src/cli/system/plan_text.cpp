#include <fmt/format.h>

#include <algorithm>

#include "cli/system/recorded_call.h"
#include "cli/system_input.h"
#include "cli/wording.h"
#include "text/edit.h"
#include "tree/show.h"

namespace tutti {
namespace {

using engine::change_word;
using engine::PlanChange;

constexpr std::string_view kLibrary = "schema/types.yaml:";  // places in the types that ship

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

// What changes in a component, setting by setting: values with what is in them, texts of several lines by the lines
// that change. What would take too much room is cut, unless everything is asked for.
class Settings {
 public:
  Settings(bool full, bool colour) : full_(full), colour_(colour) {}

  // The end of the line, and perhaps lines below it.
  std::string change(const PlanChange::Detail& d, const std::string& where) {
    bool was = !d.from.is(Kind::kNull), will = !d.to.is(Kind::kNull), secret = d.secret;
    std::string at = where.empty() ? "\n" : fmt::format("    {}\n", where);
    if (!was && !will) return "changed" + at;
    if (!secret && (full_ || (was && will)) && text_or_none(d.from) && text_or_none(d.to) &&
        (several_lines(d.from) || several_lines(d.to)))
      return (was && will ? "other lines" : will ? "text" : "text, goes") + at + lines(d);
    if (secret && was && will) return "(secret, changed)" + at;
    std::string from = secret ? "(secret)" : value(d.from), to = secret ? "(secret)" : value(d.to);
    return (!was ? to : fmt::format("{} -> {}", from, will ? to : "(none)")) + at;
  }
  // What will be done, a line each.
  std::vector<std::string> actions(const std::vector<std::string>& all) {
    std::vector<std::string> out;
    for (auto& action : all) {
      if (!full_ && out.size() == kLines) {
        cut_ = true;
        out.push_back(fmt::format("… {} more", counted(all.size() - kLines, "action")));
        break;
      }
      std::size_t end = action.find('\n');
      bool more = end != std::string::npos && !full_;
      cut_ = cut_ || more;
      out.push_back(line(action.substr(0, more ? end : std::string::npos)) + (more ? " …" : ""));
    }
    return out;
  }
  bool cut() const { return cut_; }

 private:
  static constexpr std::size_t kRoom = 120;  // for a value in its line
  static constexpr std::size_t kLines = 24;  // for a text
  static constexpr u32 kDeepest = 32;

  static bool text_or_none(const Value& v) { return v.is(Kind::kNull) || (v.is(Kind::kString) && !v.secret()); }
  static bool several_lines(const Value& v) {
    return v.is(Kind::kString) && v.text().find('\n') + 1 < v.text().size() && v.text().find('\n') != v.text().npos;
  }

  std::string value(const Value& v) {
    std::string out;
    append(out, v, 0);
    return out;
  }
  void append(std::string& out, const Value& v, u32 depth) {
    bool map = v.is(Kind::kMap);
    if (v.secret() || !(map || v.is(Kind::kList)) || v.size() == 0 || depth == kDeepest) {
      std::size_t left = full_ ? SIZE_MAX : std::max<std::size_t>(20, kRoom - std::min(kRoom, out.size()));
      if (v.is(Kind::kString) && !v.secret()) cut_ = cut_ || v.text().size() > left;
      out += show(v, left);
      return;
    }
    out += map ? '{' : '[';
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (i) out += ", ";
      if (!full_ && out.size() >= kRoom) {
        out += fmt::format("… {} more", v.size() - i);
        cut_ = true;
        break;
      }
      if (map) out += key(v.entries()[i].key.text()) + ": ";
      append(out, map ? v.entries()[i].value : v.items()[i], depth + 1);
    }
    out += map ? '}' : ']';
  }
  static std::string key(std::string_view text) {
    bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
             std::string_view("_-./").find(c) != std::string_view::npos;
    });
    return plain ? std::string(text) : show(Value::string(text), SIZE_MAX);
  }

  std::string lines(const PlanChange::Detail& d) {
    auto text = [](const Value& v) { return v.is(Kind::kNull) ? std::string_view() : v.text(); };
    std::string all = unified_diff(text(d.from), text(d.to), "", ""), out;
    std::string_view rest = all;
    for (int i = 0; i < 2; ++i) rest.remove_prefix(rest.find('\n') + 1);  // the names of the two
    for (std::size_t n = 0; !rest.empty(); ++n) {
      if (!full_ && n == kLines) {
        cut_ = true;
        return out + fmt::format("        … {} more\n",
                                 counted(static_cast<u64>(std::count(rest.begin(), rest.end(), '\n')), "line"));
      }
      std::size_t end = rest.find('\n');
      out += "        " + line(rest.substr(0, end)) + "\n";
      rest.remove_prefix(end + 1);
    }
    return out;
  }
  std::string line(std::string_view written) {
    std::string out(written);
    for (char& c : out)
      if (c != '\t' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)) c = '?';
    if (!full_ && out.size() > 2 * kRoom) {
      std::size_t end = 2 * kRoom;
      while ((static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;  // a character is not cut in two
      out = out.substr(0, end) + "…";
      cut_ = true;
    }
    if (colour_ && (out[0] == '+' || out[0] == '-')) out = (out[0] == '+' ? "\x1b[32m" : "\x1b[31m") + out + "\x1b[0m";
    return out;
  }

  bool full_, colour_, cut_ = false;
};

struct Counts {
  u32 add = 0, change = 0, remove = 0, interrupt = 0;
  u32 acting = 0;  // of all of them; of the others only the record changes
  u32 all() const { return add + change + remove + interrupt; }
};

Counts count(const deploy::Prepared& p) {
  Counts n;
  for (auto& c : p.plan.changes) {
    n.acting += c.acts;
    switch (c.kind) {
      case PlanChange::Kind::kAdd: ++n.add; break;
      case PlanChange::Kind::kRemove: ++n.remove; break;
      case PlanChange::Kind::kInterrupt: ++n.interrupt; break;
      default: ++n.change;
    }
  }
  return n;
}

// The behaviours as people say them: the two halves of a change in place are one thing to them.
std::string done_to(const std::vector<std::string>& behaviours) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < behaviours.size(); ++i) {
    bool first_half = behaviours[i] == "alter", second_half = behaviours[i] == "settle";
    words.push_back(first_half ? "change in place" : second_half ? "end the change" : std::string_view(behaviours[i]));
    if (first_half && i + 1 < behaviours.size() && behaviours[i + 1] == "settle") ++i;
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

// The first of them and the last, where there are many: a path of waves is as long as there are waves.
std::string few(const std::vector<std::string>& names) {
  if (names.size() <= 8) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, … {} more, {}", fmt::join(names.begin(), names.begin() + 5, ", "), names.size() - 6,
                     names.back());
}

}  // namespace

std::string plan_summary(const deploy::Prepared& p, const deploy::Check* check) {
  Counts n = count(p);
  std::string t = fmt::format("Plan {}: {} add, {} change, {} remove", p.digest, n.add, n.change, n.remove);
  if (n.interrupt) t += fmt::format(", {} interrupted", n.interrupt);
  t += fmt::format(", {} unchanged", p.plan.unchanged);
  if (n.acting < n.all()) t += fmt::format("; {} of them without an action", n.all() - n.acting);
  if (check && check->timed && check->total >= 0.0005) {
    t += fmt::format("; about {}", short_time(check->total));
    if (check->untimed)
      t += fmt::format(", and {} of unknown length", counted(check->untimed, "action"));
    else if (check->limited)
      t += " (limited by how many run at once)";
    else if (!check->critical.empty())
      t += fmt::format(" (critical path: {})", few(check->critical));
  }
  return t + ".";
}

std::string show_plan(Call& call, const deploy::Prepared& p, const deploy::Check* check, bool program) {
  std::string t;
  bool colour = call.manner.colour_out;
  Settings settings(call.options.has("full"), colour);
  for (auto& c : p.plan.changes) {
    t += fmt::format("{}{} {}{}{} ({}{}{})", colour ? paint(c.kind) : "", sign(c.kind), c.component,
                     colour ? "\x1b[0m" : "", c.was.empty() ? "" : " was " + c.was, c.type,
                     c.host.empty() ? "" : " on ", c.host.text());
    if (c.kind == PlanChange::Kind::kRename) t += ": renamed";
    if (c.kind == PlanChange::Kind::kInterrupt || c.kind == PlanChange::Kind::kReplace ||
        c.kind == PlanChange::Kind::kRepair)
      t += fmt::format(" {}", change_word(c.kind));
    if (!c.behaviours.empty()) t += fmt::format(": {}", done_to(c.behaviours));
    if (!c.why.empty())
      t += fmt::format("  # {}", c.why);
    else if (!c.acts && c.kind == PlanChange::Kind::kRemove)
      t += "  # nothing is left to be done";
    t += "\n";
    for (auto& line : settings.actions(c.actions)) t += fmt::format("    {}\n", line);
    for (auto& d : c.details) {
      if (c.kind == PlanChange::Kind::kAdd && d.to.is(Kind::kNull)) continue;
      std::string where;
      if (!p.saved) where = call.session.sources->show(call.session.origins.written(d.to.origin()));
      if (c.kind == PlanChange::Kind::kAdd && where.starts_with(kLibrary)) continue;  // a default that nobody wrote
      t += fmt::format("    {}: {}", d.path, settings.change(d, where));
    }
  }
  if (settings.cut()) t += "(Some of this is cut short: --full shows everything.)\n";
  if (program) {
    t += "Program:\n";
    for (auto& i : p.program.system.program) t += fmt::format("    {}\n", p.program.system.instruction_text(i));
  }
  for (auto& n : p.plan.notes) t += fmt::format("Note: {}\n", n);
  if (check) {
    if (check->safe && !check->complete)
      t += fmt::format(
          "Verified in part: nothing wrong in the first {}; there are more (--max-states N looks at more).\n",
          counted(check->states, "state"));
    else
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
                                {"was", make.text(c.was)},
                                {"type", make.text(c.type)},
                                {"host", make.text(c.host.text())},
                                {"behaviours", make.list(c.behaviours)},
                                {"actions", make.list(c.actions)},
                                {"acts", Value::boolean(c.acts)},
                                {"why", make.text(c.why)},
                                {"details", make.list(details)}}));
  }
  std::vector<Value> followers;
  for (auto& f : p.plan.followers)
    followers.push_back(make.map({{"component", make.text(f.component)},
                                  {"reads", make.text(f.reads)},
                                  {"in_this_call", Value::boolean(f.in_this_call)}}));
  std::vector<std::string> program;
  for (auto& i : p.program.system.program) program.push_back(p.program.system.instruction_text(i));
  Counts n = count(p);
  std::vector<Entry> root{{Symbol("system"), Field::kPlain, make.text(p.system)},
                          {Symbol("serial"), Field::kPlain, make.integer(p.serial)},
                          {Symbol("digest"), Field::kPlain, make.text(p.digest)},
                          {Symbol("changes"), Field::kPlain, make.list(changes)},
                          {Symbol("unchanged"), Field::kPlain, make.integer(p.plan.unchanged)},
                          {Symbol("followers"), Field::kPlain, make.list(followers)},
                          {Symbol("notes"), Field::kPlain, make.list(p.plan.notes)},
                          {Symbol("program"), Field::kPlain, make.list(program)},
                          {Symbol("summary"), Field::kPlain,
                           make.map({{"add", make.integer(n.add)},
                                     {"change", make.integer(n.change)},
                                     {"remove", make.integer(n.remove)},
                                     {"interrupted", make.integer(n.interrupt)},
                                     {"acting", make.integer(n.acting)}})}};
  if (check)
    root.push_back({Symbol("check"), Field::kPlain,
                    make.map({{"safe", check->safe && !check->complete ? Value::null() : Value::boolean(check->safe)},
                              {"complete", Value::boolean(check->complete)},
                              {"states", make.integer(static_cast<i64>(check->states))},
                              {"seconds", check->timed || !check->untimed ? make.number(check->total) : Value::null()},
                              {"untimed", make.integer(check->untimed)},
                              {"limited", Value::boolean(check->limited)},
                              {"critical", make.list(check->critical)},
                              {"invariants", make.list(check->verdicts)},
                              {"trouble", make.list(check->trouble)}})});
  return make.builder().map(root);
}

}  // namespace tutti
