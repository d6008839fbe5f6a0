// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What benchmarks of kernels have in common: memory, time, and what the machine
// can do at all.

#ifndef CORTEN_BENCHMARKS_KERNELS_MACHINE_H
#define CORTEN_BENCHMARKS_KERNELS_MACHINE_H

#include "corten/Runtime/Kernel.h"
#include "corten/Runtime/ThreadPool.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace corten::benchmarks {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Memory in large pages, as packed weights are to be.
class Memory {
public:
  explicit Memory(size_t bytes);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  void *get() const { return data; }

private:
  size_t bytes;
  void *data;
};

struct Options {
  std::vector<int> threads = {1, 2};
  runtime::Isa isa = runtime::detectedIsa();
  std::string filter;
  double seconds = 0.3;
};

/// Numbers around zero, or codes, from a fixed sequence.
void fill(void *data, runtime::ElementType type, int64_t count);

/// The shortest mean of some rounds, in seconds.
double bestTime(double seconds, const std::function<void(int64_t)> &call);

/// The fastest multiplications of factors that a product takes so, in GFLOP/s.
double measurePeak(
    runtime::Isa isa, runtime::ThreadPool &pool,
    runtime::PortableKernel kernel = runtime::PortableKernel::MatMulPacked);

/// Reading memory that is in no cache, in GB/s.
double measureReading(runtime::ThreadPool &pool);

/// What the processor calls itself.
std::string machine();

} // namespace corten::benchmarks

#endif // CORTEN_BENCHMARKS_KERNELS_MACHINE_H
