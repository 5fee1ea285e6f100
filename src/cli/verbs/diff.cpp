#include "tree/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/sequence.h"
#include "cli/fleet.h"
#include "format/json.h"
#include "format/write.h"
#include "tree/show.h"

namespace tutti {
namespace {

constexpr OptionSpec kDiffOptions[] = {
    {"out", "FORMAT", "text (the default) or json: one object a line", false, 0, "text json"},
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

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

// Of two texts the lines that only one of them has, each with its number.
std::string differing_lines(std::string_view before, std::string_view after, std::string_view indent) {
  std::vector<std::string_view> a = lines_of(before), b = lines_of(after);
  constexpr std::size_t kMost = 40;
  std::size_t shown = 0, more = 0;
  std::string out, added;
  auto add = [&](std::string& to, char mark, std::size_t n, std::string_view line) {
    if (shown++ < kMost)
      to += fmt::format("{}    {}{} {}\n", indent, mark, n + 1, line);
    else
      ++more;
  };
  // Of lines that stand together those that go come before those that come.
  for (const SequenceStep& step : sequence_diff(a.size(), b.size(), [&](auto x, auto y) { return a[x] == b[y]; })) {
    if (step.what == SequenceStep::What::kBoth) out += std::exchange(added, {});
    if (step.what == SequenceStep::What::kRemoved) add(out, '-', step.before, a[step.before]);
    if (step.what == SequenceStep::What::kAdded) add(added, '+', step.after, b[step.after]);
  }
  out += added;
  if (more) out += fmt::format("{}    {} more lines\n", indent, more);
  return out;
}

// `node`: whose name is told as <node>, for others have the same with theirs; "": none.
void print_text(Call& call, const Difference& d, std::string_view indent = "", std::string_view node = "") {
  bool colour = call.manner.colour_out;
  std::string_view paint = !colour                        ? ""
                           : d.change == Change::kAdded   ? "\x1b[32m"
                           : d.change == Change::kRemoved ? "\x1b[31m"
                                                          : "\x1b[33m";
  std::string what, lines;
  if (d.change == Change::kReordered) {
    what = "keys in another order";
  } else if (d.before != nullptr && d.after != nullptr) {
    bool secret = d.before->secret() || d.after->secret();
    what = secret ? "(secret, changed)" : fmt::format("{} -> {}", show(*d.before), show(*d.after));
    // What does not fit into one short line is told line by line.
    bool texts = d.before->is(Kind::kString) && d.after->is(Kind::kString);
    auto cut = [](const Value& v) {
      return v.text().find('\n') < v.text().size() - 1 && show(v).size() < v.text().size() + 2;
    };
    if (!secret && texts && (show(*d.before) == show(*d.after) || cut(*d.before) || cut(*d.after))) {
      lines = differing_lines(d.before->text(), d.after->text(), indent);
      what = lines.empty() ? "another end of the last line" : "text, in these lines";
    }
  } else {
    what = show(d.before != nullptr ? *d.before : *d.after);
  }
  std::string from = place(call.session, d.before), to = place(call.session, d.after), where = from;
  if (!to.empty()) where += (from.empty() ? "" : " -> ") + to;
  auto told = [&](const std::string& text) { return node.empty() ? text : without_name(text, node); };
  call.out.put(fmt::format("{}{}{} {}: {}{}{}\n", indent, paint, sign(d.change), told(d.path.text()), told(what),
                           colour ? "\x1b[0m" : "", where.empty() ? "" : fmt::format("  ({})", where)));
  call.out.put(told(lines));
}

void print_json(Call& call, const Difference& d, std::string_view more = "") {
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
  call.out.put(more);
  call.out.put("}\n");
}

// The first few names, and how many more there are.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 4;
  std::size_t shown = names.size() <= kMost + 1 ? names.size() : kMost;
  std::string out =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

std::string count_of(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

void print_fleet_text(Call& call, const FleetDiff& found) {
  const std::vector<u32>* nodes = nullptr;
  for (const FleetChange& c : found.changes) {
    if (nodes == nullptr || *nodes != c.nodes) {
      nodes = &c.nodes;
      std::vector<std::string> names;
      for (u32 n : c.nodes) names.push_back(found.names[n]);
      call.out.put(fmt::format("On {} ({}):\n", count_of(names.size(), "node"), listed(names)));
    }
    print_text(call, c.difference, "  ", c.named ? std::string_view(found.names[c.nodes[0]]) : std::string_view{});
  }
  if (!found.only_before.empty()) call.out.put(fmt::format("Only before: {}\n", listed(found.only_before)));
  if (!found.only_after.empty()) call.out.put(fmt::format("Only after: {}\n", listed(found.only_after)));
  if (!found.failed_before.empty()) call.out.put(fmt::format("Failed before: {}\n", listed(found.failed_before)));
  if (!found.failed_after.empty()) call.out.put(fmt::format("Failed after: {}\n", listed(found.failed_after)));
  if (found.same > 0) call.out.put(fmt::format("The same on {}.\n", count_of(found.same, "node")));
  std::size_t changed = found.names.size() - found.same;
  if (changed > 0) {
    call.out.put(fmt::format("Differences: {} on {} of {}.\n", count_of(found.changes.size(), "change"), changed,
                             count_of(found.names.size(), "node")));
  }
}

std::string nodes_json(std::span<const std::string> names) {
  StringSink nodes;
  nodes.put(",\"nodes\":[");
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (n > 0) nodes.put(',');
    write_json_string(names[n], false, nodes);
  }
  nodes.put(']');
  return nodes.take();
}

void print_fleet_json(Call& call, const FleetDiff& found) {
  for (const FleetChange& c : found.changes) {
    std::vector<std::string> names;
    for (u32 n : c.nodes) names.push_back(found.names[n]);
    std::string more = nodes_json(names);
    if (c.named) more += ",\"each_with_its_name\":true";
    print_json(call, c.difference, more);
  }
  for (const auto& [change, names] :
       {std::pair{"node removed", &found.only_before}, std::pair{"node added", &found.only_after},
        std::pair{"failed before", &found.failed_before}, std::pair{"failed after", &found.failed_after}})
    if (!names->empty()) call.out.put(fmt::format("{{\"change\":\"{}\"{}}}\n", change, nodes_json(*names)));
}

int run_fleet(Call& call, const Fleet& before, const Fleet& after, bool json) {
  FleetDiff found = diff_fleets(before, after, call.options.has("ordered"));
  if (!call.options.has("quiet")) json ? print_fleet_json(call, found) : print_fleet_text(call, found);
  if (!call.session.diagnostics.ok()) {
    (void)call.out.commit();
    return exit_code::kError;
  }
  bool same = found.changes.empty() && found.only_before.empty() && found.only_after.empty();
  return same ? exit_code::kOk : exit_code::kDifferent;
}

int run_diff(Call& call) {
  std::string output = call.options.get("out", "text");
  if (output != "text" && output != "json") {
    call.session.diagnostics.error("USE", {}, fmt::format("diff prints text or json, not `{}`", output));
    return exit_code::kError;
  }
  std::optional<Value> a = evaluate_side(call, call.arguments[0]);
  std::optional<Value> b = a ? evaluate_side(call, call.arguments[1]) : std::nullopt;
  if (!a || !b) return exit_code::kError;
  // A node that cannot be compiled does not keep the others from being compared.
  if (auto from = fleet_of(call.session, *a), to = fleet_of(call.session, *b); from && to)
    return run_fleet(call, *from, *to, output == "json");
  if (!call.session.diagnostics.ok()) return exit_code::kError;
  // Definitions and hidden fields are how a configuration is written, not what it says.
  WriteOptions shown{.reveal = true};
  Value before = comparable(call.session, as_data(call.session, *a, shown).value_or(*a));
  Value after = comparable(call.session, as_data(call.session, *b, shown).value_or(*b));
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
        "Both are evaluated and their trees compared: layout, order of keys and language do not count, values "
        "do.\n"
        "Folders with a file for each node, catalogs of several nodes, and Puppet environments with "
        "--all-nodes are compared node by node, and a change that many nodes share is told once. In catalogs "
        "the order of resources and the lines they are written on do not count. Nodes that cannot be compiled "
        "are named, and the others compared.\n"
        "Exit code 1: something failed, 0: no differences, 2: some.",
    .examples =
        "$ tutti diff old.yaml new.yaml\n$ tutti diff site.cue site.json --out json\n"
        "$ tutti diff environments/production environments/next --all-nodes facts/",
    .options = kDiffOptions,
    .run = run_diff,
    .least = 2,
    .most = 2,
    .reads = true,
};

}  // namespace tutti
