#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "cli/system/recorded_call.h"
#include "cli/system_input.h"
#include "cli/wording.h"
#include "deploy/record/encode.h"
#include "format/json.h"

namespace tutti {
namespace {

constexpr OptionSpec kShowOptions[] = {
    TUTTI_RUNNING_OPTIONS,
    kTellOption,
    {"log", "", "also what the commands of programs printed"},
};

std::string indented(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    out += fmt::format("              | {}\n", text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

int show_copy(Call& call, const store::Seal& seal) {
  auto bytes = read_file(call.arguments[0], u64{1} << 31);
  std::string wrong = bytes ? "" : bytes.error().message;
  if (bytes && bytes->starts_with(deploy::kSealedCopy)) {
    auto open = seal.unseal(std::string_view(*bytes).substr(deploy::kSealedCopy.size()));
    if (!open)
      wrong = fmt::format("{} was sealed with another key than {}, or is damaged", call.arguments[0], seal.file());
    else
      bytes = std::move(*open);
  }
  if (wrong.empty()) {
    call.out.put(*bytes);
    return exit_code::kOk;
  }
  call.session.diagnostics.error("COPY-READ", {}, wrong);
  return exit_code::kError;
}

// As it is called everywhere else: db.start. In the journal it is db/start, since a component's name may hold dots.
std::string action_name(std::string name) {
  if (std::size_t slash = name.rfind('/'); slash != std::string::npos) name[slash] = '.';
  return name;
}

// A resource of a catalog that failed or was skipped does not end the run: that is among its outputs.
std::string how_it_ended(Call& call, const store::Entry& e) {
  if (e.how != "ok" || e.outputs.find("\"status\"") == std::string::npos) return e.how;
  auto source = call.session.sources->add("outputs", e.outputs);
  auto outputs = source ? read_json(call.session, **source) : std::nullopt;
  const Entry* status = outputs && outputs->is(Kind::kMap) ? outputs->find("status") : nullptr;
  return status && status->value.is(Kind::kString) ? std::string(status->value.text()) : e.how;
}

// A record may be anything by now: what is not there, or no text, is shown as nothing.
std::string text_at(const Value& map, std::string_view key) {
  const Entry* e = map.is(Kind::kMap) ? map.find(key) : nullptr;
  return e && e->value.is(Kind::kString) ? std::string(e->value.text()) : "";
}

int run_show(Call& call) {
  RecordedCall here(call);
  if (!here.look()) return exit_code::kError;
  if (call.arguments[0].find('/') != std::string::npos) return show_copy(call, *here.record->seal);
  i64 id = std::strtoll(call.arguments[0].c_str(), nullptr, 10);
  auto record = here.record->store->run(id);
  auto entries = here.record->store->entries(id);
  if (!record || !entries || !*record) {
    call.session.diagnostics
        .error("STATE-READ", {},
               !record    ? record.error().message
               : !entries ? entries.error().message
                          : fmt::format("there is no run {}", call.arguments[0]))
        .suggest("tutti history");
    return exit_code::kError;
  }
  const store::RunRecord& r = **record;
  std::string out = call.options.get("out", "text");
  using EntryKind = store::Entry::Kind;
  if (out != "text") {
    TreeMaker make(call.session);
    std::vector<Value> list;
    for (auto& e : *entries) {
      if (e.name.empty() != (e.kind == EntryKind::kNote)) continue;  // a note with a name is the journal's own
      Value changes = Value::null();
      if (!e.changes.empty())
        if (auto source = call.session.sources->add("changes", e.changes))
          if (auto v = read_json(call.session, **source)) changes = *v;
      list.push_back(make.map({{"sequence", make.integer(e.sequence)},
                               {"time", make.number(e.time)},
                               {"event", make.text(e.kind == EntryKind::kStart ? "start"
                                                   : e.kind == EntryKind::kEnd ? "end"
                                                                               : "note")},
                               {"action", make.text(action_name(e.name))},
                               {"attempt", make.integer(e.attempt)},
                               {"how", make.text(how_it_ended(call, e))},
                               {"message", make.text(e.message)},
                               {"seconds", make.number(e.seconds)},
                               {"log", make.text(e.log)},
                               {"changes", changes}}));
    }
    Value root = make.map({{"run", make.integer(r.id)},
                           {"system", make.text(r.system)},
                           {"kind", make.text(r.kind)},
                           {"status", make.text(r.status)},
                           {"summary", make.text(r.summary)},
                           {"damaged", Value::boolean(r.damaged || (!entries->empty() && entries->back().damaged))},
                           {"journal", make.list(list)}});
    return write_answer(call, root, out) ? exit_code::kOk : exit_code::kError;
  }
  call.out.put(
      fmt::format("Run {} ({} of {} by {}, {}): {}\n", r.id, r.kind, r.system, r.who, when(r.started), r.status));
  if (r.damaged) call.out.put("Its plan is DAMAGED: it is not what was written.\n");
  bool told = false;
  for (auto& e : *entries) {
    if (e.damaged && !std::exchange(told, true))
      call.out.put("From here on the journal is DAMAGED: it is not what was written.\n");
    double at = e.time - r.started;
    if (e.kind == EntryKind::kNote && e.name.empty()) call.out.put(fmt::format("{:8.2f}  {}\n", at, e.message));
    if (e.kind == EntryKind::kStart) call.out.put(fmt::format("{:8.2f}  {}  starts\n", at, action_name(e.name)));
    if (e.kind != EntryKind::kEnd || e.name.empty()) continue;
    std::string how = how_it_ended(call, e);
    call.out.put(fmt::format("{:8.2f}  {}  {} in {:.2f} s{}{}\n", at, action_name(e.name), how, e.seconds,
                             e.message.empty() ? "" : ": ", e.message));
    if (call.options.has("log") || how != "ok") call.out.put(indented(e.log));
    if (e.changes.empty()) continue;
    if (auto source = call.session.sources->add("changes", e.changes))
      if (auto v = read_json(call.session, **source); v && v->is(Kind::kList))
        for (const Value& c : v->items()) {
          std::string subject = text_at(c, "subject");
          call.out.put(fmt::format("              {}{}{}: {}\n", subject, subject.empty() ? "" : " ",
                                   text_at(c, "property"), text_at(c, "text")));
        }
  }
  if (!r.summary.empty()) call.out.put(r.summary + "\n");
  return exit_code::kOk;
}

}  // namespace

extern const Verb show_verb = {
    .name = "show",
    .group = "Running",
    .summary = "one run, action by action",
    .arguments = "RUN|COPY",
    .details =
        "The journal of a run: what was started, how it ended, what it changed. Of a path, such as "
        ".tutti/kept/1f..., the content of that copy of a file that was changed or removed, opened with the "
        "project's key where it is sealed.",
    .examples = "$ tutti show 3\n$ tutti show --out json 3\n$ tutti show .tutti/kept/1f2e...",
    .options = kShowOptions,
    .run = run_show,
    .least = 1,
    .most = 1,
};

}  // namespace tutti
