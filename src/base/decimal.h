#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace tutti {

// An exact decimal number: (-1)^negative * coefficient * 10^exponent. Coefficient and exponent are kept as they came,
// so that 1.50 prints as 1.50 and still equals 1.5. Coefficients below 2^64 are inline; larger ones are an immutable
// GMP integer shared by all copies, so that a copy never allocates. 24 bytes. There is neither infinity nor NaN: an
// operation that has no finite result says so (DecimalResult::error).
//
// The arithmetic that rounds (add, sub, mul, quo, ...) follows the General Decimal Arithmetic specification with a
// precision of 34 digits, rounding half up, adjusted exponents within +-100000. Comparison, parsing, printing and the
// int_ functions are exact.
class Decimal {
 public:
  static constexpr int kPrecision = 34;
  static constexpr i32 kMaxExponent = 100'000;

  constexpr Decimal() = default;  // 0
  explicit Decimal(i64 n) : small_(n < 0 ? 0 - static_cast<u64>(n) : static_cast<u64>(n)), negative_(n < 0) {}
  static Decimal from_u64(u64 coefficient, i32 exponent = 0, bool negative = false);
  static Decimal from_double(double d);  // the shortest decimal that reads back as d; 0 for what is not finite

  // [+-]digits[.digits][(e|E)[+-]digits], digits may be missing on one side of the point. Exact, whatever the length.
  static std::optional<Decimal> parse(std::string_view text);
  // Digits of a base from 2 to 36, with an optional sign; nothing else allowed.
  static std::optional<Decimal> parse_integer(std::string_view digits, int base);

  Decimal(const Decimal& o) : small_(o.small_), big_(o.big_), exponent_(o.exponent_), negative_(o.negative_) {
    if (big_) share(big_);
  }
  Decimal(Decimal&& o) noexcept : small_(o.small_), big_(o.big_), exponent_(o.exponent_), negative_(o.negative_) {
    o.big_ = nullptr;
  }
  Decimal& operator=(Decimal o) noexcept {
    swap(o);
    return *this;
  }
  ~Decimal() {
    if (big_) release(big_);
  }
  void swap(Decimal& o) noexcept;

  bool is_zero() const { return !big_ && small_ == 0; }
  bool negative() const { return negative_; }
  int sign() const { return is_zero() ? 0 : negative_ ? -1 : 1; }
  i32 exponent() const { return exponent_; }
  std::size_t digits() const;              // of the coefficient; 1 for zero
  bool is_integer() const;                 // the value has no fraction (1.0 and 1e3 have none)
  bool fits_u64() const { return !big_; }  // the coefficient does
  u64 coefficient_u64() const { return small_; }
  std::string coefficient() const;  // its decimal digits

  // The value when it is a whole number that fits.
  std::optional<i64> to_i64() const;
  std::optional<u64> to_u64() const;
  double to_double() const;  // correctly rounded; +-HUGE_VAL past the range

  // The specification's to-scientific-string: plain while the exponent is not positive and the adjusted one at least
  // -6, otherwise d.dddE+dd. `letter` is the E of it.
  std::string text(char letter = 'E') const;
  std::string plain() const;                                     // never an exponent: 1E+3 is 1000
  std::string integer_text(int base, bool upper = false) const;  // of a whole number, in the base

  Decimal operator-() const;  // exact
  Decimal abs() const;
  Decimal with_exponent_zero() const;  // a whole number with its zeros written out: 1E+3 becomes 1000
  Decimal reduced() const;             // no trailing zeros in the coefficient: 100 becomes 1E+2, 1.50 becomes 1.5

  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);  // by value: 1.0 == 1
  friend bool operator==(const Decimal& a, const Decimal& b) { return (a <=> b) == 0; }
  bool same(const Decimal& o) const;  // coefficient and exponent too
  std::size_t hash() const;           // of the value: equal numbers hash the same

 private:
  struct Big;
  friend struct DecimalAccess;
  static void share(Big* big);
  static void release(Big* big);

  u64 small_ = 0;
  Big* big_ = nullptr;  // when the coefficient needs more than 64 bits
  i32 exponent_ = 0;
  bool negative_ = false;
};

struct DecimalResult {
  Decimal value;
  const char* error = nullptr;  // static text: "division by zero", "overflow", ...
  bool ok() const { return error == nullptr; }
};

enum class Rounding : u8 { kHalfUp, kHalfEven, kDown, kFloor, kCeiling, kUp };

namespace decimal {

DecimalResult add(const Decimal& a, const Decimal& b);
DecimalResult sub(const Decimal& a, const Decimal& b);
DecimalResult mul(const Decimal& a, const Decimal& b);
// Trailing zeros are dropped but for one digit after the point when the exact quotient was written with a fraction:
// this is how cue shows quotients (4/2 is 2.0 there because it is a float, 1/4 is 0.25).
DecimalResult quo(const Decimal& a, const Decimal& b);
DecimalResult rem(const Decimal& a, const Decimal& b);  // sign of the dividend
DecimalResult pow(const Decimal& base, const Decimal& exponent);
DecimalResult exp(const Decimal& x);
DecimalResult ln(const Decimal& x);
DecimalResult log10(const Decimal& x);
DecimalResult sqrt(const Decimal& x);
DecimalResult cbrt(const Decimal& x);
Decimal round(const Decimal& x, int precision = Decimal::kPrecision, Rounding how = Rounding::kHalfUp);
Decimal quantize(const Decimal& x, i32 exponent, Rounding how = Rounding::kHalfUp);  // to exactly this exponent
Decimal to_integral(const Decimal& x, Rounding how);                                 // exponent 0
Decimal truncated(const Decimal& x);  // the integer part with the exponent clipped at 0

// Whole numbers, exact and of any size. div and mod are Euclidean (mod >= 0), quo and rem truncate. The divisor must
// not be zero.
Decimal int_add(const Decimal& a, const Decimal& b);
Decimal int_mul(const Decimal& a, const Decimal& b);
Decimal int_div(const Decimal& a, const Decimal& b);
Decimal int_mod(const Decimal& a, const Decimal& b);
Decimal int_quo(const Decimal& a, const Decimal& b);
Decimal int_rem(const Decimal& a, const Decimal& b);
// Two's complement of unbounded width, as in Go's math/big.
Decimal int_and(const Decimal& a, const Decimal& b);
Decimal int_or(const Decimal& a, const Decimal& b);
Decimal int_xor(const Decimal& a, const Decimal& b);
Decimal int_clear(const Decimal& a, const Decimal& b);  // a &^ b
Decimal int_shift_left(const Decimal& a, u32 bits);
Decimal int_shift_right(const Decimal& a, u32 bits);
bool int_bit(const Decimal& a, u32 bit);
Decimal int_set_bit(const Decimal& a, u32 bit, bool on);
u32 int_bit_length(const Decimal& a);
u32 int_ones(const Decimal& a);  // of the absolute value

}  // namespace decimal

}  // namespace tutti
