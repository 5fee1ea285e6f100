#include "engine/report/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/report/xml.h"

namespace tutti::engine {

using model::System;

namespace {

std::string_view plural(u64 n) { return n == 1 ? "" : "s"; }

std::vector<const ActionSpan*> in_order(const RunReport& report) {
  std::vector<const ActionSpan*> all;
  for (const ActionSpan& a : report.actions) all.push_back(&a);
  // By instance, each where it first does something; then by start.
  std::vector<std::pair<double, u32>> first;
  for (const ActionSpan* a : all) {
    auto it = std::find_if(first.begin(), first.end(), [&](const auto& f) { return f.second == a->instance; });
    if (it == first.end())
      first.push_back({a->start, a->instance});
    else
      it->first = std::min(it->first, a->start);
    if (first.size() > 5000) break;
  }
  std::stable_sort(first.begin(), first.end());
  std::vector<std::size_t> rank;
  for (std::size_t k = 0; k < first.size(); ++k) {
    if (rank.size() <= first[k].second) rank.resize(first[k].second + 1, SIZE_MAX);
    rank[first[k].second] = k;
  }
  auto rank_of = [&](const ActionSpan* a) { return a->instance < rank.size() ? rank[a->instance] : SIZE_MAX; };
  std::stable_sort(all.begin(), all.end(), [&](const ActionSpan* a, const ActionSpan* b) {
    return rank_of(a) != rank_of(b)     ? rank_of(a) < rank_of(b)
           : a->instance != b->instance ? a->instance < b->instance
                                        : a->start < b->start;
  });
  return all;
}

std::string number(double d) {
  std::string s = fmt::format("{:.3f}", d);
  while (s.back() == '0') s.pop_back();
  if (s.back() == '.') s.pop_back();
  return s;
}

// 1, 2 or 5 times a power of ten, at least so large.
double round_step(double least) {
  double power = std::pow(10, std::floor(std::log10(least)));
  for (double k : {1, 2, 5})
    if (k * power >= least * 0.999) return k * power;
  return 10 * power;
}

void json_string(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  out += '"';
}

}  // namespace

std::string gantt_text(const System& system, const RunReport& report, u32 width) {
  std::string t;
  std::vector<const ActionSpan*> all = in_order(report);
  std::size_t name = 10;
  for (const ActionSpan* a : all) name = std::max(name, system.transition_text(a->instance, a->transition).size());
  name = std::min<std::size_t>(name, 40);
  std::size_t bar = width > name + 24 ? width - name - 22 : 20;
  double total = report.total > 0 ? report.total : 1;
  std::size_t shown = 0;
  for (const ActionSpan* a : all) {
    if (a->end - a->start <= 0 && a->how == How::kOk && all.size() > 40) continue;  // nothing to see
    if (++shown > 400) {
      t += fmt::format("... and {} more\n", all.size() - shown + 1);
      break;
    }
    std::size_t from = static_cast<std::size_t>(std::floor(a->start / total * static_cast<double>(bar)));
    std::size_t to = static_cast<std::size_t>(std::ceil(a->end / total * static_cast<double>(bar)));
    from = std::min(from, bar - 1);
    to = std::clamp(to, from + 1, bar);
    std::size_t ready =
        std::min<std::size_t>(static_cast<std::size_t>(std::floor(a->ready / total * static_cast<double>(bar))), from);
    std::string line(bar, ' ');
    for (std::size_t k = ready; k < from; ++k) line[k] = '.';  // allowed, but waiting for a free slot
    for (std::size_t k = from; k < to; ++k) line[k] = a->how == How::kOk ? '=' : 'x';
    t += fmt::format("{:<{}} |{}| {:>8} {:>8}{}\n", system.transition_text(a->instance, a->transition), name, line,
                     number(a->start), number(a->end), a->how == How::kOk ? "" : fmt::format("  {}", how_word(a->how)));
  }
  return t;
}

std::string account_text(const System& system, const Runner& runner, const RunReport& report) {
  const Scheduler& s = runner.scheduler();
  std::string t = fmt::format("{} after {}: {} of {} instruction{}, {} action{}, {} step{}\n",
                              report.finished    ? "finished"
                              : report.cancelled ? "cancelled"
                                                 : "not finished",
                              number(report.total), report.pc, system.program.size(), plural(system.program.size()),
                              report.actions.size(), plural(report.actions.size()), report.steps, plural(report.steps));
  for (const ActionSpan& a : report.actions)
    if (a.how != How::kOk)
      t += fmt::format("{}: {}{}{}\n", system.transition_text(a.instance, a.transition), how_word(a.how),
                       a.attempts > 1 ? fmt::format(" after {} attempts", a.attempts) : "",
                       a.message.empty() ? "" : ": " + a.message);
  for (const std::string& w : report.stuck) t += fmt::format("waiting: {}\n", w);
  std::size_t shown = 0;
  for (u32 i = 0; i < system.instances.size(); ++i) {
    if (!s.present(i)) continue;
    if (++shown > 60) {
      t += "...\n";
      break;
    }
    const model::ComponentType& type = system.type_of(i);
    std::string where;
    for (u32 e : s.marking(i)) {
      if (!where.empty()) where += ", ";
      if (type.is_place(e)) {
        where += type.places[e].name.text();
      } else if (type.is_transition(e)) {
        u32 k = type.element_transition(e);
        bool failed = std::any_of(s.failures().begin(), s.failures().end(),
                                  [&](const auto& f) { return f.first == i && f.second == k; });
        where += fmt::format("{} {}", failed ? "failed in" : "in", type.transitions[k].name.text());
      } else {
        where += fmt::format("after {}", type.transitions[type.half_way(e).transition].name.text());
      }
    }
    std::string todo;
    for (u32 b : s.queue(i)) todo += (todo.empty() ? "; to do: " : ", ") + std::string(type.behaviours[b].name.text());
    t += fmt::format("  {:<20} {}{}\n", system.instances[i].name.text(), where, todo);
  }
  return t;
}

std::string gantt_svg(const System& system, const RunReport& report) {
  std::vector<const ActionSpan*> all = in_order(report);
  constexpr double kRow = 18, kWide = 900, kTop = 30;
  std::size_t longest = 0;
  for (const ActionSpan* a : all)
    longest = std::max(longest, system.transition_text(a->instance, a->transition).size());
  const double kLeft = std::clamp(20 + 6.4 * static_cast<double>(longest), 100.0, 600.0);
  double total = report.total > 0 ? report.total : 1;
  double height = kTop + kRow * static_cast<double>(all.size()) + 10;
  std::string t = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kLeft + kWide + 80, height);
  const double step = round_step(total / 10);
  for (double at = 0; at <= total * 1.0001; at += step) {
    double x = kLeft + kWide * at / total;
    t += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.0f}\" x2=\"{0:.1f}\" y2=\"{2:.0f}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" "
        "y=\"{3:.0f}\" text-anchor=\"middle\">{4}</text>\n",
        x, kTop, height, kTop - 8, number(at));
  }
  static constexpr const char* kColours[] = {"#4e79a7", "#59a14f", "#b07aa1", "#f28e2b",
                                             "#76b7b2", "#9c755f", "#edc948"};
  double y = kTop;
  for (const ActionSpan* a : all) {
    double x = kLeft + a->start / total * kWide, w = std::max(1.0, (a->end - a->start) / total * kWide);
    std::string name = xml_escaped(system.transition_text(a->instance, a->transition));
    t += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", kLeft - 6, y + 13, name);
    if (a->ready < a->start)
      t += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#999\" stroke-dasharray=\"2 2\"/>",
          kLeft + a->ready / total * kWide, y + 9, x, y + 9);
    t += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"13\" rx=\"2\" fill=\"{}\"><title>{}: {} to "
        "{}{}</title></rect>\n",
        x, y + 3, w, a->how == How::kOk ? kColours[a->instance % 7] : "#e15759", name, number(a->start), number(a->end),
        a->how == How::kOk ? "" : fmt::format(" ({})", how_word(a->how)));
    y += kRow;
  }
  return t + "</svg>\n";
}

