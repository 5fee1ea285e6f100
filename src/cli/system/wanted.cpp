// What the files of a call want: their tree with what was deferred called, catalogs that declare components turned into
// systems, and several documents or languages laid over each other, the later ones on top.
#include "cli/deferred.h"
#include "cli/output.h"
#include "cli/system/catalog_system.h"
#include "cli/system/recorded_call.h"
#include "format/write.h"
#include "model/template.h"
#include "resource/catalog.h"

namespace tutti {

std::optional<Value> RecordedCall::wanted() {
  Evaluated e = evaluate_files(call, call.arguments, true);
  if (!e.value || !call.session.diagnostics.ok()) return std::nullopt;
  bool called = true;  // what was deferred until now
  auto system_of = [&](const Value& v) {
    if (!resource::is_catalog(v)) return v;
    auto catalog = call_deferred(call, v);
    called = called && catalog;
    if (!catalog) return v;
    std::optional<Value> system = system_of_catalog(call, *catalog);
    return system ? *system : *catalog;
  };
  auto all = documents(*e.value);
  Value root = system_of(all[0]);
  for (const Value& v : all.subspan(1)) root = model::merged(root, system_of(v), TreeBuilder(call.session.arena));
  return called && call.session.diagnostics.ok() ? std::optional(root) : std::nullopt;
}

}  // namespace tutti
