#include "lang/cue/builtin/go_math.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace tutti::cue::go_math {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kLarge = 1 << 29;  // from here on the rest by pi is found otherwise

// The rest of x by pi/4, in parts of pi/4 that are exact, and which eighth of the circle it is in.
struct Reduced {
  double rest;
  unsigned eighth;
};
Reduced reduced(double x) {
  constexpr double kPart1 = 7.85398125648498535156e-1, kPart2 = 3.77489470793079817668e-8,
                   kPart3 = 2.69515142907905952645e-15;
  auto j = static_cast<std::uint64_t>(x * (4 / kPi));
  auto y = static_cast<double>(j);
  if (j & 1) ++j, ++y;
  return {((x - y * kPart1) - y * kPart2) - y * kPart3, static_cast<unsigned>(j & 7)};
}

double sine_of(double z) {
  double zz = z * z;
  return z +
         z * zz *
             ((((((1.58962301576546568060e-10 * zz) + -2.50507477628578072866e-8) * zz + 2.75573136213857245213e-6) *
                    zz +
                -1.98412698295895385996e-4) *
                   zz +
               8.33333333332211858878e-3) *
                  zz +
              -1.66666666666666307295e-1);
}

double cosine_of(double z) {
  double zz = z * z;
  return 1.0 - 0.5 * zz +
         zz * zz *
             ((((((-1.13585365213876817300e-11 * zz) + 2.08757008419747316778e-9) * zz + -2.75573141792967388112e-7) *
                    zz +
                2.48015872888517045348e-5) *
                   zz +
               -1.38888888888730564116e-3) *
                  zz +
              4.16666666666665929218e-2);
}

// Of 0 to 0.66.
double small_atan(double x) {
  double z = x * x;
  z = z *
      ((((-8.750608600031904122785e-01 * z + -1.615753718733365076637e+01) * z + -7.500855792314704667340e+01) * z +
        -1.228866684490136173410e+02) *
           z +
       -6.485021904942025371773e+01) /
      (((((z + 2.485846490142306297962e+01) * z + 1.650270098316988542046e+02) * z + 4.328810604912902668951e+02) * z +
        4.853903996359136964868e+02) *
           z +
       1.945506571482613964425e+02);
  return x * z + x;
}

double positive_atan(double x) {
  constexpr double kMore = 6.123233995736765886130e-17;  // pi/2 = PIO2 + more
  constexpr double kTan3Pi8 = 2.41421356237309504880;
  if (x <= 0.66) return small_atan(x);
  if (x > kTan3Pi8) return kPi / 2 - small_atan(1 / x) + kMore;
  return kPi / 4 + small_atan((x - 1) / (x + 1)) + 0.5 * kMore;
}

}  // namespace

double sin(double x) {
  double size = std::fabs(x);
  if (!(size < kLarge) || x == 0) return std::sin(x);
  auto [z, j] = reduced(size);
  bool negative = x < 0;
  if (j > 3) negative = !negative, j -= 4;
  double y = j == 1 || j == 2 ? cosine_of(z) : sine_of(z);
  return negative ? -y : y;
}

double cos(double x) {
  double size = std::fabs(x);
  if (!(size < kLarge)) return std::cos(x);
  auto [z, j] = reduced(size);
  bool negative = false;
  if (j > 3) negative = !negative, j -= 4;
  if (j > 1) negative = !negative;
  double y = j == 1 || j == 2 ? sine_of(z) : cosine_of(z);
  return negative ? -y : y;
}

double tan(double x) {
  double size = std::fabs(x);
  if (!(size < kLarge) || x == 0) return std::tan(x);
  auto [z, j] = reduced(size);
  double zz = z * z, y = z;
  if (zz > 1e-14)
    y = z + z * (zz * (((-1.30936939181383734205e4 * zz) + 1.15351664838587416140e6) * zz + -1.79565251976484877988e7) /
                 ((((zz + 1.36812963470692954678e4) * zz + -1.32089234440210967447e6) * zz + 2.50083801823357915839e7) *
                      zz +
                  -5.38695755929454629881e7));
  if (j & 2) y = -1 / y;
  return x < 0 ? -y : y;
}

double atan(double x) {
  if (x == 0) return x;
  return x > 0 ? positive_atan(x) : -positive_atan(-x);
}

double asin(double x) {
  if (x == 0) return x;
  double size = std::fabs(x);
  if (!(size <= 1)) return std::nan("");
  double root = std::sqrt(1 - size * size);
  double y = size > 0.7 ? kPi / 2 - positive_atan(root / size) : positive_atan(size / root);
  return x < 0 ? -y : y;
}

double acos(double x) { return kPi / 2 - asin(x); }

double atan2(double y, double x) {
  if (std::isnan(x) || std::isnan(y) || x == 0 || y == 0 || std::isinf(x) || std::isinf(y)) return std::atan2(y, x);
  double q = atan(y / x);
  if (x < 0) return q <= 0 ? q + kPi : q - kPi;
  return q;
}

double sinh(double x) {
  double size = std::fabs(x), y;
  if (size > 21) {
    y = std::exp(size) * 0.5;
  } else if (size > 0.5) {
    double e = std::exp(size);
    y = (e - 1 / e) * 0.5;
  } else {
    double s = size * size;
    y = (((-0.2630563213397497062819489e+2 * s + -0.2894211355989563807284660366e+4) * s +
          -0.8991272022039509355398013511e+5) *
             s +
         -0.6307673640497716991184787251e+6) *
        size;
    y = y / (((s + -0.173678953558233699533450911e+3) * s + 0.1521517378790019070696485176e+5) * s +
             -0.6307673640497716991212077277e+6);
  }
  return x < 0 ? -y : y;
}

double cosh(double x) {
  x = std::fabs(x);
  if (x > 21) return std::exp(x) * 0.5;
  double e = std::exp(x);
  return (e + 1 / e) * 0.5;
}

double tanh(double x) {
  constexpr double kMost = 8.8029691931113054295988e+01;
  double size = std::fabs(x);
  if (size > 0.5 * kMost) return x < 0 ? -1 : 1;
  if (size >= 0.625) {
    double y = 1 - 2 / (std::exp(2 * size) + 1);
    return x < 0 ? -y : y;
  }
  if (x == 0) return x;
  double s = x * x;
  return x + x * s * ((-9.64399179425052238628e-1 * s + -9.92877231001918586564e1) * s + -1.61468768441708447952e3) /
                 (((s + 1.12811678491632931402e2) * s + 2.23548839060100448583e3) * s + 4.84406305325125486048e3);
}

}  // namespace tutti::cue::go_math
