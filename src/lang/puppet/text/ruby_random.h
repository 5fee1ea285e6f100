#pragma once

#include <random>
#include <span>
#include <string_view>

#include "base/types.h"

namespace tutti::puppet {

// The numbers that Ruby's Random gives for a seed of any size. Manifests rely on them: fqdn_rand, shuffle and their
// relatives must give a host the same number that the host got from Puppet itself, or every cron job moves.
class RubyRandom {
 public:
  // The seed as an unsigned hexadecimal number (fqdn_rand hashes its arguments to one).
  static RubyRandom from_hex(std::string_view hex);
  explicit RubyRandom(u64 seed);

  u64 below(u64 limit);  // rand(limit); 0 when limit is 0
  double real();         // rand: [0, 1) with 53 bits

 private:
  explicit RubyRandom(std::span<const u32> key);
  u64 limited(u64 most);  // 0..most

  std::mt19937 generator_;
};

}  // namespace tutti::puppet
