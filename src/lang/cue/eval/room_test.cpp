#include "lang/cue/eval/room.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/budget.h"
#include "lang/cue/eval/list.h"

// Where an evaluation keeps what it makes: places of four bytes, rooms that give back what they took, short lists.
namespace tutti::cue {
namespace {

struct Thing {
  u32 number;
  Ref<Thing> next;
};

TEST(CueRoom, RefsLeadToWhatWasMade) {
  static_assert(sizeof(Ref<Thing>) == 4);
  Room room;
  Ref<Thing> first;
  EXPECT_FALSE(first);
  EXPECT_EQ(first.get(), nullptr);
  // more than one block, and some larger than a block
  std::vector<Thing*> all;
  for (u32 i = 0; i < 100'000; ++i) {
    Thing* t = room.make<Thing>(i, first);
    first = t;
    all.push_back(t);
    if (i % 10'000 == 0) std::memset(room.allocate(i + 1), 0xff, i + 1);
  }
  u32 left = 100'000;
  for (Thing* t = first; t; t = t->next) {
    ASSERT_EQ(t, all[--left]);
    ASSERT_EQ(t->number, left);
  }
  EXPECT_EQ(left, 0u);
  first = nullptr;
  EXPECT_FALSE(first);
}

TEST(CueRoom, WhatWasGivenBackIsTakenAgain) {
  u32 place = 0;
  for (int i = 0; i < 1000; ++i) {
    Room room;
    char* text = room.array<char>(1 << 20);
    std::memset(text, 'x', 1 << 20);
    if (i == 0) place = Region::place(text);
    EXPECT_EQ(Region::place(text), place);
  }
}

TEST(CueRoom, HasALimit) {
  Room room;
  room.set_limit(1 << 20);
  EXPECT_THROW(
      {
        for (int i = 0; i < 1000; ++i) room.allocate(4096);
      },
      LimitError);
  EXPECT_LE(room.bytes(), std::size_t{1} << 20);
}

TEST(CueList, IsAVector) {
  static_assert(sizeof(List<int>) == sizeof(void*));
  List<int> list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.begin(), list.end());
  std::vector<int> same;
  for (int i = 0; i < 20; ++i) {
    list.push_back(i);
    same.push_back(i);
  }
  list.push_back(list[3]);
  same.push_back(same[3]);
  list.insert(list.begin() + 2, 77);
  same.insert(same.begin() + 2, 77);
  erase_if(list, [](int i) { return i % 3 == 0; });
  std::erase_if(same, [](int i) { return i % 3 == 0; });
  List<int> copy = list, other;
  other.push_back(-1);
  list.insert(list.end(), other.begin(), other.end());
  list.erase(list.begin(), list.begin() + 1);
  EXPECT_EQ(std::vector<int>(copy.begin(), copy.end()), same);
  same.push_back(-1);
  same.erase(same.begin());
  EXPECT_EQ(std::vector<int>(list.begin(), list.end()), same);
  other = std::move(list);
  EXPECT_EQ(other.size(), same.size());
  other.clear();
  EXPECT_TRUE(other.empty());
  copy = other;
  EXPECT_TRUE(copy.empty());
}

}  // namespace
}  // namespace tutti::cue
