// What the files of a call want: their tree with what was deferred called, catalogs that declare components turned into
// systems, and several documents or languages laid over each other, the later ones on top.
//
// Every verb that plans, runs, estimates or proves comes this way, whether what is wanted is a system of components, a
// program with its types, or a catalog: so the same files mean the same everywhere.
#include "cli/system/wanted.h"

#include "cli/deferred.h"
#include "cli/output.h"
#include "cli/system/catalog_system.h"
#include "format/write.h"
#include "resource/catalog.h"
#include "tree/layer.h"

namespace tutti {

Value laid_over_each_other(Call& call, std::span<const Value> documents) {
  Value root = documents[0];
  for (const Value& over : documents.subspan(1))
    root = layered(root, over, call.session.builder(), call.session.budget);
  return root;
}

std::optional<Value> wanted_tree(Call& call, std::span<const std::string> files) {
  Evaluated e = evaluate_files(call, files, true);
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
  std::vector<Value> all;
  for (const Value& v : documents(*e.value)) all.push_back(system_of(v));
  if (all.empty() || !called || !call.session.diagnostics.ok()) return std::nullopt;
  return laid_over_each_other(call, all);
}

}  // namespace tutti
