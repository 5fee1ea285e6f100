#include "lang/puppet/text/ruby_random.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti::puppet {
namespace {

std::vector<u64> draw(RubyRandom r, u64 limit, int n) {
  std::vector<u64> out;
  for (int i = 0; i < n; i++) out.push_back(r.below(limit));
  return out;
}

// What Ruby 3.1 prints for Random.new(seed).rand(limit), five times.
TEST(RubyRandom, GivesRubysNumbers) {
  EXPECT_EQ(draw(RubyRandom::from_hex("0"), 100u, 5), (std::vector<u64>{44, 47, 64, 67, 67}));
  EXPECT_EQ(draw(RubyRandom::from_hex("2a"), 10u, 5), (std::vector<u64>{6, 3, 7, 4, 6}));
  EXPECT_EQ(draw(RubyRandom::from_hex("2a"), 1u, 5), (std::vector<u64>{0, 0, 0, 0, 0}));
  EXPECT_EQ(draw(RubyRandom::from_hex("10000000007"), 1000u, 5), (std::vector<u64>{218, 98, 693, 699, 549}));
  EXPECT_EQ(draw(RubyRandom::from_hex("d41d8cd98f00b204e9800998ecf8427e"), 3600u, 5),
            (std::vector<u64>{2136, 1169, 575, 2829, 475}));
  EXPECT_EQ(draw(RubyRandom::from_hex("d41d8cd98f00b204e9800998ecf8427e"), 1000000000000000u, 5),
            (std::vector<u64>{624903937291409, 354316969265933, 656560098450418, 386294728627773, 652343161808486}));
  RubyRandom r(7);
  EXPECT_EQ(r.real(), 0.07630828937395717);
  EXPECT_EQ(r.below(6), 1u);
}

}  // namespace
}  // namespace tutti::puppet
