#include "base/stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <csignal>

#include "base/own_stack.h"
#include "base/process_limits.h"

namespace tutti {
namespace {

thread_local const char* floor_here = nullptr;

const char* floor_of(const void* lowest, std::size_t size) { return static_cast<const char*>(lowest) + size / 16; }

const char* find_floor() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  void* lowest = nullptr;
  std::size_t size = 0;
  bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  return known ? floor_of(lowest, size) : nullptr;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

void* enter(void* work) {
  (*static_cast<const std::function<void()>*>(work))();
  return nullptr;
}

// The sanitizers know of the stacks of threads only.
bool run_on(void* stack, std::size_t size, const std::function<void()>& work) {
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
  return started;
}

#else

thread_local const std::function<void()>* entered = nullptr;

void enter() { (*entered)(); }

// This thread goes over to the other stack and comes back: a thread of its own would cost as much as a small call.
bool run_on(void* stack, std::size_t size, const std::function<void()>& work) {
  ucontext_t there, here;
  if (getcontext(&there) != 0) return false;
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = size;
  there.uc_link = &here;
  makecontext(&there, enter, 0);
  const char* before = floor_here;
  floor_here = floor_of(stack, size);
  entered = &work;
  bool run = swapcontext(&here, &there) == 0;
  floor_here = before;
  return run;
}

#endif

}  // namespace

const char* stack_floor() {
  if (floor_here == nullptr) floor_here = find_floor();
  return floor_here;
}

bool on_stack_of(std::size_t size, const std::function<void()>& work) {
  let_reserve(size);
  void* stack =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  ::mprotect(stack, 4096, PROT_NONE);
  bool run = run_on(stack, size, work);
  ::munmap(stack, size);
  return run;
}

}  // namespace tutti
