#pragma once

#include "base/types.h"

namespace tutti::deploy {

// The clocks that a run goes by (store/holder.h says why there are three), and waiting. A test that wants an hour to
// pass puts its own in their place.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double wall() const;       // seconds since 1970: for people
  virtual double sleepless() const;  // goes on while the machine sleeps
  virtual double waking() const;     // does not
  virtual void sleep(double seconds) const;
};

// The machine's.
const Clock& real_clock();

}  // namespace tutti::deploy
