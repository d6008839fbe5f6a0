// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How exact Winograd's convolutions are with certain weights.

#ifndef CORTEN_LIB_COMPILER_WINOGRADACCURACY_H
#define CORTEN_LIB_COMPILER_WINOGRADACCURACY_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace corten {

/// The errors of two forms of a convolution in f32, as the square root of their
/// mean squares.
struct WinogradErrors {
  double direct;
  double winograd;
};

/// Computes some results of a convolution with weights [outputs, channels, 3,
/// 3] for random inputs: exactly, as sums of all products in f32, and by
/// squares of `square` x `square` results in f32.
WinogradErrors winogradErrors(llvm::ArrayRef<float> weights, int64_t outputs,
                              int64_t channels, int64_t square);

} // namespace corten

#endif // CORTEN_LIB_COMPILER_WINOGRADACCURACY_H
