#include "model/secret_settings.h"

#include <gtest/gtest.h>

namespace tutti::model {
namespace {

class SecretSettings : public ::testing::Test {
 protected:
  Value map(std::initializer_list<std::pair<std::string_view, Value>> entries) {
    std::vector<Entry> all;
    for (auto& [key, value] : entries) all.push_back({Symbol(key), Field::kPlain, value});
    return builder_.map(all);
  }
  Value list(std::initializer_list<Value> items) { return builder_.list(std::vector<Value>(items)); }
  static Value text(std::string_view s) { return Value::string(s); }
  static const Value& at(const Value& v, std::initializer_list<std::string_view> path) {
    const Value* here = &v;
    for (std::string_view key : path) here = &here->find(key)->value;
    return *here;
  }

  Session session_;
  TreeBuilder builder_ = session_.builder();
};

TEST_F(SecretSettings, WhatAComponentNames) {
  Value config = map({{"environment", map({{"PW", text("hush")}, {"USER", text("me")}})}});
  Value root =
      map({{"components", map({{"a", map({{"secret", list({text("environment.PW")})}, {"config", config}})}})}});
  Value marked = with_secret_settings(root, builder_);
  EXPECT_TRUE(at(marked, {"components", "a", "config", "environment", "PW"}).secret());
  EXPECT_FALSE(at(marked, {"components", "a", "config", "environment", "USER"}).secret());
}

TEST_F(SecretSettings, WhatTypesDeclareAlsoFromTheOnesTheyExtend) {
  Value base = map({{"config", map({{"token", map({{"is", text("string")}, {"secret", Value::boolean(true)}})}})}});
  Value root = map(
      {{"types",
        map({{"base", base}, {"own", map({{"extends", text("base")}})}, {"ring", map({{"extends", text("ring")}})}})},
       {"components",
        map({{"a", map({{"type", text("own")}, {"config", map({{"token", text("hush")}, {"b", text("open")}})}})},
             {"r", map({{"type", text("ring")}, {"config", map({{"secrets", map({{"K", text("hush")}})}})}})}})}});
  Value marked = with_secret_settings(root, builder_);
  EXPECT_TRUE(at(marked, {"components", "a", "config", "token"}).secret());
  EXPECT_FALSE(at(marked, {"components", "a", "config", "b"}).secret());
  EXPECT_TRUE(at(marked, {"components", "r", "config", "secrets", "K"}).secret());
}

TEST_F(SecretSettings, OtherTreesStayAsTheyAre) {
  for (const Value& root : {map({{"components", text("none")}}), map({{"secret", text("a")}}), text("x"),
                            map({{"components", map({{"a", text("x")}, {"b", map({{"config", text("y")}})}})}})})
    EXPECT_TRUE(with_secret_settings(root, builder_).same_body(root) || !root.is(Kind::kMap));
}

}  // namespace
}  // namespace tutti::model
