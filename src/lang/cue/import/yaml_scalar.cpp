#include "lang/cue/import/yaml_scalar.h"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/ascii.h"

namespace tutti::cue {

namespace {

struct Word {
  YamlScalar kind;
  std::string_view text;
};

constexpr Word kWords[] = {
    {YamlScalar::kNull, ""},      {YamlScalar::kNull, "~"},     {YamlScalar::kNull, "null"},
    {YamlScalar::kNull, "Null"},  {YamlScalar::kNull, "NULL"},  {YamlScalar::kBool, "true"},
    {YamlScalar::kBool, "True"},  {YamlScalar::kBool, "TRUE"},  {YamlScalar::kBool, "false"},
    {YamlScalar::kBool, "False"}, {YamlScalar::kBool, "FALSE"}, {YamlScalar::kMerge, "<<"},
};

struct Rule {
  YamlScalar kind;
  const char* begins;  // what the texts that it is for can begin with; 0 stands for any digit
  const char* pattern;
};

// In order: the first that matches the whole text decides; none is a string.
constexpr Rule kRules[] = {
    {YamlScalar::kFloat, ".-+", R"(\.(nan|NaN|NAN)|[-+]?\.(inf|Inf|INF))"},
    {YamlScalar::kTimestamp, "0", R"(\d{4}-\d{1,2}-\d{1,2}([Tt ][-0-9:.+Zz ]{0,30})?)"},
    {YamlScalar::kInt, "-+0", R"([-+]?(0x[0-9a-fA-F_]+|0b[01_]+|0o[0-7_]+))"},
    {YamlScalar::kInt, "-+0", R"([-+]?(0|[1-9][0-9_]*|0[0-7_]+))"},
    {YamlScalar::kString, "-+0", R"([-+]?0[0-9_]+)"},  // neither octal nor decimal
    {YamlScalar::kFloat, ".-+0", R"([-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9_]*[0-9][0-9_]*)([eE][-+]?[0-9]+)?)"},
};

}  // namespace

YamlScalar yaml_scalar(std::string_view plain) {
  if (plain.empty() || std::string_view("~nNtTfF<").find(plain[0]) != std::string_view::npos)
    for (const Word& w : kWords)
      if (w.text == plain) return w.kind;
  char first = is_digit(plain[0]) ? '0' : plain[0];
  if (std::string_view(".-+0").find(first) == std::string_view::npos) return YamlScalar::kString;
  if (first == '0') {  // most numbers are plain ones
    auto digits = static_cast<std::size_t>(std::count_if(plain.begin(), plain.end(), is_digit));
    if (digits == plain.size() && (plain[0] != '0' || digits == 1)) return YamlScalar::kInt;
    if (digits + 1 == plain.size() && plain.find('.') != std::string_view::npos) return YamlScalar::kFloat;
  }
  static const std::vector<std::unique_ptr<re2::RE2>>& compiled = *new auto([] {
    std::vector<std::unique_ptr<re2::RE2>> out;
    for (const Rule& r : kRules) out.push_back(std::make_unique<re2::RE2>(r.pattern));
    return out;
  }());
  for (std::size_t i = 0; i < compiled.size(); ++i)
    if (std::string_view(kRules[i].begins).find(first) != std::string_view::npos &&
        re2::RE2::FullMatch(re2::StringPiece(plain.data(), plain.size()), *compiled[i]))
      return kRules[i].kind;
  return YamlScalar::kString;
}

}  // namespace tutti::cue
