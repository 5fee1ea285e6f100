#include "store/pieces.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "store/store.h"

namespace tutti::store {
namespace {

class Shelf : public PieceShelf {
 public:
  Result<bool> has(std::string_view digest) override { return pieces.count(std::string(digest)) > 0; }
  Result<void> put(std::string_view digest, std::string_view piece) override {
    pieces[std::string(digest)] = piece;
    written += piece.size();
    ++puts;
    return {};
  }
  Result<std::optional<std::string>> get(std::string_view digest) override {
    auto it = pieces.find(std::string(digest));
    return it == pieces.end() ? std::nullopt : std::optional(it->second);
  }
  std::map<std::string, std::string> pieces;
  std::size_t written = 0, puts = 0;
};

std::string component(u32 i, u32 version = 0) {
  return fmt::format(
      R"("web{0}":{{"type":"worker","host":"h{1}","config":{{"port":{2},"text":"{3}, {{not}} \" [cut]"}}}})", i, i % 7,
      8000 + i, std::string(20 + i % 300, static_cast<char>('a' + (i + version) % 26)));
}

std::string state(u32 count, u32 changed = ~u32{0}, u32 without = ~u32{0}) {
  std::string out = R"({"format":1,"components":{)";
  bool first = true;
  for (u32 i = 0; i < count; ++i) {
    if (i == without) continue;
    if (!std::exchange(first, false)) out += ",";
    out += component(i, i == changed ? 1 : 0);
  }
  return out + R"(},"types":{"worker":{"ports":[1,2,3]}}})";
}

std::string kept(Shelf& shelf, const std::string& text) {
  auto r = keep_text(shelf, text);
  EXPECT_TRUE(r);
  return r ? *r : "";
}

TEST(Pieces, TogetherAreTheTextWhateverItIs) {
  std::mt19937 random(7);
  const std::string_view signs = R"({}[],:"\ab1)";
  for (u32 round = 0; round < 500; ++round) {
    std::string text;
    for (u32 n = random() % 40'000; n > 0; --n) text += signs[random() % signs.size()];
    std::string again;
    for (auto piece : pieces_of(text)) again += piece;
    ASSERT_EQ(again, text);
    Shelf shelf;
    auto back = kept_text(shelf, kept(shelf, text));
    ASSERT_TRUE(back);
    ASSERT_EQ(*back, text);
  }
}

TEST(Pieces, ShortTextsAreKeptWhereTheyAreReferredTo) {
  Shelf shelf;
  EXPECT_EQ(kept(shelf, "{}"), "{}");
  EXPECT_EQ(kept(shelf, ""), "");
  EXPECT_TRUE(shelf.pieces.empty());
  std::string odd = "@0:is a text and no reference";
  EXPECT_EQ(*kept_text(shelf, kept(shelf, odd)), odd);
}

// What the record grows by does not depend on how large the system is.
TEST(Pieces, AChangeOfOneComponentOfManyWritesAHandful) {
  for (u32 count : {1'000, 30'000}) {
    Shelf shelf;
    kept(shelf, state(count));
    EXPECT_GT(shelf.puts, count / 40);
    for (u32 changed : {u32{0}, count / 2, count - 1}) {
      shelf.written = shelf.puts = 0;
      kept(shelf, state(count, changed));
      EXPECT_LE(shelf.puts, 8u) << changed;
      EXPECT_LT(shelf.written, 40'000u) << changed;
    }
    shelf.written = shelf.puts = 0;
    kept(shelf, state(count, ~u32{0}, count / 3));  // one is taken away: what is behind it moves
    EXPECT_LE(shelf.puts, 8u);
    shelf.puts = 0;
    kept(shelf, state(count));
    EXPECT_EQ(shelf.puts, 0u) << "what is there is not written again";
  }
}

TEST(Pieces, ManyAlikeEntriesAreStillCut) {
  std::string text = R"({"a":[)";
  for (u32 i = 0; i < 200'000; ++i) text += "0,";
  std::size_t longest = 0;
  for (auto piece : pieces_of(text + "0]}")) longest = std::max(longest, piece.size());
  EXPECT_LE(longest, 70'000u);
}

TEST(Pieces, WhatIsGoneOrAlteredIsNoticed) {
  std::string text = state(2'000);
  Shelf whole;
  std::string root = kept(whole, text);
  for (u32 k = 0; k < 40; ++k) {
    Shelf shelf = whole;
    auto it = std::next(shelf.pieces.begin(), static_cast<long>(k % shelf.pieces.size()));
    if (k % 2)
      shelf.pieces.erase(it);
    else
      it->second[it->second.size() / 2] ^= 1;
    auto back = kept_text(shelf, root);
    ASSERT_FALSE(back);
    EXPECT_EQ(back.error().code, kDamaged);
  }
  std::string digits(64, 'a');
  for (const std::string& odd : std::vector<std::string>{"@", "@x", "@0:", "@0:12", "@99:" + digits,
                                                         "@0:g" + digits.substr(1), "@4294967295:" + digits}) {
    auto back = kept_text(whole, odd);
    ASSERT_FALSE(back) << odd;
    EXPECT_EQ(back.error().code, kDamaged);
  }
}

TEST(Pieces, AWalkMeetsEachPieceOfATextAndNoOther) {
  Shelf shelf;
  std::string one = kept(shelf, state(3'000)), other = kept(shelf, state(3'000, 5));
  auto met = [&](const std::string& root) {
    std::set<std::string> out;
    EXPECT_TRUE(walk_pieces(shelf, root, [&](std::string_view d) { return out.emplace(d).second; }));
    return out;
  };
  auto of_one = met(one), of_other = met(other);
  EXPECT_EQ(kept(shelf, state(3'000)), one);
  Shelf alone;
  kept(alone, state(3'000));
  EXPECT_EQ(of_one.size(), alone.pieces.size());
  of_one.merge(of_other);
  EXPECT_EQ(of_one.size(), shelf.pieces.size());
}

}  // namespace
}  // namespace tutti::store
