// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sys/mman.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace corten;
using namespace corten::runtime;
using namespace corten::benchmarks;

Memory::Memory(size_t bytes) : bytes(std::max<size_t>(bytes, 1)) {
  data = mmap(nullptr, this->bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  madvise(data, this->bytes, MADV_HUGEPAGE);
}

Memory::~Memory() { munmap(data, bytes); }

void benchmarks::fill(void *data, ElementType type, int64_t count) {
  for (int64_t i = 0; i != count; ++i) {
    float value = float((i * 7919) % 2001 - 1000) * 1e-3f;
    if (type == ElementType::F32)
      static_cast<float *>(data)[i] = value;
    else if (type == ElementType::UI8)
      static_cast<uint8_t *>(data)[i] = uint8_t(i * 37 % 120);
    else if (type == ElementType::F16)
      static_cast<Float16 *>(data)[i] = Float16(value);
    else
      static_cast<BFloat16 *>(data)[i] = BFloat16(value);
  }
}

double benchmarks::bestTime(double seconds,
                            const std::function<void(int64_t)> &call) {
  int64_t turn = 0;
  call(turn++);
  auto start = Clock::now();
  call(turn++);
  double once = secondsSince(start);
  int64_t calls = std::max<int64_t>(1, int64_t(0.0005 / once));
  double best = 1e9;
  auto begin = Clock::now();
  do {
    start = Clock::now();
    for (int64_t i = 0; i != calls; ++i)
      call(turn++);
    best = std::min(best, secondsSince(start) / double(calls));
  } while (secondsSince(begin) < seconds);
  return best;
}

//===----------------------------------------------------------------------===//
// What the machine can do
//===----------------------------------------------------------------------===//

/// Short, so that one of many rounds is not interrupted.
constexpr int kPeakRounds = 20000;
constexpr int kRepetitions = 60;

#ifdef __x86_64__
/// Multiplications and additions that wait for nothing.
#define MULTIPLY(NAME, TARGET, VECTOR, PREFIX, SUMS)                           \
  __attribute__((target(TARGET))) float NAME() {                               \
    VECTOR sums[SUMS];                                                         \
    for (int j = 0; j != (SUMS); ++j)                                          \
      sums[j] = PREFIX##_set1_ps(float(j));                                    \
    VECTOR a = PREFIX##_set1_ps(0.9999f), b = PREFIX##_set1_ps(0.1f);          \
    for (int i = 0; i != kPeakRounds; ++i)                                     \
      _Pragma("GCC unroll 16") for (int j = 0; j != (SUMS); ++j) sums[j] =     \
          PREFIX##_fmadd_ps(sums[j], a, b);                                    \
    for (int j = 1; j != (SUMS); ++j)                                          \
      sums[0] = PREFIX##_add_ps(sums[0], sums[j]);                             \
    return sums[0][0];                                                         \
  }
MULTIPLY(multiplyWide, "avx512f,fma", __m512, _mm512, 16)
MULTIPLY(multiplyNarrow, "avx2,fma", __m256, _mm256, 12)
#undef MULTIPLY
constexpr double kWideWork = 2.0 * 16 * 16 * kPeakRounds;
constexpr double kNarrowWork = 2.0 * 8 * 12 * kPeakRounds;
#endif

#ifdef __x86_64__
/// Dots that wait for nothing.
static __attribute__((target("avx512f,avx512bf16"))) float multiplyPairs() {
  __m512 sums[16];
  for (int j = 0; j != 16; ++j)
    sums[j] = _mm512_set1_ps(float(j));
  auto a = __m512bh(_mm512_set1_epi32(0x3f7f3f7f));
  for (int i = 0; i != kPeakRounds; ++i)
    _Pragma("GCC unroll 16") for (auto &sum : sums) sum =
        _mm512_dpbf16_ps(sum, a, a);
  for (int j = 1; j != 16; ++j)
    sums[0] = _mm512_add_ps(sums[0], sums[j]);
  return sums[0][0];
}
static __attribute__((target("avx512f,avx512vnni"))) float multiplyQuads() {
  __m512i sums[16];
  for (int j = 0; j != 16; ++j)
    sums[j] = _mm512_set1_epi32(j);
  __m512i a = _mm512_set1_epi32(0x01010101);
  for (int i = 0; i != kPeakRounds; ++i)
    _Pragma("GCC unroll 16") for (auto &sum : sums) sum =
        _mm512_dpbusd_epi32(sum, a, a);
  for (int j = 1; j != 16; ++j)
    sums[0] = _mm512_add_epi32(sums[0], sums[j]);
  return float(sums[0][0]);
}
constexpr int kTileRounds = 2000;
template <bool isBytes>
static __attribute__((target("amx-tile,amx-bf16,amx-int8"))) float
multiplyTiles() {
  // Palette 1, 8 tiles of 16 rows of 64 bytes.
  alignas(64) uint8_t configuration[64] = {1};
  for (int tile = 0; tile != 8; ++tile) {
    configuration[16 + 2 * tile] = 64;
    configuration[48 + tile] = 16;
  }
  alignas(64) float ones[16][16] = {};
  _tile_loadconfig(configuration);
  _tile_loadd(6, ones, 64);
  _tile_loadd(7, ones, 64);
  for (int i = 0; i != kTileRounds; ++i) {
    if constexpr (isBytes) {
      _tile_dpbsud(0, 6, 7);
      _tile_dpbsud(1, 6, 7);
      _tile_dpbsud(2, 6, 7);
      _tile_dpbsud(3, 6, 7);
    } else {
      _tile_dpbf16ps(0, 6, 7);
      _tile_dpbf16ps(1, 6, 7);
      _tile_dpbf16ps(2, 6, 7);
      _tile_dpbf16ps(3, 6, 7);
    }
  }
  _tile_stored(0, ones, 64);
  _tile_release();
  return ones[0][0];
}
constexpr double kTileWork = 2.0 * 16 * 16 * 32 * 4 * kTileRounds;

namespace {
/// A loop, and what it does.
struct Loop {
  float (*function)();
  double work;
};
} // namespace

/// The fastest multiplications of factors that a product takes so.
static Loop loopOf(Isa isa, PortableKernel kernel) {
  bool isPairs = kernel == PortableKernel::MatMulPairs ||
                 kernel == PortableKernel::ConvolutionPairs;
  if (kernel == PortableKernel::MatMulQuads && isa >= Isa::Avx512)
    return isa >= Isa::Amx ? Loop{multiplyTiles<true>, 2 * kTileWork}
                           : Loop{multiplyQuads, 4 * kWideWork};
  if (isPairs && isa >= Isa::Avx512Bf16)
    return isa >= Isa::Amx ? Loop{multiplyTiles<false>, kTileWork}
                           : Loop{multiplyPairs, 2 * kWideWork};
  return isa >= Isa::Avx512 ? Loop{multiplyWide, kWideWork}
                            : Loop{multiplyNarrow, kNarrowWork};
}
#endif

static volatile float unused;

double benchmarks::measurePeak(Isa isa, ThreadPool &pool,
                               PortableKernel kernel) {
  double best = 0;
  ThreadPool::Active active(pool);
#ifdef __x86_64__
  if (isa < Isa::Avx2)
    return 0;
  Loop loop = loopOf(isa, kernel);
  for (int round = 0; round != kRepetitions; ++round) {
    auto start = Clock::now();
    pool.run(pool.threads(), [&](int64_t, int) { unused = loop.function(); });
    double work = loop.work * pool.threads();
    best = std::max(best, work / secondsSince(start) * 1e-9);
  }
#endif
  return best;
}

double benchmarks::measureReading(ThreadPool &pool) {
  // Short rounds, so that some are not interrupted, each over another part.
  constexpr int64_t kBytes = 256 << 20, kRound = 16 << 20, kChunk = 1 << 18;
  static Memory memory(kBytes);
  static bool isFilled = false;
  if (!isFilled)
    std::memset(memory.get(), 1, kBytes);
  isFilled = true;
  double best = 0;
  for (int round = 0; round != 80; ++round) {
    const char *part =
        static_cast<const char *>(memory.get()) + round * kRound % kBytes;
    auto start = Clock::now();
    pool.run(kRound / kChunk, [&](int64_t chunk, int) {
      const auto *from =
          reinterpret_cast<const uint64_t *>(part + chunk * kChunk);
      uint64_t sums[8] = {};
      for (int64_t i = 0; i != kChunk / 8; i += 8)
        for (int j = 0; j != 8; ++j)
          sums[j] += from[i + j];
      unused = float(sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] +
                     sums[6] + sums[7]);
    });
    best = std::max(best, double(kRound) / secondsSince(start) * 1e-9);
  }
  return best;
}

std::string benchmarks::machine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(':') + 2);
  return "unknown";
}