std::string chrome_trace(const System& system, const RunReport& report) {
  std::string t = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
  std::vector<bool> named(system.instances.size());
  std::set<std::pair<u32, u32>> rows;
  bool first = true;
  auto next = [&] {
    if (!first) t += ",";
    t += "\n";
    first = false;
  };
  for (const ActionSpan& a : report.actions) {
    if (!named[a.instance]) {
      named[a.instance] = true;
      next();
      t += fmt::format("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"args\":{{\"name\":", a.instance + 1);
      json_string(t, system.instances[a.instance].name.text());
      t += "}}";
    }
    if (rows.insert({a.instance, a.transition}).second) {
      next();
      t += fmt::format("{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":",
                       a.instance + 1, a.transition + 1);
      json_string(t, system.type_of(a.instance).transitions[a.transition].name.text());
      t += "}}";
    }
    next();
    t += "{\"ph\":\"X\",\"name\":";
    json_string(t, system.type_of(a.instance).transitions[a.transition].name.text());
    t += fmt::format(
        ",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{\"attempts\":{},\"code\":{}}}}}",
        how_word(a.how), a.instance + 1, a.transition + 1, a.start * 1e6, (a.end - a.start) * 1e6, a.attempts, a.code);
  }
  return t + "\n]}\n";
}

