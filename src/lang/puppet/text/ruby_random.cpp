#include "lang/puppet/text/ruby_random.h"

#include <array>
#include <sstream>
#include <vector>

namespace tutti::puppet {
namespace {

constexpr std::size_t kStates = 624;

// Matsumoto and Nishimura's initialisation by an array, which std::mt19937 does not offer; its state is handed over in
// the text form that the standard defines.
std::mt19937 seeded(std::span<const u32> key) {
  if (key.size() == 1) return std::mt19937(key[0]);  // Ruby, too, takes the plain initialisation for a seed of one word
  std::array<u32, kStates> state{};
  state[0] = 19650218;
  for (std::size_t i = 1; i < kStates; i++) {
    state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + static_cast<u32>(i);
  }
  std::size_t i = 1, j = 0;
  auto wrap = [&] {
    if (++i < kStates) return;
    state[0] = state[kStates - 1];
    i = 1;
  };
  for (std::size_t k = std::max(kStates, key.size()); k > 0; k--) {
    state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1664525u)) + key[j] + static_cast<u32>(j);
    wrap();
    if (++j >= key.size()) j = 0;
  }
  for (std::size_t k = kStates - 1; k > 0; k--) {
    state[i] = (state[i] ^ ((state[i - 1] ^ (state[i - 1] >> 30)) * 1566083941u)) - static_cast<u32>(i);
    wrap();
  }
  state[0] = 0x80000000u;

  std::string text;
  for (u32 word : state) text += std::to_string(word) + ' ';
  text += std::to_string(kStates);  // libstdc++ writes the position after the words: the next call makes new ones
  std::istringstream in(text);
  std::mt19937 generator;
  in >> generator;
  return generator;
}

}  // namespace

RubyRandom::RubyRandom(std::span<const u32> key) : generator_(seeded(key)) {}

RubyRandom::RubyRandom(u64 seed)
    : RubyRandom(std::span<const u32>(std::array<u32, 2>{static_cast<u32>(seed), static_cast<u32>(seed >> 32)}.data(),
                                      seed >> 32 != 0 ? 2 : 1)) {}

RubyRandom RubyRandom::from_hex(std::string_view hex) {
  std::vector<u32> key;
  while (!hex.empty()) {
    std::size_t take = std::min<std::size_t>(8, hex.size());
    u32 word = 0;
    for (char c : hex.substr(hex.size() - take)) {
      word = word * 16 + static_cast<u32>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    key.push_back(word);
    hex.remove_suffix(take);
  }
  while (key.size() > 1 && key.back() == 0) key.pop_back();
  if (key.empty()) key.push_back(0);
  return RubyRandom(std::span<const u32>(key));
}

// Ruby draws only as many words as the limit has, masks them, and starts again when the number is too large.
u64 RubyRandom::limited(u64 most) {
  if (most == 0) return 0;
  u64 mask = most;
  for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
  for (;;) {
    u64 value = 0;
    bool again = false;
    for (int word = 1; word >= 0 && !again; word--) {
      if (((mask >> (word * 32)) & 0xFFFFFFFF) == 0) continue;
      value |= static_cast<u64>(generator_()) << (word * 32);
      value &= mask;
      again = most < value;
    }
    if (!again) return value;
  }
}

u64 RubyRandom::below(u64 limit) { return limit == 0 ? 0 : limited(limit - 1); }

double RubyRandom::real() {
  u32 high = static_cast<u32>(generator_()) >> 5, low = static_cast<u32>(generator_()) >> 6;
  return (high * 67108864.0 + low) * (1.0 / 9007199254740992.0);
}

}  // namespace tutti::puppet
