// campaign: not part of the short pass
// layers: lang/cue
#include "lang/cue/format/format.h"
#include "lang/cue/import/decode_file.h"
#include "reader.h"

// JSON Schema and OpenAPI turned into CUE, whichever it says it is, and as both.
extern "C" int LLVMFuzzerTestOneInput(const tutti::u8* data, std::size_t size) {
  using namespace tutti;
  Session session(fuzz_limits());
  try {
    auto source = session.sources->add("a.json", std::string(reinterpret_cast<const char*>(data), size));
    if (!source) return 0;
    cue::Decoded json = cue::decode_json(**source, session.arena);
    if (!json.ok() || json.documents.size() != 1) return 0;
    cue::detect_schema(json.documents[0]);
    for (bool openapi : {false, true}) {
      cue::Decoded made = openapi ? cue::decode_openapi(json.documents[0], **source, session.arena, {})
                                  : cue::decode_json_schema(json.documents[0], **source, session.arena, {});
      for (cue::ast::Node* document : made.documents) cue::format_node(document, {});
    }
  } catch (const LimitError&) {
  }
  return 0;
}
