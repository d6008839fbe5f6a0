// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels of images are made of.

#ifndef CORTEN_RUNTIME_LIB_IMAGES_H
#define CORTEN_RUNTIME_LIB_IMAGES_H

#include "Vectors.h"

namespace corten::runtime {

struct Images {
  /// The largest, or the sum, of rows without gaps.
  void (*poolColumns)(ReduceMode mode, const void *const *taps, int64_t numTaps,
                      ElementType type, void *to, int64_t count);
  /// Takes up to kTileSize elements into totals. There is room for a vector
  /// behind them.
  void (*poolRow)(ReduceMode mode, const tile::Rows &from, float *totals,
                  int64_t count);
  /// Rows without gaps, each multiplied with its share, added up: as their
  /// type, or as f32.
  void (*blendColumns)(const void *const *taps, const float *shares,
                       int64_t numTaps, ElementType type, void *to,
                       ElementType toType, int64_t count);
};

} // namespace corten::runtime

#endif // CORTEN_RUNTIME_LIB_IMAGES_H
