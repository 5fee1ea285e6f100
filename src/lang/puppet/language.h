#pragma once

#include "lang/common/language.h"

namespace tutti::puppet {

// Puppet manifests, .pp files: the catalog of a node. Options: --node, --facts, --environment, --modulepath,
// --strict-variables, --strict.
class Puppet final : public Language {
 public:
  std::string_view name() const override { return "puppet"; }
  std::span<const std::string_view> extensions() const override;
  std::span<const OptionSpec> options() const override;
  std::optional<Value> evaluate(Session& session, const Request& request) const override;
  bool has_rules() const override { return true; }
  std::optional<Value> by_rules(Session& session, const Request& request, Steps* steps) const override;
  std::optional<Value> as_rules_say(Session& session, const Request& request) const override;
  Value encode(Session& session, const Value& value, std::string_view output, const Options& options) const override;
  bool can_format() const override { return true; }
  std::optional<std::string> format(Session& session, const Source& source) const override;
  bool vet(Session& session, const Request& request) const override;
  std::optional<NamedPath> named_path(const Value& value, std::string_view text) const override;
  std::span<const std::string_view> outputs() const override;
  bool write(Session& session, const Value& value, std::string_view output, const Options& options,
             Sink& sink) const override;
};

const Language& language();

}  // namespace tutti::puppet
