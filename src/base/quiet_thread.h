#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace tutti {

// A thread that signals do not come to: they are for the one that waits for them. It begins with the mask of the thread
// that makes it. Were it to keep them away itself, one that came before it has done so would end the program.
template <class Work>
std::thread quiet_thread(Work&& work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread made(std::forward<Work>(work));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

}  // namespace tutti
