// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WithoutGil.h"

#include <atomic>
#include <chrono>
#include <pthread.h>
#include <thread>
#include <unistd.h>

namespace nb = nanobind;
using namespace corten::bindings;

/// Whether threads but the one that ends the interpreter stay away.
static std::atomic<bool> isEnding = false;
static std::thread::id endingThread;
/// Threads that have looked, and are on their way back.
static std::atomic<int> numReturning = 0;

WithoutGil::~WithoutGil() {
  ++numReturning;
  if (isEnding && std::this_thread::get_id() != endingThread) {
    --numReturning;
    for (;;)
      pause();
  }
  PyEval_RestoreThread(state);
  --numReturning;
}

/// Waits for those who have not seen that the end is near.
static void end() {
  using namespace std::chrono_literals;
  endingThread = std::this_thread::get_id();
  isEnding = true;
  WithoutGil unlock;
  // The destructor counts nobody yet. Nobody is waited for forever.
  for (int i = 0; numReturning != 0 && i != 5000; ++i)
    std::this_thread::sleep_for(1ms);
}

void corten::bindings::watchForTheEnd() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(end));
  // A child has none of the threads.
  pthread_atfork(nullptr, nullptr, [] {
    numReturning = 0;
    isEnding = false;
  });
}
