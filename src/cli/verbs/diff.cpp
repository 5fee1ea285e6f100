#include "tree/diff.h"

#include <fmt/format.h>

#include "cli/output.h"
#include "format/json.h"
#include "format/write.h"
#include "tree/show.h"

namespace tutti {
namespace {

constexpr OptionSpec kOptions[] = {
    {"out", "FORMAT", "text (the default) or json: one object a line"},
    {"ordered", "", "count the order of keys too"},
    {"quiet", "", "print nothing: the exit code is the answer", false, 'q'},
};

std::string_view sign(Change c) {
  switch (c) {
    case Change::kAdded: return "+";
    case Change::kRemoved: return "-";
    case Change::kChanged: return "~";
    case Change::kReordered: return "%";
  }
  return "";
}

std::string_view word(Change c) {
  switch (c) {
    case Change::kAdded: return "added";
    case Change::kRemoved: return "removed";
    case Change::kChanged: return "changed";
    case Change::kReordered: return "reordered";
  }
  return "";
}

std::string place(const Session& session, const Value* v) {
  return v == nullptr ? std::string{} : session.sources->show(session.origins.written(v->origin()));
}

void print_text(Call& call, const Difference& d) {
  bool colour = call.manner.colour_out;
  std::string_view paint = !colour                        ? ""
                           : d.change == Change::kAdded   ? "\x1b[32m"
                           : d.change == Change::kRemoved ? "\x1b[31m"
                                                          : "\x1b[33m";
  std::string what;
  if (d.change == Change::kReordered) {
    what = "keys in another order";
  } else if (d.before != nullptr && d.after != nullptr) {
    bool secret = d.before->secret() || d.after->secret();
    what = secret ? "(secret, changed)" : fmt::format("{} -> {}", show(*d.before), show(*d.after));
  } else {
    what = show(d.before != nullptr ? *d.before : *d.after);
  }
  std::string from = place(call.session, d.before), to = place(call.session, d.after), where = from;
  if (!to.empty()) where += (from.empty() ? "" : " -> ") + to;
  call.out.put(fmt::format("{}{} {}: {}{}{}\n", paint, sign(d.change), d.path.text(), what, colour ? "\x1b[0m" : "",
                           where.empty() ? "" : fmt::format("  ({})", where)));
}

void print_json(Call& call, const Difference& d) {
  auto text = [&](std::string_view s) { write_json_string(s, false, call.out); };
  auto value = [&](std::string_view name, const Value* v) {
    if (v == nullptr) return;
    WriteOptions options;
    Value data = as_data(call.session, *v, options).value_or(Value{});
    StringSink json;
    write_json(data, {.indent = 0}, json);
    std::string s = json.take();
    s.pop_back();
    call.out.put(fmt::format(",\"{}\":{}", name, s));
    if (std::string at = place(call.session, v); !at.empty()) {
      call.out.put(fmt::format(",\"{}_origin\":", name));
      text(at);
    }
  };
  call.out.put(fmt::format("{{\"change\":\"{}\",\"path\":", word(d.change)));
  text(d.path.text());
  value("before", d.before);
  value("after", d.after);
  call.out.put("}\n");
}

int run(Call& call) {
  std::string output = call.options.get("out", "text");
  if (output != "text" && output != "json") {
    call.session.diagnostics.error("USE", {}, fmt::format("diff prints text or json, not `{}`", output));
    return exit_code::kError;
  }
  std::span<const std::string> files = call.arguments;
  Evaluated a = evaluate_files(call, files.subspan(0, 1), false), b = evaluate_files(call, files.subspan(1, 1), false);
  if (!a.value || !b.value || !call.session.diagnostics.ok()) return exit_code::kError;
  // Definitions and hidden fields are how a configuration is written, not what it says.
  WriteOptions shown{.reveal = true};
  Value before = as_data(call.session, *a.value, shown).value_or(*a.value);
  Value after = as_data(call.session, *b.value, shown).value_or(*b.value);
  std::vector<Difference> found = diff(before, after, call.options.has("ordered"));
  if (!call.options.has("quiet")) {
    std::size_t count[4] = {};
    for (const Difference& d : found) {
      count[static_cast<std::size_t>(d.change)]++;
      output == "text" ? print_text(call, d) : print_json(call, d);
    }
    if (output == "text") {
      call.out.put(found.empty() ? std::string("No differences.\n")
                                 : fmt::format("Differences: {} added, {} removed, {} changed{}.\n", count[0], count[1],
                                               count[2], count[3] ? fmt::format(", {} reordered", count[3]) : ""));
    }
  }
  return found.empty() ? exit_code::kOk : exit_code::kDifferent;
}

}  // namespace

extern const Verb diff_verb = {
    .name = "diff",
    .group = "Configuration",
    .summary = "compare what two files mean, across languages and formats",
    .arguments = "A B",
    .details =
        "Both are evaluated and their trees compared: layout, order of keys and language do not count, values do.\n"
        "Exit code 0: no differences, 2: some.",
    .examples = "$ tutti diff old.yaml new.yaml\n$ tutti diff site.cue site.json --out json",
    .options = kOptions,
    .run = run,
    .least = 2,
    .most = 2,
    .reads = true,
};

}  // namespace tutti
