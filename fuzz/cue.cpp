// campaign: not part of the short pass
// layers: lang/cue
#include "lang/cue/eval/validate.h"
#include "lang/cue/load/instance.h"
#include "reader.h"

// Any text as one CUE file: parsed, compiled, evaluated and made into a tree. Nothing but an error or a limit may come
// of it.
extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  using namespace tutti::cue;
  Limits limits = fuzz_limits();
  limits.steps = 200'000;
  limits.nodes = 200'000;
  limits.depth = 20;
  Session session(limits);
  try {
    auto source = session.sources->add("input.cue", std::string(reinterpret_cast<const char*>(data), size));
    if (!source) return 0;
    Instance instance(session);
    const Source* one[] = {*source};
    if (!instance.load_sources(one)) {
      if (instance.errors().empty()) __builtin_trap();
      return 0;
    }
    Vertex* root = instance.evaluate();
    if (Bottom* b = validate_tree(instance.context(), root, {.all_errors = true})) flatten(b);
    to_tree(instance, root);
  } catch (const LimitError&) {
  }
  return 0;
}
