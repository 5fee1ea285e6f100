// campaign: not part of the short pass
// layers: lang/cue
#include "lang/cue/format/format.h"
#include "lang/cue/proto/convert.h"
#include "reader.h"

// Definitions turned into CUE, which is then laid out. Imports lead nowhere.
extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  Session session(fuzz_limits());
  try {
    auto source =
        session.sources->add("/fuzz/a.proto", std::string(reinterpret_cast<const char*>(data), size), "/fuzz/a.proto");
    if (!source) return 0;
    cue::ProtoOptions options;
    options.module = "fuzz.example";
    options.root = "/fuzz";
    options.sources = session.sources.get();
    cue::ProtoImporter importer(session.arena, std::move(options));
    if (!importer.add(**source)) {
      if (importer.errors().empty()) __builtin_trap();  // refused without a word
      return 0;
    }
    for (auto& output : importer.outputs()) cue::format_node(output.file, {});
  } catch (const LimitError&) {
  }
  return 0;
}
