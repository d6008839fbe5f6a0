// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Passes.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numbers>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace corten;
using namespace corten::sampling;

#if defined(__x86_64__)
#define CORTEN_CLONES                                                          \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CORTEN_CLONES
#endif

namespace {
/// Of sums and largest ones, 32 at once, in registers whatever their size; an
/// array would be stored and loaded each time.
struct Lanes {
  static constexpr size_t kCount = 32;
  typedef float Half __attribute__((vector_size(kCount / 2 * sizeof(float))));
  Half first, second;

  [[gnu::always_inline]] explicit Lanes(const float *from) {
    __builtin_memcpy(&first, from, sizeof first);
    __builtin_memcpy(&second, from + kCount / 2, sizeof second);
  }
  [[gnu::always_inline]] explicit Lanes(float all)
      : first(Half{} + all), second(Half{} + all) {}

  [[gnu::always_inline]] void operator+=(const Lanes &other) {
    first += other.first;
    second += other.second;
  }
  /// Where the other one is larger.
  [[gnu::always_inline]] void raiseTo(const Lanes &other) {
    first = other.first > first ? other.first : first;
    second = other.second > second ? other.second : second;
  }
  /// Zeros for what is smaller.
  [[gnu::always_inline]] void dropBelow(float bound) {
    first = first >= Half{} + bound ? first : Half{};
    second = second >= Half{} + bound ? second : Half{};
  }

  /// All of them, in halves.
  template <typename Function>
  [[gnu::always_inline]] float reduce(Function &&function) const {
    float lanes[kCount];
    __builtin_memcpy(lanes, &first, sizeof first);
    __builtin_memcpy(lanes + kCount / 2, &second, sizeof second);
#pragma GCC unroll 8
    for (size_t half = kCount / 2; half != 0; half /= 2)
      for (size_t lane = 0; lane != half; ++lane)
        lanes[lane] = function(lanes[lane], lanes[lane + half]);
    return lanes[0];
  }
  [[gnu::always_inline]] float sum() const {
    return reduce([](float a, float b) { return a + b; });
  }
  [[gnu::always_inline]] float largest() const {
    return reduce([](float a, float b) { return a < b ? b : a; });
  }
};
} // namespace

CORTEN_CLONES void sampling::toFloats(const runtime::Float16 *from,
                                      size_t count, float *to) {
  for (size_t i = 0; i != count; ++i)
    to[i] = from[i];
}

CORTEN_CLONES void sampling::toFloats(const runtime::BFloat16 *from,
                                      size_t count, float *to) {
  for (size_t i = 0; i != count; ++i)
    to[i] = from[i];
}

CORTEN_CLONES float sampling::largestOf(const float *values, size_t count) {
  Lanes lanes(-kInfinity);
  size_t i = 0;
  for (; i + Lanes::kCount <= count; i += Lanes::kCount)
    lanes.raiseTo(Lanes(values + i));
  float most = lanes.largest();
  for (; i != count; ++i)
    most = std::max(most, values[i]);
  return most;
}

/// 2 to the power of what is not positive, to about two units in the last
/// place; zero for what is no normal number.
[[gnu::always_inline]] static inline float powerOfTwo(float x) {
  constexpr float kRound = 12582912.0f; // 1.5 * 2^23
  constexpr float kLeast = -126.0f;
  float bounded = x > kLeast ? x : kLeast;
  float shifted = bounded + kRound;
  float rest = bounded - (shifted - kRound);
  // The Taylor series: the rest is at most a half.
  float sum = 1.5403530e-4f;
  sum = sum * rest + 1.3333558e-3f;
  sum = sum * rest + 9.6181291e-3f;
  sum = sum * rest + 5.5504109e-2f;
  sum = sum * rest + 2.4022651e-1f;
  sum = sum * rest + 6.9314718e-1f;
  sum = sum * rest + 1.0f;
  // The whole is in the lowest bits of what was shifted.
  uint32_t exponent = std::bit_cast<uint32_t>(shifted) + 127u;
  float result = sum * std::bit_cast<float>(exponent << 23);
  return x > kLeast ? result : 0.0f;
}

