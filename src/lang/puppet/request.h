#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/common/language.h"
#include "lang/puppet/environment.h"

namespace tutti::puppet {

// What the options of a request mean. nullopt after an error, which is in the diagnostics.
std::optional<Settings> settings_of(Session& session, const Options& options);
std::optional<Value> read_facts(Session& session, const std::string& file);  // "": those of this host

// Each node's name and facts file in a folder: web1.example.com.yaml, .yml or .json.
std::vector<std::pair<std::string, std::string>> facts_files(const std::string& dir);

// The catalog of one node. `facts` is a map.
std::optional<Value> compile_node(Session& session, Environment& environment, std::span<const Program* const> manifests,
                                  const std::string& node, const Value& facts);

// The catalogs of all nodes that have facts in the folder, in parallel: a map by node name. Every node is compiled,
// also when others fail; errors name their node. What the nodes share is parsed once.
std::optional<Value> compile_all(Session& session, Environment& environment, std::span<const Program* const> manifests,
                                 const std::string& dir, unsigned threads);

}  // namespace tutti::puppet
