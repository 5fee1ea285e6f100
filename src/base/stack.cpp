#include "base/stack.h"

#include <pthread.h>

#include <cstddef>

namespace tutti {
namespace {

const char* find_floor() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  void* lowest = nullptr;
  std::size_t size = 0;
  bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  return known ? static_cast<const char*>(lowest) + size / 16 : nullptr;
}

}  // namespace

const char* stack_floor() {
  thread_local const char* const floor = find_floor();
  return floor;
}

}  // namespace tutti
