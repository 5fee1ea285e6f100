#include <fmt/format.h>

#include "cli/doors/cdl.h"
#include "cli/output.h"

namespace tutti {
namespace {

constexpr OptionSpec kResolveOptions[] = {
    {"set", "PATH=VALUE", "give a lazy property its value; without `=VALUE`, end the laziness of a reference", true},
    {"events", "FILE", "rounds of such lines, an empty line between rounds; prints what each round changes"},
    {"out", "FORMAT", "json (the default), xml, yaml, leaves, ..."},
    {"compact", "", "as few bytes as the format allows"},
    {"reveal", "", "show secrets in clear"},
};

// `at`: where the event is written, when it is in a file.
bool supply(Session& session, cdl::System& system, std::string_view event, Span at = {}) {
  std::size_t equals = event.find('=');
  if (event.substr(0, equals).empty()) {
    session.diagnostics.error("USE", at, fmt::format("a path is needed, PATH=VALUE, not `{}`", event));
    return false;
  }
  std::optional<std::string_view> value;
  if (equals != std::string_view::npos) value = event.substr(equals + 1);
  if (system.set(event.substr(0, equals), value)) return true;
  if (at.begin) session.diagnostics.add(Severity::kNote, "CDL-EVENT", at, "it was asked for here");
  return false;
}

std::string shown(const cdl::Node& node, bool reveal) {
  if (node.secret && !reveal) return "(secret)";
  if (node.has_elements()) return "{...}";
  std::string text;
  cdl::append_text(text, node);
  return text;
}

void print_round(Call& call, cdl::System& system, std::size_t round, u64 looked_at) {
  call.out.put(fmt::format("round {}: {} reference{} looked at\n", round, looked_at, looked_at == 1 ? "" : "s"));
  for (const cdl::Node* n : system.changed())
    call.out.put(fmt::format("  {} = {}\n", cdl::path_of(*n), shown(*n, call.options.has("reveal"))));
}

bool run_events(Call& call, cdl::System& system, const std::string& path) {
  const Source* source = call.session.open(path);
  if (!source) return false;
  std::size_t round = 0, waiting = 0;
  auto end_round = [&] {
    if (waiting == 0) return;
    u64 looked_at = system.resolve();
    print_round(call, system, ++round, looked_at);
    waiting = 0;
  };
  std::string_view rest = source->text;
  while (!rest.empty()) {
    std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) {
      end_round();
    } else {
      std::size_t from = static_cast<std::size_t>(line.data() - source->text.data());
      if (!supply(call.session, system, line, source->span(from, from + line.size()))) return false;
      waiting++;
    }
  }
  end_round();
  cdl::check_types(system, false);
  for (const std::string& open : system.open()) call.out.put(fmt::format("open: {}\n", open));
  return true;
}

int run_resolve(Call& call) {
  std::vector<Part> parts = call.parts(call.arguments);
  if (parts.empty()) return exit_code::kError;
  if (parts[0].language->name() != "cdl") {
    call.session.diagnostics.error("USE", {}, "only CDL documents have lazy values to resolve");
    return exit_code::kError;
  }
  if (call.options.has("events") && call.options.has("out")) {
    call.session.diagnostics.error("USE", {}, "--events tells what changes: it has no --out")
        .suggest("give the values with --set, as often as needed");
    return exit_code::kError;
  }
  cdl::LoadOptions options = cdl::load_options(call.options);
  std::shared_ptr<cdl::System> system = cdl::System::load(call.session, parts[0].files[0], options);
  if (!system || !call.session.diagnostics.ok()) return exit_code::kError;
  for (const std::string& event : call.options.all("set")) {
    if (!supply(call.session, *system, event)) return exit_code::kError;
  }
  if (call.options.has("set")) system->resolve();
  if (call.options.has("events")) {
    if (!run_events(call, *system, call.options.get("events"))) return exit_code::kError;
    return call.code();
  }
  cdl::check_types(*system, false);
  Evaluated e;
  e.parts = std::move(parts);
  e.value = system->value();
  call.session.attach(*e.value, std::move(system));
  if (!write_result(call, e, call.options.get("out", "json"), false)) return exit_code::kError;
  return call.code();
}

}  // namespace

extern const Verb resolve_verb = {
    .name = "resolve",
    .group = "Configuration",
    .summary = "resolve a CDL document and give lazy properties their values",
    .arguments = "FILE",
    .details =
        "What depends on a value that is supplied is resolved, and nothing else is looked at again. PATH "
        "leads from the system to the property, `DB/hostname`; `@LIST/PATH` is a property of a list of the "
        "configuration.\n"
        "With --events each round is applied in turn, as a deployment service would.",
    .examples =
        "$ tutti resolve shop.cdl --set DB/hostname=db1 --out xml\n"
        "$ printf 'DB/hostname=db1\\n\\nWeb/hostname=web1\\n' | \\\n    tutti resolve shop.cdl --events -",
    .options = kResolveOptions,
    .run = run_resolve,
    .least = 1,
    .most = 1,
    .reads = true,
};

}  // namespace tutti
