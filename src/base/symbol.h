#pragma once

#include <functional>
#include <string_view>

#include "base/types.h"

namespace tutti {

// An interned name: equal names are equal numbers, in the whole program and from any thread. Symbol{} is the empty
// name.
class Symbol {
 public:
  constexpr Symbol() = default;
  explicit Symbol(std::string_view name);

  std::string_view text() const;
  constexpr u32 id() const { return id_; }
  constexpr bool empty() const { return id_ == 0; }
  static constexpr Symbol from_id(u32 id) {
    Symbol s;
    s.id_ = id;
    return s;
  }

  // By number, which is the order of first use: fast, and never to be shown to a user.
  friend constexpr auto operator<=>(Symbol, Symbol) = default;

 private:
  u32 id_ = 0;
};

}  // namespace tutti

template <>
struct std::hash<tutti::Symbol> {
  std::size_t operator()(tutti::Symbol s) const noexcept { return s.id() * std::size_t{0x9E3779B97F4A7C15}; }
};
