#include "lang/cue/builtin/go_float.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "lang/cue/eval/limits.h"

namespace tutti::cue {

namespace {

// A double has fewer digits than this before its point, and after it fewer than kMostOfFraction.
constexpr i64 kMostOfWhole = 400, kMostOfFraction = 1100;

struct Pieces {
  bool negative = false;
  u64 mantissa = 0;  // with the bit that is not stored
  int exponent = 0;  // of the mantissa read as 1.xxx
  int bits = 0;      // of the mantissa, without the one not stored
};

Pieces taken_apart(double d, int size) {
  Pieces p;
  u64 raw;
  int exponent_bits;
  if (size == 32) {
    raw = std::bit_cast<u32>(static_cast<float>(d));
    p.bits = 23, exponent_bits = 8;
  } else {
    raw = std::bit_cast<u64>(d);
    p.bits = 52, exponent_bits = 11;
  }
  int bias = (1 << (exponent_bits - 1)) - 1;
  p.negative = raw >> (p.bits + exponent_bits) != 0;
  p.mantissa = raw & ((u64{1} << p.bits) - 1);
  p.exponent = static_cast<int>(raw >> p.bits) & ((1 << exponent_bits) - 1);
  if (p.exponent == 0)
    p.exponent = 1;
  else
    p.mantissa |= u64{1} << p.bits;
  p.exponent -= bias;
  return p;
}

std::string binary(const Pieces& p) {
  return fmt::format("{}{}p{:+d}", p.negative ? "-" : "", p.mantissa, p.exponent - p.bits);
}

std::string hexadecimal(Pieces p, char form, i64 precision) {
  constexpr int kPoint = 60;  // the bit before the point
  if (p.mantissa == 0) p.exponent = 0;
  u64 m = p.mantissa << (kPoint - p.bits);
  for (; m != 0 && !(m >> kPoint & 1); m <<= 1) --p.exponent;
  if (precision >= 0 && precision < kPoint / 4) {  // to the nearest, to the even one in between
    int dropped = kPoint - static_cast<int>(precision) * 4;
    u64 rest = m & ((u64{1} << dropped) - 1), half = u64{1} << (dropped - 1);
    m >>= dropped;
    if (rest > half || (rest == half && (m & 1))) ++m;
    m <<= dropped;
    if (m >> (kPoint + 1)) {
      m >>= 1;
      ++p.exponent;
    }
  }
  std::string out = fmt::format("{}0{}{}", p.negative ? "-" : "", form, m >> kPoint & 1);
  const char* digits = form == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  m <<= 4;
  if (precision > 0 || (precision < 0 && m != 0)) out += '.';
  for (i64 i = 0; precision < 0 ? m != 0 : i < precision; ++i, m <<= 4) out += digits[m >> kPoint & 15];
  return out + fmt::format("{}{}{:02d}", form == 'X' ? 'P' : 'p', p.exponent < 0 ? '-' : '+', std::abs(p.exponent));
}

class DecimalForm {
 public:
  DecimalForm(double d, int bits, i64 precision) : d_(d), single_(bits == 32), precision_(precision) {
    if (single_) d_ = static_cast<float>(d);
  }

  std::string scientific(char letter) {
    std::string s = written(std::chars_format::scientific, precision_);
    s[s.find('e')] = letter;
    return s;
  }
  std::string fixed() {
    std::string s = written(std::chars_format::fixed, precision_);
    // Digits that are not needed to read the number back are zeros.
    if (precision_ < 0 && s.find('.') == std::string::npos) {
      std::string e = written(std::chars_format::scientific, -1);
      e.resize(e.find('e'));
      std::erase(e, '.');
      std::fill(s.begin() + static_cast<std::ptrdiff_t>(std::min(e.size(), s.size())), s.end(), '0');
      std::copy(e.begin(), e.end(), s.begin());
    }
    return s;
  }

  // The scientific form for an exponent below -4, or one that is not below the number of digits (6 for the shortest).
  std::string general(char letter) {
    i64 most = precision_ < 0 ? 0 : std::max<i64>(precision_, 1);
    std::string e = written(std::chars_format::scientific, precision_ < 0 ? -1 : most - 1);
    std::size_t at = e.find('e');
    i64 exponent = std::atoi(e.c_str() + at + 1), digits = 0, counted = 0;
    for (std::size_t i = 0; i < at; ++i)
      if (e[i] >= '0' && e[i] <= '9') {
        ++counted;
        if (e[i] != '0') digits = counted;  // those at the end that are 0 do not count
      }
    i64 limit = precision_ < 0 ? 6 : most > digits && digits > exponent ? digits : most;
    if (d_ == 0) return std::signbit(d_) ? "-0" : "0";
    if (exponent < -4 || exponent >= limit) {
      e = written(std::chars_format::scientific, digits - 1);
      e[e.find('e')] = letter;
      return e;
    }
    return written(std::chars_format::fixed, std::max<i64>(digits - exponent - 1, 0));
  }

 private:
  std::string written(std::chars_format f, i64 precision) {
    std::string out(static_cast<std::size_t>(kMostOfWhole + kMostOfFraction + std::max<i64>(precision, 0)), '\0');
    char *begin = out.data(), *end = begin + out.size();
    std::to_chars_result r = precision >= 0 ? std::to_chars(begin, end, d_, f, static_cast<int>(precision))
                             : single_      ? std::to_chars(begin, end, static_cast<float>(d_), f)
                                            : std::to_chars(begin, end, d_, f);
    out.resize(static_cast<std::size_t>(r.ptr - begin));
    return out;
  }

  double d_;
  bool single_;
  i64 precision_;
};

}  // namespace

std::string go_float(double d, char form, i64 precision, int bits) {
  if (bits == 32) d = static_cast<float>(d);
  if (std::isnan(d)) return "NaN";
  if (std::isinf(d)) return d < 0 ? "-Inf" : "+Inf";
  if (precision > 0) check_text(static_cast<u64>(precision));
  switch (form) {
    case 'b': return binary(taken_apart(d, bits));
    case 'x':
    case 'X': return hexadecimal(taken_apart(d, bits), form, precision);
    case 'e':
    case 'E': return DecimalForm(d, bits, precision).scientific(form);
    case 'f': return DecimalForm(d, bits, precision).fixed();
    case 'g':
    case 'G': return DecimalForm(d, bits, precision).general(form == 'g' ? 'e' : 'E');
    default: return std::string("%") + form;
  }
}

}  // namespace tutti::cue
