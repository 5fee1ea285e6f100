#include <cmath>

#include "lang/puppet/types/time.h"
#include "lang/puppet/types/type.h"

namespace tutti::puppet {
namespace {

using Wide = __int128;

bool is_time(const Val& v) { return v.is(VK::kTimestamp) || v.is(VK::kTimespan); }
double real(const Val& v) { return v.is(VK::kFloat) ? v.d : static_cast<double>(v.i); }

// A product or quotient with a Float, cut to an integer.
Wide cut(double d) {
  if (!(std::fabs(d) < 1e30)) throw TypeError("the time is out of range");
  return static_cast<Wide>(d);
}
Wide nanoseconds(const Val& v) {
  if (v.is(VK::kFloat)) return cut(v.d * 1e9);
  return v.is(VK::kInt) ? Wide{v.i} * kSecond : Wide{v.i};
}
Val made(VK kind, Wide ns) {
  if (ns > kNoMax || ns < kNoMin) throw TypeError("the time is out of range");
  return Val::nanoseconds(kind, static_cast<i64>(ns));
}
Wide floor_div(Wide a, Wide b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

}  // namespace

std::optional<Val> time_arithmetic(Op op, const Val& a, const Val& b) {
  if (!is_time(a) && !is_time(b)) return std::nullopt;
  if (!(is_time(a) || is_number(a)) || !(is_time(b) || is_number(b))) return std::nullopt;
  bool both_stamps = a.is(VK::kTimestamp) && b.is(VK::kTimestamp);
  bool any_stamp = a.is(VK::kTimestamp) || b.is(VK::kTimestamp);
  switch (op) {
    case Op::kPlus:
      if (both_stamps) return std::nullopt;
      return made(any_stamp ? VK::kTimestamp : VK::kTimespan, nanoseconds(a) + nanoseconds(b));
    case Op::kMinus:
      if (b.is(VK::kTimestamp) && !both_stamps) return std::nullopt;
      return made(any_stamp && !both_stamps ? VK::kTimestamp : VK::kTimespan, nanoseconds(a) - nanoseconds(b));
    case Op::kTimes: {
      const Val &span = is_time(a) ? a : b, &by = is_time(a) ? b : a;
      if (!span.is(VK::kTimespan) || !is_number(by)) return std::nullopt;
      return made(VK::kTimespan, by.is(VK::kInt) ? Wide{span.i} * by.i : cut(static_cast<double>(span.i) * by.d));
    }
    case Op::kDiv:
      if (!a.is(VK::kTimespan) || b.is(VK::kTimestamp) || (b.is(VK::kFloat) ? b.d == 0 : b.i == 0)) return std::nullopt;
      if (b.is(VK::kTimespan)) return Val::real(static_cast<double>(a.i) / static_cast<double>(b.i));
      return made(VK::kTimespan,
                  b.is(VK::kInt) ? floor_div(a.i, b.i) : cut(std::floor(static_cast<double>(a.i) / b.d)));
    case Op::kModulo: {
      if (!a.is(VK::kTimespan) || !b.is(VK::kInt) || b.i == 0) return std::nullopt;
      Wide whole = floor_seconds(a.i);
      return Val::integer(static_cast<i64>(whole - floor_div(whole, b.i) * b.i));
    }
    default: return std::nullopt;
  }
}

std::optional<int> compare_times(const Val& a, const Val& b) {
  auto by = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (is_time(a) && a.kind == b.kind) return by(a.i, b.i);
  // Beside an Integer whole seconds count, beside a Float all of it; a number on the left makes both Floats.
  if (is_time(a) && b.is(VK::kInt)) return by(floor_seconds(a.i), b.i);
  if (is_time(a) && b.is(VK::kFloat)) return by(seconds_of(a.i), b.d);
  if (is_time(b) && is_number(a)) return by(real(a), seconds_of(b.i));
  return std::nullopt;
}

}  // namespace tutti::puppet
