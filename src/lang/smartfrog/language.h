#pragma once

#include "lang/common/language.h"

namespace tutti::smartfrog {

// SmartFrog, .sf files. Options: --level core|production, --include DIR, --property NAME=VALUE, --reference.
class SmartFrog final : public Language {
 public:
  std::string_view name() const override { return "smartfrog"; }
  std::span<const std::string_view> extensions() const override;
  std::span<const OptionSpec> options() const override;
  std::optional<Value> evaluate(Session& session, const Request& request) const override;
  bool has_rules() const override { return true; }
  std::optional<Value> by_rules(Session& session, const Request& request, Steps* steps) const override;
  bool rules_have_order() const override { return true; }
  std::string explain_missing(Session& session, const Path& path, const Request& request) const override;
  bool can_format() const override { return true; }
  std::optional<std::string> format(Session& session, const Source& source) const override;
  std::span<const std::string_view> outputs() const override;
  bool write(Session& session, const Value& value, std::string_view output, const Options& options,
             Sink& sink) const override;
  bool vet(Session& session, const Request& request) const override;
  std::string explain(Session& session, const Value& value, const Path& path, const Request& request) const override;
  Value encode(Session& session, const Value& value, std::string_view output, const Options& options) const override;
};

const Language& language();

}  // namespace tutti::smartfrog
