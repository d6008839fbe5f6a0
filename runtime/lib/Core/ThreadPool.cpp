// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One run at a time is open. Threads that come while it is open join it; the
// caller closes it once all chunks are handed out, and waits only for those
// that joined. So a worker that sleeps, or that the system does not let run,
// keeps nobody waiting.

#include "corten/Runtime/ThreadPool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>
#include <thread>
#include <vector>
#ifdef __linux__
#include <sched.h>
#endif

using namespace corten::runtime;

/// How long a worker of an active pool looks for work before it sleeps, and how
/// long a caller looks for the end of other threads' chunks. A few times what a
/// wake-up takes.
static constexpr auto kPatience = std::chrono::microseconds(200);

static void relax() {
#ifdef __x86_64__
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until `isDone`, for at most kPatience; false if that was too short.
template <typename Condition> static bool spinUntil(Condition &&isDone) {
  auto start = std::chrono::steady_clock::now();
  while (true) {
    for (int i = 0; i != 32; ++i) {
      if (isDone())
        return true;
      relax();
    }
    if (std::chrono::steady_clock::now() - start > kPatience)
      return false;
  }
}

namespace {
/// Chunks that a thread begins with; others take from them when they have done
/// theirs. So a thread's chunks follow each other, and what it fetches ahead is
/// its own.
struct alignas(64) Share {
  std::atomic<int64_t> next = 0;
  int64_t end = 0;
};

/// The run that is open, the number of threads in it, and a count of runs by
/// which a worker knows the one it has been in.
constexpr uint64_t kOpen = 1u << 31;
constexpr uint64_t kCallerSleeps = 1u << 30;
constexpr uint64_t kInside = kCallerSleeps - 1;
constexpr int kSerialShift = 32;

/// What has no meaning in the child of a fork.
struct State {
  alignas(64) std::atomic<uint64_t> gate = 0;
  alignas(64) std::atomic<bool> isBusy = false;
  std::atomic<int> active = 0;
  std::atomic<bool> isStopping = false;
  /// How many workers sleep; those told to wake up do not count.
  std::atomic<int> sleepers = 0;
  int wakeUps = 0;
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable left;
  bool hasThreads = false;
  int started = 0;
};

struct Worker {
  ThreadPool *pool = nullptr;
  pthread_t thread = {};
};
} // namespace

struct ThreadPool::Implementation {
  int threads = 1;
  State state;
  std::vector<Share> shares;
  std::vector<Worker> workers;
  ChunkFunction function = nullptr;
  void *context = nullptr;

  void start();
  /// False if one of the workers called it, and the others may still be here.
  bool stop();
  void wakeWorkers(int64_t wanted);
  void takeChunks(int me);
  void open(int64_t count, ChunkFunction function, void *context);
  void close();
  void serve(int me);
  void sleep(uint64_t seen);
  bool hasNews(uint64_t seen) {
    uint64_t gate = state.gate.load();
    return (gate & kOpen) && gate >> kSerialShift != seen;
  }
};

//===----------------------------------------------------------------------===//
// All pools of the process: a fork leaves them without their threads.
//===----------------------------------------------------------------------===//

namespace {
struct Registry {
  std::mutex mutex;
  std::vector<State *> states;
  std::map<int, std::weak_ptr<ThreadPool>> shared;
};
} // namespace

/// Never destroyed: threads may outlive other statics.
static Registry &registry() {
  static Registry *const instance = [] {
    auto *created = new Registry;
    pthread_atfork([] { registry().mutex.lock(); },
                   [] { registry().mutex.unlock(); },
                   [] {
                     for (State *state : registry().states)
                       new (state) State();
                     registry().mutex.unlock();
                   });
    return created;
  }();
  return *instance;
}

/// What the control group of the process may use, in CPUs.
static int allowedShare() {
  int64_t quota = 0, period = 0;
  if (std::FILE *file = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {
    std::array<char, 64> line;
    if (std::fgets(line.data(), int(line.size()), file)) {
      // The quota of one without a limit is a word, which counts as zero.
      char *rest = nullptr;
      quota = std::strtoll(line.data(), &rest, 10);
      period = std::strtoll(rest, nullptr, 10);
    }
    std::fclose(file);
  }
  if (quota <= 0 || period <= 0)
    return 0;
  return int((quota + period - 1) / period);
}

static int usableCpus() {
  int count = int(std::thread::hardware_concurrency());
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    count = CPU_COUNT(&set);
#endif
  if (int share = allowedShare())
    count = std::min(count, share);
  return std::max(count, 1);
}

std::shared_ptr<ThreadPool> ThreadPool::shared(int threads) {
  if (threads <= 0)
    threads = usableCpus();
  Registry &all = registry();
  {
    std::lock_guard lock(all.mutex);
    if (std::shared_ptr<ThreadPool> pool = all.shared[threads].lock())
      return pool;
  }
  // Made, and dropped, without the lock, which it takes.
  auto pool = std::make_shared<ThreadPool>(threads);
  std::lock_guard lock(all.mutex);
  std::weak_ptr<ThreadPool> &entry = all.shared[threads];
  if (std::shared_ptr<ThreadPool> other = entry.lock())
    return other;
  entry = pool;
  return pool;
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

void ThreadPool::Implementation::takeChunks(int me) {
  for (int i = 0; i != threads; ++i) {
    Share &share = shares[size_t((me + i) % threads)];
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= share.end)
        break;
      function(context, chunk, me);
    }
  }
}

void ThreadPool::Implementation::sleep(uint64_t seen) {
  std::unique_lock lock(state.mutex);
  // The caller opens and then looks for sleepers: one of the two sees the
  // other.
  state.sleepers.fetch_add(1);
  if (hasNews(seen) || state.isStopping) {
    state.sleepers.fetch_sub(1);
    return;
  }
  state.wake.wait(lock, [&] { return state.wakeUps > 0 || state.isStopping; });
  state.wakeUps = std::max(state.wakeUps - 1, 0);
}

void ThreadPool::Implementation::serve(int me) {
  uint64_t seen = 0;
  while (!state.isStopping) {
    if (!hasNews(seen)) {
      bool hasFound =
          state.active > 0 && spinUntil([&] {
            return hasNews(seen) || state.active == 0 || state.isStopping;
          });
      if (!hasFound || !hasNews(seen))
        sleep(seen);
      continue;
    }
    uint64_t gate = state.gate.load();
    if (!(gate & kOpen) || !state.gate.compare_exchange_weak(gate, gate + 1))
      continue;
    seen = gate >> kSerialShift;
    takeChunks(me);
    uint64_t before = state.gate.fetch_sub(1);
    if ((before & kInside) == 1 && (before & kCallerSleeps)) {
      std::lock_guard lock(state.mutex);
      state.left.notify_all();
    }
  }
}

void ThreadPool::Implementation::start() {
  // Signals are for the threads of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (Worker &worker : workers) {
    auto body = [](void *argument) -> void * {
      const Worker &self = *static_cast<const Worker *>(argument);
      Implementation &pool = *self.pool->implementation;
      pool.serve(int(&self - pool.workers.data()) + 1);
      return nullptr;
    };
    // With fewer threads than wanted everything is done all the same.
    if (pthread_create(&worker.thread, nullptr, body, &worker) != 0)
      break;
    ++state.started;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  state.hasThreads = true;
}

bool ThreadPool::Implementation::stop() {
  {
    std::lock_guard lock(state.mutex);
    state.isStopping = true;
    state.wake.notify_all();
  }
  for (int i = 0; i != state.started; ++i)
    if (pthread_equal(workers[size_t(i)].thread, pthread_self()))
      return false;
  for (int i = 0; i != state.started; ++i)
    pthread_join(workers[size_t(i)].thread, nullptr);
  return true;
}

//===----------------------------------------------------------------------===//
// Callers
//===----------------------------------------------------------------------===//

void ThreadPool::Implementation::wakeWorkers(int64_t wanted) {
  if (state.sleepers == 0)
    return;
  std::lock_guard lock(state.mutex);
  int count = int(std::min<int64_t>(wanted, state.sleepers));
  state.sleepers -= count;
  state.wakeUps += count;
  for (int i = 0; i != count; ++i)
    state.wake.notify_one();
}

void ThreadPool::Implementation::open(int64_t count, ChunkFunction function,
                                      void *context) {
  this->function = function;
  this->context = context;
  for (int i = 0; i != threads; ++i) {
    Share &share = shares[size_t(i)];
    share.next.store(count / threads * i +
                         std::min<int64_t>(count % threads, i),
                     std::memory_order_relaxed);
    share.end =
        count / threads * (i + 1) + std::min<int64_t>(count % threads, i + 1);
  }
  uint64_t serial = (state.gate.load() >> kSerialShift) + 1;
  // No worker has been in a run with the number 0.
  serial = std::max<uint64_t>(serial & 0xffffffff, 1);
  state.gate.store(serial << kSerialShift | kOpen);
}

void ThreadPool::Implementation::close() {
  auto isEmpty = [&] { return (state.gate.load() & kInside) == 0; };
  state.gate.fetch_and(~kOpen);
  if (spinUntil(isEmpty))
    return;
  std::unique_lock lock(state.mutex);
  state.gate.fetch_or(kCallerSleeps);
  state.left.wait(lock, isEmpty);
}

void ThreadPool::runChunks(int64_t count, ChunkFunction function,
                           void *context) {
  Implementation &pool = *implementation;
  State &state = pool.state;
  // A second caller has threads of its own, and so has a chunk that runs some.
  if (count <= 1 || pool.threads == 1 || state.isBusy.exchange(true)) {
    for (int64_t chunk = 0; chunk < count; ++chunk)
      function(context, chunk, 0);
    return;
  }
  if (!state.hasThreads)
    pool.start();
  pool.open(count, function, context);
  pool.wakeWorkers(count - 1);
  pool.takeChunks(0);
  pool.close();
  state.isBusy = false;
}

ThreadPool::ThreadPool(int threads)
    : implementation(std::make_unique<Implementation>()) {
  implementation->threads = std::max(threads, 1);
  implementation->shares = std::vector<Share>(size_t(implementation->threads));
  implementation->workers.assign(size_t(implementation->threads) - 1, {this});
  Registry &all = registry();
  std::lock_guard lock(all.mutex);
  all.states.push_back(&implementation->state);
  implementation->start();
}

ThreadPool::~ThreadPool() {
  {
    Registry &all = registry();
    std::lock_guard lock(all.mutex);
    std::erase(all.states, &implementation->state);
  }
  // A chunk that ends the program cannot wait for itself.
  if (!implementation->stop())
    (void)implementation.release();
}

int ThreadPool::threads() const { return implementation->threads; }

bool ThreadPool::isAwake() const { return implementation->state.sleepers == 0; }

ThreadPool::Active::Active(ThreadPool &pool) : pool(pool) {
  pool.implementation->state.active.fetch_add(1);
}

ThreadPool::Active::~Active() {
  pool.implementation->state.active.fetch_sub(1);
}
