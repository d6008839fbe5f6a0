// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads that kernels share. The calling thread is one of them.

#ifndef CORTEN_RUNTIME_THREADPOOL_H
#define CORTEN_RUNTIME_THREADPOOL_H

#include <cstdint>
#include <memory>
#include <type_traits>

namespace corten::runtime {

/// Hands out chunks of work from a counter. Where chunks begin must not depend
/// on the number of threads: then results do not either.
class ThreadPool {
public:
  /// `threads` with the caller's; 1 has none of its own.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// The one that models of this process share by number of threads. 0: as many
  /// as the process may run on.
  static std::shared_ptr<ThreadPool> shared(int threads);

  int threads() const;

  /// Whether all threads look for work, or are about to: none of them has to be
  /// woken for it.
  bool isAwake() const;

  /// Calls `body(chunk, thread)` for chunks 0 to count-1, in any order, and
  /// returns when all have been. `thread` is less than threads().
  template <typename Body> void run(int64_t count, Body &&body) {
    runChunks(
        count,
        [](void *context, int64_t chunk, int thread) {
          (*static_cast<std::remove_reference_t<Body> *>(context))(chunk,
                                                                   thread);
        },
        const_cast<void *>(static_cast<const void *>(&body)));
  }

  /// While one lives, workers wait for the next work by looking for it; a
  /// wake-up takes longer than most operations. Nobody else's threads suffer:
  /// it lives as long as a call of a function, and workers that find nothing
  /// for long go to sleep all the same.
  class Active {
  public:
    explicit Active(ThreadPool &pool);
    ~Active();
    Active(const Active &) = delete;
    Active &operator=(const Active &) = delete;

  private:
    ThreadPool &pool;
  };

private:
  using ChunkFunction = void (*)(void *, int64_t, int);
  void runChunks(int64_t count, ChunkFunction function, void *context);

  struct Implementation;
  std::unique_ptr<Implementation> implementation;
};

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_THREADPOOL_H
