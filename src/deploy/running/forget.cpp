// Runs that only take something out of the record. They are runs like any other, with a lease and a journal, so that
// one that is cut off is taken up again.
#include <fmt/format.h>

#include "deploy/planning/forgetting.h"
#include "deploy/record/encode.h"
#include "deploy/recording/forgotten.h"
#include "deploy/running/running.h"
#include "resource/params.h"

namespace tutti::deploy {
namespace {

Value list_of(const std::vector<std::string>& words, const TreeBuilder& b) {
  std::vector<Value> list;
  for (auto& w : words) list.push_back(b.string(w));
  return b.list(list);
}

}  // namespace

Outcome Running::forget(const Forgetting& f, RunSettings& settings) {
  TreeBuilder b(session_.arena);
  std::vector<std::string> names;
  for (auto& one : f.components) names.push_back(one.component);
  std::vector<Entry> what{{Symbol("forget"), Field::kPlain, list_of(names, b)},
                          {Symbol("hosts"), Field::kPlain, list_of(f.hosts, b)}};
  Outcome out;
  store::RunRecord record;
  record.system = f.system;
  record.kind = kForgetRun;
  record.base_serial = f.serial;
  record.base_state = encode(f.state, effects_.seal);
  record.plan = record.wanted = encode_for_run(b.map(what), effects_.seal);
  auto lease = begin(record, settings, out);
  if (!lease) return out;
  out = strike(record, *lease, out.run);
  [[maybe_unused]] auto released = effects_.store.release(*lease);
  return out;
}

Outcome Running::strike(const store::RunRecord& record, const store::Lease& lease, i64 run) {
  Outcome out;
  out.run = run;
  auto what = decode(session_, "what is forgotten", record.plan, effects_.seal);
  if (!what) return out.refuse({"what was stored of the run cannot be read", 0});
  resource::Params words(*what);
  auto f = plan_forgetting(session_, world_, record.system, words.list("forget"), {});
  if (!f) return out.refuse({"what was stored of the run cannot be read", 0});
  std::vector<store::Entry> notes;
  for (auto& one : f->components) {
    store::Entry note;
    note.time = effects_.clock.wall();
    note.message = note_of(one);
    notes.push_back(std::move(note));
  }
  if (auto r = effects_.store.append(lease, run, notes); !r) return out.refuse(r.error());
  out.changed = static_cast<u32>(f->components.size());
  out.finished = true;
  out.summary = fmt::format("{} forgotten", out.changed);
  TreeBuilder b(session_.arena);
  write_end(effects_, lease, run, true, state_without(*f, words.list("hosts"), b), out);
  return out;
}

}  // namespace tutti::deploy
