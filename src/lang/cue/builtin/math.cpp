#include <fmt/format.h>

#include <cmath>

#include "lang/cue/builtin/go_math.h"
#include "lang/cue/builtin/support.h"
#include "lang/cue/eval/context.h"

namespace tutti::cue {

namespace {

// An argument as a float, which it must fit.
double real_argument(CallContext& c, std::size_t i) {
  const Decimal& n = c.number(i);
  double x = n.to_double();
  if (!std::isfinite(x) && !c.failed()) {
    Node* given = plain(c.args[i]);
    c.report(c.context.bottom(Code::kEval, {},
                              "cannot use {} (type {}) as float64 in argument {}: value was rounded {}",
                              static_cast<const Node*>(given), c.context.kinds(given), static_cast<i64>(i),
                              std::string_view(n.negative() ? "down" : "up")));
  }
  return x;
}

// What is divided has all digits that are computed, the last zeros too: 2 to the power of -2 is 0.2500...0.
DecimalResult power(const Decimal& x, const Decimal& y) {
  constexpr std::size_t kDigits = 34, kLongest = 1000;
  DecimalResult r = decimal::pow(x, y);
  if (!r.ok() || !y.negative() || r.value.is_zero()) return r;
  std::string text = r.value.plain();
  std::size_t first = text.find_first_of("123456789"), point = text.find('.');
  if (text.size() > kLongest || point == std::string::npos || first == std::string::npos) return r;
  std::size_t digits = text.size() - first - (first < point ? 1 : 0);
  if (digits >= kDigits) return r;
  if (auto longer = Decimal::parse(text + std::string(kDigits - digits, '0'))) r.value = *longer;
  return r;
}

using Real = double (*)(double);

// Functions that the original computes on 64-bit floats.
template <Real F>
Node* real(CallContext& c) {
  double x = real_argument(c, 0);
  return c.failed() ? nullptr : float_result(c, F(x));
}

template <double (*F)(double, double)>
Node* real2(CallContext& c) {
  double x = real_argument(c, 0), y = real_argument(c, 1);
  return c.failed() ? nullptr : float_result(c, F(x, y));
}

template <DecimalResult (*F)(const Decimal&)>
Node* exact(CallContext& c) {
  const Decimal& x = c.number(0);
  return c.failed() ? nullptr : number_result(c, F(x));
}

template <Rounding R>
Node* whole(CallContext& c) {
  const Decimal& x = c.number(0);
  return c.failed() ? nullptr : int_result(c, decimal::to_integral(x, R));
}

// The inverse error function, by Newton's method from a rational start.
double erf_inverse(double x) {
  if (std::isnan(x) || x < -1 || x > 1) return std::nan("");
  if (x == 1) return INFINITY;
  if (x == -1) return -INFINITY;
  double w = -std::log((1 - x) * (1 + x)), r;
  if (w < 5) {
    w -= 2.5;
    const double k[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                        -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
    r = k[0];
    for (int i = 1; i < 9; ++i) r = k[i] + r * w;
  } else {
    w = std::sqrt(w) - 3;
    const double k[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                        -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
    r = k[0];
    for (int i = 1; i < 9; ++i) r = k[i] + r * w;
  }
  double y = r * x;
  for (int i = 0; i < 3; ++i) y -= (std::erf(y) - x) / (2 / std::sqrt(M_PI) * std::exp(-y * y));
  return y;
}
double erfc_inverse(double x) { return erf_inverse(1 - x); }
double logb_(double x) { return std::logb(x); }

int jacobi(Decimal a, Decimal b, bool& good) {
  good = decimal::int_bit(b, 0);
  if (!good) return 0;
  int j = 1;
  if (b.negative()) {
    if (a.negative()) j = -1;
    b = b.abs();
  }
  Decimal one(1);
  for (;;) {
    if (b == one) return j;
    if (a.is_zero()) return 0;
    a = decimal::int_mod(a, b);
    if (a.is_zero()) return 0;
    u32 s = 0;
    while (!decimal::int_bit(a, s)) ++s;
    if (s & 1) {
      u64 m8 = *decimal::int_mod(b, Decimal(8)).to_u64();
      if (m8 == 3 || m8 == 5) j = -j;
    }
    Decimal c = decimal::int_shift_right(a, s);
    if (*decimal::int_mod(b, Decimal(4)).to_u64() == 3 && *decimal::int_mod(c, Decimal(4)).to_u64() == 3) j = -j;
    a = b;
    b = c;
  }
}

const BuiltinSpec kFunctions[] = {
    {"Floor", {kNumberKind}, kIntKind, whole<Rounding::kFloor>},
    {"Ceil", {kNumberKind}, kIntKind, whole<Rounding::kCeiling>},
    {"Trunc", {kNumberKind}, kIntKind, whole<Rounding::kDown>},
    {"Round", {kNumberKind}, kIntKind, whole<Rounding::kHalfUp>},
    {"RoundToEven", {kNumberKind}, kIntKind, whole<Rounding::kHalfEven>},
    {"MultipleOf",
     {kNumberKind, kNumberKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       const Decimal &x = c.number(0), &y = c.number(1);
       if (c.failed()) return nullptr;
       DecimalResult q = decimal::quo(x, y);
       return q.ok() ? c.make_bool(q.value.is_integer()) : c.error(q.error);
     }},
    {"Abs",
     {kNumberKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       return c.failed() ? nullptr : number_result(c, decimal::round(x.abs()));
     }},
    {"Jacobi",
     {kIntKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       const Decimal &x = c.number(0), &y = c.number(1);
       if (c.failed()) return nullptr;
       bool good;
       int j = jacobi(x, y, good);
       if (!good)
         return c.error(fmt::format("big: invalid 2nd argument to Int.Jacobi: need odd integer but got {}", y.text()));
       return c.make_int(j);
     }},
    {"Acosh", {kNumberKind}, kNumberKind, real<std::acosh>},
    {"Asin", {kNumberKind}, kNumberKind, real<go_math::asin>},
    {"Acos", {kNumberKind}, kNumberKind, real<go_math::acos>},
    {"Asinh", {kNumberKind}, kNumberKind, real<std::asinh>},
    {"Atan", {kNumberKind}, kNumberKind, real<go_math::atan>},
    {"Atan2", {kNumberKind, kNumberKind}, kNumberKind, real2<go_math::atan2>},
    {"Atanh", {kNumberKind}, kNumberKind, real<std::atanh>},
    {"Cbrt", {kNumberKind}, kNumberKind, exact<decimal::cbrt>},
    {"Copysign",
     {kNumberKind, kNumberKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       const Decimal &x = c.number(0), &y = c.number(1);
       return c.failed() ? nullptr : number_result(c, y.negative() ? -x.abs() : x.abs());
     }},
    {"Dim",
     {kNumberKind, kNumberKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       const Decimal &x = c.number(0), &y = c.number(1);
       if (c.failed()) return nullptr;
       DecimalResult r = decimal::sub(x, y);
       if (r.ok() && r.value.negative()) r.value = Decimal();
       return number_result(c, r);
     }},
    {"Erf", {kNumberKind}, kNumberKind, real<std::erf>},
    {"Erfc", {kNumberKind}, kNumberKind, real<std::erfc>},
    {"Erfinv", {kNumberKind}, kNumberKind, real<erf_inverse>},
    {"Erfcinv", {kNumberKind}, kNumberKind, real<erfc_inverse>},
    {"Exp", {kNumberKind}, kNumberKind, exact<decimal::exp>},
    {"Exp2",
     {kNumberKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       return c.failed() ? nullptr : number_result(c, power(Decimal(2), x));
     }},
    {"Expm1", {kNumberKind}, kNumberKind, real<std::expm1>},
    {"Gamma", {kNumberKind}, kNumberKind, real<std::tgamma>},
    {"Hypot", {kNumberKind, kNumberKind}, kNumberKind, real2<std::hypot>},
    {"J0", {kNumberKind}, kNumberKind, real<::j0>},
    {"Y0", {kNumberKind}, kNumberKind, real<::y0>},
    {"J1", {kNumberKind}, kNumberKind, real<::j1>},
    {"Y1", {kNumberKind}, kNumberKind, real<::y1>},
    {"Jn",
     {kIntKind, kNumberKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       int n = static_cast<int>(c.integer(0));
       double x = c.number(1).to_double();
       return c.failed() ? nullptr : float_result(c, ::jn(n, x));
     }},
    {"Yn",
     {kIntKind, kNumberKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       int n = static_cast<int>(c.integer(0));
       double x = c.number(1).to_double();
       return c.failed() ? nullptr : float_result(c, ::yn(n, x));
     }},
    {"Ldexp",
     {kNumberKind, kIntKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       double x = c.number(0).to_double();
       i64 n = c.integer(1);
       return c.failed() ? nullptr
                         : float_result(c, std::ldexp(x, static_cast<int>(std::clamp<i64>(n, -10000, 10000))));
     }},
    {"Log", {kNumberKind}, kNumberKind, exact<decimal::ln>},
    {"Log10", {kNumberKind}, kNumberKind, exact<decimal::log10>},
    {"Log2",
     {kNumberKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       if (c.failed()) return nullptr;
       DecimalResult r = decimal::ln(x);
       if (r.ok()) r = decimal::quo(r.value, decimal::ln(Decimal(2)).value);
       return number_result(c, r);
     }},
    {"Log1p", {kNumberKind}, kNumberKind, real<std::log1p>},
    {"Logb", {kNumberKind}, kNumberKind, real<logb_>},
    {"Ilogb",
     {kNumberKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       double x = c.number(0).to_double();
       return c.failed() ? nullptr : c.make_int(std::ilogb(x));
     }},
    {"Mod", {kNumberKind, kNumberKind}, kNumberKind, real2<std::fmod>},
    {"Pow",
     {kNumberKind, kNumberKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       const Decimal &x = c.number(0), &y = c.number(1);
       if (c.failed()) return nullptr;
       return number_result(c, power(x, y));
     }},
    {"Pow10",
     {kIntKind},
     kNumberKind,
     [](CallContext& c) -> Node* {
       i64 n = c.integer(0);
       if (c.failed()) return nullptr;
       if (n > Decimal::kMaxExponent || n < -Decimal::kMaxExponent) return c.error("exponent out of range");
       return number_result(c, Decimal::from_u64(1, static_cast<i32>(n)));
     }},
    {"Remainder", {kNumberKind, kNumberKind}, kNumberKind, real2<std::remainder>},
    {"Signbit",
     {kNumberKind},
     kBoolKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       return c.failed() ? nullptr : c.make_bool(x.negative());
     }},
    {"Cos", {kNumberKind}, kNumberKind, real<go_math::cos>},
    {"Sin", {kNumberKind}, kNumberKind, real<go_math::sin>},
    {"Sinh", {kNumberKind}, kNumberKind, real<go_math::sinh>},
    {"Cosh", {kNumberKind}, kNumberKind, real<go_math::cosh>},
    {"Sqrt", {kNumberKind}, kNumberKind, real<std::sqrt>},
    {"Tan", {kNumberKind}, kNumberKind, real<go_math::tan>},
    {"Tanh", {kNumberKind}, kNumberKind, real<go_math::tanh>},
};

const ConstantSpec kConstants[] = {
    {"MaxExp", "2147483647"},
    {"MinExp", "-2147483648"},
    {"MaxPrec", "4294967295"},
    {"ToNearestEven", "0"},
    {"ToNearestAway", "1"},
    {"ToZero", "2"},
    {"AwayFromZero", "3"},
    {"ToNegativeInf", "4"},
    {"ToPositiveInf", "5"},
    {"Below", "-1"},
    {"Exact", "0"},
    {"Above", "1"},
    {"MaxBase", "62"},
    {"E", "2.71828182845904523536028747135266249775724709369995957496696763"},
    {"Pi", "3.14159265358979323846264338327950288419716939937510582097494459"},
    {"Phi", "1.61803398874989484820458683436563811772030917980576286213544861"},
    {"Sqrt2", "1.41421356237309504880168872420969807856967187537694807317667974"},
    {"SqrtE", "1.64872127070012814684865078781416357165377610071014801157507931"},
    {"SqrtPi", "1.77245385090551602729816748334114518279754945612238712821380779"},
    {"SqrtPhi", "1.27201964951406896425242246173749149171560804184009624861664038"},
    {"Ln2", "0.693147180559945309417232121458176568075500134360255254120680009"},
    {"Log2E", "1.442695040888963407359924681001892137426645954152985934135449408"},
    {"Ln10", "2.3025850929940456840179914546843642076011014886287729760333278"},
    {"Log10E", "0.43429448190325182765112891891660508229439700580366656611445378"},
};

// ---- math/bits

template <Decimal (*F)(const Decimal&, const Decimal&)>
Node* bits2(CallContext& c) {
  const Decimal &x = c.number(0), &y = c.number(1);
  return c.failed() ? nullptr : int_result(c, F(x, y));
}

constexpr i64 kMaxShift = 1 << 24;

const BuiltinSpec kBits[] = {
    {"Lsh",
     {kIntKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       i64 n = c.integer(1);
       if (c.failed()) return nullptr;
       if (n < 0 || n > kMaxShift) return c.error(fmt::format("shift count {} out of range", n));
       return int_result(c, decimal::int_shift_left(x, static_cast<u32>(n)));
     }},
    {"Rsh",
     {kIntKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       i64 n = c.integer(1);
       if (c.failed()) return nullptr;
       if (n < 0) return c.error(fmt::format("shift count {} out of range", n));
       return int_result(c, decimal::int_shift_right(x, static_cast<u32>(std::min<i64>(n, 1u << 31))));
     }},
    {"At",
     {kIntKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       i64 n = c.integer(1);
       if (c.failed()) return nullptr;
       if (n < 0 || n > 0x7FFFFFFF) return c.error("bit index too large");
       return c.make_int(decimal::int_bit(x, static_cast<u32>(n)));
     }},
    {"Set",
     {kIntKind, kIntKind, kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       i64 n = c.integer(1), bit = c.integer(2);
       if (c.failed()) return nullptr;
       if (n < 0 || n > kMaxShift) return c.error("bit index too large");
       if (bit < 0) return c.error(fmt::format("cannot use {} (type int) as uint64 in argument 2", bit));
       if (bit > 1) return c.error("set bit is not 0 or 1");
       return int_result(c, decimal::int_set_bit(x, static_cast<u32>(n), bit != 0));
     }},
    {"And", {kIntKind, kIntKind}, kIntKind, bits2<decimal::int_and>},
    {"Or", {kIntKind, kIntKind}, kIntKind, bits2<decimal::int_or>},
    {"Xor", {kIntKind, kIntKind}, kIntKind, bits2<decimal::int_xor>},
    {"Clear", {kIntKind, kIntKind}, kIntKind, bits2<decimal::int_clear>},
    {"OnesCount",
     {kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       return c.failed() ? nullptr : c.make_int(decimal::int_ones(x));
     }},
    {"Len",
     {kIntKind},
     kIntKind,
     [](CallContext& c) -> Node* {
       const Decimal& x = c.number(0);
       return c.failed() ? nullptr : c.make_int(decimal::int_bit_length(x));
     }},
};

}  // namespace

void add_math() { add_package("math", kFunctions, kConstants); }
void add_bits() { add_package("math/bits", kBits); }

}  // namespace tutti::cue
