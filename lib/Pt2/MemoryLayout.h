// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tensors lie in memory, as torch recorded it. The values of a program have
// no layout, but whether an operator returned a view or a copy depends on it.

#ifndef CORTEN_LIB_PT2_MEMORYLAYOUT_H
#define CORTEN_LIB_PT2_MEMORYLAYOUT_H

#include "Json.h"
#include "SizeExpression.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace corten::pt2 {

struct TensorLayout {
  int64_t dtype = 0;
  std::string device;
  llvm::SmallVector<SizeExpression> shape, strides;
  SizeExpression offset;

  /// From the description of a tensor; incomplete ones have no axes.
  static TensorLayout read(JsonValue meta);

  /// Row-major and without gaps.
  bool isContiguous() const;
  /// Whether the memory can be seen in another shape as it is.
  bool isViewableAs(llvm::ArrayRef<SizeExpression> target) const;
};

} // namespace corten::pt2

#endif // CORTEN_LIB_PT2_MEMORYLAYOUT_H
