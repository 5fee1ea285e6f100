// The C library's mathematics, loaded when the first of these functions is called: few calls of the program compute a
// logarithm, and loading libm for all of them takes a third of a megabyte and a tenth of the time of a small run.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace {

void* find(const char* name) {
  static void* const library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  void* found = library ? dlsym(library, name) : nullptr;
  if (!found) std::abort();  // it is a part of the C library that this program was started with
  return found;
}

}  // namespace

#define FORWARD(result, name, parameters, ...)                                          \
  extern "C" result name parameters noexcept {                                          \
    static std::atomic<result(*) parameters> found{};                                   \
    auto* call = found.load(std::memory_order_relaxed);                                 \
    if (!call) found.store(call = reinterpret_cast<result(*) parameters>(find(#name))); \
    return call(__VA_ARGS__);                                                           \
  }
#define OF_ONE(name) FORWARD(double, name, (double x), x)
#define OF_TWO(name) FORWARD(double, name, (double x, double y), x, y)

OF_ONE(acos)
OF_ONE(acosh)
OF_ONE(asin)
OF_ONE(asinh)
OF_ONE(atan)
OF_ONE(atanh)
OF_ONE(cos)
OF_ONE(cosh)
OF_ONE(erf)
OF_ONE(erfc)
OF_ONE(exp)
OF_ONE(expm1)
OF_ONE(floor)
OF_ONE(j0)
OF_ONE(j1)
OF_ONE(log)
OF_ONE(log10)
OF_ONE(log1p)
OF_ONE(logb)
OF_ONE(sin)
OF_ONE(sinh)
OF_ONE(sqrt)
OF_ONE(tan)
OF_ONE(tanh)
OF_ONE(tgamma)
OF_ONE(trunc)
OF_ONE(y0)
OF_ONE(y1)
OF_TWO(atan2)
OF_TWO(fmod)
OF_TWO(hypot)
OF_TWO(pow)
OF_TWO(remainder)
FORWARD(double, jn, (int n, double x), n, x)
FORWARD(double, ldexp, (double x, int n), x, n)
FORWARD(double, yn, (int n, double x), n, x)
FORWARD(int, fegetround, ())
FORWARD(int, fesetround, (int how), how)
FORWARD(int, ilogb, (double x), x)
