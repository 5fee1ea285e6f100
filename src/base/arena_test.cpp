#include "base/arena.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

TEST(Arena, ClearKeepsOneBlockAndServesAgain) {
  Arena arena;
  std::string large(100'000, 'x');
  for (int round = 0; round < 3; ++round) {
    std::string_view small = arena.copy(std::string_view("small"));
    std::string_view big = arena.copy(std::string_view(large));
    for (int n = 0; n < 1000; ++n) arena.make<u64>(u64{7});
    EXPECT_EQ(small, "small");
    EXPECT_EQ(big, large);
    std::size_t before = arena.bytes();
    arena.clear();
    EXPECT_LT(arena.bytes(), before);
  }
  Arena empty;
  empty.clear();
  EXPECT_EQ(empty.bytes(), 0u);
  EXPECT_EQ(*empty.make<int>(3), 3);
}

}  // namespace
}  // namespace tutti
