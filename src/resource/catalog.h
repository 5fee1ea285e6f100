#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/deployment.h"

namespace tutti::resource {

struct CatalogOptions {
  bool noop = false;
  std::vector<std::string> tags;          // only resources with one of them; empty: all
  std::vector<std::string> without_tags;  // of these only those with none of them
  bool parallel_execs = false;            // otherwise commands run one after the other, in the catalog's order
};

// Two resources without an order between them that touch the same thing.
struct Conflict {
  std::string first, second, thing;
  bool reads = false;  // the second only reads it
};

struct Catalog {
  model::Deployment deployment;  // one component of type `resource` for each, its order as needs
  std::vector<Conflict> conflicts;
  std::size_t resources = 0;
  std::vector<std::string> managed;  // paths of the file resources, sorted
};

// Whether a tree is the catalog of one Puppet node: its `resources`, and the `edges` between them. Asked wherever a
// catalog is to be told from a system of components (engine::Recorded::catalog asks the same of what is recorded).
bool is_catalog(const Value& root);

// Where something is written, as Puppet says it: " (file: /x.pp, line: 3)".
std::string place_text(const Sources& sources, Pos at);

// As what a resource keeps others from purging it: a file's path, or the type and the name.
struct Resource;
std::string managed_as(const Resource& r);
// What a component of a catalog stands for, by its configuration; nullopt for those that only keep an order.
std::optional<Resource> resource_of(const Value& config);

// A Puppet catalog (its tree, or its own JSON) as a system: every resource a component, `require`, `before`, `notify`,
// `subscribe`, containment and the automatic ones as needs. Classes and defines become a beginning and an end where
// anything refers to them.
std::optional<Catalog> read_catalog(Session& session, const Value& root, const Value& library,
                                    const CatalogOptions& options);

// What rich data of a catalog means here: Sensitive is secret, a reference is its text.
Value plain_data(const Value& value, const TreeBuilder& builder);

}  // namespace tutti::resource
