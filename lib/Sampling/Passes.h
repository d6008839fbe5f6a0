// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes over a whole row of logits, each simple enough to be vectorized, for
// the machine that it runs on. They use pointers: what templates make of other
// things is not there for each kind of machine.

#ifndef CORTEN_LIB_SAMPLING_PASSES_H
#define CORTEN_LIB_SAMPLING_PASSES_H

#include "corten/Runtime/SmallTypes.h"

#include <cstddef>
#include <limits>

namespace corten::sampling {

/// How many share a sum and a largest one.
inline constexpr size_t kBlock = 128;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

void toFloats(const runtime::Float16 *from, size_t count, float *to);
void toFloats(const runtime::BFloat16 *from, size_t count, float *to);
float largestOf(const float *values, size_t count);

/// exp((value - peak) * factor) of each of a block; returns their sum, in an
/// order that does not depend on the machine.
float weighBlock(const float *values, size_t count, float peak, float factor,
                 float *weights);

/// The sum of all that are at least so large, and if wanted that of each block.
double sumFrom(const float *weights, size_t count, float bound,
               double *blockSums);

/// How many are at least so large.
size_t countFrom(const float *weights, size_t count, float bound);

/// What gatherBetween() may write after the last one.
inline constexpr size_t kGatherSlack = 16;

/// Puts those within the bounds, of which the upper is outside, side by side
/// in their order; returns how many there are. There is room for all, and the
/// slack; it may be where the weights are.
size_t gatherBetween(const float *weights, size_t count, float low, float high,
                     float *to);

size_t countEqual(const float *weights, size_t count, float value);

/// Makes those zero that have this value.
void dropEqual(float *weights, size_t count, float value);

} // namespace corten::sampling

#endif // CORTEN_LIB_SAMPLING_PASSES_H
