#include "deploy/running/journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/sink.h"
#include "base/utf8.h"
#include "format/json.h"
#include "tree/session.h"

namespace tutti::deploy {
namespace {

using engine::ActionRequest;
using engine::ActionResult;
using engine::How;

std::string_view word(How how) {
  switch (how) {
    case How::kOk: return "ok";
    case How::kFailed: return "failed";
    case How::kTimeout: return "timeout";
    case How::kCancelled: return "cancelled";
    case How::kLost: return "lost";
  }
  return "";
}

How how_of(std::string_view w) {
  for (How h : {How::kOk, How::kFailed, How::kTimeout, How::kCancelled, How::kLost})
    if (word(h) == w) return h;
  return How::kFailed;
}

std::string json_text(std::string_view text) {
  StringSink sink;
  write_json_string(utf8::repaired(text), false, sink);
  return sink.take();
}

std::string outputs_json(const engine::Outputs& outputs, const StoreJournal::Secrets& secrets) {
  if (outputs.empty()) return "";
  std::string out = "{";
  for (auto& [k, v] : outputs) {
    out += (out.size() > 1 ? "," : "") + json_text(k) + ":";
    out +=
        secrets.scrub.has_secret(v) ? fmt::format("{{\"$sealed\":{}}}", json_text(secrets.seal.seal(v))) : json_text(v);
  }
  return out + "}";
}

engine::Outputs outputs_of(const std::string& json, const store::Seal& seal) {
  engine::Outputs out;
  if (json.empty()) return out;
  Session session;
  auto source = session.sources->add("outputs", json);
  auto v = source ? read_json(session, **source) : std::nullopt;
  if (!v || !v->is(Kind::kMap)) return out;
  for (const Entry& one : v->entries()) {
    const Entry* sealed = one.value.is(Kind::kMap) ? one.value.find("$sealed") : nullptr;
    if (!sealed)
      out.emplace_back(one.key.text(), one.value.text());
    else if (auto clear = seal.unseal(sealed->value.text()))
      out.emplace_back(one.key.text(), std::move(*clear));
  }
  return out;
}

constexpr std::string_view kBegins = "begins";  // a note: the action has looked, and acts on the resource it names

}  // namespace

std::map<std::string, std::string> outputs_map(const engine::Outputs& outputs) {
  std::map<std::string, std::string> out;
  for (auto& [key, value] : outputs) out[key] = value;
  return out;
}

std::string changes_json(const std::vector<resource::Change>& changes) {
  if (changes.empty()) return "";
  std::string out = "[";
  for (auto& c : changes) {
    out += out.size() > 1 ? "," : "";
    out += fmt::format("{{\"property\":{},\"text\":{}", json_text(c.property), json_text(c.text));
    if (!c.subject.empty()) out += ",\"subject\":" + json_text(c.subject);
    out += "}";
  }
  return out + "]";
}

std::string StoreJournal::name(u32 instance, u32 transition) const {
  const model::ComponentType& type = system_.type_of(instance);
  return fmt::format("{}/{}", system_.instances[instance].name.text(), type.transitions[transition].name.text());
}

bool StoreJournal::starting(double, std::span<const ActionRequest> requests) {
  for (const ActionRequest& q : requests) {
    if (q.action->what.is(Kind::kNull)) continue;
    acts_ = true;
    store::Entry e;
    e.time = clock_.wall();
    e.kind = store::Entry::Kind::kStart;
    e.instance = q.instance;
    e.transition = q.transition;
    e.attempt = q.attempt;
    e.name = name(q.instance, q.transition);
    waiting_.push_back(std::move(e));
  }
  settle();
  return !broken_;
}

void StoreJournal::ended(double, std::span<const ActionResult> results) {
  for (const ActionResult& r : results) {
    // What was cut off, by us or with the connection, has no known result: to the journal it is still in flight, and
    // whoever takes the run up again looks at it first.
    if (r.how == How::kCancelled || r.how == How::kLost) continue;
    const model::ComponentType& type = system_.type_of(r.instance);
    bool nothing = type.action_of(type.transitions[r.transition]).what.is(Kind::kNull);
    acts_ = acts_ || !nothing;
    store::Entry e;
    e.time = clock_.wall();
    e.kind = store::Entry::Kind::kEnd;
    e.instance = r.instance;
    e.transition = r.transition;
    e.attempt = r.attempt;
    if (!nothing) {
      e.name = name(r.instance, r.transition);
      if (changes_) e.changes = changes_json(changes_(r.instance, r.transition));
    }
    e.how = word(r.how);
    e.code = r.code;
    e.outcome = r.outcome;
    e.message = secrets_.scrub.clean(r.message);
    e.log = secrets_.scrub.clean(r.log);
    e.outputs = outputs_json(r.outputs, secrets_);
    e.seconds = r.ended - r.started;
    waiting_.push_back(std::move(e));
  }
}

void StoreJournal::settle() {
  if (!acts_ || broken_) return;
  Result<void> r;
  std::set<Symbol> hosts;
  for (const store::Entry& e : waiting_)
    if (e.kind == store::Entry::Kind::kEnd && !e.name.empty()) hosts.insert(system_.instances[e.instance].host);
  for (Symbol host : hosts)
    if (r && flush) r = flush(host);
  if (r) r = store_.append(lease_, run_, waiting_);
  waiting_.clear();
  acts_ = false;
  if (!r) broke(r.error());
}

// One write that failed is the end of the run: what comes after it would be written over a gap.
void StoreJournal::broke(const Failure& why) {
  if (!broken_.exchange(true) && on_broken) on_broken(why);
}

bool StoreJournal::begins(u32 instance, u32 transition, const std::string& resource, const resource::Former& former) {
  store::Entry e;
  e.time = clock_.wall();
  e.kind = store::Entry::Kind::kNote;
  e.instance = instance;
  e.transition = transition;
  e.name = name(instance, transition);
  e.how = kBegins;
  e.message = secrets_.scrub.clean(resource);
  e.outputs = outputs_json({former.begin(), former.end()}, secrets_);
  std::unique_lock lock(mutex_);
  beginning_.push_back(std::move(e));
  u64 mine = ++asked_;
  while (on_disk_ < mine) {
    if (writing_) {
      written_.wait(lock);
      continue;
    }
    writing_ = true;
    std::vector<store::Entry> together;
    together.swap(beginning_);
    u64 last = asked_;
    lock.unlock();
    if (!broken_)
      if (auto written = store_.append(lease_, run_, together); !written) broke(written.error());
    lock.lock();
    writing_ = false;
    on_disk_ = last;
    written_.notify_all();
  }
  return !broken_;
}

Replay read_journal(const model::System& system, std::vector<store::Entry> entries, const store::Seal& seal) {
  Replay out;
  std::map<std::pair<u32, u32>, u32> open;
  for (const store::Entry& e : entries) {
    if (e.damaged) {
      out.wrong = fmt::format("the journal is damaged from entry {} on: it is not what was written", e.sequence);
      return out;
    }
    if (e.kind == store::Entry::Kind::kNote) {
      if (e.how != kBegins) continue;
      out.begun.insert({e.instance, e.transition});
      auto former = outputs_of(e.outputs, seal);
      out.acted[{e.instance, e.transition}].try_emplace(e.message, former.begin(), former.end());
      continue;
    }
    bool fits = e.instance < system.instances.size() && e.transition < system.type_of(e.instance).transitions.size();
    if (fits && !e.name.empty())
      fits = e.name == fmt::format("{}/{}", system.instances[e.instance].name.text(),
                                   system.type_of(e.instance).transitions[e.transition].name.text());
    if (!fits) {
      out.wrong = fmt::format("entry {} of the journal ({}) does not belong to this program", e.sequence, e.name);
      return out;
    }
    if (e.kind == store::Entry::Kind::kStart) {
      open[{e.instance, e.transition}] = e.attempt;
      continue;
    }
    open.erase({e.instance, e.transition});
    out.begun.erase({e.instance, e.transition});
    if (!e.changes.empty() && e.changes != "[]") out.touched.insert(e.instance);
    ActionResult r;
    r.instance = e.instance;
    r.transition = e.transition;
    r.attempt = e.attempt;
    r.how = how_of(e.how);
    r.code = static_cast<int>(e.code);
    r.outcome = e.outcome;
    r.message = e.message;
    r.log = e.log;
    r.outputs = outputs_of(e.outputs, seal);
    out.record.results.push_back(std::move(r));
  }
  for (auto& [key, attempt] : open) out.record.open.push_back({key.first, key.second, attempt});
  out.entries = std::move(entries);
  return out;
}

}  // namespace tutti::deploy
