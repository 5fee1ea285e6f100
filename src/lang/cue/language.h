#pragma once

#include "lang/common/language.h"

namespace tutti::cue {

// CUE, .cue files.
class Cue final : public Language {
 public:
  std::string_view name() const override { return "cue"; }
  std::span<const std::string_view> extensions() const override;
  std::span<const OptionSpec> options() const override;
  bool reads_folder(const std::string& folder) const override;  // that of a package
  std::optional<Value> evaluate(Session& session, const Request& request) const override;
  bool has_rules() const override { return true; }
  std::optional<Value> by_rules(Session& session, const Request& request, Steps* steps) const override;
  Value encode(Session& session, const Value& value, std::string_view output, const Options& options) const override;
  bool checks_trees() const override { return true; }
  bool check(Session& session, const Request& request, const Value& tree) const override;
  std::optional<Value> evaluate_with(Session& session, const Request& request,
                                     std::span<const Value> trees) const override;
  std::string explain(Session& session, const Value& root, const Path& path, const Request& request) const override;
};

const Language& language();

}  // namespace tutti::cue
