// layers: format
// The first byte chooses a format; the rest is laid out. The result must mean the same and stay as it is when laid out
// again.
#include "format/layout.h"

#include "format/json.h"
#include "format/toml.h"
#include "format/yaml.h"
#include "reader.h"

namespace tutti {
namespace {

using Layout = std::optional<std::string> (*)(Session&, const Source&);
using Read = std::optional<Value> (*)(Session&, const Source&);

void check(Session& session, const Source& source, Layout layout, Read read) {
  std::optional<std::string> once = layout(session, source);
  if (!once) return;
  auto first = session.sources->add("once", *once);
  std::optional<Value> before = read(session, source), after = read(session, **first);
  if (!before || !after || !equal(*before, *after, true)) __builtin_trap();
  std::optional<std::string> twice = layout(session, **first);
  if (!twice || *twice != *once) __builtin_trap();
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  if (size == 0) return 0;
  Session session(fuzz_limits());
  try {
    auto source = session.sources->add("input", std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    if (!source) return 0;
    switch (data[0] % 3) {
      case 0: check(session, **source, layout_json, read_json); break;
      case 1: check(session, **source, layout_yaml, [](Session& s, const Source& t) { return read_yaml(s, t); }); break;
      default: check(session, **source, layout_toml, read_toml); break;
    }
  } catch (const LimitError&) {
  }
  return 0;
}
