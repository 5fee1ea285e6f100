#include "lang/cue/import/yaml_scalar.h"

#include <gtest/gtest.h>

namespace tutti::cue {
namespace {

TEST(CueYaml, PlainScalars) {
  const std::pair<YamlScalar, std::vector<const char*>> rows[] = {
      {YamlScalar::kNull, {"", "~", "null", "NULL"}},
      {YamlScalar::kBool, {"true", "False"}},
      {YamlScalar::kInt, {"0", "10", "-12", "+7", "1_000", "0x1F", "0b101", "0o17", "017"}},
      {YamlScalar::kFloat,
       {"1.5", ".5", "-1.", "1.", "0.5", "00.5", "1e3", "6.02E+23", ".inf", "-.INF", ".nan", "08.5"}},
      {YamlScalar::kTimestamp, {"2001-12-14", "2001-12-14t21:59:43.10-05:00", "2001-1-2 3:04:05"}},
      {YamlScalar::kMerge, {"<<"}},
      {YamlScalar::kString,
       {"yes", "on", "nullx", "tRUE", "08", "1.2.3", "1..2", "0xG", "-", ".", "+", "e3", "1e", "2001-12", "1:30", "_1",
        "<"}},
  };
  for (const auto& [kind, texts] : rows)
    for (const char* t : texts) EXPECT_EQ(yaml_scalar(t), kind) << t;
}

}  // namespace
}  // namespace tutti::cue
