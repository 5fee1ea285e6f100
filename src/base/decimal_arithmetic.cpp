// Arithmetic in the 34-digit context. Fast paths first: sums and products of small coefficients need no GMP.
#include <utility>

#include "base/decimal_int.h"

namespace tutti {

namespace {

// Whether the kept part goes up by one: `half` compares what is dropped with one half of the last kept place.
bool goes_up(const Int& kept, bool negative, int half, Rounding how) {
  switch (how) {
    case Rounding::kHalfUp: return half >= 0;
    case Rounding::kHalfEven: return half > 0 || (half == 0 && mpz_odd_p(static_cast<mpz_srcptr>(kept)));
    case Rounding::kDown: return false;
    case Rounding::kUp: return true;
    case Rounding::kFloor: return negative;
    case Rounding::kCeiling: return !negative;
  }
  return false;
}

constexpr char kOverflow[] = "overflow", kUnderflow[] = "underflow", kRange[] = "exponent out of range";

// Both coefficients at the smaller of the two exponents.
struct Aligned {
  Int a, b;
  i64 exponent;
  bool ok;
};

Aligned align(const Decimal& x, const Decimal& y) {
  Aligned r{DecimalAccess::coefficient(x), DecimalAccess::coefficient(y), std::min(x.exponent(), y.exponent()), true};
  i64 shift = static_cast<i64>(x.exponent()) - y.exponent();
  if (shift > Decimal::kMaxExponent || -shift > Decimal::kMaxExponent) {
    r.ok = false;
  } else if (shift > 0) {
    Int p = power_of_ten(static_cast<u64>(shift));
    mpz_mul(r.a, r.a, p);
  } else if (shift < 0) {
    Int p = power_of_ten(static_cast<u64>(-shift));
    mpz_mul(r.b, r.b, p);
  }
  return r;
}

bool in_range(i64 exponent) { return exponent > -Decimal::kMaxExponent / 2 && exponent < Decimal::kMaxExponent / 2; }

}  // namespace

void round_coefficient(Int& coefficient, i64& exponent, bool negative, std::size_t precision, Rounding how, bool more) {
  std::size_t n = digits_of(coefficient);
  if (n <= precision) return;
  std::size_t cut = n - precision;
  Int unit = power_of_ten(cut), rest;
  mpz_tdiv_qr(coefficient, rest, coefficient, unit);
  exponent += static_cast<i64>(cut);
  if (rest.sign() == 0 && !more) return;
  mpz_mul_2exp(rest, rest, 1);
  int half = mpz_cmp(rest, unit);
  if (half == 0 && more) half = 1;
  if (!goes_up(coefficient, negative, half, how)) return;
  mpz_add_ui(coefficient, coefficient, 1);
  if (digits_of(coefficient) > precision && precision > 0) {
    mpz_divexact_ui(coefficient, coefficient, 10);
    ++exponent;
  }
}

DecimalResult finish(Int coefficient, i64 exponent, bool negative) {
  round_coefficient(coefficient, exponent, negative, Decimal::kPrecision, Rounding::kHalfUp);
  i64 adjusted = exponent + static_cast<i64>(digits_of(coefficient)) - 1;
  if (coefficient.sign() != 0) {
    if (adjusted > Decimal::kMaxExponent) return {{}, kOverflow};
    if (adjusted < -Decimal::kMaxExponent) return {{}, kUnderflow};
  }
  return {DecimalAccess::make(std::move(coefficient), exponent, negative)};
}

namespace decimal {

namespace {

DecimalResult sum(const Decimal& a, const Decimal& b, bool negative_b) {
  if (a.fits_u64() && b.fits_u64() && a.exponent() == b.exponent() && in_range(a.exponent())) {
    u64 x = a.coefficient_u64(), y = b.coefficient_u64(), s;
    if (a.negative() == negative_b) {
      if (!__builtin_add_overflow(x, y, &s)) return {Decimal::from_u64(s, a.exponent(), a.negative())};
    } else {
      return {x >= y ? Decimal::from_u64(x - y, a.exponent(), a.negative())
                     : Decimal::from_u64(y - x, a.exponent(), negative_b)};
    }
  }
  Aligned r = align(a, b);
  if (!r.ok) return {{}, kRange};
  bool negative = a.negative();
  if (a.negative() == negative_b) {
    mpz_add(r.a, r.a, r.b);
  } else {
    mpz_sub(r.a, r.a, r.b);
    if (r.a.sign() < 0) {
      mpz_neg(r.a, r.a);
      negative = !negative;
    }
  }
  return finish(std::move(r.a), r.exponent, negative);
}

}  // namespace

DecimalResult add(const Decimal& a, const Decimal& b) { return sum(a, b, b.negative()); }
DecimalResult sub(const Decimal& a, const Decimal& b) { return sum(a, b, !b.negative()); }

DecimalResult mul(const Decimal& a, const Decimal& b) {
  bool negative = a.negative() != b.negative();
  i64 exponent = static_cast<i64>(a.exponent()) + b.exponent();
  u64 p;
  if (a.fits_u64() && b.fits_u64() && in_range(exponent) &&
      !__builtin_mul_overflow(a.coefficient_u64(), b.coefficient_u64(), &p))
    return {Decimal::from_u64(p, static_cast<i32>(exponent), negative)};
  Int x = DecimalAccess::coefficient(a), y = DecimalAccess::coefficient(b);
  mpz_mul(x, x, y);
  return finish(std::move(x), exponent, negative);
}

namespace {

Decimal reduced_keeping_point(const Decimal& d) {
  Decimal r = d.reduced();
  if (d.exponent() < 0 && r.exponent() >= 0) {
    Int c = DecimalAccess::coefficient(r);
    mpz_mul_ui(c, c, 10);
    return DecimalAccess::make(std::move(c), r.exponent() - 1, r.negative());
  }
  return r;
}

}  // namespace

DecimalResult quo(const Decimal& a, const Decimal& b) {
  if (b.is_zero()) return {{}, a.is_zero() ? "division undefined" : "division by zero"};
  if (a.is_zero()) return {};
  bool negative = a.negative() != b.negative();
  i64 shift = static_cast<i64>(a.exponent()) - b.exponent();
  Int x = DecimalAccess::coefficient(a), y = DecimalAccess::coefficient(b);
  // Scale so that 1 <= x/y < 10, then take the whole precision as an integer quotient.
  i64 apart = static_cast<i64>(digits_of(x)) - static_cast<i64>(digits_of(y));
  Int p = power_of_ten(static_cast<u64>(apart < 0 ? -apart : apart));
  if (apart < 0)
    mpz_mul(x, x, p);
  else
    mpz_mul(y, y, p);
  shift += apart;
  if (mpz_cmp(x, y) < 0) {
    mpz_mul_ui(x, x, 10);
    --shift;
  }
  Int scale = power_of_ten(Decimal::kPrecision - 1), rest;
  mpz_mul(x, x, scale);
  mpz_tdiv_qr(x, rest, x, y);
  shift -= Decimal::kPrecision - 1;
  mpz_mul_2exp(rest, rest, 1);
  if (rest.sign() != 0 && mpz_cmp(rest, y) >= 0) mpz_add_ui(x, x, 1);
  DecimalResult r = finish(std::move(x), shift, negative);
  if (r.ok()) r.value = reduced_keeping_point(r.value);
  return r;
}

DecimalResult rem(const Decimal& a, const Decimal& b) {
  if (b.is_zero()) return {{}, a.is_zero() ? "division undefined" : "invalid operation"};
  Aligned r = align(a, b);
  if (!r.ok) return {{}, kRange};
  Int q, rest;
  mpz_tdiv_qr(q, rest, r.a, r.b);
  if (digits_of(q) > Decimal::kPrecision) return {{}, "division impossible"};
  return finish(std::move(rest), r.exponent, a.negative());
}

Decimal round(const Decimal& x, int precision, Rounding how) {
  Int c = DecimalAccess::coefficient(x);
  i64 e = x.exponent();
  round_coefficient(c, e, x.negative(), static_cast<std::size_t>(precision), how);
  return DecimalAccess::make(std::move(c), e, x.negative());
}

Decimal quantize(const Decimal& x, i32 exponent, Rounding how) {
  i64 drop = static_cast<i64>(exponent) - x.exponent();
  if (drop == 0) return x;
  Int c = DecimalAccess::coefficient(x);
  if (drop < 0) {
    Int p = power_of_ten(static_cast<u64>(-drop));
    mpz_mul(c, c, p);
    return DecimalAccess::make(std::move(c), exponent, x.negative());
  }
  i64 have = static_cast<i64>(digits_of(c));
  if (drop > have + 1) drop = have + 1;  // nothing of it is left either way: do not build a huge unit
  Int unit = power_of_ten(static_cast<u64>(drop)), rest;
  mpz_tdiv_qr(c, rest, c, unit);
  if (rest.sign() != 0) {
    mpz_mul_2exp(rest, rest, 1);
    if (goes_up(c, x.negative(), mpz_cmp(rest, unit), how)) mpz_add_ui(c, c, 1);
  }
  return DecimalAccess::make(std::move(c), exponent, x.negative());
}

Decimal to_integral(const Decimal& x, Rounding how) { return quantize(x, 0, how); }

Decimal truncated(const Decimal& x) { return x.exponent() >= 0 ? x : quantize(x, 0, Rounding::kDown); }

Decimal int_add(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  mpz_add(x, x, y);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_mul(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  mpz_mul(x, x, y);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_quo(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  mpz_tdiv_q(x, x, y);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_rem(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  mpz_tdiv_r(x, x, y);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_mod(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  mpz_mod(x, x, y);  // never negative
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_div(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  if (y.sign() > 0)
    mpz_fdiv_q(x, x, y);
  else
    mpz_cdiv_q(x, x, y);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_and(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  mpz_and(x, x, y);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_or(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  mpz_ior(x, x, y);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_xor(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  mpz_xor(x, x, y);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_clear(const Decimal& a, const Decimal& b) {
  Int x = DecimalAccess::whole(a), y = DecimalAccess::whole(b);
  mpz_com(y, y);
  mpz_and(x, x, y);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_shift_left(const Decimal& a, u32 bits) {
  Int x = DecimalAccess::whole(a);
  mpz_mul_2exp(x, x, bits);
  return DecimalAccess::from_whole(std::move(x));
}

Decimal int_shift_right(const Decimal& a, u32 bits) {
  Int x = DecimalAccess::whole(a);
  mpz_fdiv_q_2exp(x, x, bits);
  return DecimalAccess::from_whole(std::move(x));
}

bool int_bit(const Decimal& a, u32 bit) {
  Int x = DecimalAccess::whole(a);
  return mpz_tstbit(x, bit) != 0;
}

Decimal int_set_bit(const Decimal& a, u32 bit, bool on) {
  Int x = DecimalAccess::whole(a);
  if (on)
    mpz_setbit(x, bit);
  else
    mpz_clrbit(x, bit);
  return DecimalAccess::from_whole(std::move(x));
}

u32 int_bit_length(const Decimal& a) {
  Int x = DecimalAccess::whole(a);
  return x.sign() == 0 ? 0 : static_cast<u32>(mpz_sizeinbase(x, 2));
}

u32 int_ones(const Decimal& a) {
  Int x = DecimalAccess::whole(a);
  mpz_abs(x, x);
  return static_cast<u32>(mpz_popcount(x));
}

}  // namespace decimal

}  // namespace tutti
