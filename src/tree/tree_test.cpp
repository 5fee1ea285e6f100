#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "tree/diff.h"
#include "tree/path.h"
#include "tree/secret.h"
#include "tree/secret_mark.h"
#include "tree/session.h"
#include "tree/show.h"

namespace tutti {
namespace {

class Tree : public testing::Test {
 protected:
  Session session;
  TreeBuilder builder = session.builder();

  Value number(std::string_view s) { return builder.number(s); }
  Value map(std::initializer_list<std::pair<std::string_view, Value>> entries) {
    MapDraft draft;
    for (const auto& [k, v] : entries) draft.set(Symbol(k), v);
    return draft.build(builder);
  }
  Value list(std::initializer_list<Value> items) { return builder.list({items.begin(), items.size()}); }
};

TEST_F(Tree, NumbersAreKeptAndComparedByValue) {
  EXPECT_EQ(number("1.50").number_text(), "1.50");
  EXPECT_TRUE(equal(number("1.50"), number("1.5")));
  EXPECT_TRUE(equal(number("100e-2"), number("1.0")));
  EXPECT_TRUE(equal(number("1e400"), number("10e399")));
  EXPECT_FALSE(equal(number("1"), number("1.0")));
  EXPECT_TRUE(equal(number("0.0"), number("-0e9")));
  EXPECT_EQ(number("-0").number_text(), "-0");
  EXPECT_TRUE(equal(number("-0"), number("0")));
  EXPECT_EQ(number("9223372036854775807").as_i64(), INT64_MAX);
  EXPECT_FALSE(number("9223372036854775808").fits_i64());
  EXPECT_LT(compare(number("9223372036854775807"), number("9223372036854775808")), 0);
  EXPECT_LT(compare(number("-9223372036854775809"), number("-9223372036854775808")), 0);
  EXPECT_GT(compare(number("1.10"), number("1.09")), 0);
  EXPECT_LT(compare(number("-2.5"), number("-2.4")), 0);
  EXPECT_LT(compare(number("9.9e9"), number("1e10")), 0);
}

TEST_F(Tree, OrderIsTotalAndHashesAgree) {
  std::vector<Value> values = {Value::null(),
                               Value::boolean(false),
                               Value::boolean(true),
                               number("-1"),
                               number("0"),
                               number("99999999999999999999"),
                               number("0.1"),
                               number("0.10"),
                               number("1e5"),
                               builder.string(""),
                               builder.string("a"),
                               builder.string("b"),
                               Value::bytes("a"),
                               list({}),
                               list({number("1")}),
                               list({number("1"), number("2")}),
                               map({}),
                               map({{"a", number("1")}}),
                               map({{"a", number("1")}, {"b", number("2")}}),
                               map({{"b", number("2")}, {"a", number("1")}}),
                               Value::resource(Symbol("File"), "/x"),
                               Value::resource(Symbol("Dir"), "/x"),
                               Value::open("int")};
  for (const Value& a : values) {
    for (const Value& b : values) {
      EXPECT_EQ(compare(a, b) == 0, equal(a, b));
      EXPECT_EQ(compare(a, b) > 0, compare(b, a) < 0);
      if (equal(a, b)) {
        EXPECT_EQ(hash(a), hash(b));
      }
      for (const Value& c : values) {
        if (compare(a, b) <= 0 && compare(b, c) <= 0) {
          EXPECT_LE(compare(a, c), 0);
        }
      }
    }
  }
}

TEST_F(Tree, OrderOfKeysCountsOnlyWhenAsked) {
  Value a = map({{"x", number("1")}, {"y", number("2")}}), b = map({{"y", number("2")}, {"x", number("1")}});
  EXPECT_TRUE(equal(a, b));
  EXPECT_FALSE(equal(a, b, true));
}

TEST_F(Tree, LargeMapsAreFoundFromSeveralThreads) {
  constexpr int kKeys = 50'000;
  MapDraft draft;
  for (int i = 0; i < kKeys; i++) draft.set(Symbol("key" + std::to_string(i)), Value::integer(i));
  for (int i = 0; i < kKeys; i += 7) draft.set(Symbol("key" + std::to_string(i)), Value::integer(-i));
  EXPECT_EQ(draft.size(), static_cast<std::size_t>(kKeys));
  Value v = draft.build(builder);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < kKeys; i++) {
        const Entry* e = v.find("key" + std::to_string(i));
        if (e == nullptr || e->value.as_i64() != (i % 7 == 0 ? -i : i)) wrong++;
      }
      if (v.find("none") != nullptr) wrong++;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(v.entries()[10].key.text(), "key10");
}

TEST_F(Tree, DraftKeepsOrderThroughErase) {
  MapDraft draft;
  for (int i = 0; i < 40; i++) draft.set(Symbol("d" + std::to_string(i)), Value::integer(i));
  EXPECT_TRUE(draft.erase(Symbol("d3")));
  EXPECT_FALSE(draft.erase(Symbol("d3")));
  EXPECT_EQ(draft.find(Symbol("d3")), nullptr);
  draft.set(Symbol("d3"), Value::integer(100));
  EXPECT_EQ(draft.entries().back().key.text(), "d3");
  ASSERT_NE(draft.find(Symbol("d39")), nullptr);
  EXPECT_EQ(draft.find(Symbol("d39"))->as_i64(), 39);
}

TEST_F(Tree, PathsHaveOneWrittenForm) {
  for (std::string_view text : {".", "a", "a.b[0].\"odd key\".c", "[3]", "\"\"", "a.\"1\"", "\"a.b\"",
                                "a.\"say \\\"x\\\"\"", "#Def._hidden.$x", "\"-a\"", "é.\"\\u0001\""}) {
    std::optional<Path> path = Path::parse(text);
    ASSERT_TRUE(path) << text;
    EXPECT_EQ(path->text(), text);
  }
  for (std::string_view bad :
       {"a..b", "a.", ".a", "a[", "a[]", "a[x]", "a[-1]", "\"a", "a.\"b", "a[99999999999]", "a\"b\""}) {
    std::optional<Path> path = Path::parse(bad);
    EXPECT_TRUE(!path || path->text() != "") << bad;
  }
  EXPECT_FALSE(Path::parse("a..b"));
  EXPECT_FALSE(Path::parse("a[x]"));
}

TEST_F(Tree, PathsFindWhatTheyName) {
  Value v = map({{"a", list({number("1"), map({{"odd key", number("2")}})})}});
  EXPECT_EQ(find(v, *Path::parse("a[1].\"odd key\""))->as_i64(), 2);
  EXPECT_EQ(find(v, *Path::parse("a[2]")), nullptr);
  EXPECT_EQ(find(v, *Path::parse("a.b")), nullptr);
  EXPECT_EQ(find(v, Path{}), &v);
}

TEST_F(Tree, OriginsLeadToWhereItWasWritten) {
  Origins& o = session.origins;
  Origin written = Pos{10};
  Origin referenced = o.add(How::kReferenced, Pos{20}, written, {}, Symbol("ref"));
  Origin computed = o.add(How::kComputed, Pos{}, referenced);
  EXPECT_EQ(o.written(computed).at, 10u);
  EXPECT_EQ(o.nearest(computed).at, 20u);
  EXPECT_EQ(o.written(Origin{}).at, 0u);
  Origin nowhere = o.add(How::kSupplied, Pos{}, {});
  EXPECT_EQ(o.written(nowhere).at, 0u);
}

TEST_F(Tree, DiffOfMapsNamesWhatChanged) {
  Value a = map(
      {{"same", number("1")}, {"gone", number("2")}, {"changed", number("3")}, {"deep", map({{"x", number("1")}})}});
  Value b = map({{"same", number("1")},
                 {"changed", number("4")},
                 {"deep", map({{"x", number("1.0")}, {"y", number("2")}})},
                 {"new", list({})}});
  std::string text;
  for (const Difference& d : diff(a, b))
    text += std::to_string(static_cast<int>(d.change)) + " " + d.path.text() + "\n";
  EXPECT_EQ(text, "1 gone\n2 changed\n2 deep.x\n0 deep.y\n0 new\n");
  EXPECT_TRUE(diff(a, a).empty());
}

TEST_F(Tree, DiffIsEmptyExactlyWhenEqual) {
  std::mt19937 random(3);
  auto make = [&](auto&& self, int depth) -> Value {
    switch (random() % (depth > 0 ? 5 : 2)) {
      case 0: return Value::integer(random() % 3);
      case 1: return builder.string(random() % 2 ? "a" : "b");
      case 2: {
        std::vector<Value> items;
        for (u32 i = random() % 4; i > 0; i--) items.push_back(self(self, depth - 1));
        return builder.list(items);
      }
      default: {
        MapDraft draft;
        for (u32 i = random() % 4; i > 0; i--)
          draft.set(Symbol(std::string(1, static_cast<char>('a' + random() % 4))), self(self, depth - 1));
        return draft.build(builder);
      }
    }
  };
  for (int round = 0; round < 5000; round++) {
    Value a = make(make, 3), b = make(make, 3);
    EXPECT_EQ(diff(a, b).empty(), equal(a, b));
    EXPECT_EQ(diff(a, b, true).empty(), equal(a, b, true));
  }
}

TEST_F(Tree, ShownInOneSafeLine) {
  EXPECT_EQ(show(builder.string("a\nb\x1b")), "\"a\\nb\\u001b\"");
  EXPECT_EQ(show(builder.string(std::string(100, 'x')), 10), "\"xxxxxxxxxx…\"");
  EXPECT_EQ(show(number("5").as_secret()), "(secret)");
  EXPECT_EQ(show(list({number("1")})), "[1 value]");
  EXPECT_EQ(show(map({})), "{}");
  EXPECT_EQ(show(Value::resource(Symbol("File"), "/x")), "File[/x]");
}

TEST(Secrets, WhatIsMadeOfASecretIsOne) {
  Arena arena;
  TreeBuilder b(arena);
  std::vector<Entry> inner{{Symbol("copy"), Field::kPlain, b.string("hushhush")},
                           {Symbol("url"), Field::kPlain, b.string("db://me:hushhush@host")},
                           {Symbol("pin"), Field::kPlain, Value::integer(48151)},
                           {Symbol("port"), Field::kPlain, Value::integer(80)},
                           {Symbol("other"), Field::kPlain, b.string("abc")}};
  Value shared = b.map(inner);
  std::vector<Value> twice{shared, shared};
  std::vector<Entry> root{{Symbol("pw"), Field::kHidden, b.string("hushhush").as_secret()},
                          {Symbol("code"), Field::kPlain, Value::integer(48151).as_secret()},
                          {Symbol("short"), Field::kPlain, b.string("abc").as_secret()},
                          {Symbol("list"), Field::kPlain, b.list(twice).with_tag(Symbol("kept"))}};
  Value out = spread_secrets(b.map(root), b);
  const Value& list = out.find("list")->value;
  EXPECT_EQ(list.tag().text(), "kept");
  EXPECT_FALSE(list.secret());
  for (const Value& v : list.items()) {
    for (const char* key : {"copy", "url", "pin"}) EXPECT_TRUE(v.find(key)->value.secret()) << key;
    for (const char* key : {"port", "other"}) EXPECT_FALSE(v.find(key)->value.secret()) << key;
    EXPECT_TRUE(secret_itself(v.find("copy")->value));  // and what one was only put into is not
    EXPECT_FALSE(secret_itself(v.find("url")->value));
  }
  EXPECT_EQ(list.items()[0].entries().data(), list.items()[1].entries().data());  // still shared
  Value plain = b.map(inner);
  EXPECT_EQ(spread_secrets(plain, b).entries().data(), plain.entries().data());
}

// What a language has said to be secret is one wherever it stands, in any form; what does not hold it keeps its body,
// so that who holds on to it finds it again.
TEST(Secrets, WhatIsMadeOfOneIsOne) {
  Session session;
  TreeBuilder b = session.builder();
  session.sources->keep_secret("hunter2");
  auto list = [&](std::vector<Value> items) { return b.list(items); };
  Value open = list({Value::string("open")});
  Value root = list({Value::string("hunter2"), Value::string("pw=hunter2"), Value::string("aHVudGVyMg=="), open});
  Value marked = spread_secrets(root, b, session.sources.get());
  for (int i = 0; i < 3; i++) EXPECT_TRUE(marked.items()[i].secret()) << i;
  EXPECT_TRUE(marked.items()[3].same_body(open));
  EXPECT_TRUE(spread_secrets(open, b, session.sources.get()).same_body(open));
  EXPECT_TRUE(spread_secrets(marked, b, session.sources.get()).same_body(marked));
}

}  // namespace
}  // namespace tutti
