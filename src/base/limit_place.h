#pragma once

#include "base/types.h"

namespace tutti {

// While it lives, a limit that this thread meets is reported at the place that `at` then holds (text/source.h): an
// evaluator's own notion of where it is.
class LimitPlace {
 public:
  explicit LimitPlace(const u32& at);
  ~LimitPlace();
  LimitPlace(const LimitPlace&) = delete;
  LimitPlace& operator=(const LimitPlace&) = delete;

 private:
  const u32* before_;
};

u32 limit_place();  // 0 when nobody says

}  // namespace tutti
