// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes with codes of weights: scales, zeros and offsets of some columns.

#ifndef CORTEN_RUNTIME_LIB_VECTOR_CODEPARAMETERS_H
#define CORTEN_RUNTIME_LIB_VECTOR_CODEPARAMETERS_H

#include "../Products/CodeKernels.h"
#include "Simd.h"

namespace corten::runtime::CORTEN_LEVEL {

/// Those of a vector of columns, from `place` on; `absent` if there are none.
inline F parametersAt(const products::CodeParameters &parameters, int64_t place,
                      float absent) {
  if (!parameters.data)
    return splat(absent);
  if (parameters.factor == products::Factor::F32)
    return load(static_cast<const float *>(parameters.data) + place);
  UI16s bits =
      loadAs<UI16s>(static_cast<const uint16_t *>(parameters.data) + place);
  return parameters.factor == products::Factor::F16 ? fromF16(bits)
                                                    : fromBF16(bits);
}

struct BlockParameters {
  F scale, zero, offset;
  bool hasZero, hasOffset;

  /// Scales are read once, beside the codes.
  static void prefetch(const products::CodePanel &panel, int64_t block) {
    constexpr int64_t kBlocksAhead = 16;
    if (!panel.scales.data)
      return;
    bool isWide = panel.scales.factor == products::Factor::F32;
    const char *ahead = static_cast<const char *>(panel.scales.data) +
                        (block + kBlocksAhead) * (isWide ? 128 : 64);
    __builtin_prefetch(ahead, 0, 2);
    if (isWide)
      __builtin_prefetch(ahead + 64, 0, 2);
  }

  BlockParameters(const products::CodePanel &panel, int64_t place)
      : scale(parametersAt(panel.scales, place, 1)),
        zero(parametersAt(panel.zeros, place, 0)),
        offset(parametersAt(panel.offsets, place, 0)),
        hasZero(panel.zeros.data), hasOffset(panel.offsets.data) {}

  /// A weight.
  F apply(F value) const {
    if (hasZero)
      value -= zero;
    value *= scale;
    return hasOffset ? value + offset : value;
  }

  /// Adds what a block comes to: products with codes, of elements whose sum is
  /// `elements`.
  F add(F sum, float elements, F total) const {
    if (hasZero)
      sum = fma(-zero, splat(elements), sum);
    total = fma(scale, sum, total);
    return hasOffset ? fma(offset, splat(elements), total) : total;
  }
};

} // namespace corten::runtime::CORTEN_LEVEL

#endif // CORTEN_RUNTIME_LIB_VECTOR_CODEPARAMETERS_H
