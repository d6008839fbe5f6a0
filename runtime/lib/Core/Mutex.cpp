// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "corten/Runtime/Mutex.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>
#include <thread>
#include <vector>

using namespace corten::runtime;

namespace {
struct Registry {
  std::mutex mutex;
  std::vector<Mutex *> all;

  void lockAll();
  void unlockAll();
};
} // namespace

/// It waits while it holds none of them, since others take one while they have
/// another, or make one.
void Registry::lockAll() {
  while (true) {
    mutex.lock();
    auto held =
        std::ranges::find_if(all, [](Mutex *each) { return !each->tryLock(); });
    if (held == all.end())
      return;
    std::for_each(all.begin(), held, [](Mutex *each) { each->unlock(); });
    mutex.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void Registry::unlockAll() {
  for (Mutex *each : all)
    each->unlock();
  mutex.unlock();
}

/// Never destroyed: threads may outlive other statics.
static Registry &registry() {
  static Registry *const instance = [] {
    auto *created = new Registry;
    pthread_atfork([] { registry().lockAll(); }, [] { registry().unlockAll(); },
                   [] { registry().unlockAll(); });
    return created;
  }();
  return *instance;
}

Mutex::Mutex() {
  std::lock_guard lock(registry().mutex);
  registry().all.push_back(this);
}

Mutex::~Mutex() {
  std::lock_guard lock(registry().mutex);
  std::erase(registry().all, this);
}
