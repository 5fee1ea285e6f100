#include "base/machine.h"

#include <unistd.h>

#include <algorithm>

namespace tutti {

u64 machine_memory() {
  long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  u64 all = pages > 0 && size > 0 ? static_cast<u64>(pages) * static_cast<u64>(size) : u64{4} << 30;
  return std::min(all / 2, u64{4} << 30);
}

}  // namespace tutti
