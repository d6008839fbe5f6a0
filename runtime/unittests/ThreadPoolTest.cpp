// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Untimed.h"

#include "../lib/Core/Sanitizers.h"

#include "corten/Runtime/ThreadPool.h"

#include "gtest/gtest.h"

#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <mutex>
#include <optional>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace corten::runtime;

namespace {

/// How often each chunk was done; all must be 1.
class Tally {
public:
  explicit Tally(int64_t count) : counts(size_t(count)) {}
  void add(int64_t chunk) { ++counts[size_t(chunk)]; }
  bool isOnceEach() const {
    for (const std::atomic<int> &count : counts)
      if (count != 1)
        return false;
    return true;
  }

private:
  std::vector<std::atomic<int>> counts;
};

bool runsEachOnce(ThreadPool &pool, int64_t count) {
  Tally tally(count);
  std::atomic<bool> fits = true;
  pool.run(count, [&](int64_t chunk, int thread) {
    tally.add(chunk);
    if (thread < 0 || thread >= pool.threads())
      fits = false;
  });
  return fits && tally.isOnceEach();
}

TEST(ThreadPool, DoesEveryChunkOnce) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (int64_t count : {0, 1, 2, 3, 7, 8, 100, 1000})
      EXPECT_TRUE(runsEachOnce(pool, count)) << threads << " " << count;
  }
}

TEST(ThreadPool, OtherThreadsTakePart) {
  ThreadPool pool(3);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  // Nobody is done before all have come.
  std::atomic<int> waiting = 0;
  pool.run(3, [&](int64_t, int) {
    ++waiting;
    while (waiting != 3)
      std::this_thread::yield();
    std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_TRUE(seen.contains(std::this_thread::get_id()));
}

TEST(ThreadPool, KnowsWhetherSomebodySleeps) {
  ThreadPool alone(1);
  EXPECT_TRUE(alone.isAwake());
  ThreadPool pool(2);
  // Nobody has a call to make: the other thread goes to sleep.
  while (pool.isAwake())
    std::this_thread::yield();
  ThreadPool::Active active(pool);
  EXPECT_FALSE(pool.isAwake());
  pool.run(2, [&](int64_t, int) { EXPECT_TRUE(pool.isAwake()); });
}

TEST(ThreadPool, IsSharedByNumberOfThreads) {
  std::shared_ptr<ThreadPool> two = ThreadPool::shared(2);
  EXPECT_EQ(two, ThreadPool::shared(2));
  EXPECT_NE(two, ThreadPool::shared(3));
  EXPECT_GE(ThreadPool::shared(0)->threads(), 1);
  two.reset();
  EXPECT_TRUE(runsEachOnce(*ThreadPool::shared(2), 10));
}

TEST(ThreadPool, ChunksMayRunChunks) {
  ThreadPool pool(3);
  std::atomic<int> total = 0;
  pool.run(20,
           [&](int64_t, int) { pool.run(10, [&](int64_t, int) { ++total; }); });
  EXPECT_EQ(total, 200);
}

TEST(ThreadPool, ManyCallersAtOnce) {
  for (bool isActive : {false, true}) {
    ThreadPool pool(3);
    std::atomic<int> failures = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller != 4; ++caller)
      callers.emplace_back([&, caller] {
        for (int i = 0; i != 100; ++i) {
          std::optional<ThreadPool::Active> active;
          if (isActive)
            active.emplace(pool);
          failures += !runsEachOnce(pool, (i * 7 + caller) % 50);
          failures += !runsEachOnce(pool, 5);
        }
      });
    for (std::thread &caller : callers)
      caller.join();
    EXPECT_EQ(failures, 0);
  }
}

// What one run writes without any lock, the next one reads.
TEST(ThreadPool, RunsFollowEachOther) {
  ThreadPool pool(3);
  ThreadPool::Active active(pool);
  std::vector<int64_t> from(64, 1), to(64);
  for (int round = 0; round != 2000; ++round) {
    pool.run(64, [&](int64_t i, int) {
      to[size_t(i)] = from[size_t((i * 5 + 1) % 64)] + 1;
    });
    from.swap(to);
  }
  for (int64_t value : from)
    EXPECT_EQ(value, 2001);
}

TEST(ThreadPool, ComesAndGoes) {
  for (int i = 0; i != 50; ++i) {
    ThreadPool pool(4);
    if (i % 2)
      EXPECT_TRUE(runsEachOnce(pool, i));
  }
}

double cpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

// Threads with nothing to do must not take time from others, active or not.
TEST(ThreadPool, IdleThreadsSleep) {
  if (const char *why = whyUntimed())
    GTEST_SKIP() << "times are not held to a limit: " << why;
  ThreadPool pool(4);
  ThreadPool::Active active(pool);
  EXPECT_TRUE(runsEachOnce(pool, 100));
  double before = cpuSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(cpuSeconds() - before, 0.05);
}

TEST(ThreadPool, WorksInAChild) {
  if (kHasThreadSanitizer)
    GTEST_SKIP() << "it knows no threads after a fork";
  ThreadPool pool(3);
  EXPECT_TRUE(runsEachOnce(pool, 100));
  std::atomic<bool> isEnd = false;
  // Another caller, so that the pool may be in the middle of a run.
  std::thread other([&] {
    while (!isEnd)
      pool.run(10, [](int64_t, int) {});
  });
  for (int i = 0; i != 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      std::set<std::thread::id> seen;
      std::mutex mutex;
      std::atomic<int> waiting = 0;
      pool.run(3, [&](int64_t, int) {
        ++waiting;
        while (waiting != 3)
          std::this_thread::yield();
        std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
      });
      _exit(seen.size() == 3 && runsEachOnce(pool, 100) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  isEnd = true;
  other.join();
}

// Those who ask at once, while there is none.
TEST(ThreadPool, IsSharedFromTheStart) {
  for (int i = 0; i != 100; ++i) {
    std::atomic<int> waiting = 0;
    std::array<std::shared_ptr<ThreadPool>, 3> pools;
    std::vector<std::thread> threads;
    threads.reserve(pools.size());
    for (std::shared_ptr<ThreadPool> &pool : pools)
      threads.emplace_back([&] {
        ++waiting;
        while (waiting != 3)
          std::this_thread::yield();
        pool = ThreadPool::shared(5);
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_TRUE(pools[0] == pools[1] && pools[1] == pools[2]);
  }
}

// A pool that a static holds, in a program that ends after a run, or in one.
TEST(ThreadPool, ProgramsEnd) {
  if (kHasThreadSanitizer)
    GTEST_SKIP() << "it knows no threads after a fork";
  auto runAndExit = [](int exitingThread) {
    static std::shared_ptr<ThreadPool> kept;
    kept = ThreadPool::shared(2);
    std::atomic<int> waiting = 0;
    kept->run(2, [&](int64_t, int thread) {
      ++waiting;
      while (waiting != 2)
        std::this_thread::yield();
      if (thread == exitingThread)
        std::exit(3);
    });
    std::exit(3);
  };
  EXPECT_EXIT(runAndExit(0), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(runAndExit(1), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(runAndExit(2), testing::ExitedWithCode(3), "");
}

} // namespace
