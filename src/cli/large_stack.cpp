#include "cli/large_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#include <csignal>
#include <cstddef>

namespace tutti {
namespace {

void* enter(void* work) {
  (*static_cast<const std::function<void()>*>(work))();
  return nullptr;
}

bool run_in(const std::function<void()>& work, std::size_t size) {
  void* stack =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  ::mprotect(stack, 4096, PROT_NONE);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  bool started = pthread_attr_setstack(&attributes, stack, size) == 0 &&
                 pthread_create(&thread, &attributes, enter, const_cast<std::function<void()>*>(&work)) == 0;
  pthread_attr_destroy(&attributes);
  if (started) {
    // This thread only waits. Signals go to the others, so that whoever blocks them to take them in good order gets
    // them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_join(thread, nullptr);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ::munmap(stack, size);
  return started;
}

}  // namespace

void with_large_stack(const std::function<void()>& work) {
  for (std::size_t size = std::size_t{1} << 30; size >= std::size_t{1} << 26; size /= 2) {
    if (run_in(work, size)) return;
  }
  work();
}

}  // namespace tutti
