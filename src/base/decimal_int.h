#pragma once

#include <gmp.h>

#include <atomic>

#include "base/decimal.h"

namespace tutti {

// A GMP integer that frees itself. For decimal*.cpp only: gmp.h stays out of the other headers.
class Int {
 public:
  Int() { mpz_init(z_); }
  explicit Int(u64 n) { mpz_init_set_ui(z_, n); }
  Int(const Int& o) { mpz_init_set(z_, o.z_); }
  Int(Int&& o) noexcept {
    mpz_init(z_);
    mpz_swap(z_, o.z_);
  }
  Int& operator=(Int o) noexcept {
    mpz_swap(z_, o.z_);
    return *this;
  }
  ~Int() { mpz_clear(z_); }
  operator mpz_ptr() { return z_; }
  operator mpz_srcptr() const { return z_; }
  int sign() const { return mpz_sgn(z_); }
  bool fits_u64() const { return mpz_sizeinbase(z_, 2) <= 64; }

 private:
  mpz_t z_;
};
static_assert(sizeof(unsigned long) == 8, "mpz_*_ui take a u64");

struct Decimal::Big {
  std::atomic<u32> users{1};
  Int value;
};

// The way into a Decimal for the files that compute with it.
struct DecimalAccess {
  static Int coefficient(const Decimal& d) { return d.big_ ? d.big_->value : Int(d.small_); }
  static const Int* big(const Decimal& d) { return d.big_ ? &d.big_->value : nullptr; }
  static Decimal make(Int coefficient, i64 exponent, bool negative);  // coefficient >= 0
  static Int whole(const Decimal& d);                                 // of a whole number, with its sign
  static Decimal from_whole(Int n) {
    bool negative = n.sign() < 0;
    if (negative) mpz_neg(n, n);
    return make(std::move(n), 0, negative);
  }
};

Int power_of_ten(u64 n);
std::size_t digits_of(const Int& n);  // 1 for zero

// Coefficient cut to the precision: how many digits went is added to the exponent.
void round_coefficient(Int& coefficient, i64& exponent, bool negative, std::size_t precision, Rounding how,
                       bool more = false);

// Checks the exponent limits of the context: an error text, or nullptr.
DecimalResult finish(Int coefficient, i64 exponent, bool negative);

}  // namespace tutti