Value report_tree(Session& session, const System& system, const Runner& runner, const RunReport& report) {
  TreeBuilder b = session.builder();
  auto num = [&](double d) {
    if (d == std::floor(d) && std::fabs(d) < 1e15) return Value::integer(static_cast<i64>(d));
    return b.number(fmt::format("{}", d));
  };
  auto texts = [&](const std::vector<std::string>& list) {
    std::vector<Value> v;
    for (const std::string& s : list) v.push_back(b.string(s));
    return b.list(v);
  };
  const Scheduler& s = runner.scheduler();
  MapDraft d;
  auto set = [&](std::string_view k, const Value& v) { d.set(Symbol(k), v); };
  set("finished", Value::boolean(report.finished));
  if (report.cancelled) set("cancelled", Value::boolean(true));
  set("total", num(report.total));
  set("program_end", num(report.program_end));
  set("instructions_done", Value::integer(report.pc));
  set("instructions", Value::integer(static_cast<i64>(system.program.size())));
  set("steps", Value::integer(static_cast<i64>(report.steps)));
  std::vector<Value> actions;
  for (const ActionSpan& a : report.actions) {
    MapDraft x;
    x.set(Symbol("action"), b.string(system.transition_text(a.instance, a.transition)));
    x.set(Symbol("start"), num(a.start));
    x.set(Symbol("end"), num(a.end));
    if (a.ready < a.start) x.set(Symbol("ready"), num(a.ready));
    x.set(Symbol("result"), Value::string(how_word(a.how)));
    if (a.attempts > 1) x.set(Symbol("attempts"), Value::integer(a.attempts));
    if (a.code) x.set(Symbol("code"), Value::integer(a.code));
    if (!a.message.empty()) x.set(Symbol("message"), b.string(a.message));
    actions.push_back(x.build(b));
  }
  set("actions", b.list(actions));
  MapDraft instances;
  for (u32 i = 0; i < system.instances.size(); ++i) {
    if (!s.present(i)) continue;
    const model::ComponentType& type = system.type_of(i);
    MapDraft x;
    std::vector<Value> places, failed, queue;
    for (u32 e : s.marking(i)) places.push_back(b.string(type.element_name(e)));
    for (const auto& [who, k] : s.failures())
      if (who == i) failed.push_back(Value::string(type.transitions[k].name.text()));
    for (u32 q : s.queue(i)) queue.push_back(Value::string(type.behaviours[q].name.text()));
    x.set(Symbol("type"), Value::string(type.name.text()));
    x.set(Symbol("places"), b.list(places));
    if (!queue.empty()) x.set(Symbol("queue"), b.list(queue));
    if (!failed.empty()) x.set(Symbol("failed"), b.list(failed));
    if (!runner.outputs(i).empty()) {
      MapDraft o;
      for (const auto& [k, v] : runner.outputs(i)) o.set(Symbol(k), b.string(v));
      x.set(Symbol("outputs"), o.build(b));
    }
    instances.set(system.instances[i].name, x.build(b));
  }
  std::vector<Value> links;
  for (const model::Link& l : s.links())
    links.push_back(b.list(std::vector<Value>{Value::string(system.instances[l.user].name.text()),
                                              Value::string(system.type_of(l.user).ports[l.use].name.text()),
                                              Value::string(system.instances[l.provider].name.text()),
                                              Value::string(system.type_of(l.provider).ports[l.provide].name.text())}));
  MapDraft assembly;
  assembly.set(Symbol("instances"), instances.build(b));
  assembly.set(Symbol("links"), b.list(links));
  set("assembly", assembly.build(b));
  if (!report.stuck.empty()) set("stuck", texts(report.stuck));
  return d.build(b);
}

}  // namespace tutti::engine
