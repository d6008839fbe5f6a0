// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tensors lie in memory, as torch recorded it. The values of a program have
// no layout, but whether an operator returned a view or a copy depends on it.

#ifndef CORTEN_PROGRAM_MEMORYLAYOUT_H
#define CORTEN_PROGRAM_MEMORYLAYOUT_H

#include "corten/Program/Program.h"
#include "corten/Program/SizeExpression.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <string>

namespace corten {

struct MemoryLayout {
  std::string device;
  /// As many strides as extents.
  llvm::SmallVector<SizeExpression> shape, strides;
  SizeExpression offset;

  /// Row-major and without gaps.
  bool isContiguous() const;
  /// Whether the memory can be seen in another shape as it is.
  bool isViewableAs(llvm::ArrayRef<SizeExpression> target) const;
};

/// Works out what depends on memory of a call that is complete otherwise:
/// whether an operator that returns a view where it can did so. `layoutOf` is
/// asked for the call and its operand, where that matters. Fails for a view
/// that counts in memory whose layout the values of a program lack.
llvm::Error
resolveMemory(Node &call,
              llvm::function_ref<MemoryLayout(const Node &)> layoutOf);

} // namespace corten

#endif // CORTEN_PROGRAM_MEMORYLAYOUT_H
