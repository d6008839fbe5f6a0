// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The left side of a product, as rows of floats that micro-kernels read: it is
// read where it is if it lies so, and copied otherwise.

#ifndef CORTEN_RUNTIME_LIB_PRODUCTS_LEFTROWS_H
#define CORTEN_RUNTIME_LIB_PRODUCTS_LEFTROWS_H

#include "Common.h"

namespace corten::runtime::products {

/// How many matrices there are, of the last two axes.
int64_t batchesOf(const Tensor &tensor);
/// Where the matrix of a batch begins, in elements; one has `inner` axes.
int64_t batchOffset(const Tensor &tensor, int inner, int64_t batch);

class LeftRows {
public:
  /// `isChanged`: who reads it changes it first.
  explicit LeftRows(const Tensor &left, bool isChanged = false);

  /// As it will be read: itself, or a copy without memory yet.
  const Tensor &readable() const { return copy; }
  bool isCopied() const { return needsCopy; }
  /// How many floats a copy takes.
  int64_t copySize() const;
  /// Makes the copy, on the threads of the call.
  void makeCopy(const Invocation &call, const MicroKernels &kernels,
                float *to) const;

private:
  const Tensor &left;
  bool needsCopy;
  Tensor copy;
};

} // namespace corten::runtime::products

#endif // CORTEN_RUNTIME_LIB_PRODUCTS_LEFTROWS_H
