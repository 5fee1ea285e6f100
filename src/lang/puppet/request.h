#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/common/language.h"
#include "lang/puppet/environment.h"
#include "lang/puppet/types/value.h"

namespace tutti::puppet {

class Compiler;
struct NodeInfo;

// What the options of a request mean. nullopt after an error, which is in the diagnostics.
std::optional<Settings> settings_of(Session& session, const Options& options);
std::optional<Val> read_facts(Session& session, const std::string& file);  // "": those of this host

// Classes and parameters that an external node classifier gives the node, from Settings::enc. False after an error.
bool read_classifier(Session& session, const std::string& where, const std::string& environment, NodeInfo& node);

// A setting of puppet.conf (its sections main and user) or environment.conf; "" where it has none.
std::string setting_in(std::string_view text, std::string_view name);

// The manifests below a folder, in the order of their names; a file is itself.
std::vector<std::string> manifests_below(const std::string& path);
bool is_environment(const std::string& folder);
// Those of an environment: its folder `manifests`, or what environment.conf says.
std::vector<std::string> environment_manifests(Session& session, const std::string& folder);

// Each node's name and facts file in a folder: web1.example.com.yaml, .yml or .json.
std::vector<std::pair<std::string, std::string>> facts_files(const std::string& dir);

// The compiled catalog of one node, or its tree; null after an error. `facts` is a hash.
std::unique_ptr<Compiler> compile_catalog(Session& session, Environment& environment,
                                          std::span<const Program* const> manifests, const std::string& node,
                                          const Val& facts);
std::optional<Value> compile_node(Session& session, Environment& environment, std::span<const Program* const> manifests,
                                  const std::string& node, const Val& facts);

// The catalogs of all nodes that have facts in the folder, in parallel: a map by node name. Every node is compiled,
// also when others fail; errors name their node. What the nodes share is parsed once. With `as_text` nothing but the
// text of each catalog is kept (CatalogTexts, attached to the result), so that a node costs its memory only while it is
// compiled.
std::optional<Value> compile_all(Session& session, Environment& environment, std::span<const Program* const> manifests,
                                 const std::string& dir, bool as_text, bool reveal);

// A tree that stands for a result of which no tree was made.
Value stand_in(Session& session);

}  // namespace tutti::puppet
