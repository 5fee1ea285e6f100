#include "deploy/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "deploy/deployer.h"
#include "deploy/encode.h"
#include "deploy/journal.h"
#include "deploy/reins.h"
#include "engine/run/process_executor.h"
#include "tree/secret_mark.h"

namespace tutti::deploy {
namespace {

using engine::ActionResult;
using engine::How;

// What is stored has no definitions: `#Web` under `types` is the type `Web`.
Value without_definitions(const Value& v, const TreeBuilder& b, bool of_types) {
  if (!v.is(Kind::kMap)) return v;
  std::vector<Entry> entries;
  for (const Entry& e : v.entries()) {
    std::string_view key = e.key.text();
    bool definition = of_types && e.field == Field::kDefinition;
    if (e.field != Field::kPlain && !definition) continue;
    if (definition && key.starts_with("#")) key.remove_prefix(1);
    entries.push_back({Symbol(key), Field::kPlain, e.value});
  }
  Value plain = b.map(entries, v.origin());
  return secret_like(plain, v);
}

std::string text_of(const Value& map, std::string_view key) {
  const Entry* e = map.find(key);
  return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
}

}  // namespace

std::vector<Symbol> left_by(const model::ComponentType& type, const model::Marking& marking) {
  // What is done and waits for nobody who would have to come, but only may not go on, is as good as there.
  auto arrived = [&](const model::Transition& t, const model::Station& station) {
    bool alone = station.needs == 1;
    for (u32 q = 0; q < type.uses && alone; ++q)
      alone = !type.group.test(q, station.place) || type.group.test(q, t.source);
    return alone;
  };
  std::set<u32> elements(marking.begin(), marking.end());
  std::map<std::pair<u32, u32>, std::set<u32>> not_done;  // (place, behaviour) -> of what leaves it together
  for (u32 e : marking) {
    if (type.is_place(e)) continue;
    model::HalfWay h = type.half_way(e);
    const model::Transition& t = type.transitions[h.transition];
    if (h.ended && arrived(t, type.stations[h.ended->station])) {
      elements.erase(e);
      elements.insert(type.stations[h.ended->station].place);
    } else if (!h.ended || type.action_of(t).what.is(Kind::kNull)) {
      not_done[{t.source, t.behaviour}].insert(e);
    }
  }
  for (auto& [from, tokens] : not_done) {
    auto [place, behaviour] = from;
    if (behaviour == model::kNone || tokens.size() != type.out(place, behaviour).size()) continue;
    for (u32 e : tokens) elements.erase(e);
    elements.insert(place);
  }
  std::vector<Symbol> names;
  for (u32 e : elements) names.push_back(Symbol(type.element_name(e)));
  return names;
}

engine::Recorded assembly_of(const model::System& s, const engine::Runner& runner, const resource::Scrubber& scrub,
                             std::map<u32, std::string> failed) {
  engine::Recorded out;
  out.program = true;
  const engine::Scheduler& now = runner.scheduler();
  for (auto& [i, t] : now.failures()) failed[i] = s.type_of(i).transitions[t].name.text();
  std::multimap<u32, model::Link> links;
  for (const model::Link& l : now.links()) links.emplace(l.user, l);
  for (u32 i = 0; i < s.instances.size(); ++i) {
    if (!now.present(i)) continue;
    const model::ComponentType& type = s.type_of(i);
    engine::RecordedComponent c;
    c.name = c.instance = s.instances[i].name.text();
    c.type = type.name.text();
    c.host = s.instances[i].host;
    c.marking = left_by(type, now.marking(i));
    if (auto f = failed.find(i); f != failed.end()) c.failed = f->second;
    for (auto& [key, value] : runner.outputs(i)) {
      c.outputs[key] = value;
      if (scrub.has_secret(value)) c.secret.insert(key);
    }
    for (auto [at, end] = links.equal_range(i); at != end; ++at) {
      const model::Link& l = at->second;
      c.needs.push_back({type.ports[l.use].name,
                         s.instances[l.provider].name,
                         s.type_of(l.provider).ports[l.provide].name,
                         true,
                         {}});
    }
    out.order.push_back(c.name);
    out.components.emplace(c.name, std::move(c));
  }
  return out;
}

Value Program::stored(const TreeBuilder& b) const {
  MapDraft root;
  for (const Entry& e : without_definitions(tree, b, false).entries())
    root.set(e.key, e.key.text() == "types" ? without_definitions(e.value, b, true) : e.value);
  std::vector<Entry> numbers;
  for (auto& [name, n] : parameters) numbers.push_back({Symbol(name), Field::kPlain, Value::integer(n)});
  std::vector<Entry> all{{Symbol("tree"), Field::kPlain, root.build(b)},
                         {Symbol("text"), Field::kPlain, b.string(text)},
                         {Symbol("text_name"), Field::kPlain, b.string(text_name)},
                         {Symbol("entry"), Field::kPlain, b.string(entry)},
                         {Symbol("parameters"), Field::kPlain, b.map(numbers)},
                         {Symbol("keep_going"), Field::kPlain, Value::boolean(keep_going)}};
  return b.map(all);
}

std::optional<Program> Program::restored(Session& session, const Value& stored) {
  const Entry* tree = stored.find("tree");
  if (!tree) return std::nullopt;
  Program p;
  p.tree = tree->value;
  p.text = text_of(stored, "text");
  p.text_name = text_of(stored, "text_name");
  p.entry = text_of(stored, "entry");
  if (const Entry* e = stored.find("parameters"); e && e->value.is(Kind::kMap))
    for (const Entry& one : e->value.entries())
      if (one.value.fits_i64()) p.parameters[std::string(one.key.text())] = one.value.as_i64();
  if (const Entry* e = stored.find("keep_going")) p.keep_going = e->value.is(Kind::kBool) && e->value.as_bool();
  model::ReadOptions options;
  options.parameters = p.parameters;
  options.program = p.entry;
  if (!p.text_name.empty()) {
    auto source = session.sources->add(p.text_name, p.text);
    if (!source) return std::nullopt;
    options.text = *source;
  }
  auto model = model::read_system(session, p.tree, options);
  if (!model) return std::nullopt;
  p.model = std::move(*model);
  return p;
}

Outcome Deployer::run(const Program& program, RunSettings& settings) {
  Outcome out;
  store::RunRecord record;
  Value state;
  auto was = recorded(program.system, &record.base_serial, nullptr, &state);
  if (!was) {
    out.wrong = "the recorded state cannot be read";
    return out;
  }
  if (!was->program && !was->components.empty()) {
    out.wrong = fmt::format("`{}` is a system that is planned; a program of its own needs another name (--system)",
                            program.system);
    return out;
  }
  Value stored = program.stored(TreeBuilder(session_.arena));
  record.system = program.system;
  record.kind = kProgramRun;
  record.base_state = encode(state, *place_.seal);
  record.plan = record.wanted = encode(stored, *place_.seal);
  auto lease = begin(record, settings, out);
  if (!lease) return out;
  out = execute(program, settings, *lease, out.run, nullptr);
  [[maybe_unused]] auto released = place_.store->release(*lease);
  return out;
}

Outcome Deployer::execute(const Program& p, RunSettings& settings, const store::Lease& lease, i64 run,
                          const engine::JournalRecord* record) {
  Outcome out;
  out.run = run;
  const model::System& s = p.model;
  engine::JournalRecord left;
  std::vector<ActionResult> found;
  std::map<u32, std::string> unknown;
  if (record) {
    end_leftovers(s, *record, run, lease, settings);  // nothing of the dead run may go on beside us
    // What was in flight is looked at by its check, repeated where that does no harm, and otherwise asked about.
    left.results = record->results;
    for (auto& o : record->open) {
      const model::ComponentType& type = s.type_of(o.instance);
      const model::Action& action = type.action_of(type.transitions[o.transition]);
      std::string name = s.transition_text(o.instance, o.transition), text;
      if (auto decision = settings.decisions.find(name); decision != settings.decisions.end()) {
        text = decision->second == "done" ? "was in flight and is done" : "was in flight and is done again";
        if (decision->second == "done") found.push_back(o.ended_well());
      } else if (action.check() || action.idempotent || !action.what.find("run")) {
        left.open.push_back(o);
        text = action.check() ? "was in flight and is looked at" : "was in flight and is done again";
      } else if (settings.give_up) {
        unknown[o.instance] = type.transitions[o.transition].name.text();
        text = "was in flight";
      } else {
        text = "was in flight: whether its command ran to its end cannot be seen";
        out.failures.push_back(fmt::format("{}: its result is not known", name));
        out.actions.push_back(name);
      }
      if (settings.events.line) settings.events.line(0, fmt::format("{}  {}", name, text));
    }
    for (auto& f : record->again) {
      std::string name = s.transition_text(f.instance, f.transition);
      bool declared = settings.decisions.at(name) == "done";
      if (declared)
        found.push_back(f.ended_well());
      else
        left.again.push_back(f);
      if (settings.events.line)
        settings.events.line(0, fmt::format("{}  had failed and is {}", name, declared ? "done" : "done again"));
    }
    if (!out.failures.empty()) {
      out.unknown = true;
      out.summary = "the result of an action is not known";
      return out;
    }
    left.results.insert(left.results.end(), found.begin(), found.end());
  }
  resource::Scrubber scrub(p.tree);
  engine::ProcessExecutor::Options how;
  how.grace = settings.grace;
  how.run = fmt::format("{}.{}", mark_of(run), lease.fence);
  how.clean = [&](std::string_view text) { return scrub.clean(text); };
  how.why_not = [&] {
    auto may = place_.store->holds(lease);
    return may ? "" : may.error().message;
  };
  engine::ProcessExecutor executor(how);
  StoreJournal journal(*place_.store, lease, run, s, {*place_.seal, scrub});
  engine::RunOptions options;
  options.parallel = settings.parallel;
  options.parallel_per_host = settings.parallel_per_host;
  if (p.keep_going) options.on_failure = engine::OnFailure::kContinue;
  std::unique_ptr<engine::RunListener> listener = settings.listener ? settings.listener(s) : nullptr;
  engine::Runner runner(s, executor, options, &journal, listener.get());
  if (settings.give_up) runner.drain();
  engine::RunReport report;
  std::optional<std::string> lost;
  {
    Reins reins(*place_.store, lease, runner, [&] { executor.wake(); });
    journal.on_broken = [&](const Failure& f) { reins.lost(f); };
    StopHere stop_here(settings.on_stop, reins);
    journal.ended(executor.now(), found);
    report = record ? runner.resume(left) : runner.run();
    lost = reins.lost();
  }
  listener.reset();
  if (!out.take(report, lost)) return out;
  for (auto& a : report.actions) {
    const model::ComponentType& type = s.type_of(a.instance);
    if (type.action_of(type.transitions[a.transition]).what.is(Kind::kNull)) continue;
    if (a.how == How::kOk) {
      ++out.changed;
      continue;
    }
    ++out.failed;
    if (a.how == How::kLost || a.how == How::kCancelled) out.unknown = true;
  }
  if (auto failures = runner.scheduler().failures(); !failures.empty())
    out.retry = s.transition_text(failures[0].first, failures[0].second);
  out.sum_up("done", report.cancelled && !report.finished && !settings.give_up);
  if (settings.ended) settings.ended(s, runner, report);
  // What failed and had a place to go for that is no failure of the program.
  TreeBuilder b(session_.arena);
  if (!out.open)
    write_end(lease, run, report.finished, engine::write_recorded(assembly_of(s, runner, scrub, std::move(unknown)), b),
              out);
  return out;
}

}  // namespace tutti::deploy
