#include "lang/cue/builtin/encodings.h"
#include "lang/cue/builtin/support.h"

namespace tutti::cue {

namespace {

const BuiltinSpec kFunctions[] = {
    {"HTMLEscape", {kStringKind}, kStringKind, [](CallContext& c) -> Node* { return c.make_string(html_escape(c.string(0))); }},
};

}  // namespace

void add_template() { add_package("text/template", kFunctions); }

}  // namespace tutti::cue
