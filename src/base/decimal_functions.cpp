// Transcendental functions: computed by MPFR with enough spare digits, then rounded half up to the context.
#include <mpfr.h>

#include <string>
#include <utility>

#include "base/decimal_int.h"

namespace tutti::decimal {

namespace {

constexpr mpfr_prec_t kBits = 320;  // 96 digits; 34 are kept

class Real {
 public:
  Real() { mpfr_init2(r_, kBits); }
  explicit Real(const Decimal& d) : Real() { mpfr_set_str(r_, d.text('e').c_str(), 10, MPFR_RNDN); }
  ~Real() { mpfr_clear(r_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  operator mpfr_ptr() { return r_; }

  // To 60 digits, trailing zeros off: that shows exact results (sqrt 4) as such.
  DecimalResult result() {
    if (!mpfr_number_p(r_)) return {{}, mpfr_inf_p(r_) ? "overflow" : "invalid operation"};
    if (mpfr_zero_p(r_)) return {};
    mpfr_exp_t e = 0;
    char* s = mpfr_get_str(nullptr, &e, 10, 60, r_, MPFR_RNDN);
    std::string digits = s;
    mpfr_free_str(s);
    bool negative = digits[0] == '-';
    if (negative) digits.erase(0, 1);
    Decimal d = *Decimal::parse(digits);
    Int c = DecimalAccess::coefficient(d);
    return finish(std::move(c), static_cast<i64>(e) - static_cast<i64>(digits.size()), negative);
  }

 private:
  mpfr_t r_;
};

// Results that are exact come out of 60 digits as 2.000...; they are shown with as few zeros as possible.
DecimalResult tidy(DecimalResult r) {
  if (r.ok()) {
    Decimal s = r.value.reduced();
    if (s.digits() < 30) r.value = s.exponent() > 0 ? s.with_exponent_zero() : s;
  }
  return r;
}

}  // namespace

DecimalResult exp(const Decimal& x) {
  if (x.is_zero()) return {Decimal(1)};
  if (x.abs() > Decimal(300'000)) return {{}, x.negative() ? "underflow" : "overflow"};
  Real r(x);
  mpfr_exp(r, r, MPFR_RNDN);
  return r.result();
}

DecimalResult ln(const Decimal& x) {
  if (x.sign() < 0) return {{}, "invalid operation"};
  if (x.is_zero()) return {{}, "division by zero"};
  if (x == Decimal(1)) return {};
  Real r(x);
  mpfr_log(r, r, MPFR_RNDN);
  return r.result();
}

DecimalResult log10(const Decimal& x) {
  if (x.sign() < 0) return {{}, "invalid operation"};
  if (x.is_zero()) return {{}, "division by zero"};
  if (x == Decimal(1)) return {};
  Real r(x);
  mpfr_log10(r, r, MPFR_RNDN);
  return tidy(r.result());
}

DecimalResult sqrt(const Decimal& x) {
  if (x.sign() < 0) return {{}, "invalid operation"};
  Real r(x);
  mpfr_sqrt(r, r, MPFR_RNDN);
  return tidy(r.result());
}

DecimalResult cbrt(const Decimal& x) {
  Real r(x);
  mpfr_cbrt(r, r, MPFR_RNDN);
  return tidy(r.result());
}

namespace {

// Square and multiply in a context of p digits, as the specification's power does for whole exponents: the exponent of
// an exact result is that of repeated multiplication.
DecimalResult whole_power(const Decimal& base, u64 n, bool invert, std::size_t p) {
  Int result(1), square = DecimalAccess::coefficient(base);
  i64 result_exp = 0, square_exp = base.exponent();
  for (u64 left = n; left > 0; left >>= 1) {
    if (left & 1) {
      mpz_mul(result, result, square);
      result_exp += square_exp;
      round_coefficient(result, result_exp, false, p, Rounding::kHalfUp);
    }
    if (left > 1) {
      mpz_mul(square, square, square);
      square_exp *= 2;
      round_coefficient(square, square_exp, false, p, Rounding::kHalfUp);
    }
    if (result_exp > 2 * Decimal::kMaxExponent || square_exp > 4 * Decimal::kMaxExponent)
      return {{}, invert ? "underflow" : "overflow"};
    if (result_exp < -2 * Decimal::kMaxExponent || square_exp < -4 * Decimal::kMaxExponent)
      return {{}, invert ? "overflow" : "underflow"};
  }
  bool negative = base.negative() && (n & 1);
  if (!invert) return finish(std::move(result), result_exp, negative);
  // 1/result to p digits.
  Int one = power_of_ten(p + digits_of(result));
  i64 e = -static_cast<i64>(p + digits_of(result)) - result_exp;
  Int q, rest;
  mpz_tdiv_qr(q, rest, one, result);
  if (rest.sign() == 0) {
    while (mpz_divisible_ui_p(q, 10)) {
      mpz_divexact_ui(q, q, 10);
      ++e;
    }
  }
  return finish(std::move(q), e, negative);
}

}  // namespace

DecimalResult pow(const Decimal& base, const Decimal& exponent) {
  if (base.is_zero()) {
    if (exponent.is_zero()) return {{}, "invalid operation"};
    if (exponent.negative()) return {{}, "overflow"};
    return {};
  }
  if (exponent.is_zero()) return {Decimal(1)};
  bool whole = exponent.is_integer();
  if (base.negative() && !whole) return {{}, "invalid operation"};
  if (whole) {
    std::optional<i64> n = exponent.to_i64();
    bool up = exponent.negative() == (base.abs() < Decimal(1));
    if (!n)
      return base.abs() == Decimal(1) ? DecimalResult{Decimal(1)} : DecimalResult{{}, up ? "overflow" : "underflow"};
    std::size_t p = std::max<std::size_t>(Decimal::kPrecision, base.digits()) + 10;
    return whole_power(base, *n < 0 ? 0 - static_cast<u64>(*n) : static_cast<u64>(*n), *n < 0, p);
  }
  Real r(base), y(exponent);
  mpfr_pow(r, r, y, MPFR_RNDN);
  return r.result();
}

}  // namespace tutti::decimal
