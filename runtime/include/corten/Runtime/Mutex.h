// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locks that a fork leaves open.

#ifndef CORTEN_RUNTIME_MUTEX_H
#define CORTEN_RUNTIME_MUTEX_H

#include <mutex>

namespace corten::runtime {

/// A lock that the child of a fork finds open, and what it guards whole: a fork
/// waits until no thread holds any of them. With an ordinary one, a child made
/// while another thread was in a call would wait for a thread that it does not
/// have. A thread that holds one must not fork.
class Mutex {
public:
  Mutex();
  ~Mutex();
  Mutex(const Mutex &) = delete;
  Mutex &operator=(const Mutex &) = delete;

  void lock() { mutex.lock(); }
  bool tryLock() { return mutex.try_lock(); }
  void unlock() { mutex.unlock(); }

private:
  std::mutex mutex;
};

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_MUTEX_H
