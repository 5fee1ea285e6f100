// layers: engine format
// A reconfiguration program in its text form, against two fixed types: parsed, unrolled, run with a simulated clock.
#include "model/program.h"

#include "engine/run/runner.h"
#include "engine/run/simulate.h"
#include "reader.h"

namespace {

constexpr std::string_view kTypes = R"({"types": {
  "A": {"places": ["x", "y"], "transitions": {"t": {"src": "x", "dst": "y"}, "l": {"src": "y", "dst": "x"}},
        "behaviours": {"on": ["t"], "off": ["l"]}, "use": {"u": ["y"]}},
  "B": {"places": ["x", "y"], "transitions": {"t": {"src": "x", "dst": "y"}}, "behaviours": {"on": ["t"]}, "provide": {"p": ["y"]}}},
  "assembly": {"instances": {"a": "A", "b": "B"}, "links": [["a", "u", "b", "p"]]}, "parameters": {"n": 2}})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  Limits limits = fuzz_limits();
  limits.steps = 20'000;
  limits.nodes = 20'000;
  Session session(limits);
  try {
    auto types = session.sources->add("types", std::string(kTypes));
    auto text = session.sources->add("program", std::string(reinterpret_cast<const char*>(data), size));
    if (!types || !text) return 0;
    auto root = read_json(session, **types);
    if (!root) __builtin_trap();
    model::ReadOptions options;
    options.text = *text;
    auto system = model::read_system(session, *root, options);
    render(session.diagnostics, *session.sources, DiagnosticStyle::kExcerpt, false);
    if (!system) {
      if (session.diagnostics.ok()) __builtin_trap();
      return 0;
    }
    engine::SimulatedExecutor executor;
    engine::Runner(*system, executor).run();
  } catch (const LimitError&) {
  }
  return 0;
}