CORTEN_CLONES float sampling::weighBlock(const float *values, size_t count,
                                         float peak, float factor,
                                         float *weights) {
  float binary = factor * std::numbers::log2e_v<float>;
  for (size_t i = 0; i != count; ++i)
    weights[i] = powerOfTwo((values[i] - peak) * binary);
  Lanes lanes(0.0f);
  size_t i = 0;
  for (; i + Lanes::kCount <= count; i += Lanes::kCount)
    lanes += Lanes(weights + i);
  float rest = 0;
  for (; i != count; ++i)
    rest += weights[i];
  return lanes.sum() + rest;
}

CORTEN_CLONES double sampling::sumFrom(const float *weights, size_t count,
                                       float bound, double *blockSums) {
  // As long as sums are exact enough, where nobody asks for those of blocks.
  size_t length = blockSums == nullptr ? 16 * kBlock : kBlock;
  double total = 0;
  for (size_t start = 0; start < count; start += length) {
    size_t end = start + length < count ? start + length : count;
    Lanes lanes(0.0f);
    size_t i = start;
    for (; i + Lanes::kCount <= end; i += Lanes::kCount) {
      Lanes own(weights + i);
      own.dropBelow(bound);
      lanes += own;
    }
    float rest = 0;
    for (; i != end; ++i)
      rest += weights[i] >= bound ? weights[i] : 0.0f;
    double sum = double(lanes.sum()) + double(rest);
    if (blockSums != nullptr)
      *blockSums++ = sum;
    total += sum;
  }
  return total;
}

CORTEN_CLONES size_t sampling::countFrom(const float *weights, size_t count,
                                         float bound) {
  uint32_t found = 0;
  for (size_t i = 0; i != count; ++i)
    found += uint32_t(weights[i] >= bound);
  return found;
}

static size_t gatherOneByOne(const float *weights, size_t count, float low,
                             float high, float *to) {
  size_t found = 0;
  for (size_t i = 0; i != count; ++i) {
    to[found] = weights[i];
    found += size_t(weights[i] >= low) & size_t(weights[i] < high);
  }
  return found;
}

#if defined(__x86_64__)
// No compiler makes this of a loop.
__attribute__((target("avx512f"))) static size_t
gatherInLanes(const float *weights, size_t count, float low, float high,
              float *to) {
  constexpr size_t kLanes = 16;
  __m512 lows = _mm512_set1_ps(low), highs = _mm512_set1_ps(high);
  size_t found = 0, i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    __m512 part = _mm512_loadu_ps(weights + i);
    __mmask16 isInside = _mm512_mask_cmp_ps_mask(
        _mm512_cmp_ps_mask(part, lows, _CMP_GE_OQ), part, highs, _CMP_LT_OQ);
    // Some machines are slow at storing only what is there.
    _mm512_storeu_ps(to + found, _mm512_maskz_compress_ps(isInside, part));
    found += size_t(std::popcount(uint32_t(isInside)));
  }
  return found + gatherOneByOne(weights + i, count - i, low, high, to + found);
}
#endif

size_t sampling::gatherBetween(const float *weights, size_t count, float low,
                               float high, float *to) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    return gatherInLanes(weights, count, low, high, to);
#endif
  return gatherOneByOne(weights, count, low, high, to);
}

CORTEN_CLONES size_t sampling::countEqual(const float *weights, size_t count,
                                          float value) {
  uint32_t found = 0;
  for (size_t i = 0; i != count; ++i)
    found += uint32_t(weights[i] == value);
  return found;
}

CORTEN_CLONES void sampling::dropEqual(float *weights, size_t count,
                                       float value) {
  for (size_t i = 0; i != count; ++i)
    weights[i] = weights[i] == value ? 0.0f : weights[i];
}
