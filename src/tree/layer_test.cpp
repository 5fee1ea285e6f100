#include "tree/layer.h"

#include <gtest/gtest.h>

#include "tree/session.h"

namespace tutti {
namespace {

class Layers : public ::testing::Test {
 protected:
  Value map(std::initializer_list<std::pair<const char*, Value>> entries) {
    std::vector<Entry> all;
    for (auto& [key, value] : entries) all.push_back({Symbol(key), Field::kPlain, value});
    return builder.map(all);
  }
  Value over(const Value& a, const Value& b) { return layered(a, b, builder, session.budget); }

  Session session;
  TreeBuilder builder{session.arena};
};

TEST_F(Layers, MapsAreJoinedAndTheLaterOneWins) {
  Value v = over(map({{"a", Value::integer(1)}, {"in", map({{"x", Value::integer(1)}, {"y", Value::integer(2)}})}}),
                 map({{"in", map({{"y", Value::integer(3)}})}, {"b", Value::integer(4)}}));
  EXPECT_TRUE(equal(v, map({{"a", Value::integer(1)},
                            {"in", map({{"x", Value::integer(1)}, {"y", Value::integer(3)}})},
                            {"b", Value::integer(4)}})));
}

TEST_F(Layers, OfAListTheLaterOneIsAllThereIs) {
  Value one = builder.list(std::vector<Value>{Value::integer(1), Value::integer(2)});
  Value other = builder.list(std::vector<Value>{Value::integer(3)});
  EXPECT_EQ(over(map({{"l", one}}), map({{"l", other}})).find("l")->value.size(), 1u);
}

TEST_F(Layers, ASecretMapStaysSecretWhateverIsLaidOverIt) {
  Value plain = map({{"user", Value::string("web")}}), secret = map({{"password", Value::string("x")}}).as_secret();
  EXPECT_TRUE(over(map({{"db", secret}}), map({{"db", plain}})).find("db")->value.secret());
  EXPECT_TRUE(over(map({{"db", plain}}), map({{"db", secret}})).find("db")->value.secret());
}

TEST_F(Layers, TooDeepIsALimitAndNoCrash) {
  Value deep = Value::integer(1);
  for (int i = 0; i < 20'000; ++i) deep = map({{"a", deep}});
  EXPECT_THROW(over(deep, deep), LimitError);
}

}  // namespace
}  // namespace tutti
