#include "base/decimal.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/ascii.h"
#include "base/decimal_int.h"

namespace tutti {

Int power_of_ten(u64 n) {
  Int p;
  mpz_ui_pow_ui(p, 10, n);
  return p;
}

std::size_t digits_of(const Int& n) {
  if (n.sign() == 0) return 1;
  std::size_t guess = mpz_sizeinbase(n, 10);  // exact or one too many
  if (guess == 1) return 1;
  Int limit = power_of_ten(guess - 1);
  return mpz_cmpabs(n, limit) < 0 ? guess - 1 : guess;
}

Decimal DecimalAccess::make(Int coefficient, i64 exponent, bool negative) {
  Decimal d;
  d.exponent_ = static_cast<i32>(exponent);
  d.negative_ = negative && coefficient.sign() != 0;
  if (coefficient.fits_u64()) {
    d.small_ = mpz_get_ui(coefficient);
  } else {
    d.big_ = new Decimal::Big;
    mpz_swap(d.big_->value, coefficient);
  }
  return d;
}

Int DecimalAccess::whole(const Decimal& d) {
  Int n = coefficient(d);
  if (d.exponent() > 0) {
    Int p = power_of_ten(static_cast<u64>(d.exponent()));
    mpz_mul(n, n, p);
  } else if (d.exponent() < 0) {
    Int p = power_of_ten(static_cast<u64>(-static_cast<i64>(d.exponent())));
    mpz_tdiv_q(n, n, p);
  }
  if (d.negative()) mpz_neg(n, n);
  return n;
}

void Decimal::share(Big* big) { big->users.fetch_add(1, std::memory_order_relaxed); }

void Decimal::release(Big* big) {
  if (big->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete big;
}

void Decimal::swap(Decimal& o) noexcept {
  std::swap(small_, o.small_);
  std::swap(big_, o.big_);
  std::swap(exponent_, o.exponent_);
  std::swap(negative_, o.negative_);
}

Decimal Decimal::from_u64(u64 coefficient, i32 exponent, bool negative) {
  Decimal d;
  d.small_ = coefficient;
  d.exponent_ = exponent;
  d.negative_ = negative && coefficient != 0;
  return d;
}

Decimal Decimal::from_double(double d) {
  if (!std::isfinite(d)) return {};
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific).ptr;
  return *parse({buffer, static_cast<std::size_t>(end - buffer)});
}

std::optional<Decimal> Decimal::parse(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  i64 exponent = 0;
  if (auto e = text.find_first_of("eE"); e != std::string_view::npos) {
    std::string_view tail = text.substr(e + 1);
    text = text.substr(0, e);
    bool down = false;
    if (!tail.empty() && (tail[0] == '-' || tail[0] == '+')) {
      down = tail[0] == '-';
      tail.remove_prefix(1);
    }
    auto [p, ec] = std::from_chars(tail.data(), tail.data() + tail.size(), exponent);
    if (ec != std::errc() || p != tail.data() + tail.size() || exponent > 1'000'000'000) return std::nullopt;
    if (down) exponent = -exponent;
  }
  std::string digits;
  digits.reserve(text.size());
  bool point = false;
  for (char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (is_digit(c)) {
      digits.push_back(c);
      if (point) --exponent;
    } else {
      return std::nullopt;
    }
  }
  if (digits.empty()) return std::nullopt;
  std::size_t zeros = digits.find_first_not_of('0');
  if (zeros == std::string::npos) return from_u64(0, static_cast<i32>(exponent));
  const char* first = digits.c_str() + zeros;
  if (digits.size() - zeros <= 19) {
    u64 n = 0;
    std::from_chars(first, digits.c_str() + digits.size(), n);
    return from_u64(n, static_cast<i32>(exponent), negative);
  }
  Int n;
  mpz_set_str(n, first, 10);
  return DecimalAccess::make(std::move(n), exponent, negative);
}

std::optional<Decimal> Decimal::parse_integer(std::string_view digits, int base) {
  bool negative = false;
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) {
    negative = digits[0] == '-';
    digits.remove_prefix(1);
  }
  if (digits.empty()) return std::nullopt;
  for (char c : digits) {
    int v = is_digit(c) ? c - '0' : c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
    if (v >= base) return std::nullopt;
  }
  Int n;
  mpz_set_str(n, std::string(digits).c_str(), base);
  return DecimalAccess::make(std::move(n), 0, negative);
}

std::size_t Decimal::digits() const {
  if (big_) return digits_of(big_->value);
  std::size_t n = 1;
  for (u64 v = small_; v >= 10; v /= 10) ++n;
  return n;
}

std::string Decimal::coefficient() const {
  if (!big_) return std::to_string(small_);
  std::string out(mpz_sizeinbase(big_->value, 10) + 2, '\0');
  mpz_get_str(out.data(), 10, big_->value);
  out.resize(std::char_traits<char>::length(out.c_str()));
  return out;
}

bool Decimal::is_integer() const {
  if (exponent_ >= 0 || is_zero()) return true;
  u64 down = static_cast<u64>(-static_cast<i64>(exponent_));
  if (down >= digits()) return false;
  if (!big_) {
    u64 n = small_;
    for (; down > 0; --down, n /= 10)
      if (n % 10 != 0) return false;
    return true;
  }
  Int p = power_of_ten(down);
  return mpz_divisible_p(big_->value, p) != 0;
}

std::optional<u64> Decimal::to_u64() const {
  if (is_zero()) return 0;
  if (negative_ || !is_integer() || exponent_ > 20) return std::nullopt;
  if (!big_ && exponent_ == 0) return small_;
  Int n = DecimalAccess::whole(*this);
  if (!n.fits_u64()) return std::nullopt;
  return mpz_get_ui(n);
}

std::optional<i64> Decimal::to_i64() const {
  if (is_zero()) return 0;
  std::optional<u64> n = abs().to_u64();
  if (!n || *n > (u64{1} << 63) - (negative_ ? 0 : 1)) return std::nullopt;
  return negative_ ? static_cast<i64>(0 - *n) : static_cast<i64>(*n);
}

double Decimal::to_double() const {
  std::string s = text('e');
  return std::strtod(s.c_str(), nullptr);
}

std::string Decimal::plain() const {
  std::string out = negative_ ? "-" : "";
  std::string d = coefficient();
  if (exponent_ >= 0) {
    out += d;
    if (!is_zero() || exponent_ > 0) out.append(static_cast<std::size_t>(exponent_), '0');
    return out;
  }
  std::size_t after = static_cast<std::size_t>(-static_cast<i64>(exponent_));
  if (d.size() <= after) return out + "0." + std::string(after - d.size(), '0') + d;
  return out + d.substr(0, d.size() - after) + "." + d.substr(d.size() - after);
}

std::string Decimal::text(char letter) const {
  if (exponent_ == 0 && !big_ && !negative_) return std::to_string(small_);  // as most are
  i64 length = static_cast<i64>(digits());
  // Zeros keep all their places (0.0000000 is not 0E-7) up to a limit that no writer reaches.
  if (is_zero() && exponent_ < 0 && exponent_ >= -2000) length -= exponent_;
  if (exponent_ <= 0 && exponent_ + length - 1 >= -6) return plain();
  std::string d = coefficient();
  std::string out = negative_ ? "-" : "";
  out += d[0];
  if (d.size() > 1) {
    out += '.';
    out.append(d, 1);
  }
  i64 adjusted = exponent_ + static_cast<i64>(d.size()) - 1;
  out += letter;
  out += adjusted < 0 ? '-' : '+';
  out += std::to_string(adjusted < 0 ? -adjusted : adjusted);
  return out;
}

std::string Decimal::integer_text(int base, bool upper) const {
  Int n = DecimalAccess::whole(*this);
  std::string out(mpz_sizeinbase(n, base) + 3, '\0');
  mpz_get_str(out.data(), upper ? -base : base, n);
  out.resize(std::char_traits<char>::length(out.c_str()));
  // Where both cases are digits GMP counts capitals first, everybody else small letters.
  if (base > 36)
    for (char& c : out)
      if (c >= 'A') c ^= 0x20;
  return out;
}

Decimal Decimal::operator-() const {
  Decimal d = *this;
  d.negative_ = !negative_ && !is_zero();
  return d;
}

Decimal Decimal::abs() const {
  Decimal d = *this;
  d.negative_ = false;
  return d;
}

Decimal Decimal::with_exponent_zero() const {
  if (exponent_ == 0) return *this;
  return DecimalAccess::from_whole(DecimalAccess::whole(*this));
}

Decimal Decimal::reduced() const {
  if (is_zero()) return {};
  Decimal d = *this;
  if (!big_) {
    while (d.small_ % 10 == 0) {
      d.small_ /= 10;
      ++d.exponent_;
    }
    return d;
  }
  Int n = big_->value, q;
  i64 e = exponent_;
  while (mpz_tdiv_q_ui(q, n, 10) == 0) {
    mpz_swap(n, q);
    ++e;
  }
  return DecimalAccess::make(std::move(n), e, negative_);
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  int sa = a.sign(), sb = b.sign();
  if (sa != sb) return sa <=> sb;
  if (sa == 0) return std::strong_ordering::equal;
  if (!a.big_ && !b.big_ && a.exponent_ == b.exponent_) return sa > 0 ? a.small_ <=> b.small_ : b.small_ <=> a.small_;
  // The place of the first digit decides unless it is the same.
  i64 pa = a.exponent_ + static_cast<i64>(a.digits()), pb = b.exponent_ + static_cast<i64>(b.digits());
  if (pa != pb) return sa > 0 ? pa <=> pb : pb <=> pa;
  Int x = DecimalAccess::coefficient(a), y = DecimalAccess::coefficient(b);
  i64 shift = static_cast<i64>(a.exponent_) - b.exponent_;
  if (shift > 0) {
    Int p = power_of_ten(static_cast<u64>(shift));
    mpz_mul(x, x, p);
  } else if (shift < 0) {
    Int p = power_of_ten(static_cast<u64>(-shift));
    mpz_mul(y, y, p);
  }
  int c = mpz_cmp(x, y);
  return (sa > 0 ? c : -c) <=> 0;
}

bool Decimal::same(const Decimal& o) const {
  if (exponent_ != o.exponent_ || negative_ != o.negative_ || (big_ == nullptr) != (o.big_ == nullptr)) return false;
  return big_ ? mpz_cmp(big_->value, o.big_->value) == 0 : small_ == o.small_;
}

std::size_t Decimal::hash() const {
  Decimal d = reduced();
  u64 h = d.big_ ? 0 : d.small_;
  if (d.big_)
    for (std::size_t i = 0; i < mpz_size(d.big_->value); ++i)
      h = (h ^ mpz_getlimbn(d.big_->value, static_cast<mp_size_t>(i))) * 0x9E3779B97F4A7C15u;
  h ^= static_cast<u64>(static_cast<u32>(d.exponent_)) << 32 | (d.negative_ ? 1u : 0u);
  h *= 0x9E3779B97F4A7C15u;
  return h ^ (h >> 29);
}

}  // namespace tutti
