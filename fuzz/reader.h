#pragma once

#include <algorithm>
#include <string>

#include "base/budget.h"
#include "format/json.h"
#include "format/write.h"
#include "tree/session.h"

namespace tutti {

// Limits under which a fuzzed reader must always end soon.
inline Limits fuzz_limits() {
  Limits limits;
  limits.nodes = 100'000;
  limits.steps = 2'000'000;
  limits.depth = 200;
  limits.memory = u64{256} << 20;
  limits.errors = 100;
  return limits;
}

// Whether JSON has a word for all of it.
inline bool json_can_say(const Value& value) {
  switch (value.kind()) {
    case Kind::kList: return std::ranges::all_of(value.items(), json_can_say);
    case Kind::kMap: return std::ranges::all_of(value.entries(), [](const Entry& e) { return json_can_say(e.value); });
    default: return value.kind() < Kind::kBytes;
  }
}

// Reads the bytes, and where they mean something writes the tree as JSON, reads that back and wants the same tree.
template <class Read>
int fuzz_reader(const u8* data, std::size_t size, Read read) {
  Session session(fuzz_limits());
  try {
    auto source = session.sources->add("input", std::string(reinterpret_cast<const char*>(data), size));
    if (!source) return 0;
    std::optional<Value> value = read(session, **source);
    render(session.diagnostics, *session.sources, DiagnosticStyle::kExcerpt, false);
    render(session.diagnostics, *session.sources, DiagnosticStyle::kJson, false);
    if (!value) {
      if (session.diagnostics.ok()) __builtin_trap();  // refused without a word
      return 0;
    }
    for (const Value& document : documents(*value)) {
      StringSink sink;
      write_json(document, {}, sink);
      auto again = session.sources->add("again", sink.take());
      std::optional<Value> back = read_json(session, **again);
      if (!back || (json_can_say(document) && !equal(document, *back, true))) __builtin_trap();
    }
  } catch (const LimitError&) {
  }
  return 0;
}

}  // namespace tutti
