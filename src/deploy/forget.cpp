// Taking components out of the record where nothing can be done about them any more: their host is gone for good.
#include "deploy/forget.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/near.h"
#include "deploy/encode.h"
#include "resource/params.h"

namespace tutti::deploy {
namespace {

Value texts(const std::vector<std::string>& words, const TreeBuilder& b) {
  std::vector<Value> list;
  for (auto& w : words) list.push_back(b.string(w));
  return b.list(list);
}

std::vector<std::string> texts_at(const Value& map, std::string_view key) { return resource::Params(map).list(key); }

std::string note_of(const Forgetting::One& one) {
  return fmt::format("{} ({} on {}, {}) is forgotten{}", one.component, one.type,
                     one.host.empty() ? "this machine" : one.host.text(), one.state,
                     one.held.empty() ? "" : fmt::format("; what it held there: {}", fmt::join(one.held, ", ")));
}

}  // namespace

std::optional<Forgetting> Deployer::prepare_forget(const std::string& system,
                                                   const std::vector<std::string>& components,
                                                   const std::vector<std::string>& hosts) {
  Forgetting f;
  f.system = system;
  f.hosts = hosts;
  auto was = recorded(system, &f.serial, nullptr, &f.state);
  if (!was) return std::nullopt;
  std::vector<std::string_view> names, places;
  std::erase_if(was->order, [&](auto& name) { return was->components.at(name).forgotten; });
  std::erase_if(was->components, [](auto& c) { return c.second.forgotten; });
  for (auto& [name, c] : was->components) {
    names.push_back(name);
    if (!c.host.empty()) places.push_back(c.host.text());
  }
  std::size_t before = session_.diagnostics.errors();
  auto unknown = [&](std::string what, std::string_view name, const std::vector<std::string_view>& known) {
    session_.diagnostics.error("FORGET-UNKNOWN", {}, std::move(what)).did_you_mean(nearest(name, known));
  };
  for (auto& name : components)
    if (!was->components.count(name)) unknown(fmt::format("`{}` has no component `{}`", system, name), name, names);
  for (auto& host : hosts)
    if (std::find(places.begin(), places.end(), host) == places.end())
      unknown(fmt::format("`{}` has nothing on a host `{}`", system, host), host, places);
  std::set<std::string> chosen(components.begin(), components.end());
  for (auto& [name, c] : was->components)
    if (std::find(hosts.begin(), hosts.end(), c.host.text()) != hosts.end()) chosen.insert(name);
  for (auto& name : was->order) {
    if (!chosen.count(name)) continue;
    const engine::RecordedComponent& c = was->components.at(name);
    if (c.protect)
      session_.diagnostics.error("FORGET-PROTECTED", {}, fmt::format("`{}` is protected", name))
          .suggest("first apply it once without `protect`, which does nothing where it is");
    Forgetting::One one{name, c.type, c.host, "", {}, {}};
    for (Symbol e : c.marking) one.state += (one.state.empty() ? "" : ", ") + std::string(e.text());
    for (auto& h : c.held)
      one.held.push_back(fmt::format("{} {}", h.find("type")->value.text(), h.find("title")->value.text()));
    for (auto& [other, o] : was->components)
      if (!chosen.count(other) &&
          std::any_of(o.needs.begin(), o.needs.end(), [&](auto& n) { return n.hold && n.provider.text() == name; }))
        one.users.push_back(other);
    f.components.push_back(std::move(one));
  }
  if (session_.diagnostics.errors() != before) return std::nullopt;
  return f;
}

Outcome Deployer::forget(const Forgetting& f, RunSettings& settings) {
  TreeBuilder b(session_.arena);
  std::vector<std::string> names;
  for (auto& one : f.components) names.push_back(one.component);
  std::vector<Entry> what{{Symbol("forget"), Field::kPlain, texts(names, b)},
                          {Symbol("hosts"), Field::kPlain, texts(f.hosts, b)}};
  Outcome out;
  store::RunRecord record;
  record.system = f.system;
  record.kind = kForgetRun;
  record.base_serial = f.serial;
  record.base_state = encode(f.state, *place_.seal);
  record.plan = record.wanted = encode(b.map(what), *place_.seal);
  auto lease = begin(record, settings, out);
  if (!lease) return out;
  out = strike(record, *lease, out.run);
  [[maybe_unused]] auto released = place_.store->release(*lease);
  return out;
}

Outcome Deployer::strike(const store::RunRecord& record, const store::Lease& lease, i64 run) {
  Outcome out;
  out.run = run;
  auto wrong = [&](const Failure& why) {
    out.wrong = why.message;
    out.wrong_code = why.code;
    return out;
  };
  auto what = decode(session_, "what is forgotten", record.plan, *place_.seal);
  auto f = what ? prepare_forget(record.system, texts_at(*what, "forget"), {}) : std::nullopt;
  if (!f) return wrong({"what was stored of the run cannot be read", 0});
  engine::Recorded left = engine::read_recorded(session_, f->state);
  std::vector<store::Entry> notes;
  for (auto& one : f->components) {
    if (one.users.empty()) {
      left.components.erase(one.component);
      std::erase(left.order, one.component);
    } else {
      engine::RecordedComponent& shade = left.components.at(one.component);
      shade.forgotten = true;
      shade.held.clear();
      shade.needs.clear();
      shade.orders.clear();
    }
    store::Entry note;
    note.time = store::wall_clock();
    note.message = note_of(one);
    notes.push_back(std::move(note));
  }
  std::set<std::string> used;
  for (auto& [name, c] : left.components) used.insert(c.type);
  std::erase_if(left.kinds, [&](auto& k) { return !used.count(k.first); });
  if (auto r = place_.store->append(lease, run, notes); !r) return wrong(r.error());
  TreeBuilder b(session_.arena);
  MapDraft next;
  for (const Entry& e : engine::write_recorded(left, b).entries()) next.set(e.key, e.value);
  auto gone = texts_at(*what, "hosts");
  if (const Entry* hosts = f->state.find("hosts"); hosts && hosts->value.is(Kind::kMap)) {
    MapDraft known;
    for (const Entry& e : hosts->value.entries())
      if (std::find(gone.begin(), gone.end(), e.key.text()) == gone.end()) known.set(e.key, e.value);
    next.set(Symbol("hosts"), known.build(b));
  }
  out.changed = static_cast<u32>(f->components.size());
  out.finished = true;
  out.summary = fmt::format("{} forgotten", out.changed);
  write_end(lease, run, true, next.build(b), out);
  return out;
}

}  // namespace tutti::deploy
