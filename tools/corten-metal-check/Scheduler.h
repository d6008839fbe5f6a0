// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a grid of threads, one group after the other, each thread until it has
// to wait for others, and holds every access to memory against the rules.

#ifndef CORTEN_TOOLS_METALCHECK_SCHEDULER_H
#define CORTEN_TOOLS_METALCHECK_SCHEDULER_H

#include "Fiber.h"
#include "Findings.h"
#include "Memory.h"
#include "runtime.h"

#include <memory>
#include <string>
#include <vector>

namespace corten::check {

using KernelFn = void (*)(const CortenThread *, const CortenBuffer *);

class Scheduler {
public:
  Scheduler(KernelFn kernel, const unsigned (&grid)[3],
            const unsigned (&group)[3], Memory &memory,
            const std::vector<CortenBuffer> &buffers, Findings &findings);

  /// Runs all threads, in ascending or in descending order.
  void run(bool descending);
  /// A thread was stopped because of what it did.
  bool stoppedThreads() const { return stopped; }

  // What threads call, from their fiber.
  void barrier(unsigned flags, const CortenPlace &place);
  void simdBarrier(unsigned flags, const CortenPlace &place);
  const unsigned char *exchange(const void *value, unsigned bytes,
                                unsigned &active, const CortenPlace &place);
  void *shared(const void *declaration, size_t bytes, size_t granule,
               const char *name);
  void access(const void *address, size_t bytes, AccessKind kind, uintptr_t pc);
  unsigned threadIndex() const { return current->info.indexInGroup; }
  unsigned lane() const { return threadIndex() % 32; }

  /// Adds a finding about the thread that runs.
  void report(const char *kind, const std::string &buffer, std::string message,
              uintptr_t pc, const CortenPlace *place = nullptr);
  /// Ends the thread that runs.
  [[noreturn]] void stop();

  bool isStackOverflow(const void *address) const {
    return stacks.isOverflow(address);
  }
  bool isRunning() const { return current != nullptr; }
  /// The code of the last access.
  uintptr_t lastPc = 0;

private:
  enum class State : uint8_t { Ready, AtSimdOperation, AtBarrier, Done };
  struct Thread {
    CortenThread info;
    Fiber fiber;
    State state = State::Done;
    CortenPlace place{};
    unsigned flags = 0;
    bool isSimdBarrier = false;
  };
  struct Simdgroup {
    uint32_t epoch[2] = {};
    /// What the lanes give, and what those of the last operation gave.
    unsigned char given[32][kCortenSlot];
    unsigned char taken[32][kCortenSlot];
    unsigned active = 0;
  };

  void runGroup(unsigned index, bool descending);
  void startThreads(unsigned index);
  bool runReady(bool descending);
  bool releaseSimdgroups();
  void releaseSimdOperation(size_t simdgroup);
  bool releaseBarrier();
  void reportBarrier(size_t waiting, const Thread &first, const Thread *other);
  void block(State state, const CortenPlace &place);
  void runFiber(Thread &thread);
  std::string describe(const Access &access) const;
  [[noreturn]] static void enterThread();
  void reportConflict(const Buffer &buffer, ptrdiff_t offset, AccessKind kind,
                      const Conflict &conflict, uintptr_t pc);

  KernelFn kernel;
  unsigned grid[3], group[3], numGroups[3];
  Memory &memory;
  const std::vector<CortenBuffer> &buffers;
  Findings &findings;
  Stacks stacks;
  std::vector<Thread> threads;
  size_t numThreads = 0;
  std::vector<Simdgroup> simdgroups;
  uint32_t epoch[2] = {};
  Clock clock;
  Thread *current = nullptr;
  Fiber main;
  bool stopped = false;
  size_t sharedBytes = 0;
};

/// The one that runs; the kernel's calls have no other way to find it.
extern Scheduler *scheduler;

} // namespace corten::check

#endif // CORTEN_TOOLS_METALCHECK_SCHEDULER_H
