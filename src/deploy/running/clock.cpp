#include "deploy/running/clock.h"

#include <chrono>
#include <thread>

#include "store/holder.h"

namespace tutti::deploy {

double Clock::wall() const { return store::wall_clock(); }
double Clock::sleepless() const { return store::sleepless_clock(); }
double Clock::waking() const { return store::waking_clock(); }
void Clock::sleep(double seconds) const { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

const Clock& real_clock() {
  static const Clock clock;
  return clock;
}

}  // namespace tutti::deploy
