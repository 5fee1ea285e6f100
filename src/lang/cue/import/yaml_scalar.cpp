#include "lang/cue/import/yaml_scalar.h"

#include <re2/re2.h>

#include <memory>
#include <vector>

namespace tutti::cue {

namespace {

struct Rule {
  YamlScalar kind;
  const char* pattern;
};

// In order: the first that matches the whole text decides; none is a string.
constexpr Rule kRules[] = {
    {YamlScalar::kNull, R"(~|null|Null|NULL|)"},
    {YamlScalar::kBool, R"(true|True|TRUE|false|False|FALSE)"},
    {YamlScalar::kMerge, R"(<<)"},
    {YamlScalar::kFloat, R"(\.(nan|NaN|NAN)|[-+]?\.(inf|Inf|INF))"},
    {YamlScalar::kTimestamp, R"(\d{4}-\d{1,2}-\d{1,2}([Tt ][-0-9:.+Zz ]{0,30})?)"},
    {YamlScalar::kInt, R"([-+]?(0x[0-9a-fA-F_]+|0b[01_]+|0o[0-7_]+))"},
    {YamlScalar::kInt, R"([-+]?(0|[1-9][0-9_]*|0[0-7_]+))"},
    {YamlScalar::kString, R"([-+]?0[0-9_]+)"},  // neither octal nor decimal
    {YamlScalar::kFloat, R"([-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9_]*[0-9][0-9_]*)([eE][-+]?[0-9]+)?)"},
};

// With these the text of a rule can begin.
bool may_match(char c) {
  return (c >= '0' && c <= '9') || std::string_view("~nNtTfF<.+-").find(c) != std::string_view::npos;
}

}  // namespace

YamlScalar yaml_scalar(std::string_view plain) {
  if (!plain.empty() && !may_match(plain[0])) return YamlScalar::kString;
  static const std::vector<std::unique_ptr<re2::RE2>>& compiled = *new auto([] {
    std::vector<std::unique_ptr<re2::RE2>> out;
    for (const Rule& r : kRules) out.push_back(std::make_unique<re2::RE2>(r.pattern));
    return out;
  }());
  for (std::size_t i = 0; i < compiled.size(); ++i)
    if (re2::RE2::FullMatch(re2::StringPiece(plain.data(), plain.size()), *compiled[i])) return kRules[i].kind;
  return YamlScalar::kString;
}

}  // namespace tutti::cue
