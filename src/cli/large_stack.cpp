#include "cli/large_stack.h"

#include <cstddef>

#include "base/own_stack.h"

namespace tutti {

void with_large_stack(const std::function<void()>& work) {
  for (std::size_t size = std::size_t{1} << 30; size >= std::size_t{1} << 26; size /= 2) {
    if (on_stack_of(size, work)) return;
  }
  work();
}

}  // namespace tutti
